"""Go straight on at cruise speed: what a vehicle does when nothing else speaks (priority 1)."""

from typing import NamedTuple

from vehicles.mind import Command, Own, Seen


class Wander(NamedTuple):
    pass


def wander(own: Own, seen: Seen, s: Wander) -> Command:
    return Command(True, 0.0, own.cruise_mps, 0.0, 0.0, False)
