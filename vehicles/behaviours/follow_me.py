"""Keep a gap behind a leader whose position Core sends (priority 3)."""

import math
from typing import Annotated, NamedTuple

from annotated_types import Ge, Gt

from vehicles.mind import Command, Own, Seen
from vehicles.model import clamp
from vehicles.steering import pitch_towards, steer_towards


class FollowMe(NamedTuple):
    leader: Annotated[int, Gt(0)]  # vid
    gap_m: Annotated[float, Gt(0)] = 10.0  # between the centres, at standstill
    headway_s: Annotated[float, Ge(0)] = 0.5  # more gap for more speed
    gain_per_s: Annotated[float, Gt(0)] = 0.4  # speed gained on the leader per metre of gap too much
    speed_max_mps: Annotated[float, Gt(0)] = 25.0


def follow_me(own: Own, seen: Seen, s: FollowMe) -> Command:
    leader = seen.leader
    if not leader.known or leader.vid != s.leader:
        return Command(True, 0.0, 0.0, 0.0, 0.0, False)  # nobody to follow: wait
    dx, dy = leader.x_m - own.x_m, leader.y_m - own.y_m
    away_m = math.sqrt(dx * dx + dy * dy)
    leader_mps = 0.0
    if away_m > 1e-9:
        leader_mps = (leader.vx_mps * dx + leader.vy_mps * dy) / away_m
    too_much_m = away_m - s.gap_m - s.headway_s * own.speed_mps
    speed_mps = clamp(leader_mps + s.gain_per_s * too_much_m, 0.0, s.speed_max_mps)
    pitch_rad = pitch_towards(own, leader.z_m - own.z_m, away_m)
    return Command(True, steer_towards(own, leader.x_m, leader.y_m), speed_mps, pitch_rad, 0.0, False)
