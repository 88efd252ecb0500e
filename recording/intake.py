"""What the recorder does with each thing that Core says: which batches wait to be written, and what to answer. Pure."""

import logging
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from typing import Final, NamedTuple

from recording import link
from recording.gathering import check_entry
from wire.errors import CodecError
from wire.record import Entry, unpack_batch

NUMBER_DIGITS: Final = 18  # what fits SQLite's integers
QUEUE_MAX_BYTES: Final = 256 * 1024 * 1024  # while the disk is full; Core keeps what is not acknowledged

log = logging.getLogger(__name__)


class Waiting(NamedTuple):
    """A batch that has arrived and is not on disk."""

    source: str
    number: int
    entries: list[Entry]
    size: int


class Intake:
    """Queues batches in the order of their numbers, each once. `last_batch` is the store's."""

    def __init__(self, last_batch: Callable[[str], int], queue_max_bytes: int = QUEUE_MAX_BYTES) -> None:
        self._last_batch = last_batch
        self._queue_max_bytes = queue_max_bytes
        self._queue: deque[Waiting] = deque()
        self._newest: dict[str, int] = {}  # number last queued, of the sources in the queue
        self._source: str | None = None  # of the Core that spoke last
        self._strayed = False  # an answer to the first batch out of turn is enough
        self.size = 0  # bytes that wait
        self.ended = False
        self.ignored = 0
        self.unreadable = 0

    def __len__(self) -> int:
        return len(self._queue)

    def have(self) -> list[bytes]:
        """What to tell Core at any time. Raises RecordError when the store cannot say."""
        if self._source is None:
            return [link.HAVE, b"", b"0"]
        return [link.HAVE, self._source.encode(), b"%d" % self._last_batch(self._source)]

    def take(self, frames: list[bytes]) -> bool:
        """Act on what Core said; true when it should be told at once what is on disk."""
        try:
            match frames:
                case [link.CORE, source]:
                    self._source = _text(source)
                    return True
                case [link.BATCH, source, number, data]:
                    return self._take_batch(_text(source), _number(number), data)
                case [link.END]:
                    self.ended = True
                    return False
            raise CodecError("unknown kind", f"{len(frames)} frames, the first {frames[0][:20] if frames else b''!r}")
        except CodecError as err:
            log.warning("a message from Core was ignored: %s", err)
            self.ignored += 1
            return False

    def next_write(self, most_bytes: int) -> tuple[str, list[Waiting]]:
        """The oldest batches of one source, in all about `most_bytes`; they stay until `written`."""
        source = self._queue[0].source
        chosen: list[Waiting] = []
        size = 0
        for waiting in takewhile(lambda waiting: waiting.source == source, self._queue):
            chosen.append(waiting)
            size += waiting.size
            if size >= most_bytes:
                break
        return source, chosen

    def written(self, batches: list[Waiting]) -> None:
        for batch in batches:
            self._queue.popleft()
            self.size -= batch.size
            if self._newest.get(batch.source) == batch.number:
                del self._newest[batch.source]

    def _take_batch(self, source: str, number: int, data: bytes) -> bool:
        self._source = source
        newest = self._newest.get(source)
        if newest is None:
            newest = self._last_batch(source)
        full = self.size > 0 and self.size + len(data) > self._queue_max_bytes
        if number != newest + 1 or full:
            self.ignored += 1
            first, self._strayed = not self._strayed, True
            return first
        self._strayed = False
        self._queue.append(Waiting(source, number, self._readable(source, number, data), len(data)))
        self._newest[source] = number
        self.size += len(data)
        return False

    def _readable(self, source: str, number: int, data: bytes) -> list[Entry]:
        """The entries that can be kept. What cannot is acknowledged like the rest, or it would come again for ever."""
        kept: list[Entry] = []
        reasons: list[str] = []
        try:
            for entry in unpack_batch(data):
                try:
                    check_entry(entry)
                except CodecError as err:
                    reasons.append(str(err))
                else:
                    kept.append(entry)
        except CodecError as err:
            reasons.append(str(err))
        if reasons:
            self.unreadable += 1
            log.error(
                "batch %d of %s cannot be recorded whole: %s entries kept, refused: %s",
                number,
                source,
                len(kept),
                "; ".join(reasons[:3]),
            )
        return kept


def _text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as err:
        raise CodecError("wrong shape", "the source is no UTF-8 text") from err
    if not text:
        raise CodecError("wrong shape", "the source is empty")
    return text


def _number(data: bytes) -> int:
    if not (data.isdigit() and len(data) <= NUMBER_DIGITS):
        raise CodecError("wrong shape", f"{data[:20]!r} is no batch number")
    return int(data)
