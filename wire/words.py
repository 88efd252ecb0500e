"""The words that every part shares, with the numbers they have on the wire."""

from enum import IntEnum
from typing import Final


class RunState(IntEnum):
    """Section 11 of the MoVE paper."""

    READY = 1
    SET = 2
    GO = 3
    PAUSE = 4
    STOP = 5


class Condition(IntEnum):
    """How far a vehicle's latest row can be trusted."""

    FRESH = 0
    LATE = 1
    STALE = 2
    LOST = 3


class Kind(IntEnum):
    """What a vehicle is. The domains of the paper, aerial split by whether it can hover."""

    GROUND = 1
    FIXED_WING = 2
    MULTIROTOR = 3
    SURFACE = 4
    UNDERWATER = 5
    PEDESTRIAN = 6


class Advice(IntEnum):
    """What an advisory asks for."""

    AVOID = 1
    FOLLOW = 2
    TARGET = 3


VID_MAX: Final = 4_194_303  # Core keeps a table with one entry per possible vid
EVERYONE: Final = 0  # as the receiver of a vehicle-to-vehicle message
NO_BEHAVIOUR: Final = 0  # nobody in charge; built-in behaviours have the numbers of vehicles.behaviours.BEHAVIOURS
UNKNOWN_U8: Final = 255  # a percentage that was not measured
