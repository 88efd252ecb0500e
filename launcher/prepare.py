"""From the keys that a scenario has for a behaviour to the settings that the behaviour runs with."""

import functools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from launcher.faults import Faults, Place, fields_of, unknown
from launcher.polygon import Corner, fault, home
from launcher.tables import BoundsTable, Table
from launcher.waypoints import Speed, Waypoint, read
from wire.errors import ConfigError
from wire.frame import Frame, world_of


class Context(NamedTuple):
    """What a behaviour's settings may depend on."""

    frame: Frame
    folder: Path  # where waypoint files are looked for
    bounds: list[Corner] | None  # of the whole scenario
    z_m: float  # at which the vehicle starts
    cruise_mps: float
    reach_m: float  # Core refuses positions farther out


class Prepared(NamedTuple):
    settings: Any  # a NamedTuple
    keys: dict[str, Any]  # what would have given the same settings, without files, defaults filled in


class PathTable(Table):
    """The keys of follow_path beside those of vehicles.behaviours.follow_path."""

    waypoints: list[Waypoint] | None = None
    file: str | None = None
    speed_mps: Speed | None = None


class Made(NamedTuple):
    runtime: dict[str, Any]
    keys: dict[str, Any]


class Preparer(NamedTuple):
    """For a behaviour whose scenario keys differ from its settings."""

    table: type[Table]
    hidden: tuple[str, ...]  # settings that are made, never given
    make: Callable[[Any, Context], Made]


def prepare(name: str, settings: Any, given: dict[str, Any], context: Context, faults: Faults, place: Place) -> Prepared | None:
    """Settings of class `settings`, or None after telling `faults` why not."""
    preparer = PREPARERS.get(name)
    if preparer is None:
        return _checked(settings, given, Made({}, {}), faults, place, ())
    before = len(faults.sentences)
    special = {key: value for key, value in given.items() if key in preparer.table.model_fields}
    rest = {key: value for key, value in given.items() if key not in special}
    visible = [*preparer.table.model_fields, *(key for key in fields_of(settings) if key not in preparer.hidden)]
    for key in [key for key in rest if key not in visible]:
        faults.add(place, unknown("key", key, visible))
        del rest[key]
    made: Made | None = None
    try:
        made = preparer.make(preparer.table.model_validate(special), context)
    except ValidationError as err:
        faults.add_error(err, place, preparer.table)
    except ConfigError as err:
        faults.add(place, str(err))
    prepared = _checked(settings, rest, made, faults, place, preparer.hidden)
    return prepared if len(faults.sentences) == before else None


def corners_of(table: BoundsTable, frame: Frame) -> list[Corner]:
    """The outline in metres. Raises ConfigError when it is not that of a simple polygon."""
    if table.half_width_m is not None:
        x, y = table.centre or (0.0, 0.0)
        a, b = table.half_width_m, table.half_height_m or table.half_width_m
        return [(x - a, y - b), (x + a, y - b), (x + a, y + b), (x - a, y + b)]
    corners = [(float(x), float(y)) for x, y in table.corners_m or ()]
    corners += [world_of(lat_deg, lon_deg, frame) for lat_deg, lon_deg in table.corners_deg or ()]
    if len(corners) > 1 and corners[0] == corners[-1]:
        corners.pop()  # closed by repeating the first corner
    wrong = fault(corners)
    if wrong is not None:
        raise ConfigError(f"'{'corners_deg' if table.corners_deg else 'corners_m'}': {wrong}")
    return corners


def _bounds(table: BoundsTable, context: Context) -> Made:
    if not table.is_empty:
        corners = corners_of(table, context.frame)
    elif context.bounds is not None:
        corners = context.bounds
    else:
        raise ConfigError("stay_in_bounds has no bounds; give it 'half_width_m' or 'corners_m', or the scenario a table [bounds]")
    home_x_m, home_y_m = home(corners)
    flat = [value for corner in corners for value in corner]
    keys = {"corners_m": [list(corner) for corner in corners]}
    return Made({"corners_m": flat, "home_x_m": home_x_m, "home_y_m": home_y_m}, keys)


def _path(table: PathTable, context: Context) -> Made:
    if (table.waypoints is None) == (table.file is None):
        raise ConfigError("follow_path needs either 'waypoints' or 'file'")
    waypoints = read(context.folder / table.file) if table.file is not None else table.waypoints or []
    if not waypoints:
        raise ConfigError("'waypoints' is empty; give at least one")
    speed_mps = table.speed_mps or context.cruise_mps
    if speed_mps <= 0.0 and any(point.speed_mps is None for point in waypoints):
        raise ConfigError("follow_path needs 'speed_mps', because 'cruise_mps' is 0")
    flat: list[float] = []
    for number, point in enumerate(waypoints, 1):
        x_m, y_m, z_m = place_of(point, context)
        if not math.hypot(x_m, y_m) <= context.reach_m:
            raise ConfigError(
                f"waypoint {number} lies {math.hypot(x_m, y_m) / 1000.0:,.0f} km from the origin, beyond 'reach_m' of [core]"
            )
        flat += [x_m, y_m, z_m, float(point.speed_mps or speed_mps)]
    names = ("x_m", "y_m", "z_m", "speed_mps")
    keys = [dict(zip(names, flat[i : i + 4], strict=True)) for i in range(0, len(flat), 4)]
    return Made({"points": flat}, {"waypoints": keys})


def place_of(point: Waypoint, context: Context) -> tuple[float, float, float]:
    if point.lat_deg is not None and point.lon_deg is not None:
        x_m, y_m = world_of(point.lat_deg, point.lon_deg, context.frame)
        return x_m, y_m, context.z_m if point.alt_m is None else point.alt_m - context.frame.alt_m
    z_m = context.z_m if point.z_m is None else point.z_m
    return float(point.x_m or 0.0), float(point.y_m or 0.0), float(z_m)


PREPARERS: Final[dict[str, Preparer]] = {
    "stay_in_bounds": Preparer(BoundsTable, ("corners_m", "home_x_m", "home_y_m"), _bounds),
    "follow_path": Preparer(PathTable, ("points",), _path),
}


@functools.cache
def _adapter(settings: Any) -> TypeAdapter[Any]:
    return TypeAdapter(settings)


def _checked(
    settings: Any, given: dict[str, Any], made: Made | None, faults: Faults, place: Place, hidden: tuple[str, ...]
) -> Prepared | None:
    """Checked as JSON, in which an array may become a tuple while everything else stays strict.

    Without `made` the fault is told already, and the other keys are checked all the same.
    """
    runtime = made.runtime if made else {}
    try:
        checked = _adapter(settings).validate_json(json.dumps(given | runtime, default=str), strict=True)
    except ValidationError as err:
        faults.add_error(err, place, settings, hidden)
        return None
    if made is None:
        return None
    keys = {key: getattr(checked, key) for key in fields_of(settings) if key not in hidden}
    return Prepared(checked, made.keys | keys)
