"""The parts that run as processes of their own: `mve core`, `mve vehicles`, `mve recorder`."""

import json
import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from types import FrameType
from typing import Any

from core.hub import Hub
from core.lockstep import Lockstep
from core.ports import Doors, Ports, udp_at
from core.service import serve
from core.settings import CoreSettings, RadioSettings
from launcher.scenario import Scenario
from vehicles.fleet import Fleet
from vehicles.nursery import Nursery
from vehicles.process import make_host, run_lockstep, run_realtime
from wire.errors import ConfigError
from wire.udp import is_loopback, resolve

log = logging.getLogger(__name__)
LOOPBACK_BYTES = 60_000  # datagrams that never leave the machine may be this long


def new_run_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def stop_on_signals() -> Callable[[], bool]:
    """SIGTERM and SIGINT ask politely; the answer says whether one has come."""
    told = threading.Event()

    def tell(_: int, __: FrameType | None) -> None:
        told.set()

    signal.signal(signal.SIGTERM, tell)
    signal.signal(signal.SIGINT, tell)
    return told.is_set


def die_with_parent() -> None:
    """Let the system end this process when the one that started it is gone (Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def head_of(scenario: Scenario, mode: str) -> dict[str, Any]:
    """What is stored with each run beside its rows."""
    return {
        "name": scenario.name,
        "scenario": scenario.as_dict(),
        "seed": scenario.seed,
        "mode": mode,
        "version": version("move-mve"),
        "python": sys.version.split()[0],
        "fidelity": scenario.fidelity()._asdict(),
        "behaviour_names": scenario.behaviour_names(),
    }


def core_settings(scenario: Scenario, *, mode: str, rate: float = 1.0) -> CoreSettings:
    core, proximity, radio = scenario.core, scenario.proximity, scenario.radio
    return CoreSettings(
        beat_s=scenario.beat_s,
        rate=rate,
        seed=scenario.seed,
        late_s=core.late_s,
        stale_s=core.stale_s,
        lost_s=core.lost_s,
        reach_m=core.reach_m,
        avoid_lengths=proximity.avoid_lengths,
        max_per_vehicle=proximity.max_per_vehicle,
        datagram_bytes=datagram_bytes(scenario, core.host),
        radio=RadioSettings(radio.range_m, radio.loss, radio.delay_s),
        head=head_of(scenario, mode),
        expected=len(scenario.specs()),
    )


def datagram_bytes(scenario: Scenario, host: str) -> int:
    return LOOPBACK_BYTES if is_loopback(host) else scenario.core.datagram_bytes


def run_core(scenario: Scenario, ports: Ports, *, lockstep: bool, rate: float | None) -> int:
    """Serve until STOP. Says on standard output, in one line of JSON, where it listens."""
    stop = stop_on_signals()
    mode = "lockstep" if lockstep else "real time"
    settings = core_settings(scenario, mode=mode, rate=1.0 if lockstep else rate or 1.0)
    if lockstep:
        settings = settings._replace(countdown_s=0.0)
    sender = secrets.randbits(62)
    hub = Hub(settings, sender=sender, unix=time.time, new_run_id=new_run_id)
    if not is_loopback(ports.host):
        log.warning("listening on %s without a key: anybody who reaches these ports can report and command", ports.host)
    with Doors(ports, str(sender)) as doors:
        if lockstep:
            link = doors.bind_lockstep()
            _announce(doors.ports)
            Lockstep(hub, link, doors, stop, rate).serve(scenario.duration_s)
        else:
            with udp_at(ports) as udp:
                _announce(doors.ports._replace(udp=udp.port))
                doors.ports = doors.ports._replace(udp=udp.port)
                serve(hub, udp, doors, stop, duration_s=scenario.duration_s)
    return 0


def _announce(ports: Ports) -> None:
    print(json.dumps(ports._asdict()), flush=True)


def run_vehicles(scenario: Scenario, core: str, *, lockstep: bool, only: Sequence[int] | None) -> int:
    """Host the scenario's vehicles, each group in a process of its own, until all of them have ended."""
    host, _, port = core.removeprefix("udp://").removeprefix("tcp://").rpartition(":")
    if not host or not port.isdigit():
        raise ConfigError(f"{core!r} is no address of a Core; it looks like 127.0.0.1:6600")
    address = resolve(host, int(port))
    specs = {spec.vid: spec for spec in scenario.specs() if only is None or spec.vid in only}
    groups = [group for vids in scenario.processes() if (group := tuple(vid for vid in vids if vid in specs))]
    if not groups:
        raise ConfigError(
            "the scenario has none of the vehicles asked for; its vids are " + _spans([s.vid for s in scenario.specs()])
        )
    if max(map(len, groups)) > 1:
        Fleet(
            list(specs.values()), seed=0, beat_s=scenario.beat_s, step_s=scenario.step_s, frame=scenario.frame
        )  # compile once, before the fork

    def live(vids: tuple[int, ...], stop: Callable[[], bool]) -> None:
        fleet = Fleet(
            [specs[vid] for vid in vids], seed=scenario.seed, beat_s=scenario.beat_s, step_s=scenario.step_s, frame=scenario.frame
        )
        hosted = make_host(fleet, datagram_bytes(scenario, address[0]))
        if lockstep:
            run_lockstep(hosted, f"tcp://{address[0]}:{address[1]}", stop)
        else:
            run_realtime(hosted, address, stop)

    stop = stop_on_signals()
    nursery = Nursery(live)
    nursery.start(groups)
    while nursery.pids and not stop():
        for ended in nursery.reap():
            if ended.why != "code 0":
                log.error(
                    "the process of vid %s ended: %s; start it again with `mve vehicles --only %s`",
                    _spans(ended.vids),
                    ended.why,
                    _spans(ended.vids),
                )
        time.sleep(0.05)
    nursery.end(within_s=2.0)
    return 0


def _spans(vids: Sequence[int]) -> str:
    """1,2,3,7 as 1-3,7."""
    spans: list[list[int]] = []
    for vid in sorted(vids):
        if spans and vid == spans[-1][1] + 1:
            spans[-1][1] = vid
        else:
            spans.append([vid, vid])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def parse_spans(text: str) -> list[int]:
    """The vids of `200-299,305`. Raises ConfigError."""
    vids: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdigit() or (last and not last.isdigit()) or (last and int(last) - int(first) not in range(5_000_000)):
            raise ConfigError(f"{text!r} names no vids; they look like 101 or 200-299,305")
        vids.extend(range(int(first), int(last or first) + 1))
    return vids


def parent_gone() -> bool:
    return os.getppid() == 1
