"""Now and then a climb or descent of random steepness (priority 2)."""

import math
from typing import Annotated, Final, NamedTuple

from annotated_types import Gt

from vehicles.mind import SILENT, Command, Own, Seen
from wire.chance import uniform

_WHEN: Final = 21  # streams of chance
_HOW: Final = 22


class PeriodicPitch(NamedTuple):
    every_s: Annotated[float, Gt(0)] = 15.0
    pitch_s: Annotated[float, Gt(0)] = 3.0


def periodic_pitch(own: Own, seen: Seen, s: PeriodicPitch) -> Command:
    since_s = own.t_s + s.every_s * uniform(own.seed, own.vid, _WHEN, 0)
    turn = math.floor(since_s / s.every_s)
    if not own.climbs or turn < 1 or since_s - turn * s.every_s >= s.pitch_s:
        return SILENT
    share = 2.0 * uniform(own.seed, own.vid, _HOW, turn) - 1.0
    return Command(True, 0.0, own.cruise_mps, share * own.pitch_max_rad, 0.0, False)
