"""Drive or fly along waypoints, at a speed per leg, around and around or to a stop at the last one (priority 3)."""

import math
from typing import Annotated, NamedTuple

from annotated_types import Gt

from vehicles.mind import Command, Own, Seen
from vehicles.steering import pitch_towards, steer_towards


class FollowPath(NamedTuple):
    """Made from waypoints or a file of the scenario by `launcher.prepare`."""

    points: tuple[float, ...]  # x_m, y_m, z_m and speed_mps (of the leg that ends there) in turn
    loop: bool = False
    reach_m: Annotated[float, Gt(0)] = 3.0  # a waypoint nearer than this is reached
    waits_for_report: bool = False  # stand until somebody reports a found target


def follow_path(own: Own, seen: Seen, s: FollowPath) -> Command:
    """Its memory is the number of waypoints reached."""
    if s.waits_for_report and seen.report_s > own.t_s:
        return Command(True, 0.0, 0.0, 0.0, own.memory, False)
    count = len(s.points) // 4
    done = int(own.memory)
    if done >= count and not s.loop:
        return _rest(own, s)
    i = 4 * (done % count)
    x_m, y_m, z_m, speed_mps = s.points[i], s.points[i + 1], s.points[i + 2], s.points[i + 3]
    dx, dy = x_m - own.x_m, y_m - own.y_m
    away_m = math.sqrt(dx * dx + dy * dy)
    if away_m <= s.reach_m or _is_passed(own, s, done, count):
        done += 1
    if not s.loop and done >= count - 1:
        speed_mps = min(speed_mps, math.sqrt(2.0 * 0.8 * own.accel_mps2 * max(away_m - 0.5 * s.reach_m, 0.0)))
        speed_mps = max(speed_mps, 0.05)
    aim_x_m, aim_y_m = _aim(own, s, done, count, x_m, y_m)
    pitch_rad = pitch_towards(own, z_m - own.z_m, away_m)
    return Command(True, steer_towards(own, aim_x_m, aim_y_m), speed_mps, pitch_rad, float(done), False)


def _rest(own: Own, s: FollowPath) -> Command:
    """At the end: stand still, or circle for those that cannot."""
    n = len(s.points)
    steer_rad = 0.0
    if own.speed_mps > 1.0 and not own.spins:
        steer_rad = steer_towards(own, s.points[n - 4], s.points[n - 3])
    pitch_rad = pitch_towards(own, s.points[n - 2] - own.z_m, 10.0)
    return Command(True, steer_rad, 0.0, pitch_rad, own.memory, False)


def _is_passed(own: Own, s: FollowPath, done: int, count: int) -> bool:
    """Whether a vehicle near the next waypoint has crossed the line square to the leg: it would otherwise circle it."""
    if done == 0:
        return False
    i, j = 4 * ((done - 1) % count), 4 * (done % count)
    leg_x, leg_y = s.points[j] - s.points[i], s.points[j + 1] - s.points[i + 1]
    dx, dy = own.x_m - s.points[j], own.y_m - s.points[j + 1]
    near_m = 3.0 * s.reach_m + 2.0 * own.length_m
    return leg_x * dx + leg_y * dy > 0.0 and dx * dx + dy * dy < near_m * near_m


def _aim(own: Own, s: FollowPath, done: int, count: int, x_m: float, y_m: float) -> tuple[float, float]:
    """A point ahead on the leg, so that the vehicle comes back to the line instead of cutting straight to its end."""
    if done == 0 or (done >= count and not s.loop):
        return x_m, y_m
    i, j = 4 * ((done - 1) % count), 4 * (done % count)
    ax, ay, bx, by = s.points[i], s.points[i + 1], s.points[j], s.points[j + 1]
    leg_x, leg_y = bx - ax, by - ay
    leg2 = leg_x * leg_x + leg_y * leg_y
    if leg2 < 1e-12:
        return bx, by
    ahead_m = max(2.0 * own.length_m, 1.5 * own.speed_mps)
    share = ((own.x_m - ax) * leg_x + (own.y_m - ay) * leg_y) / leg2 + ahead_m / math.sqrt(leg2)
    share = min(max(share, 0.0), 1.0)
    return ax + share * leg_x, ay + share * leg_y
