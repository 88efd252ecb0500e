"""Outside the boundary: turn around and hurry home, 10 % faster (priority 4)."""

from typing import NamedTuple

from vehicles.mind import SILENT, Command, Own, Seen
from vehicles.steering import turn_towards


class StayInBounds(NamedTuple):
    """Made from a box or a polygon of the scenario by `launcher.prepare`."""

    corners_m: tuple[float, ...]  # x and y in turn, of any simple polygon
    home_x_m: float  # a point well inside
    home_y_m: float


def is_inside(x_m: float, y_m: float, corners_m: tuple[float, ...]) -> bool:
    """Whether a ray to the east crosses the outline an odd number of times."""
    inside = False
    n = len(corners_m) // 2
    xj, yj = corners_m[2 * n - 2], corners_m[2 * n - 1]
    for i in range(n):
        xi, yi = corners_m[2 * i], corners_m[2 * i + 1]
        if (yi > y_m) != (yj > y_m) and x_m < (xj - xi) * (y_m - yi) / (yj - yi) + xi:
            inside = not inside
        xj, yj = xi, yi
    return inside


def stay_in_bounds(own: Own, seen: Seen, s: StayInBounds) -> Command:
    if is_inside(own.x_m, own.y_m, s.corners_m):
        return SILENT
    steer_rad = turn_towards(own, s.home_x_m, s.home_y_m)
    return Command(True, steer_rad, 1.1 * own.cruise_mps, 0.0, 0.0, False)
