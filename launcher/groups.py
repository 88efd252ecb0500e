"""One [[vehicles]] table made ready: limits, start, behaviours, and the vehicles it stands for."""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

from annotated_types import Ge, Le
from pydantic import ConfigDict, ValidationError

from launcher import own_behaviours, places
from launcher.faults import Faults, Place, unknown
from launcher.prepare import Context, prepare
from launcher.tables import Name, StartTable, Table, VehicleTable
from vehicles.behaviours import BEHAVIOURS
from vehicles.kinds import KIND_WORDS, KINDS
from vehicles.model import Body, Limits, clamp
from vehicles.spec import Slot, VehicleSpec
from wire.errors import ConfigError
from wire.frame import Frame, world_of

GAP_M: Final = 10.0
OWN_FIRST: Final = 100  # number of the first behaviour of a user's own
OWN_LAST: Final = 255  # a row has one byte for it
MANY: Final = 100  # vehicles of a table; up to here each gets a process of its own
HOSTS: Final = 2  # processes for more


class SlotTable(Table):
    """What every behaviour has; its settings stand beside these two."""

    model_config = ConfigDict(extra="ignore")
    name: Name
    priority: Annotated[int, Ge(0), Le(1000)] | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Group:
    vid: int
    count: int
    per_process: int
    name: str
    kind: str
    cruise_mps: float
    limits: Limits
    start: StartTable  # in metres, defaults filled in
    slots: tuple[Slot, ...]  # in the order of the scenario
    keys: tuple[dict[str, Any], ...]  # of the behaviours, as `as_dict` writes them

    @property
    def last_vid(self) -> int:
        return self.vid + self.count - 1

    def specs(self, seed: int) -> Iterator[VehicleSpec]:
        slots = tuple(sorted(self.slots, key=lambda slot: -slot.priority))
        kind = KIND_WORDS[self.kind]
        for i, start in enumerate(self._starts(seed)):
            vid = self.vid + i
            name = self.name if self.count == 1 else f"{self.name} {vid}"
            yield VehicleSpec(vid, name, kind, self.limits, start, self.cruise_mps, slots)

    def processes(self) -> Iterator[tuple[int, ...]]:
        for first in range(self.vid, self.last_vid + 1, self.per_process):
            yield tuple(range(first, min(first + self.per_process, self.last_vid + 1)))

    def as_dict(self) -> dict[str, Any]:
        limits = self.limits._asdict()
        del limits["hovers"]
        return {
            "vid": self.vid,
            "name": self.name,
            "kind": self.kind,
            "count": self.count,
            "per_process": self.per_process,
            "cruise_mps": self.cruise_mps,
            "length_m": self.limits.length_m,
            "limits": limits,
            "start": self.start.model_dump(exclude_none=True),
            "behaviours": [dict(keys) for keys in self.keys],
        }

    def _starts(self, seed: int) -> Iterator[Body]:
        at = self.start
        x_m, y_m, z_m, speed_mps = at.x_m or 0.0, at.y_m or 0.0, at.z_m or 0.0, at.speed_mps or 0.0
        if at.spread_m is None:
            yield Body(x_m, y_m, z_m, at.yaw_rad or 0.0, speed_mps)
            return
        for spot in places.spread(seed, self.vid, self.count, at.spread_m, at.gap_m or 0.0):
            yaw_rad = spot.yaw_rad if at.yaw_rad is None else at.yaw_rad
            yield Body(x_m + spot.x_m, y_m + spot.y_m, at.height_m or 0.0, yaw_rad, speed_mps)


