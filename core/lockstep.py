"""Core in lockstep: all vehicles advance one beat, report, receive advisories, and only then the next beat.

The clock is simulated; with `pace` it is held back to a multiple of real time.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

import zmq

from core.hub import NOTHING, Findings, Hub
from core.ports import Doors
from core.service import finish
from wire.messages import Beat
from wire.words import RunState

log = logging.getLogger(__name__)

PATIENCE_S: Final = 10.0  # a process that does not answer within this is left behind
IDLE_S: Final = 0.05


class Lockstep:
    def __init__(self, hub: Hub, link: "zmq.Socket[bytes]", doors: Doors, stop: Callable[[], bool], pace: float | None) -> None:
        self._hub = hub
        self._link = link
        self._doors = doors
        self._stop = stop
        self._pace = pace  # simulated seconds per second; None for as fast as possible
        self._now_s = 0.0
        self._gone: set[bytes] = set()

    def serve(self, duration_s: float) -> None:
        """Until STOP, which comes by itself after `duration_s` of GO."""
        hub = self._hub
        while hub.run.state != RunState.STOP:
            if self._stop():
                hub.command("stop", self._now_s)
                break
            state = hub.run.state
            self._doors.answer(hub, self._now_s)
            if hub.run.state == RunState.GO and state == RunState.GO:
                self._beat(duration_s)
            elif hub.run.state != state:
                self._exchange(NOTHING)
            else:
                self._idle()
            self._flush()
        self._exchange(NOTHING)
        self._flush()
        finish(self._doors, time.monotonic)

    def _idle(self) -> None:
        """Between runs: hear who arrives, tell the map."""
        if self._link.poll(int(1000 * IDLE_S)):
            self._receive()
        if any(peer.echo < 0 for peer in self._hub.peers.all):
            self._exchange(NOTHING)  # who is new is welcomed and reports
        self._hub.publish(self._hub.check(self._now_s, 0.0).advisories, self._now_s, self._hub.run.t_s(self._now_s))

    def _beat(self, duration_s: float) -> None:
        hub = self._hub
        started_s = time.monotonic()
        t_s = hub.beat * hub.settings.beat_s
        self._now_s = hub.run.due_s(hub.beat)
        findings = hub.check(self._now_s, t_s)
        hub.publish(findings.advisories, self._now_s, t_s)
        hub.next_beat()
        if t_s >= duration_s - 1e-9:
            hub.command("stop", self._now_s)
            return
        self._exchange(findings)
        if self._pace is not None:
            time.sleep(max(0.0, hub.settings.beat_s / self._pace - (time.monotonic() - started_s)))

    def _exchange(self, findings: Findings) -> None:
        """One request to every process, and its answer."""
        hub = self._hub
        hub.tell(findings, self._now_s)
        frames: dict[bytes, list[bytes]] = {
            peer.address: [] for peer in hub.peers.all if isinstance(peer.address, bytes) and peer.address not in self._gone
        }
        for address, data in hub.take_outbox_datagrams():
            if address in frames:
                frames[address].append(data)
        beat = hub.pack(Beat, order=hub.run.order(self._now_s), beat=hub.beat)
        for address, parts in frames.items():
            self._link.send_multipart([address, *parts, beat])
        if hub.run.state == RunState.GO:
            self._now_s = hub.run.due_s(hub.beat)
        self._gather(set(frames))

    def _gather(self, waiting: set[bytes]) -> None:
        until_s = time.monotonic() + PATIENCE_S
        while waiting:
            if not self._link.poll(100):
                if time.monotonic() > until_s or self._stop():
                    log.error("%d processes did not answer a beat within %.0f s; going on without them", len(waiting), PATIENCE_S)
                    self._gone |= waiting
                    return
                continue
            waiting.discard(self._receive())

    def _receive(self) -> bytes:
        address, *frames = self._link.recv_multipart()
        self._hub.receive([(frame, address) for frame in frames], self._now_s)
        return address

    def _flush(self) -> None:
        self._doors.flush(self._hub.take_outbox())
