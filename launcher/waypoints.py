"""Waypoints, from the scenario itself or from a file: GPX, GeoJSON or CSV."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final
from xml.etree import ElementTree

from annotated_types import Gt, Le
from pydantic import ValidationError, model_validator

from launcher.faults import Faults, table_fault, unknown
from launcher.tables import Latitude, Longitude, Metres, Table
from wire.errors import ConfigError

SIZE_MAX: Final = 20_000_000  # bytes
COLUMNS: Final = ("lat_deg", "lon_deg", "alt_m", "x_m", "y_m", "z_m", "speed_mps")
Speed = Annotated[float, Gt(0), Le(10_000)]


class Waypoint(Table):
    """A place in metres or in degrees, and the speed of the leg that ends there. Also written [x_m, y_m] or [x_m, y_m, z_m]."""

    x_m: Metres | None = None
    y_m: Metres | None = None
    z_m: Metres | None = None
    lat_deg: Latitude | None = None
    lon_deg: Longitude | None = None
    alt_m: Metres | None = None
    speed_mps: Speed | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_array(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if len(value) not in (2, 3):
            raise table_fault(f"a waypoint is [x_m, y_m] or [x_m, y_m, z_m], not {len(value)} numbers")
        return dict(zip(("x_m", "y_m", "z_m"), value, strict=False))

    @model_validator(mode="after")
    def _is_one_form(self) -> "Waypoint":
        metres = [self.x_m is not None, self.y_m is not None]
        degrees = [self.lat_deg is not None, self.lon_deg is not None]
        if all(metres) and not any(degrees) and self.alt_m is None:
            return self
        if all(degrees) and not any(metres) and self.z_m is None:
            return self
        raise table_fault("a waypoint needs 'x_m' and 'y_m' (and 'z_m') or 'lat_deg' and 'lon_deg' (and 'alt_m')")


def read(path: Path) -> list[Waypoint]:
    """The waypoints of a file, by its ending. Raises ConfigError with one sentence that names the file."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ConfigError(f"waypoint file '{path}' has an ending that is not known; known are {', '.join(READERS)}")
    try:
        if path.stat().st_size > SIZE_MAX:
            raise ConfigError(f"waypoint file '{path}' is larger than {SIZE_MAX // 1_000_000} MB")
        data = path.read_bytes()
    except FileNotFoundError as err:
        raise ConfigError(f"waypoint file '{path}' does not exist") from err
    except (OSError, ValueError) as err:
        raise ConfigError(f"waypoint file '{path}' cannot be read: {getattr(err, 'strerror', None) or err}") from err
    waypoints = [_waypoint(path.name, where, point) for where, point in reader(path.name, data)]
    if not waypoints:
        raise ConfigError(f"{path.name}: there are no waypoints in it")
    return waypoints


Points = Iterator[tuple[str, dict[str, Any]]]  # where it stands in the file, and the keys of a Waypoint


def read_gpx(name: str, data: bytes) -> Points:
    """Track points, or else route points, or else waypoints; ele becomes alt_m. A DOCTYPE is refused: entities may explode."""
    parser = ElementTree.XMLParser(target=_NoDoctype(name))
    try:
        parser.feed(data)
        root: ElementTree.Element = parser.close()
    except (ElementTree.ParseError, LookupError, ValueError) as err:
        raise ConfigError(f"{name}: not readable as GPX: {err}") from err
    for tag in ("trkpt", "rtept", "wpt"):
        points = [element for element in root.iter() if _local(element) == tag]
        for number, element in enumerate(points, 1):
            where = f"{tag} {number}"
            point = {
                key: _number(name, where, key, element.get(attribute))
                for key, attribute in (("lat_deg", "lat"), ("lon_deg", "lon"))
            }
            for child in element.iter():
                key = {"ele": "alt_m", "speed": "speed_mps"}.get(_local(child), "")
                if key:
                    point[key] = _number(name, where, key, child.text)
            if point.get("speed_mps", 1.0) <= 0.0:
                del point["speed_mps"]  # a receiver that stood still: no speed to drive at
            yield where, point
        if points:
            return


