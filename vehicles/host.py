"""The vehicle side of the conversation with Core, without sockets: datagrams and times in, datagrams out.

The real-time process, the lockstep process and the tests all drive this one.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from vehicles.clock import SoftRealTime
from vehicles.fleet import NO_ADVISORIES, Fleet, Heard
from vehicles.spec import introduction
from wire.codec import HEADER_BYTES, pack, unpack
from wire.errors import CodecError
from wire.messages import Advisories, Hello, Introduction, Message, Order, States, Welcome
from wire.rows import ADVISORY, STATE, Rows, unpack_rows
from wire.words import UNKNOWN_U8, RunState

log = logging.getLogger(__name__)

READY_S: Final = 1.0  # between two reports in READY
HELLO_S: Final = 0.5  # between two tries to be welcomed
HOLD_S: Final = 0.5  # how long advisories hold without news from Core
SILENT_S: Final = 3.0  # without a word from Core we introduce ourselves again
FAREWELLS: Final = 3  # times the last word is said, as one may be lost
START: Final = Order(0, RunState.READY, 0.0, 1.0, "")


class Host:
    def __init__(
        self, fleet: Fleet, *, sender: int, datagram_bytes: int, clock: Callable[[], float], unix: Callable[[], float]
    ) -> None:
        self.fleet = fleet
        self.order = START
        self.finished = False
        self._report_s = clock()  # when the next report is due
        self.refused = 0  # datagrams from Core that could not be read
        self.pace = SoftRealTime(fleet.beat_s, clock())
        self._sender = sender
        self._rows_most = max(1, (datagram_bytes - HEADER_BYTES) // STATE.itemsize)
        self._clock = clock
        self._unix = unix
        self._seq = 0
        self._parts = list(_parts([introduction(spec) for spec in fleet.specs], datagram_bytes))
        self._unwelcomed = set(range(len(self._parts)))
        self._hello_s = clock()
        self._core = -1  # Core's sender id, once it has spoken
        self._core_heard_s = clock()
        self._advisories: Rows = NO_ADVISORIES
        self._advised = (0.0, 0.0)  # simulation time they belong to, clock when they came
        self._heard: list[Heard] = []
        self._beats = 0
        self._holds_at = 0  # beat at which PAUSE holds
        self._under_way = False

    @property
    def due_s(self) -> float:
        """When `tick` is wanted next."""
        return min(self._report_s, self._hello_s) if self._unwelcomed else self._report_s

    def receive(self, data: bytes) -> None:
        """One datagram from Core. A bad one costs a count and a log line."""
        try:
            message = unpack(data)
            packed = unpack_rows(message.packed, ADVISORY) if isinstance(message, Advisories) else NO_ADVISORIES
        except CodecError as err:
            self.refused += 1
            log.warning("datagram from Core dropped: %s", err)
            return
        if isinstance(message, (Hello, States)):
            self.refused += 1
            return
        self._notice_core(message.sender)
        if isinstance(message, Message):
            self._heard.append(Heard(message.to_vid, message.from_vid, message.t_s, message.text))
            return
        self._obey(message.order)
        if isinstance(message, Welcome):
            self._unwelcomed.discard(message.part)
            if message.refused:
                log.error("Core refuses vid %s: another process reports them", ", ".join(map(str, message.refused)))
                self._unwelcomed.add(message.part)  # ask again: the other one may fall silent
        elif isinstance(message, Advisories):
            self._take(packed, message.order.t_s)

    def tick(self) -> list[bytes]:
        """Do what is due in real time and say when to call again (`due_s`)."""
        now_s = self._clock()
        out = self._greet(now_s)
        if now_s < self._report_s:
            return out
        if self._moves():
            if self._clock() - self._advised[1] > HOLD_S / self.order.rate:
                self._advisories = NO_ADVISORIES
            if self._under_way:
                out += self._advance()
            self._under_way = True
            out += self._states(round(100.0 * self.pace.margin))
            now_s = self._clock()
            self._report_s = now_s + self.pace.sleep_s(now_s, self._beats)
            return out
        out += self._states(UNKNOWN_U8)
        if self.order.state == RunState.STOP:
            out = out + [data for _ in range(FAREWELLS - 1) for data in self._states(UNKNOWN_U8)]
            self.finished = True
        interval_s = READY_S if self.order.state == RunState.READY else self.fleet.beat_s
        self._report_s = now_s + interval_s / self.order.rate
        return out

    def beat(self, beat: int) -> list[bytes]:
        """Lockstep: bring the fleet to this beat and report. Core decides when."""
        out: list[bytes] = []
        if self.order.state == RunState.GO and self._beats < beat:
            out = self._advance()
        if self.order.state == RunState.STOP:
            self.finished = True
        return out + self._states(UNKNOWN_U8)

    def hello(self) -> list[bytes]:
        """Every part of the introduction that Core has not yet welcomed."""
        return [
            self._pack(Hello, part=part, parts=len(self._parts), order=self.order, vehicles=self._parts[part])
            for part in sorted(self._unwelcomed)
        ]

    def _greet(self, now_s: float) -> list[bytes]:
        if now_s - self._core_heard_s > SILENT_S and not self._unwelcomed:
            self._unwelcomed = set(range(len(self._parts)))
            log.warning("Core has been silent for %.0f s; going on without it and trying again", SILENT_S)
        if not self._unwelcomed or now_s < self._hello_s:
            return []
        self._hello_s = now_s + HELLO_S
        return self.hello()

    def _notice_core(self, sender: int) -> None:
        self._core_heard_s = self._clock()
        if sender != self._core:
            if self._core != -1:
                log.warning("another Core answers; introducing ourselves again")
                self._unwelcomed = set(range(len(self._parts)))
                self._hello_s = 0.0
            self._core = sender

    def _obey(self, order: Order) -> None:
        if order.number <= self.order.number:
            return
        self.order = order
        now_s = self._clock()
        self._report_s = now_s
        if order.state == RunState.SET:
            self.fleet.reset()
            self._beats = 0
            self._advisories = NO_ADVISORIES
            self._heard.clear()
        elif order.state == RunState.GO:
            self.pace = SoftRealTime(self.fleet.beat_s / order.rate, now_s - order.t_s / order.rate)
            if order.t_s > (self._beats + 1) * self.fleet.beat_s:
                self._beats = round(order.t_s / self.fleet.beat_s)  # joining a run under way
                self.fleet.start_at(self._beats)
            self._under_way = False  # first report where we stand, when the countdown is over
            self._report_s = self.pace.start_s + self._beats * self.pace.interval_s
        elif order.state == RunState.PAUSE:
            self._holds_at = round(order.t_s / self.fleet.beat_s)

    def _moves(self) -> bool:
        """In GO, and in PAUSE until the beat at which all hold."""
        if self.order.state == RunState.GO:
            return True
        return self.order.state == RunState.PAUSE and 0 < self._beats < self._holds_at

    def _take(self, rows: Rows, t_s: float) -> None:
        """Datagrams of the same beat add up; those of a newer one replace."""
        same = len(rows) > 0 and len(self._advisories) > 0 and t_s == self._advised[0]
        self._advisories = np.concatenate([self._advisories, rows]) if same else rows
        self._advised = (t_s, self._clock())

    def _advance(self) -> list[bytes]:
        heard, self._heard = self._heard, []
        said = self.fleet.advance(self._advisories, heard)
        self._beats += 1
        return [self._pack(Message, **message._asdict()) for message in said]

    def _states(self, margin_pct: int) -> list[bytes]:
        rows = self.fleet.rows(self.order.state, margin_pct)
        return [
            self._pack(States, order_number=self.order.number, packed=rows[i : i + self._rows_most].tobytes())
            for i in range(0, len(rows), self._rows_most)
        ]

    def _pack(self, kind: type, **body: Any) -> bytes:
        self._seq += 1
        return pack(kind(sender=self._sender, seq=self._seq, t_sent_s=self._unix(), **body))


def _parts(vehicles: list[Introduction], datagram_bytes: int) -> Iterator[tuple[Introduction, ...]]:
    """Introductions in portions that fit into a datagram each."""
    part: list[Introduction] = []
    size = HEADER_BYTES
    for vehicle in vehicles:
        more = 40 + len(vehicle.name.encode()) + sum(len(b.encode()) + 2 for b in vehicle.behaviours)
        if part and size + more > datagram_bytes:
            yield tuple(part)
            part, size = [], HEADER_BYTES
        part.append(vehicle)
        size += more
    yield tuple(part)