class GroupMaker:
    """Makes the groups of one scenario; numbers the user's own behaviours in the order in which they appear."""

    def __init__(self, context: Context, folder: Path, faults: Faults) -> None:
        self._context = context
        self._folder = folder
        self._faults = faults
        self.own_numbers: dict[str, int] = {}

    def make(self, place: Place, raw: Any) -> Group | None:
        """None after telling the faults why not."""
        try:
            table = VehicleTable.model_validate(raw)
        except ValidationError as err:
            self._faults.add_error(err, place, VehicleTable)
            given = raw.get("behaviours") if isinstance(raw, dict) else None
            self._slots(place, given if isinstance(given, list) else [], self._context)  # their faults are told too
            return None
        limits, cruise_mps = self._limits(place, table)
        start = self._start(place, table, limits)
        z_m = (start.z_m if start.spread_m is None else start.height_m) or 0.0
        context = self._context._replace(z_m=z_m, cruise_mps=cruise_mps)
        slots = self._slots(place, table.behaviours, context)
        return Group(
            vid=table.vid,
            count=table.count,
            per_process=table.per_process or (1 if table.count <= MANY else math.ceil(table.count / HOSTS)),
            name=table.name or (table.kind if table.count > 1 else f"{table.kind} {table.vid}"),
            kind=table.kind,
            cruise_mps=cruise_mps,
            limits=limits,
            start=start,
            slots=tuple(slot for slot, _ in slots),
            keys=tuple(keys for _, keys in slots),
        )

    def _limits(self, place: Place, table: VehicleTable) -> tuple[Limits, float]:
        traits = KINDS[KIND_WORDS[table.kind]]
        changes = table.limits.model_dump(exclude_none=True)
        if table.length_m is not None:
            changes["length_m"] = table.length_m
        if "length_m" in changes and traits.limits.lever_m > 0.0:
            changes.setdefault("lever_m", changes["length_m"] / 2.0)
        limits = Limits(**(traits.limits._asdict() | {key: float(value) for key, value in changes.items()}))
        for low, high in (("speed_min_mps", "speed_max_mps"), ("z_low_m", "z_high_m")):
            if getattr(limits, low) > getattr(limits, high):
                sentence = f"'{low}' = {getattr(limits, low):g} is above '{high}' = {getattr(limits, high):g}"
                self._faults.add((*place, "limits"), sentence)
        cruise_mps = table.cruise_mps
        if cruise_mps is None:
            return limits, clamp(traits.cruise_mps, limits.speed_min_mps, limits.speed_max_mps)
        self._check_range(place, "cruise_mps", cruise_mps, limits.speed_min_mps, limits.speed_max_mps)
        return limits, float(cruise_mps)

    def _start(self, place: Place, table: VehicleTable, limits: Limits) -> StartTable:
        given, place = table.start, (*place, "start")
        start = _in_metres(given, self._context.frame, limits)
        height = "height_m" if start.spread_m is not None else "z_m" if given.alt_m is None else "alt_m"
        z_m = (start.z_m if start.spread_m is None else start.height_m) or 0.0
        above_m = self._context.frame.alt_m if height == "alt_m" else 0.0
        self._check_range(place, height, z_m + above_m, limits.z_low_m + above_m, limits.z_high_m + above_m)
        self._check_range(place, "speed_mps", start.speed_mps or 0.0, 0.0, limits.speed_max_mps)
        away_m = math.hypot(start.x_m or 0.0, start.y_m or 0.0) + math.sqrt(2.0) * (start.spread_m or 0.0)
        if away_m > self._context.reach_m:
            self._faults.add(place, f"it lies {away_m / 1000.0:,.1f} km from the origin, beyond 'reach_m' of [core]")
        if start.spread_m is not None:
            room = places.room(start.spread_m, start.gap_m or 0.0)
            if table.count > room:
                self._faults.add(
                    place,
                    f"{table.count} vehicles with a 'gap_m' of {start.gap_m:g} do not fit into a square of 'spread_m' = "
                    f"{start.spread_m:g} to each side, which has room for {room}",
                )
        return start

    def _check_range(self, place: Place, key: str, value: float, low: float, high: float) -> None:
        if not low <= value <= high and low <= high:
            sentence = f"'{key}' = {value:g} is out of range; allowed for this vehicle is {low:g} to {high:g}"
            self._faults.add(place, sentence)

    def _slots(self, place: Place, tables: list[Any], context: Context) -> list[tuple[Slot, dict[str, Any]]]:
        made = [self._slot((*place, "behaviours", j), raw, context) for j, raw in enumerate(tables)]
        return [slot for slot in made if slot is not None]

    def _slot(self, place: Place, raw: Any, context: Context) -> tuple[Slot, dict[str, Any]] | None:
        try:
            table = SlotTable.model_validate(raw)
        except ValidationError as err:
            self._faults.add_error(err, place, SlotTable)
            return None
        name, priority = table.name, table.priority
        try:
            if name in BEHAVIOURS:
                number, usual, decide, settings = BEHAVIOURS[name]
                priority = usual if priority is None else priority
            else:
                number, decide, settings = self._own(name)
        except ConfigError as err:
            self._faults.add(place, str(err))
            return None
        if priority is None:
            self._faults.add(place, f"missing key 'priority'; a behaviour of your own such as '{name}' needs one")
        given = {key: value for key, value in raw.items() if key not in SlotTable.model_fields}
        prepared = prepare(name, settings, given, context, self._faults, place)
        if prepared is None or priority is None:
            return None
        slot = Slot(name, number, priority, decide, prepared.settings)
        return slot, {"name": name, "priority": priority, **prepared.keys}

    def _own(self, name: str) -> tuple[int, Any, Any]:
        if ":" not in name:
            raise ConfigError(unknown("behaviour", name, BEHAVIOURS))
        found = own_behaviours.find(name, self._folder)
        number = self.own_numbers.setdefault(name, OWN_FIRST + len(self.own_numbers))
        if number > OWN_LAST:
            raise ConfigError(f"'{name}' is one too many; a scenario has room for {OWN_LAST - OWN_FIRST + 1} of your own")
        return number, found.decide, found.settings


def _in_metres(given: StartTable, frame: Frame, limits: Limits) -> StartTable:
    """Defaults filled in. Those that cannot stand still start at their lowest speed."""
    speed_mps = float(limits.speed_min_mps if given.speed_mps is None else given.speed_mps)
    x_m, y_m = float(given.x_m or 0.0), float(given.y_m or 0.0)
    if given.spread_m is not None:
        gap_m = GAP_M if given.gap_m is None else float(given.gap_m)
        height_m = float(given.height_m or 0.0)
        made = StartTable(x_m=x_m, y_m=y_m, spread_m=float(given.spread_m), gap_m=gap_m, height_m=height_m)
        yaw_rad = given.yaw_rad
    else:
        z_m, yaw_rad = float(given.z_m or 0.0), float(given.yaw_rad or 0.0)
        if given.lat_deg is not None and given.lon_deg is not None:
            x_m, y_m = world_of(given.lat_deg, given.lon_deg, frame)
            z_m = 0.0 if given.alt_m is None else given.alt_m - frame.alt_m
        made = StartTable.model_construct(x_m=x_m, y_m=y_m, z_m=z_m)
    return made.model_copy(update={"yaw_rad": yaw_rad, "speed_mps": speed_mps})
