"""Signal while the target is within a radius; never steer by it (priority 0, no command).

The target's position comes from Core and stands for a sensor that sees only what is near.
"""

from typing import Annotated, NamedTuple

from annotated_types import Gt

from vehicles.mind import SILENT, Command, Own, Seen


class SearchAndReport(NamedTuple):
    target: Annotated[int, Gt(0)]  # vid
    radius_m: Annotated[float, Gt(0)] = 15.0


def search_and_report(own: Own, seen: Seen, s: SearchAndReport) -> Command:
    if not seen.target.known or seen.target.vid != s.target:
        return SILENT
    dx, dy, dz = seen.target.x_m - own.x_m, seen.target.y_m - own.y_m, seen.target.z_m - own.z_m
    found = dx * dx + dy * dy + dz * dz <= s.radius_m * s.radius_m
    return Command(False, 0.0, 0.0, 0.0, 0.0, found)
