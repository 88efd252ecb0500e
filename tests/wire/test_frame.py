import math

import pyproj
import pytest
import utm
from hypothesis import given
from hypothesis import strategies as st

from wire.angles import wrap_pi
from wire.errors import ConfigError
from wire.frame import Frame, convergence_rad, course_of, frame_at, grid_of, latlon_of, world_of, yaw_of

GEOD = pyproj.Geod(ellps="WGS84")
ZONES = (1, 17, 31, 60)
UTM = {zone: pyproj.Proj(proj="utm", zone=zone, ellps="WGS84") for zone in ZONES}  # without the southern false northing


@st.composite
def places(draw, reach_m=300_000.0):
    """A zone, and a latitude and longitude at most so far from its central meridian."""
    zone = draw(st.sampled_from(ZONES))
    lat_deg = draw(st.floats(-80.0, 84.0))
    off_deg = math.degrees(draw(st.floats(-reach_m, reach_m)) / (6.4e6 * math.cos(math.radians(lat_deg))))
    lon_deg = (6.0 * zone - 183.0 + off_deg + 180.0) % 360.0 - 180.0
    return zone, lat_deg, lon_deg


def zone_frame(zone):
    return Frame(zone, math.radians(6.0 * zone - 183.0), 0.0, 0.0, 0.0)


@given(places())
def test_agrees_with_proj(place):
    zone, lat_deg, lon_deg = place
    east_m, north_m = grid_of(lat_deg, lon_deg, zone_frame(zone).meridian_rad)
    proj_east_m, proj_north_m = UTM[zone](lon_deg, lat_deg)
    assert math.hypot(east_m + 500_000.0 - proj_east_m, north_m - proj_north_m) < 1e-6


@given(places(reach_m=1_000_000.0).filter(lambda place: abs(place[1]) < 80.0))
def test_keeps_its_promise_within_1000_km(place):  # 1e-7 m; tested tighter, so that every term counts
    zone, lat_deg, lon_deg = place
    east_m, north_m = grid_of(lat_deg, lon_deg, zone_frame(zone).meridian_rad)
    proj_east_m, proj_north_m = UTM[zone](lon_deg, lat_deg)
    assert math.hypot(east_m + 500_000.0 - proj_east_m, north_m - proj_north_m) < 3e-8


@given(st.floats(-80.0, 84.0), st.floats(-180.0, 179.999))
def test_agrees_with_the_utm_package(lat_deg, lon_deg):
    frame = frame_at(lat_deg, lon_deg)
    east_m, north_m, zone, _ = utm.from_latlon(lat_deg, lon_deg, force_northern=True)  # no southern false northing
    assert frame.zone == zone
    assert math.hypot(frame.east_m + 500_000.0 - east_m, frame.north_m - north_m) < 2e-3


@given(places())
def test_latitude_and_longitude_come_back(place):
    zone, lat_deg, lon_deg = place
    frame = zone_frame(zone)
    lat2_deg, lon2_deg = latlon_of(*world_of(lat_deg, lon_deg, frame), frame)
    assert lat2_deg == pytest.approx(lat_deg, abs=1e-12)
    assert math.degrees(wrap_pi(math.radians(lon2_deg - lon_deg))) == pytest.approx(0.0, abs=2e-12)
    assert -180.0 <= lon2_deg <= 180.0


@given(st.floats(-75.0, 80.0), st.floats(-180.0, 180.0), st.floats(-2e5, 2e5), st.floats(-2e5, 2e5))
def test_metres_come_back(lat_deg, lon_deg, x_m, y_m):
    frame = frame_at(lat_deg, lon_deg, 12.0)
    x2_m, y2_m = world_of(*latlon_of(x_m, y_m, frame), frame)
    assert math.hypot(x2_m - x_m, y2_m - y_m) < 1e-7


@given(st.floats(-80.0, 84.0), st.floats(-180.0, 180.0))
def test_the_origin_is_zero(lat_deg, lon_deg):
    assert world_of(lat_deg, lon_deg, frame_at(lat_deg, lon_deg)) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("origin", "heading_deg"),
    [
        ((29.0, -78.0005), 90.0),  # out of zone 17 into 18
        ((29.0, -77.9995), -90.0),  # out of zone 18 into 17
        ((-0.0005, 9.0), 0.0),  # over the equator
        ((0.0005, 9.0), 180.0),
        ((10.0, 179.999), 90.0),  # over the antimeridian
        ((10.0, -179.999), -90.0),
        ((60.0, 2.9995), 90.0),  # into the widened zone 32 of Norway
    ],
)
def test_a_metre_stays_a_metre_across_borders(origin, heading_deg):
    frame = frame_at(*origin)
    lat_deg, lon_deg = origin
    x0_m, y0_m = 0.0, 0.0
    for _ in range(300):
        lon_deg, lat_deg, _ = GEOD.fwd(lon_deg, lat_deg, heading_deg, 1.0)
        x_m, y_m = world_of(lat_deg, lon_deg, frame)
        assert math.hypot(x_m - x0_m, y_m - y0_m) == pytest.approx(1.0, abs=1e-3)  # UTM's scale is 0.9996 to 1.001
        back_lat_deg, back_lon_deg = latlon_of(x_m, y_m, frame)
        assert back_lat_deg == pytest.approx(lat_deg, abs=1e-11)
        assert back_lon_deg == pytest.approx(lon_deg, abs=1e-11)
        x0_m, y0_m = x_m, y_m
    assert math.hypot(x0_m, y0_m) == pytest.approx(300.0, abs=0.3)


