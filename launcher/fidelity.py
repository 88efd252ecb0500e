"""The test fidelity metric: Table 1 of the MoVE paper, 0 to 3 in five categories."""

from collections.abc import Mapping
from typing import NamedTuple


class Fidelity(NamedTuple):
    vehicle: int
    sensors: int
    algorithms: int
    environment: int
    pedestrians: int

    @property
    def total(self) -> int:
        return sum(self)

    def __str__(self) -> str:
        return "/".join(str(rating) for rating in self) + f" = {self.total}"


def derive(
    *,
    virtual_vehicles: int = 0,
    real_vehicles: int = 0,
    virtual_pedestrians: int = 0,
    real_pedestrians: int = 0,
    told_by_core: bool = False,
    has_behaviours: bool = False,
    overrides: Mapping[str, int] | None = None,
) -> Fidelity:
    """What the counts say; an override wins. Pedestrians are not counted among the vehicles here.

    told_by_core: virtual vehicles rely on positions that Core sends, which stand for simulated sensors.
    has_behaviours: a virtual vehicle steers itself, off-board as seen from a real one; otherwise a human does.
    """
    virtual, real = virtual_vehicles + virtual_pedestrians, real_vehicles + real_pedestrians
    derived = Fidelity(
        vehicle=_mix(virtual_vehicles, real_vehicles),
        sensors=1 if told_by_core and virtual else 0,
        algorithms=1 if has_behaviours and virtual else 0,
        environment=max(1, _mix(virtual, real)),
        pedestrians=_mix(virtual_pedestrians, real_pedestrians),
    )
    return derived._replace(**dict(overrides or {}))


def _mix(virtual: int, real: int) -> int:
    if virtual and real:
        return 2
    if real:
        return 3
    return 1 if virtual else 0