class _NoDoctype(ElementTree.TreeBuilder):
    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def doctype(self, *_: str | None) -> None:
        raise ConfigError(f"{self._name}: a GPX file with a DOCTYPE is not read; remove that line")


def _local(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def read_geojson(name: str, data: bytes) -> Points:
    """The points of LineString, MultiPoint and Point, alone or in features; a feature's speed_mps holds for its points."""
    try:
        top = json.loads(_text(name, data), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as err:
        raise ConfigError(f"{name}: not readable as JSON: {err}") from err
    features = top.get("features") if isinstance(top, dict) and top.get("type") == "FeatureCollection" else [top]
    if not isinstance(features, list):
        raise ConfigError(f"{name}: 'features' must be an array")
    number = 0
    for index, feature in enumerate(features, 1):
        for position in _positions(name, index, feature):
            number += 1
            where = f"point {number}"
            if not isinstance(position, list) or not 2 <= len(position) <= 4:
                raise ConfigError(f"{name} {where}: a position is [longitude, latitude] or [longitude, latitude, altitude]")
            point = dict(zip(("lon_deg", "lat_deg", "alt_m"), position, strict=False))
            speed_mps = (feature.get("properties") or {}).get("speed_mps") if "geometry" in feature else None
            yield where, point if speed_mps is None else point | {"speed_mps": speed_mps}


def _positions(name: str, index: int, feature: Any) -> list[Any]:
    geometry = feature.get("geometry") if isinstance(feature, dict) and feature.get("type") == "Feature" else feature
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("LineString", "MultiPoint", "Point") or not isinstance(feature.get("properties") or {}, dict):
        raise ConfigError(f"{name} feature {index}: a path is a LineString, a MultiPoint or a Point, not {kind!r}")
    positions = geometry["coordinates"] if isinstance(geometry, dict) and "coordinates" in geometry else None
    if not isinstance(positions, list):
        raise ConfigError(f"{name} feature {index}: 'coordinates' must be an array")
    return [positions] if kind == "Point" else positions


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def read_csv(name: str, data: bytes) -> Points:
    """A header with lat_deg,lon_deg[,alt_m][,speed_mps] or x_m,y_m[,z_m][,speed_mps]; an empty cell is left out."""
    rows = csv.reader(io.StringIO(_text(name, data), newline=""), strict=True)
    try:
        header = [column.strip() for column in next(rows, [])]
        for column in header:
            if column not in COLUMNS:
                raise ConfigError(f"{name} line 1: {unknown('column', column, COLUMNS)}")
        if len(set(header)) < len(header):
            raise ConfigError(f"{name} line 1: a column stands there twice")
        for row in rows:
            where = f"line {rows.line_num}"
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) != len(header):
                raise ConfigError(f"{name} {where}: {len(cells)} cells under {len(header)} columns")
            yield where, {key: _number(name, where, key, cell) for key, cell in zip(header, cells, strict=True) if cell}
    except csv.Error as err:
        raise ConfigError(f"{name} line {rows.line_num}: not readable as CSV: {err}") from err


READERS: Final[dict[str, Callable[[str, bytes], Points]]] = {
    ".gpx": read_gpx,
    ".geojson": read_geojson,
    ".json": read_geojson,
    ".csv": read_csv,
}


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        line = data.count(b"\n", 0, err.start) + 1
        raise ConfigError(f"{name} line {line}: not UTF-8 text") from err


def _number(name: str, where: str, key: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"{name} {where}: '{key}' must be a number, not \"{(text or '')[:40]}\"")
    return value


def _waypoint(name: str, where: str, point: dict[str, Any]) -> Waypoint:
    try:
        return Waypoint.model_validate(point)
    except ValidationError as err:
        faults = Faults(f"{name} {where}")
        faults.add_error(err, (), Waypoint)
        raise ConfigError(faults.sentences[0]) from err
