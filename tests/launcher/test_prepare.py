import math
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from launcher.faults import Faults
from launcher.polygon import fault, home
from launcher.prepare import Context, prepare
from vehicles.behaviours import BEHAVIOURS
from vehicles.behaviours.stay_in_bounds import is_inside
from wire.frame import frame_at, latlon_of

FRAME = frame_at(29.18877, -81.04628, 5.0)
SQUARE = [(-10.0, -10.0), (10.0, -10.0), (10.0, 10.0), (-10.0, 10.0)]
CONTEXT = Context(FRAME, Path("."), None, 20.0, 8.0, 100_000.0)
HORSESHOE = [(0, 0), (30, 0), (30, 30), (20, 30), (20, 10), (10, 10), (10, 30), (0, 30)]


def made(name, context=CONTEXT, **given_keys):
    faults = Faults("a.toml")
    prepared = prepare(name, BEHAVIOURS[name].settings, given_keys, context, faults, ("vehicles", 0, "behaviours", 1))
    assert faults.sentences == []
    return prepared


def told(name, context=CONTEXT, **given_keys):
    faults = Faults("a.toml")
    prepared = prepare(name, BEHAVIOURS[name].settings, given_keys, context, faults, ("vehicles", 0, "behaviours", 1))
    assert prepared is None
    assert all(sentence.startswith("a.toml [vehicles 1, behaviours 2") for sentence in faults.sentences)
    return faults.sentences


def test_a_box_becomes_corners_around_its_centre():
    settings = made("stay_in_bounds", half_width_m=10, half_height_m=5, centre=[100, 0]).settings
    assert settings.corners_m == (90.0, -5.0, 110.0, -5.0, 110.0, 5.0, 90.0, 5.0)
    assert (settings.home_x_m, settings.home_y_m) == (100.0, 0.0)


def test_bounds_come_from_the_scenario_unless_given():
    context = CONTEXT._replace(bounds=SQUARE)
    assert made("stay_in_bounds", context).settings.corners_m == tuple(v for corner in SQUARE for v in corner)
    assert made("stay_in_bounds", context, half_width_m=3).settings.corners_m[0] == -3.0


def test_corners_in_degrees_become_metres_and_a_closing_corner_is_dropped():
    degrees = [list(latlon_of(x, y, FRAME)) for x, y in [*SQUARE, SQUARE[0]]]
    settings = made("stay_in_bounds", corners_deg=degrees).settings
    assert settings.corners_m == pytest.approx([v for corner in SQUARE for v in corner], abs=1e-6)


def test_a_concave_outline_has_a_home_inside():
    settings = made("stay_in_bounds", corners_m=[list(corner) for corner in HORSESHOE]).settings
    assert not is_inside(15.0, 14.0, settings.corners_m)  # about where the centroid is
    assert is_inside(settings.home_x_m, settings.home_y_m, settings.corners_m)


@given(st.lists(st.floats(0.05, 1.0), min_size=3, max_size=24))
def test_home_is_inside_any_star(radii):
    n = len(radii)
    corners = [(1e3 + 50 * r * math.cos(math.tau * i / n), 50 * r * math.sin(math.tau * i / n)) for i, r in enumerate(radii)]
    assume(fault(corners) is None)
    assert is_inside(*home(corners), tuple(v for corner in corners for v in corner))


@pytest.mark.parametrize(
    ("corners", "part"),
    [
        ([[0, 0], [10, 10], [10, 0], [0, 10]], "the side after corner 1 meets the side after corner 3"),
        ([[0, 0], [5, 0], [10, 0]], "enclose no area"),
        ([[0, 0], [0, 0], [10, 0], [0, 5]], "corners 1 and 2 are the same"),
        ([[0, 0], [10, 0], [0, 0]], "needs 3 corners or more, not 2"),
        ([[0, 0], [10, 0], [10, 10], [10, 0.5], [10, 20]], "meets"),
        ([[0, 0], [10, 0], [10, 10], [5, 0], [0, 10]], "meets"),
        ([[0, 0], [20, 0], [10, 0], [10, 10]], "the side after corner 1 meets the side after corner 3"),
        ([[0, 0], [10, 0]], "corners_m"),
    ],
)
def test_an_outline_that_is_no_simple_polygon_is_refused(corners, part):
    (sentence,) = told("stay_in_bounds", corners_m=corners)
    assert "'corners_m'" in sentence
    assert part in sentence


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        ({}, "stay_in_bounds has no bounds"),
        ({"half_width_m": 0}, "'half_width_m' = 0 is out of range; allowed is more than 0"),
        ({"half_height_m": 3.0}, "'half_height_m' needs 'half_width_m'"),
        ({"half_width_m": 1.0, "corners_m": [[0, 0], [1, 0], [0, 1]]}, "exclude each other"),
        ({"corners_deg": [[0, 0], [0, 1], [95, 0]]}, "'corners_deg' holds [latitude, longitude]"),
        ({"half_width_m": 1.0, "home_x_m": 0.0}, "unknown key 'home_x_m'"),
        ({"half_wdth_m": 1.0}, "unknown key 'half_wdth_m'; did you mean 'half_width_m'?"),
        ({"half_width_m": 1.0, "centre": [1.0]}, "'centre'"),
    ],
)
def test_wrong_bounds_are_refused(keys, part):
    assert any(part in sentence for sentence in told("stay_in_bounds", **keys))


