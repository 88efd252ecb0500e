"""Core's end of the line to the recorder: numbered batches, kept until the recorder has them on disk.

A recorder that is slow, away or newly started costs Core memory up to a limit, never time; what no longer fits is counted.
"""

import logging
from collections import deque
from typing import Final

import zmq

from wire.errors import LinkError
from wire.record import Entry, pack_batch

log = logging.getLogger(__name__)

WINDOW: Final = 64  # batches on their way at once
KEEP_BYTES: Final = 1 << 30
REPEATS: Final = 6  # a recorder that says the same so often, 0.5 s apart, has not got what was sent: send it anew


class RecordLink:
    """A ROUTER that the recorder connects to. The protocol is described in docs/wire.md."""

    def __init__(
        self, context: "zmq.Context[zmq.Socket[bytes]]", host: str, port: int, source: str, keep_bytes: int = KEEP_BYTES
    ) -> None:
        self.socket = context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.port = bind(self.socket, host, port)
        self.kept_bytes = 0
        self.dropped_entries = 0
        self._source = source.encode()
        self._keep_bytes = keep_bytes
        self._kept: deque[tuple[int, int, bytes]] = deque()  # number, entries, data; oldest first
        self._number = 0
        self._sent = 0  # newest number on its way
        self._recorder: bytes | None = None
        self._have = -1
        self._repeats = 0

    @property
    def waiting(self) -> int:
        """Batches that are not on disk yet."""
        return len(self._kept)

    def keep(self, entries: list[Entry]) -> None:
        """Take over what must be recorded."""
        if not entries:
            return
        data = pack_batch(entries)
        if self.kept_bytes + len(data) > self._keep_bytes:
            if not self.dropped_entries:
                log.error("the recorder is %d MB behind: what comes now is not recorded", self.kept_bytes >> 20)
            self.dropped_entries += len(entries)
            return
        self._number += 1
        self._kept.append((self._number, len(entries), data))
        self.kept_bytes += len(data)

    def serve(self) -> None:
        """Hear what the recorder has, forget that, and send what it lacks. Never waits."""
        while True:
            try:
                identity, *frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            self._hear(identity, frames)
        if self._recorder is None:
            return
        have = self._kept[0][0] - 1 if self._kept else self._number
        while self._sent < self._number and self._sent - have < WINDOW:
            number, _, data = self._kept[self._sent - have]
            self._send([b"batch", self._source, b"%d" % number, data])
            self._sent = number

    def end(self) -> None:
        """No more will come."""
        self._send([b"end"])

    def close(self) -> None:
        self.socket.close()

    def _hear(self, identity: bytes, frames: list[bytes]) -> None:
        if len(frames) != 3 or frames[0] != b"have" or not frames[2].isdigit() or len(frames[2]) > 18:
            log.warning("something other than a recorder speaks on the record port")
            return
        _, source, number = frames
        have = int(number)
        if source != self._source:
            self.socket.send_multipart([identity, b"core", self._source])
            return
        self._repeats = self._repeats + 1 if have == self._have else 0
        self._have = have
        if identity != self._recorder or self._repeats >= REPEATS:
            self._recorder = identity
            self._sent = have
            self._repeats = 0
        while self._kept and self._kept[0][0] <= have:
            self.kept_bytes -= len(self._kept.popleft()[2])
        self._sent = max(self._sent, have)

    def _send(self, frames: list[bytes]) -> None:
        if self._recorder is not None:
            self.socket.send_multipart([self._recorder, *frames], zmq.NOBLOCK)


def bind(socket: "zmq.Socket[bytes]", host: str, port: int) -> int:
    """Listen on TCP; port 0 takes any free one. The port in use. Raises LinkError in one sentence."""
    try:
        if port:
            socket.bind(f"tcp://{host}:{port}")
            return port
        return int(socket.bind_to_random_port(f"tcp://{host}"))
    except zmq.ZMQError as err:
        socket.close()
        what = "the port is in use; stop the other program or choose another port" if err.errno == zmq.EADDRINUSE else str(err)
        raise LinkError(f"cannot listen on TCP {host}:{port}: {what}") from err
