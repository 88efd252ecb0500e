"""Core without sockets: datagrams, commands and times in; datagrams, published State and record entries out."""

import logging
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.advise import Snapshot, avoid_rows, snapshot, wanted_rows
from core.notices import Notice, Notices
from core.peers import Peer, Peers
from core.proximity import FEW, warm_up
from core.radio import Post, Radio
from core.run_states import Run
from core.settings import CoreSettings
from core.state import State
from core.tally import Tally
from wire.codec import HEADER_BYTES, pack, unpack
from wire.errors import CodecError, CommandError
from wire.messages import Advisories, Hello, Introduction, Message, RunOrder, States, Welcome
from wire.publish import Event, Published, Roster, StateFrame
from wire.record import AdvisoriesWent, Entry, Happened, RowsCame, RunBegins, RunEnds
from wire.rows import ADVISORY, STATE, Rows, empty_rows
from wire.words import Advice, Condition, RunState

log = logging.getLogger(__name__)

REPEAT_S: Final = 0.2  # an order is repeated this often to who has not echoed it
ALIVE_S: Final = 1.0  # and everybody gets a word at least this often
ROSTER_S: Final = 2.0
READY_S: Final = 1.0  # vehicles report this often in READY
STOP_S: Final = 3.0  # how long STOP waits for the last echo
STRANGERS_MOST: Final = 100  # that are answered per beat
NO_ROWS: Final = empty_rows(0, ADVISORY)
NO_WANTS: Final = np.zeros((0, 2), dtype=np.int64)


class Findings(NamedTuple):
    """What a check leads to."""

    advisories: Rows
    posts: Sequence[Post]  # vehicle-to-vehicle messages that arrive now


NOTHING: Final = Findings(NO_ROWS, ())


@dataclass(slots=True)
class Outbox:
    datagrams: list[tuple[Hashable, bytes]] = field(default_factory=list)
    published: list[Published] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


