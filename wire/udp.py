"""UDP sockets that never block the beat: drain everything, send without waiting, count what the system refused."""

import socket
from typing import Final, Self

from wire.errors import LinkError

Address = tuple[str, int]
RECEIVE_BUFFER: Final = 16 * 1024 * 1024  # the kernel grants what net.core.rmem_max allows


class UdpSocket:
    """Bound or unbound; `with` closes it."""

    def __init__(self, bind: Address | None = None, receive_buffer: int = RECEIVE_BUFFER) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        for option in (getattr(socket, "SO_RCVBUFFORCE", 33), socket.SO_RCVBUF):
            try:
                self._socket.setsockopt(socket.SOL_SOCKET, option, receive_buffer)
                break
            except OSError:  # only root may exceed the system's limit
                continue
        self.unsent = 0
        if bind is not None:
            try:
                self._socket.bind(bind)
            except (OSError, OverflowError, TypeError) as err:
                self._socket.close()
                raise LinkError(f"cannot listen on UDP {bind[0]}:{bind[1]}: {_why(err)}") from err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    @property
    def receive_buffer(self) -> int:
        """Bytes that the kernel granted."""
        return self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)

    def drain(self, most: int) -> list[tuple[bytes, Address]]:
        """Everything that has arrived, up to `most` datagrams."""
        got: list[tuple[bytes, Address]] = []
        receive = self._socket.recvfrom
        try:
            for _ in range(most):
                got.append(receive(65_536))
        except BlockingIOError:
            pass
        except OSError:  # an earlier send met a closed port: nothing was received, nothing is wrong here
            pass
        return got

    def send(self, data: bytes, to: Address) -> None:
        """Hand it to the system. A full buffer or an unreachable host costs this datagram only."""
        try:
            self._socket.sendto(data, to)
        except OSError:
            self.unsent += 1


def resolve(host: str, port: int) -> Address:
    if not 0 <= port <= 65_535:
        raise LinkError(f"cannot use port {port} of {host}: a port is 0 to 65535")
    try:
        found = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as err:
        raise LinkError(f"cannot find the host {host!r}: {_why(err)}; check its name or give its IP address") from err
    address = found[0][4]
    return str(address[0]), int(address[1])


def is_loopback(host: str) -> bool:
    return host == "localhost" or host.startswith("127.")


def _why(err: Exception) -> str:
    why = getattr(err, "strerror", None) or str(err)
    if "in use" in why:
        return "the port is in use; stop the other program or choose another port"
    return str(why)