def test_all_forms_of_waypoints_become_points():
    lat_deg, lon_deg = latlon_of(7.0, 8.0, FRAME)
    forms = [
        [1, 2],
        [3.0, 4.0, 5.0],
        {"x_m": 5, "y_m": 6, "speed_mps": 2},
        {"lat_deg": lat_deg, "lon_deg": lon_deg, "alt_m": 15.0},
    ]
    prepared = made("follow_path", waypoints=forms, loop=True)
    expected = [1, 2, 20, 8, 3, 4, 5, 8, 5, 6, 20, 2, 7, 8, 10, 8]  # start height, cruise speed; altitude above origin's 5
    assert prepared.settings.points == pytest.approx(expected, abs=1e-6)
    assert prepared.settings.loop
    assert prepared.keys["waypoints"][1] == {"x_m": 3.0, "y_m": 4.0, "z_m": 5.0, "speed_mps": 8.0}


def test_what_was_prepared_prepares_to_the_same():
    first = made("follow_path", waypoints=[[0.1, 0.2], [1e5 / 3, 0]], speed_mps=3)
    assert made("follow_path", **first.keys) == first


def test_a_file_is_looked_for_beside_the_scenario(tmp_path):
    (tmp_path / "route.csv").write_text("x_m,y_m\n1,2\n")
    context = CONTEXT._replace(folder=tmp_path)
    assert made("follow_path", context, file="route.csv").settings.points == (1.0, 2.0, 20.0, 8.0)
    (sentence,) = told("follow_path", context, file="rout.csv")
    assert f"waypoint file '{tmp_path / 'rout.csv'}' does not exist" in sentence


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        ({}, "needs either 'waypoints' or 'file'"),
        ({"waypoints": [[0, 0]], "file": "a.gpx"}, "needs either"),
        ({"waypoints": []}, "'waypoints' is empty"),
        ({"waypoints": [[0]]}, "[vehicles 1, behaviours 2, waypoints 1]: a waypoint is [x_m, y_m]"),
        ({"waypoints": [[0, 0], {"x_m": 1.0}]}, "waypoints 2]: a waypoint needs 'x_m' and 'y_m'"),
        ({"waypoints": [{"x_m": 1.0, "ym": 2.0}]}, "waypoints 1]: unknown key 'ym'; did you mean 'y_m'?"),
        ({"waypoints": [[0, "1"]]}, "'y_m' must be a number, not the text \"1\""),
        ({"waypoints": [[1e6, 0]]}, "waypoint 1 lies 1,000 km from the origin, beyond 'reach_m'"),
        ({"waypoints": [{"lat_deg": 0.0, "lon_deg": 9.0}]}, "beyond 'reach_m'"),
        ({"waypoints": [[0, 0]], "points": [1.0]}, "unknown key 'points'"),
        ({"waypoints": [[0, 0]], "reach_m": 0}, "'reach_m' = 0 is out of range; allowed is more than 0"),
        ({"waypoints": [[0, 0]], "loop": 1}, "'loop' must be true or false, not 1"),
        ({"file": "a\0.csv"}, "cannot be read"),
    ],
)
def test_wrong_paths_are_refused(keys, part):
    assert any(part in sentence for sentence in told("follow_path", **keys))


def test_a_fault_in_the_waypoints_does_not_hide_others():
    assert len(told("follow_path", waypoints=[[0]], reach_m=-1, lop=True)) == 3


@pytest.mark.parametrize("name", BEHAVIOURS)
@given(keys=st.dictionaries(st.sampled_from(["waypoints", "file", "leader", "corners_m", "loop", "x"]), st.integers()))
def test_junk_settings_never_raise(name, keys):
    faults = Faults("a.toml")
    prepared = prepare(name, BEHAVIOURS[name].settings, keys, CONTEXT, faults, ())
    assert (prepared is None) == bool(faults)
