"""Where many vehicles start: seeded places over a square, at least a gap apart."""

import math
from typing import Final, NamedTuple

from wire.chance import uniform

_CELL: Final = 1  # streams of chance; the behaviours' start at 11
_EAST: Final = 2
_NORTH: Final = 3
_YAW: Final = 4


class Spot(NamedTuple):
    x_m: float
    y_m: float
    yaw_rad: float


def room(spread_m: float, gap_m: float) -> int:
    """How many cells of a gap's width fit into the square."""
    if gap_m <= 0.0:
        return 10**12
    return math.floor(2.0 * spread_m / gap_m + 1e-9) ** 2


def spread(seed: int, first_vid: int, count: int, spread_m: float, gap_m: float) -> list[Spot]:
    """A place for each vid from the first on, around zero. The caller has asked `room` whether they fit.

    The square is cut into cells, one for each vehicle in shuffled order. A vehicle keeps half the gap from the sides of
    its cell, so neighbours keep the whole.
    """
    cells = math.ceil(math.sqrt(count))
    width_m = 2.0 * spread_m / cells
    play_m = max(0.0, width_m - gap_m)
    order = _shuffled(seed, first_vid, cells * cells)
    spots = []
    for i in range(count):
        vid = first_vid + i
        row, column = divmod(order[i], cells)
        x_m = (column + 0.5) * width_m - spread_m + play_m * (uniform(seed, vid, _EAST, 0) - 0.5)
        y_m = (row + 0.5) * width_m - spread_m + play_m * (uniform(seed, vid, _NORTH, 0) - 0.5)
        spots.append(Spot(x_m, y_m, math.pi * (2.0 * uniform(seed, vid, _YAW, 0) - 1.0)))
    return spots


def _shuffled(seed: int, vid: int, count: int) -> list[int]:
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = int(uniform(seed, vid, _CELL, i) * (i + 1))
        order[i], order[j] = order[j], order[i]
    return order
