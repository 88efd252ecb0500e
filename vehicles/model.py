"""How a vehicle moves: equations 1 to 5 of the MoVE paper, advanced by fixed-step RK4.

Plain functions of floats for one vehicle; `vehicles.compiled` runs the same functions over the rows of a fleet.
"""

import math
from typing import NamedTuple


class Limits(NamedTuple):
    """What a body can do."""

    length_m: float  # characteristic length: wheelbase on the ground, overall length elsewhere
    lever_m: float  # b, from the centre of gravity back to the axle that does not steer; 0 where it turns about its centre
    speed_min_mps: float
    speed_max_mps: float
    accel_mps2: float
    steer_max_rad: float
    spin_max_radps: float  # yaw rate at full steer for those that turn on the spot; 0 for those that steer by rolling
    pitch_max_rad: float
    climb_max_mps: float
    hovers: bool  # climbs without moving forward
    z_low_m: float
    z_high_m: float


class Body(NamedTuple):
    """Where a vehicle is and how fast it goes."""

    x_m: float
    y_m: float
    z_m: float
    yaw_rad: float  # counter-clockwise from grid east
    speed_mps: float  # forward


class Motion(NamedTuple):
    """The rates that belong to a body at one instant."""

    vx_mps: float
    vy_mps: float
    vz_mps: float
    yaw_rate_radps: float


def clamp(value: float, low: float, high: float) -> float:
    if value < low:
        return low
    if value > high:
        return high
    return value


def yaw_rate(speed_mps: float, steer_rad: float, limits: Limits) -> float:
    """Equation 2, or the share of the full spin for those that turn on the spot."""
    if limits.spin_max_radps > 0.0:
        return limits.spin_max_radps * (steer_rad / limits.steer_max_rad)
    return speed_mps / limits.length_m * steer_rad


def climb_rate(speed_mps: float, pitch_rad: float, limits: Limits) -> float:
    """Equation 5, or the share of the full climb for those that hover."""
    if limits.hovers:
        return limits.climb_max_mps * (pitch_rad / limits.pitch_max_rad)
    return clamp(speed_mps * math.sin(pitch_rad), -limits.climb_max_mps, limits.climb_max_mps)


def motion(body: Body, steer_rad: float, pitch_rad: float, limits: Limits) -> Motion:
    """Equations 1, 3 and 4: the body-fixed velocity (v_x, b yaw_rate) turned into the world frame."""
    turn_radps = yaw_rate(body.speed_mps, steer_rad, limits)
    side_mps = limits.lever_m * turn_radps
    c, s = math.cos(body.yaw_rad), math.sin(body.yaw_rad)
    return Motion(
        body.speed_mps * c - side_mps * s,
        body.speed_mps * s + side_mps * c,
        climb_rate(body.speed_mps, pitch_rad, limits),
        turn_radps,
    )


def step(body: Body, steer_rad: float, pitch_rad: float, accel_mps2: float, h_s: float, limits: Limits) -> Body:
    """One RK4 step. Steer, pitch and acceleration hold over the step, so speed is linear in time."""
    half_s = 0.5 * h_s
    speed_mid = body.speed_mps + half_s * accel_mps2
    speed_end = body.speed_mps + h_s * accel_mps2
    k1 = motion(body, steer_rad, pitch_rad, limits)
    at2 = Body(0.0, 0.0, 0.0, body.yaw_rad + half_s * k1.yaw_rate_radps, speed_mid)
    k2 = motion(at2, steer_rad, pitch_rad, limits)
    at3 = Body(0.0, 0.0, 0.0, body.yaw_rad + half_s * k2.yaw_rate_radps, speed_mid)
    k3 = motion(at3, steer_rad, pitch_rad, limits)
    at4 = Body(0.0, 0.0, 0.0, body.yaw_rad + h_s * k3.yaw_rate_radps, speed_end)
    k4 = motion(at4, steer_rad, pitch_rad, limits)
    w = h_s / 6.0
    turn_rad = w * (k1.yaw_rate_radps + 2.0 * k2.yaw_rate_radps + 2.0 * k3.yaw_rate_radps + k4.yaw_rate_radps)
    z_m = body.z_m + w * (k1.vz_mps + 2.0 * k2.vz_mps + 2.0 * k3.vz_mps + k4.vz_mps)
    return Body(
        body.x_m + w * (k1.vx_mps + 2.0 * k2.vx_mps + 2.0 * k3.vx_mps + k4.vx_mps),
        body.y_m + w * (k1.vy_mps + 2.0 * k2.vy_mps + 2.0 * k3.vy_mps + k4.vy_mps),
        clamp(z_m, limits.z_low_m, limits.z_high_m),
        body.yaw_rad + turn_rad,
        speed_end,
    )


def advance(body: Body, steer_rad: float, speed_mps: float, pitch_rad: float, limits: Limits, h_s: float, steps: int) -> Body:
    """One beat: `steps` steps towards the commanded speed, within the limits. Steer and pitch are within them already."""
    goal_mps = clamp(speed_mps, limits.speed_min_mps, limits.speed_max_mps)
    for _ in range(steps):
        accel_mps2 = clamp((goal_mps - body.speed_mps) / h_s, -limits.accel_mps2, limits.accel_mps2)
        body = step(body, steer_rad, pitch_rad, accel_mps2, h_s, limits)
    return body
