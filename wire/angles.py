"""Angles in radians."""

import math
from typing import Final

TURN_RAD: Final = 2.0 * math.pi


def wrap_pi(angle_rad: float) -> float:
    """The same direction in [-pi, pi)."""
    wrapped_rad = angle_rad - TURN_RAD * math.floor((angle_rad + math.pi) / TURN_RAD)
    if wrapped_rad < -math.pi or wrapped_rad >= math.pi:  # rounding at the seam
        return -math.pi
    return wrapped_rad
