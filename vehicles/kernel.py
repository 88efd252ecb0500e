"""A beat of many vehicles: what `vehicles.vehicle` does for one, row by row over tables.

Plain Python that `vehicles.compiled` compiles together with the models and behaviours. The steps and their order are those of
`Vehicle`, so that both give the same bits.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicles.fleet import is_more_urgent
from vehicles.mind import NOBODY, SILENT, Command, Other, Own, Seen
from vehicles.model import Body, Limits, Motion, advance, clamp, motion
from wire.angles import wrap_pi
from wire.frame import Frame, latlon_of
from wire.rows import DETECTS, Rows
from wire.words import NO_BEHAVIOUR, UNKNOWN_U8, Advice

Dispatch = Callable[..., Command]  # (code, own, seen, cells, at) -> Command
Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

NO_ROW: Final = -1
KNOWN_ADVICE: Final = 3  # threat, leader, target
FIRST_ADVICE: Final = int(Advice.AVOID)

HELD: Final = np.dtype(
    [(field, "?" if kind is bool else "<f8") for held in (Limits, Body) for field, kind in held.__annotations__.items()]
    + [
        ("cruise_mps", "<f8"),
        ("steer_rad", "<f8"),  # as last commanded
        ("pitch_rad", "<f8"),
        ("report_s", "<f8"),
        ("vid", "<i8"),
        ("slots", "<i8"),  # number of behaviours
        ("behaviour", "u1"),  # in charge
        ("signal", "?"),
    ],
    align=True,
)


class Beat(NamedTuple):
    """What all vehicles share at one beat."""

    t_s: float
    seed: int
    beat_s: float
    step_s: float
    steps: int


class Minds(NamedTuple):
    """The behaviours of all vehicles, by row and slot. Equal settings share their cells."""

    code: Ints
    at: Ints  # first cell of the settings
    memory: Floats
    cells: Floats


def pick_advisories(advisories: Rows, row_of: Ints, picked: Ints) -> None:
    """For each row which advisory tells of its threat, its leader and its target, as `fleet.sort_advisories` has it."""
    picked[:] = NO_ROW
    for k in range(len(advisories)):
        vid = advisories[k]["to_vid"]
        place = np.int64(advisories[k]["advice"]) - FIRST_ADVICE
        if vid >= len(row_of) or place < 0 or place >= KNOWN_ADVICE:
            continue
        i = row_of[vid] - 1
        if i < 0:
            continue
        best = picked[i, place]
        if place != 0 or best < 0 or is_more_urgent(other_of(advisories, k), other_of(advisories, best)):
            picked[i, place] = k


def other_of(advisories: Rows, k: int) -> Other:
    if k < 0:
        return NOBODY
    row = advisories[k]
    return Other(
        True,
        np.int64(row["about_vid"]),  # type: ignore[arg-type]  # int() of an unsigned one would stay unsigned
        row["x_m"],
        row["y_m"],
        row["z_m"],
        np.float64(row["vx_mps"]),
        np.float64(row["vy_mps"]),
        np.float64(row["vz_mps"]),
        np.float64(row["length_m"]),
        np.float64(row["distance_m"]),
        np.float64(row["approach_s"]),
        np.float64(row["miss_m"]),
    )


def limits_of(held: Any) -> Limits:
    return Limits(
        held["length_m"],
        held["lever_m"],
        held["speed_min_mps"],
        held["speed_max_mps"],
        held["accel_mps2"],
        held["steer_max_rad"],
        held["spin_max_radps"],
        held["pitch_max_rad"],
        held["climb_max_mps"],
        held["hovers"],
        held["z_low_m"],
        held["z_high_m"],
    )


def body_of(held: Any) -> Body:
    return Body(held["x_m"], held["y_m"], held["z_m"], held["yaw_rad"], held["speed_mps"])


def own_of(held: Any, now: Motion, beat: Beat, memory: float) -> Own:
    return Own(
        held["vid"],
        beat.seed,
        beat.t_s,
        beat.beat_s,
        held["x_m"],
        held["y_m"],
        held["z_m"],
        held["yaw_rad"],
        held["speed_mps"],
        now.vx_mps,
        now.vy_mps,
        now.vz_mps,
        held["length_m"],
        held["cruise_mps"],
        held["accel_mps2"],
        held["steer_max_rad"],
        held["pitch_max_rad"],
        held["climb_max_mps"] > 0.0,
        held["spin_max_radps"] > 0.0,
        memory,
    )


def advance_rows(decide: Dispatch, table: Rows, minds: Minds, advisories: Rows, picked: Ints, beat: Beat) -> int:
    """One beat on; how many vehicles signal."""
    signals = 0
    for i in range(len(table)):
        held = table[i]
        limits = limits_of(held)
        body = body_of(held)
        now = motion(body, held["steer_rad"], held["pitch_rad"], limits)
        seen = Seen(
            other_of(advisories, picked[i, 0]),
            other_of(advisories, picked[i, 1]),
            other_of(advisories, picked[i, 2]),
            held["report_s"],
        )
        chosen, behaviour, signal = SILENT, NO_BEHAVIOUR, False
        for j in range(held["slots"]):
            own = own_of(held, now, beat, minds.memory[i, j])
            command = decide(minds.code[i, j], own, seen, minds.cells, minds.at[i, j])
            minds.memory[i, j] = command.memory
            signal = signal or command.signal
            if command.active and not chosen.active:
                chosen, behaviour = command, minds.code[i, j]
        steer_rad = clamp(chosen.steer_rad, -limits.steer_max_rad, limits.steer_max_rad)
        pitch_rad = clamp(chosen.pitch_rad, -limits.pitch_max_rad, limits.pitch_max_rad)
        body = advance(body, steer_rad, chosen.speed_mps, pitch_rad, limits, beat.step_s, beat.steps)
        held["behaviour"], held["signal"] = behaviour, signal
        held["steer_rad"], held["pitch_rad"] = steer_rad, pitch_rad
        held["x_m"], held["y_m"], held["z_m"] = body.x_m, body.y_m, body.z_m
        held["yaw_rad"], held["speed_mps"] = body.yaw_rad, body.speed_mps
        signals += signal
    return signals


def write_rows(table: Rows, frame: Frame, t_s: float, run_state: int, margin_pct: int, moving: bool, state: Rows) -> None:
    """The rows that `Vehicle.row` packs, into `state`, which is all zeros."""
    for i in range(len(table)):
        held, row = table[i], state[i]
        row["vid"], row["run_state"], row["margin_pct"] = held["vid"], run_state, margin_pct
        row["behaviour"], row["flags"] = held["behaviour"], DETECTS if held["signal"] else 0
        row["t_s"] = t_s
        row["x_m"], row["y_m"], row["z_m"] = held["x_m"], held["y_m"], held["z_m"]
        row["lat_deg"], row["lon_deg"] = latlon_of(held["x_m"], held["y_m"], frame)
        row["yaw_rad"], row["pitch_rad"] = wrap_pi(held["yaw_rad"]), held["pitch_rad"]
        row["battery_pct"] = UNKNOWN_U8
        if moving:
            rates = motion(body_of(held), held["steer_rad"], held["pitch_rad"], limits_of(held))
            row["speed_mps"] = held["speed_mps"]
            row["vx_mps"], row["vy_mps"], row["vz_mps"] = rates.vx_mps, rates.vy_mps, rates.vz_mps
            row["yaw_rate_radps"] = rates.yaw_rate_radps
