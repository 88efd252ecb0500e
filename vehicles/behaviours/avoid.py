"""Turn away from the one that Core warned about (priority 10).

It looks at where the other will be, seen from here, at the closest approach, and turns to the opposite side; straight ahead means
to the right, for both. Those that can climb part in height as well.
"""

import math
from typing import Annotated, NamedTuple

from annotated_types import Ge

from vehicles.mind import SILENT, Command, Own, Seen


class Avoid(NamedTuple):
    """In multiples of the mean of both lengths."""

    miss_lengths: Annotated[float, Ge(0)] = 4.0  # no action when they will pass farther apart than this
    near_lengths: Annotated[float, Ge(0)] = 2.5  # nearer than this, act even while parting
    horizon_s: Annotated[float, Ge(0)] = 6.0  # no action on an approach later than this


def avoid(own: Own, seen: Seen, s: Avoid) -> Command:
    threat = seen.threat
    if not threat.known:
        return SILENT
    dx, dy, dz = threat.x_m - own.x_m, threat.y_m - own.y_m, threat.z_m - own.z_m
    wx, wy, wz = threat.vx_mps - own.vx_mps, threat.vy_mps - own.vy_mps, threat.vz_mps - own.vz_mps
    closing = -(dx * wx + dy * wy + dz * wz)
    speed2 = wx * wx + wy * wy + wz * wz
    approach_s = closing / speed2 if closing > 0.0 and speed2 > 1e-12 else 0.0
    cx, cy, cz = dx + wx * approach_s, dy + wy * approach_s, dz + wz * approach_s
    mean_m = 0.5 * (own.length_m + threat.length_m)
    if math.sqrt(dx * dx + dy * dy + dz * dz) > s.near_lengths * mean_m:
        passes_m = math.sqrt(cx * cx + cy * cy + cz * cz)
        if approach_s <= 0.0 or approach_s > s.horizon_s or passes_m > s.miss_lengths * mean_m:
            return SILENT
    left_m = -math.sin(own.yaw_rad) * cx + math.cos(own.yaw_rad) * cy
    steer_rad = own.steer_max_rad if left_m < -0.05 * mean_m else -own.steer_max_rad
    pitch_rad = 0.0
    if own.climbs:
        above = dz < 0.0 or (dz == 0.0 and own.vid < threat.vid)
        pitch_rad = own.pitch_max_rad if above else -own.pitch_max_rad
    return Command(True, steer_rad, own.cruise_mps, pitch_rad, 0.0, False)
