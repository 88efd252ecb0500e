"""The recorder service: takes numbered batches from Core, writes them to the store, and says which are on disk.

Core keeps every batch until it is acknowledged, so that a recorder may be killed and started again at any time. A disk that
is full or a database that is locked costs time, never a row: what waits is tried again until it is written.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from recording.intake import Intake
from recording.link import Link, ZmqLink
from recording.store import Store, open_store
from wire.errors import RecordError

FLUSH_S: Final = 0.5  # a batch is on disk so long after its arrival
FLUSH_BYTES: Final = 8 * 1024 * 1024  # or sooner, when so much has come
HAVE_S: Final = 0.5  # between two words to Core
RETRY_S: Final = 0.5  # after a write that failed
COMPLAIN_S: Final = 5.0  # between two lines in the log about the same trouble
WAIT_MAX_S: Final = 0.1  # for a message; so soon is a stop noticed
DRAIN_S: Final = 2.0  # at a stop, for what has arrived already
LAST_TRIES_S: Final = 10.0  # at a stop, for a store that refuses

Clock = Callable[[], float]

log = logging.getLogger(__name__)


class Served(NamedTuple):
    """How it went, in batches."""

    written: int
    unreadable: int  # acknowledged, though something in them could not be kept
    ignored: int  # out of turn or not understood; Core sends them again
    left: int  # arrived, but not on disk: Core has no acknowledgement for them


def serve(link: Link, store: Store, stop: threading.Event, *, flush_s: float = FLUSH_S, now: Clock) -> Served:
    """Record until Core says that no more will come, or until `stop` is set and what has arrived is on disk."""
    recorder = _Recorder(link, store, flush_s, now)
    while not stop.is_set() and not recorder.done:
        recorder.step()
    if not recorder.done:
        recorder.finish()
    return recorder.served()


def run_recorder(endpoint: str, where: str, stop: threading.Event) -> int:
    """Record what Core at `endpoint` sends into the record `where`; 0 when all that arrived is on disk.

    Raises RecordError or LinkError when it cannot even begin.
    """
    with open_store(where, create=True) as store, ZmqLink(endpoint) as link:
        log.info("recording from %s into %s", endpoint, where)
        served = serve(link, store, stop, now=time.monotonic)
    log.info("recorder stops: %d batches written, %d unreadable, %d ignored, %d left", *served)
    return 1 if served.left else 0


class _Recorder:
    """The loop's body and what it remembers from one turn to the next."""

    def __init__(self, link: Link, store: Store, flush_s: float, now: Clock) -> None:
        self._link = link
        self._store = store
        self._flush_s = flush_s
        self._now = now
        self._intake = Intake(store.last_batch)
        self._have_due_s = now()
        self._flush_due_s: float | None = None
        self._complain_due_s: float | None = None  # None while all is well
        self._written = 0

    @property
    def done(self) -> bool:
        return self._intake.ended and not self._intake

    def served(self) -> Served:
        return Served(self._written, self._intake.unreadable, self._intake.ignored, len(self._intake))

    def step(self) -> None:
        """Wait for one message, at most WAIT_MAX_S, and do what is due."""
        if self._now() >= self._have_due_s:
            self._say_have()
        due_s = self._have_due_s if self._flush_due_s is None else min(self._have_due_s, self._flush_due_s)
        self._take(min(due_s - self._now(), WAIT_MAX_S))
        if self._is_flush_due():
            self._flush()
        elif self.done:
            self._say_have()

    def finish(self) -> None:
        """Take what has arrived, write it, and say so."""
        until_s = self._now() + DRAIN_S
        while self._now() < until_s and self._take(0.0):
            pass
        until_s = self._now() + LAST_TRIES_S
        while self._intake and self._now() < until_s:
            if not self._flush():
                self._take(RETRY_S)
        if self._intake:
            log.error("stopped with %d batches that could not be written; Core still has them", len(self._intake))

    def _is_flush_due(self) -> bool:
        if self._flush_due_s is None:
            return False
        at_once = self._intake.ended or self._intake.size >= FLUSH_BYTES
        return self._now() >= self._flush_due_s or (at_once and self._complain_due_s is None)

    def _take(self, timeout_s: float) -> bool:
        """Whether something came."""
        frames = self._link.receive(max(0.0, timeout_s))
        if frames is None:
            return False
        try:
            if self._intake.take(frames):
                self._say_have()
        except RecordError as err:
            self._complain(err)
        if self._intake and self._flush_due_s is None:
            self._flush_due_s = self._now() + self._flush_s
        return True

    def _flush(self) -> bool:
        """Write all that waits, in transactions of FLUSH_BYTES; false when the store refused."""
        while self._intake:
            source, batches = self._intake.next_write(FLUSH_BYTES)
            try:
                self._store.write([(batch.number, batch.entries) for batch in batches], source)
            except RecordError as err:
                self._complain(err)
                self._flush_due_s = self._now() + RETRY_S
                return False
            self._intake.written(batches)
            self._written += len(batches)
            if self._complain_due_s is not None:
                log.info("the record can be written again")
                self._complain_due_s = None
        self._flush_due_s = None
        self._say_have()
        return True

    def _say_have(self) -> None:
        self._have_due_s = self._now() + HAVE_S
        try:
            self._link.send(self._intake.have())
        except RecordError as err:
            self._complain(err)

    def _complain(self, err: RecordError) -> None:
        if self._complain_due_s is None or self._now() >= self._complain_due_s:
            log.error("%s; %d batches wait and are tried again", err, len(self._intake))
            self._complain_due_s = self._now() + COMPLAIN_S
