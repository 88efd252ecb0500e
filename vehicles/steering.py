"""Steering that several behaviours share."""

import math

from vehicles.mind import Own
from vehicles.model import clamp
from wire.angles import wrap_pi


def steer_towards(own: Own, x_m: float, y_m: float) -> float:
    """Pure pursuit of a point: the arc that leads through it, or full lock while it lies behind."""
    dx, dy = x_m - own.x_m, y_m - own.y_m
    away_m = math.sqrt(dx * dx + dy * dy)
    if away_m < 1e-9:
        return 0.0
    error_rad = wrap_pi(math.atan2(dy, dx) - own.yaw_rad)
    if own.spins:
        return clamp(2.0 * error_rad, -own.steer_max_rad, own.steer_max_rad)
    if math.fabs(error_rad) > math.pi / 2.0:
        return math.copysign(own.steer_max_rad, error_rad)
    ahead_m = max(away_m, 1.5 * own.length_m)
    return clamp(2.0 * own.length_m * math.sin(error_rad) / ahead_m, -own.steer_max_rad, own.steer_max_rad)


def turn_towards(own: Own, x_m: float, y_m: float) -> float:
    """Turn to face a point as fast as the body can, then go straight for it."""
    error_rad = wrap_pi(math.atan2(y_m - own.y_m, x_m - own.x_m) - own.yaw_rad)
    return clamp(2.0 * error_rad, -own.steer_max_rad, own.steer_max_rad)


def pitch_towards(own: Own, up_m: float, along_m: float) -> float:
    """The pitch that gains `up_m` within `along_m` of travel."""
    if not own.climbs:
        return 0.0
    return clamp(math.atan2(up_m, max(along_m, 1.0)), -own.pitch_max_rad, own.pitch_max_rad)
