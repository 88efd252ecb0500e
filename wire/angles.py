"""Angles in radians."""

import math
from typing import Final

TURN_RAD: Final = 2.0 * math.pi


def wrap_pi(angle_rad: float) -> float:
    """The same direction in [-pi, pi)."""
    return angle_rad - TURN_RAD * math.floor((angle_rad + math.pi) / TURN_RAD)
