"""What a behaviour is given and what it answers."""

import math
from typing import Final, NamedTuple


class Own(NamedTuple):
    """What a vehicle knows of itself."""

    vid: int
    seed: int
    t_s: float
    beat_s: float
    x_m: float
    y_m: float
    z_m: float
    yaw_rad: float  # counter-clockwise from grid east
    speed_mps: float
    vx_mps: float
    vy_mps: float
    vz_mps: float
    length_m: float
    cruise_mps: float
    accel_mps2: float
    steer_max_rad: float
    pitch_max_rad: float
    climbs: bool
    spins: bool  # turns on the spot
    memory: float  # what this behaviour answered as its memory at the last beat; 0 at the start of a run


class Other(NamedTuple):
    """What Core said about another vehicle."""

    known: bool
    vid: int
    x_m: float
    y_m: float
    z_m: float
    vx_mps: float
    vy_mps: float
    vz_mps: float
    length_m: float
    distance_m: float
    approach_s: float  # until the closest approach, 0 when they part
    miss_m: float  # distance at the closest approach


class Seen(NamedTuple):
    """What a vehicle knows of the others at this beat."""

    threat: Other  # the most urgent one to avoid
    leader: Other
    target: Other
    report_s: float  # when a report of a found target was first heard, infinity before


class Command(NamedTuple):
    """A behaviour's answer. Inactive: no opinion, a lower priority may speak."""

    active: bool
    steer_rad: float  # positive to the left
    speed_mps: float
    pitch_rad: float  # positive nose up
    memory: float
    signal: bool  # the target is within reach


SILENT: Final = Command(False, 0.0, 0.0, 0.0, 0.0, False)
NOBODY: Final = Other(False, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
FAR_S: Final = 2.0  # how far ahead two threats are compared


def urgency_m(distance_m: float, approach_s: float, miss_m: float) -> float:
    """The nearest that a threat gets within the next two seconds, going straight; the smallest is the most urgent."""
    if approach_s <= FAR_S:
        return miss_m
    left = (approach_s - FAR_S) / approach_s
    run2 = distance_m * distance_m - miss_m * miss_m
    if run2 < 0.0:
        run2 = 0.0
    return math.sqrt(miss_m * miss_m + run2 * left * left)