class Hub:
    def __init__(self, settings: CoreSettings, *, sender: int, unix: Callable[[], float], new_run_id: Callable[[], str]) -> None:
        self.settings = settings
        self.state = State()
        self.peers = Peers()
        self.tally = Tally()
        self.run = Run(beat_s=settings.beat_s, rate=settings.rate, countdown_s=settings.countdown_s)
        self.beat = 0  # of GO: the next check is for this one
        self.reported = 0  # rows of that beat that have come
        self._out = Outbox()
        self._sender = sender
        self._unix = unix
        self._new_run_id = new_run_id
        self._seq = 0
        self._radio = Radio(settings.radio, settings.seed)
        self._said: list[Message] = []
        self._wants = {Advice.FOLLOW: NO_WANTS, Advice.TARGET: NO_WANTS}
        self._roster_s = -1e9
        self._notices = Notices()
        self._aligned = True
        self._stopped_s: float | None = None
        self._strangers: set[Hashable] = set()  # who reports without having said hello

    # ---- in

    def receive(self, datagrams: Sequence[tuple[bytes, Hashable]], now_s: float) -> None:
        """Everything that was drained at once. A bad datagram costs a count and nothing else."""
        states: list[tuple[States, Peer]] = []
        for data, address in datagrams:
            self.tally.datagrams += 1
            try:
                message = unpack(data)
                if isinstance(message, States):
                    states.append((message, self._peer_of(message, address)))
                elif isinstance(message, Hello):
                    self._greet(message, address, now_s)
                elif isinstance(message, Message):
                    self._hear(message, self._peer_of(message, address))
                else:
                    raise CodecError("wrong direction", f"kind {message.KIND}")
            except CodecError as err:
                self.refuse(err.reason, str(err))
        if states:
            self._take(states, now_s)

    def refuse(self, reason: str, detail: str = "", count: int = 1) -> None:
        if self.tally.refused[reason] < 3:
            log.warning("refused: %s", detail or reason)
        self.tally.refused[reason] += count

    def command(self, word: str, now_s: float, text: str = "") -> str:
        """An operator's word; what came of it. Raises CommandError when it is not legal or not known."""
        word = word.lower()
        if word == "note":
            if not text.strip():
                raise CommandError("a note needs a text")
            self._happen("note", now_s, text=text[:2000])
            return "noted"
        try:
            to = RunState[word.upper()]
        except KeyError:
            raise CommandError(f"unknown command {word[:40]!r}; known are ready, set, go, pause, stop, note") from None
        self._leave_run(to, now_s)
        self.run.change(to, now_s, self._new_run_id() if to == RunState.SET else "")
        self._enter(to, now_s)
        behind = sum(peer.echo < self.run.number - 1 for peer in self._active(now_s))
        missing = self.settings.expected - self.state.count if self.settings.expected else 0
        answer = to.name
        if missing > 0:
            answer += f"; {missing} of {self.settings.expected} vehicles have not reported yet"
        if behind:
            answer += f"; {behind} processes have not answered the last command yet"
        return answer

    def admit(self, rows: Rows, owner: int, now_s: float) -> None:
        """Rows of a vehicle host in the same process, as if they had come in a datagram with the newest order."""
        owners = np.full(len(rows), owner, dtype=np.int32)
        numbers = np.full(len(rows), self.run.number, dtype=np.int64)
        self._take_rows(rows, owners, numbers, now_s)

    def introduce(self, vehicles: Sequence[Introduction], peer: Peer) -> list[int]:
        """Give these vehicles to a process; the vids that belong to another one."""
        refused = [vehicle.vid for vehicle in vehicles if not self.state.introduce(vehicle, peer.index)]
        for advice, name in ((Advice.FOLLOW, "follows"), (Advice.TARGET, "searches")):
            wants = [(v.vid, getattr(v, name)) for v in self.state.roster if getattr(v, name) is not None]
            self._wants[advice] = np.array(wants, dtype=np.int64).reshape(-1, 2)
        self._roster_s = -1e9
        if self.state.count > FEW:
            warm_up()  # now, so that no beat waits for compiled code
        return refused

    def say(self, message: Message) -> None:
        """A vehicle-to-vehicle message whose sender has been checked."""
        self._said.append(message)

    # ---- beat

    def is_complete(self) -> bool:
        """Whether everybody who is heard of has reported the beat that is due."""
        return self.reported >= int(np.count_nonzero(self.state.condition <= Condition.LATE))

    def check(self, now_s: float, t_s: float) -> Findings:
        """Look at State as it is at simulation time t_s: who must be told what. `tell` and `publish` pass it on."""
        settings = self.settings
        slack_s = READY_S if self.run.state == RunState.READY else 0.0
        limits_s = (settings.late_s + slack_s, settings.stale_s + slack_s, settings.lost_s + slack_s)
        self._note(self._notices.conditions(self.state, self.state.grade(now_s, limits_s)), now_s)
        if self.run.state != RunState.GO or t_s < 0.0:
            return NOTHING
        return self._advise(now_s, t_s)

    def next_beat(self) -> None:
        self.beat += 1
        self.reported = 0
        self.tally.beats += 1

    def is_over(self, now_s: float) -> bool:
        """After STOP: whether all have echoed it, or have had the time to."""
        if self._stopped_s is None:
            return False
        return now_s - self._stopped_s > STOP_S or all(peer.stopped for peer in self._active(now_s))

    def take_outbox(self) -> Outbox:
        out, self._out = self._out, Outbox()
        return out

    def take_outbox_datagrams(self) -> list[tuple[Hashable, bytes]]:
        """Only what goes to the vehicles; the rest stays."""
        datagrams, self._out.datagrams = self._out.datagrams, []
        return datagrams

    # ---- inner parts

    def _peer_of(self, message: States | Message, address: Hashable) -> Peer:
        peer = self.peers.find(message.sender)
        if peer is None:
            if len(self._strangers) < STRANGERS_MOST:
                self._strangers.add(address)
            raise CodecError("not introduced", f"sender {message.sender} has not said hello")
        if peer.address != address:
            if isinstance(address, tuple) and isinstance(peer.address, tuple) and address[0] != peer.address[0]:
                raise CodecError("vid of another sender", f"sender {message.sender} speaks from another host")
            peer.address = address  # a NAT may give a new port
        self.tally.lost += peer.count(message.seq)
        return peer

    def _greet(self, hello: Hello, address: Hashable, now_s: float) -> None:
        peer = self.peers.welcome(hello.sender, address)
        if peer is None:
            raise CodecError("too many senders")
        peer.count(hello.seq)
        peer.heard_s = now_s
        if hello.order.number > self.run.number and not self.run.commanded:
            self.run.adopt(hello.order, now_s)
            self._aligned = False
            log.warning("taking over run %s in %s from the vehicles", hello.order.run_id, hello.order.state.name)
            self._happen("core_took_over", now_s, run_state=hello.order.state.name)
        refused = self.introduce(hello.vehicles, peer)
        for vid in refused:
            self.refuse("vid of another sender", f"vid {vid} is reported by another process")
        self._send(peer, Welcome, now_s, order=self.run.order(now_s), part=hello.part, refused=tuple(refused))

    def _hear(self, message: Message, peer: Peer) -> None:
        place = self.state.index_of(message.from_vid)
        if place < 0 or self.state.owner[place] != peer.index:
            raise CodecError("vid of another sender", f"a message in the name of vid {message.from_vid}")
        self._said.append(message)

    def _take(self, states: list[tuple[States, Peer]], now_s: float) -> None:
        """Join what came, decode it with one frombuffer, judge and store it as arrays."""
        whole = []
        for message, peer in states:
            if len(message.packed) % STATE.itemsize:
                self.refuse("cut row", f"{len(message.packed)} bytes are not whole rows of {STATE.itemsize}")
                continue
            peer.heard_s = now_s
            peer.echo = max(peer.echo, message.order_number)
            whole.append((message, peer))
        if not whole:
            return
        rows = np.frombuffer(b"".join(message.packed for message, _ in whole), dtype=STATE)
        sizes = np.array([len(message.packed) // STATE.itemsize for message, _ in whole])
        owners = np.repeat(np.array([peer.index for _, peer in whole], dtype=np.int32), sizes)
        numbers = np.repeat(np.array([message.order_number for message, _ in whole], dtype=np.int64), sizes)
        self._take_rows(rows, owners, numbers, now_s)

    def _take_rows(self, rows: Rows, owners: NDArray[np.int32], numbers: NDArray[np.int64], now_s: float) -> None:
        place, refused = self.state.judge(rows, owners, self.settings.reach_m)
        for reason, count in refused.items():
            self.refuse(reason, count=count)
        good = place >= 0
        if refused:
            rows, place, numbers, owners = rows[good], place[good], numbers[good], owners[good]
        if not len(rows):
            return
        late = self.state.update(rows, place, numbers, now_s)
        self.tally.late_rows += int(np.count_nonzero(late))
        running = rows["run_state"] == RunState.GO
        if not self._aligned and running.any():
            self._aligned = True
            self.run.align(float(rows["t_s"][running].max()), now_s)
            self.beat = round(float(rows["t_s"][running].max()) / self.settings.beat_s) + 1
        self.reported += int(np.count_nonzero(running & ~late & (rows["t_s"] >= (self.beat - 0.5) * self.settings.beat_s)))
        if self.run.state == RunState.STOP:
            for owner in np.unique(owners[rows["run_state"] == RunState.STOP]).tolist():
                self.peers.all[owner].stopped = True
        if self.run.run_id:
            self._record_rows(rows, numbers, now_s)

    def _record_rows(self, rows: Rows, numbers: NDArray[np.int64], now_s: float) -> None:
        ours = numbers >= self.run.set_number
        if not ours.all():
            rows = rows[ours]
        if len(rows):
            self.tally.rows += len(rows)
            self.tally.take_margins(rows["margin_pct"])
            self._out.entries.append(RowsCame(run_id=self.run.run_id, unix_s=self._unix(), packed=rows.tobytes()))

    def _leave_run(self, to: RunState, now_s: float) -> None:
        """A run ends with STOP, and when it is armed anew or sent back to READY."""
        if self.run.run_id and to in (RunState.STOP, RunState.SET, RunState.READY) and self.run.state != RunState.READY:
            if to == RunState.SET and self.run.state != RunState.PAUSE:
                return
            if to == RunState.READY and self.run.state not in (RunState.SET, RunState.PAUSE):
                return
            summary = self.tally.summary() | {"t_s": max(0.0, self.run.t_s(now_s)), "ended_by": to.name}
            self._out.entries.append(RunEnds(run_id=self.run.run_id, unix_s=self._unix(), summary=summary))

    def _enter(self, to: RunState, now_s: float) -> None:
        if to == RunState.SET:
            self.tally.begin_run()
            self._radio.reset()
            self._said.clear()
            self._notices = Notices()
            self.beat = self.reported = 0
            head = dict(self.settings.head) | {"vehicles": self.state.listing([peer.lost for peer in self.peers.all])}
            self._out.entries.append(RunBegins(run_id=self.run.run_id, unix_s=self._unix(), head=head))
        if to == RunState.STOP:
            self._stopped_s = now_s
        log.info("run state %s", to.name)
        self._happen("run_state", now_s, run_state=to.name)
        for peer in self.peers.all:
            peer.told_s = -1e9  # tell everybody at once
        self.tell(NOTHING, now_s)

    def _advise(self, now_s: float, t_s: float) -> Findings:
        now = snapshot(self.state, t_s, self.settings.lost_s)
        rows, pairs, held_back = avoid_rows(self.state, now, t_s, self.settings.avoid_lengths, self.settings.max_per_vehicle)
        self.tally.held_back += held_back
        self.tally.take_closest(self.state.rows, now, pairs, t_s)
        self._note(self._notices.pairs(rows), now_s)
        found = self._notices.detections(self.state)
        self.tally.detections += len(found)
        self._note(found, now_s)
        posts = self._relay(now, now_s, t_s)
        wanted = [wanted_rows(self.state, now, t_s, wants, advice) for advice, wants in self._wants.items() if len(wants)]
        if wanted:
            rows = np.concatenate([rows, *wanted])
        self.tally.advisories += len(rows)
        if len(rows) and self.run.run_id:
            self._out.entries.append(AdvisoriesWent(run_id=self.run.run_id, unix_s=self._unix(), packed=rows.tobytes()))
        return Findings(rows, posts)

    def _relay(self, now: Snapshot, now_s: float, t_s: float) -> list[Post]:
        for message in self._said:
            heard, lost = self._radio.say(message.from_vid, message.to_vid, message.t_s, message.text, self.state, now)
            self.tally.messages += 1
            self._happen("message", now_s, from_vid=message.from_vid, text=message.text, heard=heard, lost=lost)
        self._said.clear()
        return self._radio.due(t_s)

    def _active(self, now_s: float) -> list[Peer]:
        return [peer for peer in self.peers.all if now_s - peer.heard_s <= self.settings.stale_s + READY_S]

    def tell(self, findings: Findings, now_s: float) -> None:
        """Advisories to the processes they concern, a clearance to those that no longer have any, orders to the rest."""
        order = self.run.order(now_s)
        advisories = findings.advisories
        for address in self._strangers:  # they knew another Core: a word from this one makes them say hello
            self._out.datagrams.append((address, self.pack(RunOrder, order=order)))
        self._strangers.clear()
        for post in findings.posts:
            peer = self.peers.all[int(self.state.owner[self.state.index_of(post.to_vid)])]
            self._send(peer, Message, now_s, from_vid=post.from_vid, to_vid=post.to_vid, t_s=post.t_s, text=post.text)
        owners = self.state.owner[self.state.indices_of(advisories["to_vid"])] if len(advisories) else np.zeros(0, np.int32)
        sort = np.argsort(owners, kind="stable")
        advisories, owners = advisories[sort], owners[sort]
        advised = set(np.unique(owners).tolist())
        most = max(1, (self.settings.datagram_bytes - HEADER_BYTES) // ADVISORY.itemsize)
        for peer in self.peers.all:
            if peer.index in advised:
                first, last = np.searchsorted(owners, [peer.index, peer.index + 1])
                for i in range(first, last, most):
                    packed = advisories[i : min(last, i + most)].tobytes()
                    self._send(peer, Advisories, now_s, order=order, packed=packed)
                peer.advised = True
            elif peer.advised:
                self._send(peer, Advisories, now_s, order=order, packed=b"")
                peer.advised = False
            elif now_s - peer.told_s >= (REPEAT_S if peer.echo < self.run.number else ALIVE_S):
                self._send(peer, RunOrder, now_s, order=order)

    def pack(self, kind: type, **body: Any) -> bytes:
        """A datagram from this Core."""
        self._seq += 1
        return pack(kind(sender=self._sender, seq=self._seq, t_sent_s=self._unix(), **body))

    def _send(self, peer: Peer, kind: type, now_s: float, **body: Any) -> None:
        peer.told_s = now_s
        self._out.datagrams.append((peer.address, self.pack(kind, **body)))

    def publish(self, advisories: Rows, now_s: float, t_s: float) -> None:
        head = {
            "t_s": max(0.0, t_s),
            "unix_s": self._unix(),
            "run_state": self.run.state.name,
            "run_id": self.run.run_id,
            "beat": self.beat,
            "rate": self.settings.rate,
            "datagrams": self.tally.datagrams,
            **self.tally.summary(),
        }
        seen = self.state.reported
        frame = StateFrame(
            head=head,
            rows=self.state.rows[seen],
            conditions=self.state.condition[seen],
            advisories=advisories[advisories["advice"] == Advice.AVOID],
        )
        self._out.published.append(frame)
        if now_s - self._roster_s >= ROSTER_S:
            self._roster_s = now_s
            self._out.published.append(Roster(vehicles=self.state.listing([peer.lost for peer in self.peers.all])))

    def _note(self, notices: list[Notice], now_s: float) -> None:
        for notice in notices:
            self._happen(notice.what, now_s, **notice.detail)

    def _happen(self, what: str, now_s: float, **detail: Any) -> None:
        unix_s, t_s = self._unix(), max(0.0, self.run.t_s(now_s))
        self._out.published.append(Event(t_s=t_s, unix_s=unix_s, what=what, detail=detail))
        if self.run.run_id:
            self._out.entries.append(Happened(run_id=self.run.run_id, unix_s=unix_s, t_s=t_s, what=what, detail=detail))
