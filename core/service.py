"""Core in real time: one loop over the vehicle socket, the doors and the clock."""

import logging
import math
import time
from collections.abc import Callable
from typing import Final

import zmq

from core.hub import Hub
from core.ports import Doors
from wire.udp import UdpSocket
from wire.words import RunState

log = logging.getLogger(__name__)

DRAIN_MOST: Final = 20_000  # datagrams at a time, so that commands are heard under a flood
BATCH_S: Final = 0.001  # with many processes: let datagrams gather before the next drain
MANY: Final = 16
LINGER_S: Final = 10.0  # how long the end waits for the recorder


def serve(
    hub: Hub,
    link: UdpSocket,
    doors: Doors,
    stop: Callable[[], bool],
    duration_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Until STOP has been echoed, or `stop`. STOP comes by itself after `duration_s` of GO."""
    poller = zmq.Poller()
    poller.register(link.fileno(), zmq.POLLIN)
    poller.register(doors.control, zmq.POLLIN)
    poller.register(doors.record.socket, zmq.POLLIN)
    idle_s = clock()
    told_to_stop = False
    while not hub.is_over(clock()):
        if stop() and not told_to_stop:
            told_to_stop = True
            if hub.run.state != RunState.STOP:
                hub.command("stop", clock())
        poller.poll(max(0, math.ceil(1000.0 * (min(_due_s(hub, idle_s), clock() + 0.05) - clock()))))
        if hub.run.state == RunState.GO and len(hub.peers.all) > MANY:
            time.sleep(BATCH_S)
        hub.receive(link.drain(DRAIN_MOST), clock())
        doors.answer(hub, clock())
        now_s = clock()
        if hub.run.state == RunState.GO:
            _go(hub, now_s, duration_s)
            idle_s = now_s
        elif now_s >= idle_s:
            t_s = hub.run.t_s(now_s)
            findings = hub.check(now_s, t_s)
            hub.tell(findings, now_s)
            hub.publish(findings.advisories, now_s, t_s)
            idle_s = now_s + hub.settings.beat_s / hub.settings.rate
        out = hub.take_outbox()
        for address, data in out.datagrams:
            link.send(data, address)  # type: ignore[arg-type]
        doors.flush(out)
    finish(doors, clock)


def finish(doors: Doors, clock: Callable[[], float]) -> None:
    """Wait until the recorder has everything, then tell it that no more will come."""
    until_s = clock() + LINGER_S
    while doors.record.waiting and clock() < until_s:
        doors.record.serve()
        time.sleep(0.01)
    if doors.record.waiting:
        log.error("%d batches are not recorded: no recorder took them within %.0f s", doors.record.waiting, LINGER_S)
    doors.record.end()
    time.sleep(0.05)


def _due_s(hub: Hub, idle_s: float) -> float:
    if hub.run.state != RunState.GO:
        return idle_s
    return hub.run.due_s(hub.beat) + 0.5 * hub.settings.beat_s / hub.settings.rate


def _go(hub: Hub, now_s: float, duration_s: float) -> None:
    """Check the beat that is due once everybody has reported it, or half a beat later without the missing ones."""
    interval_s = hub.settings.beat_s / hub.settings.rate
    due_s = hub.run.due_s(hub.beat)
    complete = now_s >= due_s - 0.5 * interval_s and hub.is_complete()
    if not complete and now_s < due_s + 0.5 * interval_s:
        return
    behind = int((now_s - due_s) / interval_s)
    if behind > 0:  # the checks that were missed are counted, not made up for
        hub.tally.late_beats += behind
        hub.beat += behind
    t_s = hub.beat * hub.settings.beat_s
    findings = hub.check(now_s, t_s)
    hub.tell(findings, now_s)
    hub.publish(findings.advisories, now_s, t_s)
    hub.next_beat()
    if t_s >= duration_s - 1e-9:
        hub.command("stop", now_s)
