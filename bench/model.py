"""What it costs to move vehicles: one in plain Python, many compiled."""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from vehicles.behaviours import BEHAVIOURS
from vehicles.compiled import CompiledFleet
from vehicles.kinds import KINDS
from vehicles.model import Body
from vehicles.spec import Slot, VehicleSpec
from vehicles.vehicle import Vehicle
from wire.frame import frame_at
from wire.rows import ADVISORY, empty_rows
from wire.words import Kind, RunState

BEAT_S: Final = 0.1
STEP_S: Final = 0.05
HALF_M: Final = 500.0
MADE: Final = {"seed": 7, "beat_s": BEAT_S, "step_s": STEP_S, "frame": frame_at(29.18877, -81.04628)}
NOBODY_NEAR: Final = empty_rows(0, ADVISORY)


def run(quick: bool) -> list[dict[str, Any]]:
    runs = 7 if quick else 25
    found = [measured("one vehicle in plain Python: beat and row", 1, runs, plain(200 if quick else 1000))]
    for count in (100, 1_000, 10_000, 100_000):
        fleet = CompiledFleet(some_specs(count), **MADE)  # type: ignore[arg-type]
        beats = max(1, (20_000 if quick else 200_000) // count)
        found.append(measured("compiled fleet: beat, per vehicle", count, runs, beating(fleet, count, beats)))
        found.append(measured("compiled fleet: rows, per vehicle", count, runs, writing(fleet, count, beats)))
    return found


def some_specs(count: int) -> list[VehicleSpec]:
    """Cars in a box, with the behaviours of Figure 4 of the paper that need nobody else."""
    traits = KINDS[Kind.GROUND]
    box = (-HALF_M, -HALF_M, HALF_M, -HALF_M, HALF_M, HALF_M, -HALF_M, HALF_M)
    slots = tuple(
        Slot(name, line.number, line.priority, line.decide, line.settings(*settings))
        for name, settings in (("avoid", ()), ("stay_in_bounds", (box, 0.0, 0.0)), ("periodic_turn", ()), ("wander", ()))
        for line in (BEHAVIOURS[name],)
    )
    rng = np.random.default_rng(1)
    start = rng.uniform((-HALF_M, -HALF_M, -math.pi), (HALF_M, HALF_M, math.pi), (count, 3)).tolist()
    return [
        VehicleSpec(vid, f"car {vid}", Kind.GROUND, traits.limits, Body(x, y, 0.0, yaw, 5.0), traits.cruise_mps, slots)
        for vid, (x, y, yaw) in enumerate(start, start=1)
    ]


def plain(beats: int) -> Callable[[], float]:
    """Seconds per beat of one vehicle."""
    vehicle = Vehicle(some_specs(1)[0], **MADE)  # type: ignore[arg-type]

    def once() -> float:
        begin_s = time.perf_counter()
        for beat in range(beats):
            vehicle.advance(beat * BEAT_S)
            vehicle.row(beat * BEAT_S, RunState.GO, 0, True)
        return (time.perf_counter() - begin_s) / beats

    return once


def beating(fleet: CompiledFleet, count: int, beats: int) -> Callable[[], float]:
    """Seconds per vehicle and beat."""

    def once() -> float:
        begin_s = time.perf_counter()
        for beat in range(beats):
            fleet.advance(beat * BEAT_S, NOBODY_NEAR)
        return (time.perf_counter() - begin_s) / (beats * count)

    return once


def writing(fleet: CompiledFleet, count: int, beats: int) -> Callable[[], float]:
    """Seconds per row."""

    def once() -> float:
        begin_s = time.perf_counter()
        for beat in range(beats):
            fleet.rows(beat * BEAT_S, RunState.GO, 0, True)
        return (time.perf_counter() - begin_s) / (beats * count)

    return once


def measured(measure: str, count: int, runs: int, once: Callable[[], float]) -> dict[str, Any]:
    once()  # caches warm
    took_us = [1e6 * once() for _ in range(runs)]
    return {
        "measure": measure,
        "n": count,
        "value": statistics.median(took_us),
        "unit": "us",
        "spread": [min(took_us), max(took_us)],
        "runs": runs,
    }
