import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher import waypoints
from launcher.waypoints import READERS, Waypoint, read
from wire.errors import ConfigError

GPX = """<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><trk><trkseg>
<trkpt lat="29.1" lon="-81.1"><ele>3.5</ele></trkpt>
<trkpt lat="29.2" lon="-81.2"><extensions><speed>4.5</speed></extensions></trkpt>
</trkseg></trk><wpt lat="1" lon="2"/></gpx>"""
BOMB = """<?xml version="1.0"?><!DOCTYPE gpx [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<gpx><wpt lat="1" lon="2"><ele>&b;</ele></wpt></gpx>"""
LINE = {"type": "LineString", "coordinates": [[-81.1, 29.1], [-81.2, 29.2, 7.0]]}
PLACES = [Waypoint(lat_deg=29.1, lon_deg=-81.1), Waypoint(lat_deg=29.2, lon_deg=-81.2, alt_m=7.0)]


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def sentence(path):
    with pytest.raises(ConfigError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_track_is_read_before_waypoints(tmp_path):
    assert read(written(tmp_path, "a.gpx", GPX)) == [
        Waypoint(lat_deg=29.1, lon_deg=-81.1, alt_m=3.5),
        Waypoint(lat_deg=29.2, lon_deg=-81.2, speed_mps=4.5),
    ]


@pytest.mark.parametrize("tag", ["rtept", "wpt"])
def test_route_points_and_waypoints_are_read_too(tmp_path, tag):
    path = written(tmp_path, "a.gpx", f'<gpx><{tag} lat="1" lon="2"><speed>0</speed></{tag}></gpx>')
    assert read(path) == [Waypoint(lat_deg=1.0, lon_deg=2.0)]  # standing still is no speed to drive at


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_never_expand(tmp_path, encoding):
    bomb = BOMB.replace('"1.0"?', f'"1.0" encoding="{encoding}"?').encode(encoding)
    assert "DOCTYPE" in sentence(written(tmp_path, "bomb.gpx", bomb))


@pytest.mark.parametrize(
    "shape",
    [
        LINE,
        LINE | {"type": "MultiPoint"},
        {"type": "Feature", "properties": None, "geometry": LINE},
        {
            "type": "FeatureCollection",
            "features": [{"type": "Feature", "geometry": {"type": "Point", "coordinates": at}} for at in LINE["coordinates"]],
        },
    ],
)
@pytest.mark.parametrize("ending", [".geojson", ".json"])
def test_geojson_is_longitude_first(tmp_path, shape, ending):
    assert read(written(tmp_path, "a" + ending, json.dumps(shape))) == PLACES


def test_a_features_speed_holds_for_its_points(tmp_path):
    shape = {"type": "Feature", "properties": {"speed_mps": 6}, "geometry": LINE}
    assert [point.speed_mps for point in read(written(tmp_path, "a.geojson", json.dumps(shape)))] == [6.0, 6.0]


def test_csv_in_metres_and_in_degrees(tmp_path):
    metres = written(tmp_path, "m.csv", "\ufeffx_m, y_m,z_m,speed_mps\n1,2,3,4\n\n5,6,,\n")
    assert read(metres) == [Waypoint(x_m=1.0, y_m=2.0, z_m=3.0, speed_mps=4.0), Waypoint(x_m=5.0, y_m=6.0)]
    assert read(written(tmp_path, "d.CSV", "lat_deg,lon_deg,alt_m\n29.1,-81.1,\n29.2,-81.2,7\n")) == PLACES


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("a.gpx", "<gpx>", ["a.gpx: not readable as GPX", "line 1"]),
        ("a.gpx", "<gpx/>", ["a.gpx: there are no waypoints"]),
        ("a.gpx", '<gpx><wpt lat="1"/></gpx>', ["a.gpx wpt 1: 'lon_deg' must be a number"]),
        ("a.gpx", '<gpx><wpt lat="1" lon="inf"/></gpx>', ["wpt 1: 'lon_deg' must be a number, not \"inf\""]),
        ("a.gpx", '<gpx><wpt lat="91" lon="0"/></gpx>', ["wpt 1: 'lat_deg' = 91.0", "allowed is -90 to 90"]),
        ("a.geojson", "{", ["a.geojson: not readable as JSON", "line 1"]),
        ("a.geojson", "[" * 100_000, ["not readable as JSON"]),
        ("a.geojson", "[NaN]", ["NaN is not a number"]),
        ("a.geojson", '{"type": "Polygon"}', ["feature 1: a path is a LineString", "'Polygon'"]),
        ("a.geojson", '{"type": "FeatureCollection", "features": 3}', ["'features' must be an array"]),
        ("a.geojson", '{"type": "FeatureCollection", "features": [3]}', ["feature 1: a path is"]),
        ("a.geojson", '{"type": "LineString"}', ["feature 1: 'coordinates' must be an array"]),
        ("a.geojson", '{"type": "LineString", "coordinates": [[1]]}', ["point 1: a position is [longitude"]),
        ("a.geojson", '{"type": "LineString", "coordinates": [[1, "2"]]}', ["point 1: 'lat_deg' must be a number"]),
        ("a.csv", "lat,lon_deg\n1,2\n", ["a.csv line 1: unknown column 'lat'; did you mean 'lat_deg'?"]),
        ("a.csv", "x_m,y_m\n1,2\n3,here\n", ["a.csv line 3: 'y_m' must be a number, not \"here\""]),
        ("a.csv", "x_m,y_m\n1\n", ["line 2: 1 cells under 2 columns"]),
        ("a.csv", "x_m,x_m\n1,2\n", ["line 1: a column stands there twice"]),
        ("a.csv", "x_m,lat_deg\n1,2\n", ["line 2: a waypoint needs 'x_m' and 'y_m'"]),
        ("a.csv", "x_m,y_m\n1,2\n\xff".encode("latin-1"), ["a.csv line 3: not UTF-8"]),
        ("a.csv", 'x_m,y_m\n"1"2,3\n', ["not readable as CSV"]),
        ("a.csv", "", ["there are no waypoints"]),
        ("a.kml", "", ["a.kml", "known are .gpx, .geojson, .json, .csv"]),
    ],
)
def test_wrong_content_is_one_sentence_with_its_place(tmp_path, name, content, parts):
    said = sentence(written(tmp_path, name, content))
    for part in parts:
        assert part in said


def test_a_missing_file_is_named(tmp_path):
    assert sentence(tmp_path / "gone.gpx") == f"waypoint file '{tmp_path / 'gone.gpx'}' does not exist"
    (tmp_path / "folder.csv").mkdir()
    assert "cannot be read" in sentence(tmp_path / "folder.csv")


def test_a_huge_file_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(waypoints, "SIZE_MAX", 10)
    assert "is larger than" in sentence(written(tmp_path, "a.csv", "x_m,y_m\n1,2\n"))


@pytest.mark.parametrize("ending", READERS)
@given(data=st.binary(max_size=200))
def test_junk_is_a_config_error_at_most(ending, data):
    with contextlib.suppress(ConfigError):
        list(READERS[ending]("junk", data))
