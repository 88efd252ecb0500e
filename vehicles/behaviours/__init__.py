"""The built-in behaviours: one file, one test and one line of this table each.

The numbers stand in recorded rows: never give one away again. Priorities are those of Figure 4 of the MoVE paper; the two
that the paper left open stand between the periodic ones and the boundary.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from vehicles.behaviours.avoid import Avoid, avoid
from vehicles.behaviours.follow_me import FollowMe, follow_me
from vehicles.behaviours.follow_path import FollowPath, follow_path
from vehicles.behaviours.periodic_pitch import PeriodicPitch, periodic_pitch
from vehicles.behaviours.periodic_turn import PeriodicTurn, periodic_turn
from vehicles.behaviours.search_and_report import SearchAndReport, search_and_report
from vehicles.behaviours.stay_in_bounds import StayInBounds, stay_in_bounds
from vehicles.behaviours.wander import Wander, wander
from vehicles.mind import Command

Decide = Callable[..., Command]  # (own: Own, seen: Seen, s: settings) -> Command


class Behaviour(NamedTuple):
    number: int  # 1 to 99; a user's own get 100 and up
    priority: int
    decide: Decide
    settings: Any  # the NamedTuple class of its settings


BEHAVIOURS: Final[dict[str, Behaviour]] = {
    "wander": Behaviour(1, 1, wander, Wander),
    "periodic_turn": Behaviour(2, 2, periodic_turn, PeriodicTurn),
    "periodic_pitch": Behaviour(3, 2, periodic_pitch, PeriodicPitch),
    "stay_in_bounds": Behaviour(4, 4, stay_in_bounds, StayInBounds),
    "avoid": Behaviour(5, 10, avoid, Avoid),
    "search_and_report": Behaviour(6, 0, search_and_report, SearchAndReport),
    "follow_path": Behaviour(7, 3, follow_path, FollowPath),
    "follow_me": Behaviour(8, 3, follow_me, FollowMe),
}
