"""Now and then a turn of random sharpness, 10 % slower (priority 2)."""

import math
from typing import Annotated, Final, NamedTuple

from annotated_types import Gt

from vehicles.mind import SILENT, Command, Own, Seen
from wire.chance import uniform

_WHEN: Final = 11  # streams of chance
_HOW: Final = 12


class PeriodicTurn(NamedTuple):
    every_s: Annotated[float, Gt(0)] = 10.0
    turn_s: Annotated[float, Gt(0)] = 3.0


def periodic_turn(own: Own, seen: Seen, s: PeriodicTurn) -> Command:
    since_s = own.t_s + s.every_s * uniform(own.seed, own.vid, _WHEN, 0)  # so that not all turn together
    turn = math.floor(since_s / s.every_s)
    if turn < 1 or since_s - turn * s.every_s >= s.turn_s:
        return SILENT
    share = 2.0 * uniform(own.seed, own.vid, _HOW, turn) - 1.0
    return Command(True, share * own.steer_max_rad, 0.9 * own.cruise_mps, 0.0, 0.0, False)
