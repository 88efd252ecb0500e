"""The messages of the vehicle link, in both directions. `wire.codec` turns them into bytes and back."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from wire.words import Kind, RunState


class Order(NamedTuple):
    """Core's word on the run. It travels in every datagram from Core; the highest number holds."""

    number: int  # counts the changes; 0 before the first
    state: RunState
    t_s: float  # simulation time when it was sent; negative while GO counts down
    rate: float  # simulated seconds per second
    run_id: str  # empty before the first SET


class Introduction(NamedTuple):
    """What Core needs to know of a vehicle beyond its rows."""

    vid: int
    name: str
    kind: Kind
    length_m: float
    live: bool
    behaviours: tuple[str, ...]
    follows: int | None = None  # vid of the leader whose position it wants
    searches: int | None = None  # vid of the target whose position it wants


@dataclass(frozen=True, slots=True, kw_only=True)
class Datagram:
    """What all messages have: who sent it, its place in that sender's sequence, and when."""

    sender: int  # drawn at random when a process starts, so that a restart is noticed
    seq: int
    t_sent_s: float  # the sender's unix time


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello(Datagram):
    """A vehicle process introduces those it hosts; repeated until every part is welcomed."""

    KIND: ClassVar = 1
    part: int
    parts: int
    order: Order  # the newest it knows: a restarted Core takes over the run from it
    vehicles: tuple[Introduction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcome(Datagram):
    """Core's answer to one part of a hello. `refused` names vids that belong to somebody else."""

    KIND: ClassVar = 2
    order: Order
    part: int
    refused: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class States(Datagram):
    """Packed state rows. The order's number says which of Core's words the vehicles have heard."""

    KIND: ClassVar = 3
    order_number: int
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisories(Datagram):
    """Packed advisory rows for the vehicles of one process. None at all means: the last ones no longer hold."""

    KIND: ClassVar = 4
    order: Order
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder(Datagram):
    """The run state alone, repeated until every vehicle echoes it."""

    KIND: ClassVar = 5
    order: Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Datagram):
    """Vehicle to vehicle, by way of Core, which applies range, loss and delay."""

    KIND: ClassVar = 6
    from_vid: int
    to_vid: int  # EVERYONE for all in range
    t_s: float  # simulation time at which it was said
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat(Datagram):
    """Lockstep: advance to this beat, report, and wait for the next."""

    KIND: ClassVar = 7
    order: Order
    beat: int


AnyMessage = Hello | Welcome | States | Advisories | RunOrder | Message | Beat