@given(st.floats(-1e-9, 1e-9))
def test_no_longitude_next_to_the_antimeridian_exceeds_180(off_m):
    frame = frame_at(0.0, 180.0)
    assert -180.0 <= latlon_of(off_m, 0.0, frame)[1] <= 180.0


@given(places())
def test_convergence_agrees_with_proj(place):
    zone, lat_deg, lon_deg = place
    expected_deg = UTM[zone].get_factors(lon_deg, lat_deg).meridian_convergence
    assert convergence_rad(lat_deg, lon_deg, zone_frame(zone)) == pytest.approx(math.radians(expected_deg), abs=1e-7)


@pytest.mark.parametrize(("lat_deg", "off_deg", "sign"), [(40, 2, 1), (40, -2, -1), (-40, 2, -1), (-40, -2, 1)])
def test_grid_north_leans_to_the_central_meridian(lat_deg, off_deg, sign):
    assert convergence_rad(lat_deg, -81.0 + off_deg, zone_frame(17)) * sign > 0.01


@pytest.mark.parametrize("lat_deg", [90.0, -90.0])
def test_the_poles_do_not_break_it(lat_deg):
    east_m, north_m = grid_of(lat_deg, -78.0, zone_frame(17).meridian_rad)
    assert abs(east_m) < 1e-6
    assert north_m == pytest.approx(math.copysign(9_997_964.943, lat_deg), abs=1e-3)  # a quarter meridian times 0.9996
    assert math.isfinite(convergence_rad(lat_deg, -78.0, zone_frame(17)))


@given(st.floats(-math.pi, math.pi, exclude_max=True), st.floats(-0.1, 0.1))
def test_course_and_yaw_invert_each_other(yaw_rad, convergence):
    course_rad = course_of(yaw_rad, convergence)
    assert 0.0 <= course_rad < 2.0 * math.pi
    assert wrap_pi(yaw_of(course_rad, convergence) - yaw_rad) == pytest.approx(0.0, abs=1e-14)
    assert -math.pi <= yaw_of(course_rad, convergence) < math.pi


@pytest.mark.parametrize(
    ("yaw_rad", "course_rad"),
    [(0.0, math.pi / 2), (math.pi / 2, 0.0), (-math.pi / 2, math.pi), (-math.pi, 1.5 * math.pi)],
)
def test_east_north_south_and_west(yaw_rad, course_rad):
    assert course_of(yaw_rad, 0.0) == pytest.approx(course_rad, abs=1e-15)
    assert yaw_of(course_rad, 0.0) == pytest.approx(yaw_rad, abs=1e-15)


def test_just_west_of_north_is_not_a_whole_turn():
    assert course_of(math.pi / 2.0, -1e-20) == 0.0


@given(st.floats(-1.0, 1.0), st.floats(-0.05, 0.05))
def test_a_left_turn_adds_yaw_and_takes_course(yaw_rad, convergence):
    assert course_of(yaw_rad + 0.1, convergence) == pytest.approx(course_of(yaw_rad, convergence) - 0.1, abs=1e-12)


@given(places(), st.floats(0.0, 359.999))
def test_who_goes_the_true_course_moves_along_the_yaw(place, course_deg):
    zone, lat_deg, lon_deg = place
    frame = zone_frame(zone)
    lon2_deg, lat2_deg, _ = GEOD.fwd(lon_deg, lat_deg, course_deg, 10.0)
    x0_m, y0_m = world_of(lat_deg, lon_deg, frame)
    x1_m, y1_m = world_of(lat2_deg, lon2_deg, frame)
    yaw_rad = yaw_of(math.radians(course_deg), convergence_rad(lat_deg, lon_deg, frame))
    assert wrap_pi(math.atan2(y1_m - y0_m, x1_m - x0_m) - yaw_rad) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(
    ("lat_deg", "lon_deg", "zone"),
    [
        (60.0, 4.0, 32),  # Bergen lies in 31 by longitude alone
        (60.0, 2.0, 31),
        (55.0, 4.0, 31),
        (78.0, 8.0, 31),  # Svalbard
        (78.0, 10.0, 33),
        (29.19, -81.05, 17),
        (0.0, 180.0, 1),
        (0.0, -180.0, 1),
        (84.0, 20.0, 33),
        (-80.0, 179.0, 60),
    ],
)
def test_the_zone_follows_the_rules_of_utm(lat_deg, lon_deg, zone):
    frame = frame_at(lat_deg, lon_deg)
    assert frame.zone == zone
    assert math.degrees(frame.meridian_rad) == pytest.approx(6.0 * zone - 183.0)


def test_a_world_across_the_border_of_norway_is_not_torn():
    frame = frame_at(60.0, 4.0)
    assert frame.zone == 32
    x_m, _ = world_of(60.0, 2.9, frame)
    assert x_m == pytest.approx(-61_400.0, abs=200.0)  # 1.1 degrees of longitude at 60 north


@pytest.mark.parametrize(
    ("lat_deg", "lon_deg"),
    [(84.1, 0.0), (-80.1, 0.0), (0.0, 180.1), (0.0, -180.1), (math.nan, 0.0), (0.0, math.nan), (math.inf, 0.0)],
)
def test_an_origin_outside_utm_is_a_config_error(lat_deg, lon_deg):
    with pytest.raises(ConfigError, match="outside UTM"):
        frame_at(lat_deg, lon_deg)


def test_the_altitude_of_the_origin_is_kept():
    assert frame_at(29.0, -81.0, 12.5).alt_m == 12.5
