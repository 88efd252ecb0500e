"""A scenario: a TOML file checked from top to bottom before anything starts. docs/scenario.md explains every key."""

import bisect
import dataclasses
import functools
import itertools
import json
import math
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from launcher.faults import Faults, Place, shown
from launcher.fidelity import Fidelity, derive
from launcher.groups import Group, GroupMaker
from launcher.prepare import Context, corners_of
from launcher.tables import (
    BoundsTable,
    CoreTable,
    FidelityTable,
    Origin,
    ProximityTable,
    RadioTable,
    ScenarioTable,
    stem,
)
from vehicles.behaviours import BEHAVIOURS
from vehicles.spec import VehicleSpec
from wire.errors import ConfigError
from wire.frame import Frame, frame_at

SIZE_MAX: Final = 20_000_000  # bytes
WHOLE_MAX: Final = 2**63 - 1
TOLD_BY_CORE: Final = {"avoid", "follow_me", "search_and_report"}
PEDESTRIAN: Final = "pedestrian"
_NOWHERE: Final = frame_at(0.0, 0.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Overrides:
    """What the command line may change."""

    duration_s: float | None = None
    seed: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scenario:
    """Made by `load` or `from_dict`; everything in it holds together."""

    name: str
    duration_s: float
    seed: int
    beat_s: float
    step_s: float  # a whole fraction of the beat
    origin: Origin
    core: CoreTable
    proximity: ProximityTable
    radio: RadioTable
    bounds: tuple[tuple[float, float], ...] | None  # corners in metres
    fidelity_overrides: FidelityTable
    groups: tuple[Group, ...]
    folder: str | None  # where behaviours of a user's own are looked for; None without any

    @functools.cached_property
    def frame(self) -> Frame:
        return frame_at(self.origin.lat_deg, self.origin.lon_deg, self.origin.alt_m)

    def specs(self) -> list[VehicleSpec]:
        """All vehicles, by rising vid."""
        return list(self._specs)

    def processes(self) -> list[tuple[int, ...]]:
        """The vids that each vehicle process hosts."""
        return sorted(vids for group in self.groups for vids in group.processes())

    def behaviour_names(self) -> dict[str, str]:
        """By the number, as text, that stands in rows."""
        own = {str(slot.number): slot.name for group in self.groups for slot in group.slots}
        return {str(line.number): name for name, line in BEHAVIOURS.items()} | own

    def fidelity(self) -> Fidelity:
        pedestrians = sum(group.count for group in self.groups if group.kind == PEDESTRIAN)
        slots = [slot for group in self.groups for slot in group.slots]
        return derive(
            virtual_vehicles=sum(group.count for group in self.groups) - pedestrians,
            virtual_pedestrians=pedestrians,
            told_by_core=any(slot.name in TOLD_BY_CORE or slot.name not in BEHAVIOURS for slot in slots),
            has_behaviours=bool(slots),
            overrides=self.fidelity_overrides.model_dump(exclude_none=True),
        )

    def as_dict(self) -> dict[str, Any]:
        """The whole scenario for JSON: defaults filled in, files read, degrees turned into metres. See `from_dict`."""
        whole = {
            "name": self.name,
            "duration_s": self.duration_s,
            "seed": self.seed,
            "beat_s": self.beat_s,
            "step_s": self.step_s,
            "origin": self.origin.model_dump(),
            "core": self.core.model_dump(),
            "proximity": self.proximity.model_dump(),
            "radio": self.radio.model_dump(),
            "fidelity": self.fidelity_overrides.model_dump(exclude_none=True),
            "vehicles": [group.as_dict() for group in self.groups],
        }
        if self.bounds is not None:
            whole["bounds"] = {"corners_m": self.bounds}
        if self.folder is not None:
            whole["folder"] = self.folder
        plain: dict[str, Any] = json.loads(json.dumps(whole))  # tuples become lists, nothing is shared
        return plain

    @functools.cached_property
    def _specs(self) -> tuple[VehicleSpec, ...]:
        specs = [spec for group in self.groups for spec in group.specs(self.seed)]
        return tuple(sorted(specs, key=lambda spec: spec.vid))


def load(path: Path | str, overrides: Overrides | None = None) -> Scenario:
    """Raises ConfigError: one line for each fault, each a sentence that names file, table and key."""
    path = Path(path)
    raw = _read(path)
    raw.setdefault("name", stem(path.name))
    return _build(raw, path.name, path.parent, overrides)


def from_dict(
    data: dict[str, Any],
    overrides: Overrides | None = None,
    *,
    source: str = "recorded scenario",
    folder: Path | str = ".",
) -> Scenario:
    """The scenario that `as_dict` wrote, or any of the same shape. Raises ConfigError as `load` does."""
    if not isinstance(data, dict):
        raise ConfigError(f"{source}: a scenario is a table, not {shown(data)}")
    return _build(dict(data), source, Path(folder), overrides)


def _read(path: Path) -> dict[str, Any]:
    name = path.name
    if "\0" in str(path):
        raise ConfigError("the name of the scenario file holds a null byte")
    try:
        if path.is_dir():
            raise ConfigError(f"'{path}' is a folder; name a scenario file in it")
        if path.stat().st_size > SIZE_MAX:
            raise ConfigError(f"{name}: larger than {SIZE_MAX // 1_000_000} MB, which no scenario is")
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError as err:
        raise ConfigError(f"scenario file '{path}' does not exist") from err
    except OSError as err:
        raise ConfigError(f"scenario file '{path}' cannot be read: {err.strerror or err}") from err
    except UnicodeDecodeError as err:
        line = err.object.count(b"\n", 0, err.start) + 1
        raise ConfigError(f"{name} line {line}: not UTF-8 text") from err
    except RecursionError as err:
        raise ConfigError(f"{name}: nested too deeply") from err
    except ValueError as err:  # TOMLDecodeError, or a number with thousands of digits
        raise ConfigError(_syntax_sentence(name, str(err))) from err


def _syntax_sentence(name: str, message: str) -> str:
    found = re.fullmatch(r"(.*) \(at (line \d+), (column \d+)\)", message, re.DOTALL)
    if found:
        return f"{name} {found[2]}, {found[3]}: not TOML: {found[1][0].lower()}{found[1][1:]}"
    return f"{name}: not TOML: {message}"


def _build(raw: dict[str, Any], file: str, folder: Path, overrides: Overrides | None) -> Scenario:
    for key, value in dataclasses.asdict(overrides or Overrides()).items():
        if value is not None:
            raw[key] = value
    faults = Faults(file)
    try:
        _check_numbers(raw, faults, ())
    except RecursionError as err:
        raise ConfigError(f"{file}: nested too deeply") from err
    faults.raise_if_any()
    table = _top(raw, faults)
    frame, bounds = _ground(table, raw, faults)
    folder = folder / (table.folder or "") if table else folder
    reach_m = table.core.reach_m if table else math.inf
    maker = GroupMaker(Context(frame, folder, bounds, 0.0, 1.0, reach_m), folder, faults)
    listed = raw.get("vehicles")
    made = [maker.make(("vehicles", i), one) for i, one in enumerate(listed if isinstance(listed, list) else [])]
    groups = [group for group in made if group is not None]
    if len(groups) == len(made):
        _check_vids(groups, faults)
        _check_partners(groups, faults)
    faults.raise_if_any()
    assert table is not None  # or there would be a fault
    return Scenario(
        name=table.name or stem(file),
        duration_s=float(table.duration_s),
        seed=table.seed,
        beat_s=float(table.beat_s),
        step_s=float(table.whole_step_s),
        origin=table.origin,
        core=table.core,
        proximity=table.proximity,
        radio=table.radio,
        bounds=tuple(bounds) if bounds is not None else None,
        fidelity_overrides=table.fidelity,
        groups=tuple(groups),
        folder=str(folder.resolve()) if maker.own_numbers else None,
    )


def _check_numbers(value: Any, faults: Faults, place: Place) -> None:
    """TOML knows inf and nan, and whole numbers of any length; a scenario does not."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_numbers(inner, faults, (*place, str(key)))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            _check_numbers(inner, faults, (*place, i))
    elif isinstance(value, float) and not math.isfinite(value):
        faults.add(place, f"{value} is not a number that can be used")
    elif isinstance(value, int) and abs(value) > WHOLE_MAX:
        faults.add(place, f"a whole number is too large; the largest is {WHOLE_MAX}")


def _top(raw: dict[str, Any], faults: Faults) -> ScenarioTable | None:
    try:
        return ScenarioTable.model_validate(raw)
    except ValidationError as err:
        faults.add_error(err, (), ScenarioTable)
        return None


def _ground(table: ScenarioTable | None, raw: dict[str, Any], faults: Faults) -> tuple[Frame, list[tuple[float, float]] | None]:
    """The frame and the bounds; stand-ins when the top of the file is faulty, so that the rest can be checked."""
    if table is None:
        return _NOWHERE, [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] if "bounds" in raw else None
    frame = frame_at(table.origin.lat_deg, table.origin.lon_deg, table.origin.alt_m)
    if table.bounds is None:
        return frame, None
    if table.bounds.is_empty:
        faults.add(("bounds",), "it is empty; give 'half_width_m', 'corners_m' or 'corners_deg'")
        return frame, None
    try:
        return frame, corners_of(table.bounds, frame)
    except ConfigError as err:
        faults.add(("bounds",), str(err))
        return frame, corners_of(BoundsTable(half_width_m=1.0), frame)


def _check_vids(groups: Sequence[Group], faults: Faults) -> None:
    order = sorted(range(len(groups)), key=lambda i: (groups[i].vid, i))
    for before, after in itertools.pairwise(order):
        if groups[after].vid <= groups[before].last_vid:
            first, second = sorted((before, after))
            sentence = f"vid {groups[after].vid} is taken already, by [vehicles {first + 1}]"
            faults.add(("vehicles", second), sentence)


def _check_partners(groups: Sequence[Group], faults: Faults) -> None:
    """A leader or a target must be another vehicle of the scenario, and one for each vehicle: Core sends no more."""
    spans = sorted((group.vid, group.last_vid) for group in groups)
    for i, group in enumerate(groups):
        for role in ("leader", "target"):
            named: set[int] = set()
            for j, slot in enumerate(group.slots):
                vid = getattr(slot.settings, role, None)
                if not isinstance(vid, int):
                    continue
                named.add(vid)
                fault = _partner_fault(role, vid, group, spans, len(named))
                if fault:
                    faults.add(("vehicles", i, "behaviours", j), fault)


def _partner_fault(role: str, vid: int, group: Group, spans: list[tuple[int, int]], count: int) -> str | None:
    if group.vid <= vid <= group.last_vid:
        return f"'{role}' = {vid} is the vehicle itself; name another one"
    at = bisect.bisect_right(spans, (vid, math.inf)) - 1
    if at < 0 or spans[at][1] < vid:
        return f"'{role}' = {vid} does not exist; no vehicle has this vid"
    if count > 1:
        return f"'{role}' = {vid} is a second {role}; a vehicle has one"
    return None
