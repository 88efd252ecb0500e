"""A vehicle as a scenario describes it: everything that its motion depends on."""

from typing import Any, NamedTuple

from vehicles.behaviours import Decide
from vehicles.model import Body, Limits
from wire.messages import Introduction
from wire.words import Kind


class Slot(NamedTuple):
    """One behaviour of one vehicle."""

    name: str
    number: int  # in rows; 100 and up for a user's own
    priority: int
    decide: Decide
    settings: Any  # a NamedTuple


class VehicleSpec(NamedTuple):
    vid: int
    name: str
    kind: Kind
    limits: Limits
    start: Body
    cruise_mps: float
    slots: tuple[Slot, ...]  # falling priority; of equals the first in the scenario wins


def introduction(spec: VehicleSpec) -> Introduction:
    wants = dict.fromkeys(("leader", "target")) | {
        field: getattr(slot.settings, field)
        for slot in spec.slots
        for field in ("leader", "target")
        if hasattr(slot.settings, field)
    }
    return Introduction(
        vid=spec.vid,
        name=spec.name,
        kind=spec.kind,
        length_m=spec.limits.length_m,
        live=False,
        behaviours=tuple(slot.name for slot in spec.slots),
        follows=wants["leader"],
        searches=wants["target"],
    )
