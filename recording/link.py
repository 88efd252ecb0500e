"""The recorder's link to Core: lists of frames, in order, both ways. Core binds a ROUTER, the recorder connects a DEALER.

Recorder to Core
  have  source · number   batches of this source are on disk up to this number; an empty source says only: I am here
Core to recorder
  core  source            my source is this
  batch source · number · data   `data` is made by wire.record.pack_batch; numbers count from 1, without gaps
  end                     no more will come
A number is ASCII decimal, a source is UTF-8 text.
"""

from collections import deque
from contextlib import suppress
from typing import Final, Protocol, Self

import zmq

from wire.errors import LinkError

HAVE: Final = b"have"
CORE: Final = b"core"
BATCH: Final = b"batch"
END: Final = b"end"

LINGER_MS: Final = 1_000  # for the last word to leave
HAVES_WAITING: Final = 8  # while Core is away; each is soon out of date and said again


class Link(Protocol):
    def receive(self, timeout_s: float) -> list[bytes] | None:
        """The next frames from Core, or None when none came in time."""
        ...

    def send(self, frames: list[bytes]) -> None:
        """To Core, or nowhere while Core is away. Never blocks."""
        ...


class MemoryLink:
    """A link without a socket: a test puts what Core says into `arriving` and finds the answers in `sent`."""

    def __init__(self, arriving: list[list[bytes]] | None = None) -> None:
        self.arriving = deque(arriving or [])
        self.sent: list[list[bytes]] = []

    def receive(self, timeout_s: float) -> list[bytes] | None:
        return self.arriving.popleft() if self.arriving else None

    def send(self, frames: list[bytes]) -> None:
        self.sent.append(frames)


class ZmqLink:
    """`with` closes it, after at most LINGER_MS."""

    def __init__(self, endpoint: str) -> None:
        self._context = zmq.Context()
        self._socket: zmq.Socket[bytes] = self._context.socket(zmq.DEALER)
        self._socket.linger = LINGER_MS
        self._socket.sndhwm = HAVES_WAITING
        try:
            self._socket.connect(endpoint)
        except (zmq.ZMQError, ValueError) as err:
            self.close()
            raise LinkError(f"cannot connect to Core at {endpoint!r}: {err}; it looks like tcp://host:port") from err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()
        self._context.term()

    def receive(self, timeout_s: float) -> list[bytes] | None:
        if not self._socket.poll(max(0, round(timeout_s * 1000.0))):
            return None
        return self._socket.recv_multipart()

    def send(self, frames: list[bytes]) -> None:
        with suppress(zmq.Again):  # Core is away: it hears the next one
            self._socket.send_multipart(frames, zmq.NOBLOCK)
