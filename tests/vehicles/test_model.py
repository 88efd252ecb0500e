"""The kinematic model moves as equations 1 to 5 say."""

import math

import pytest

from vehicles.kinds import KINDS
from vehicles.model import Body, advance, motion, step
from wire.words import Kind

CAR = KINDS[Kind.GROUND].limits._replace(length_m=3.0, lever_m=1.5)


def lap(h_s: float, steps: int) -> Body:
    """One lap of a steady turn in a whole number of steps."""
    speed_mps = 10.0
    steer_rad = 2.0 * math.pi * CAR.length_m / (speed_mps * steps * h_s)
    body = Body(0.0, 0.0, 0.0, 0.0, speed_mps)
    for _ in range(steps):
        body = step(body, steer_rad, 0.0, 0.0, h_s, CAR)
    return body


def test_steady_turn_closes_its_circle_to_a_millimetre():
    body = lap(0.01, 1000)
    assert math.sqrt(body.x_m**2 + body.y_m**2) < 1e-3


def test_rear_axle_runs_on_a_circle_of_radius_length_over_steer():
    steer_rad, speed_mps = 0.1, 10.0
    radius_m = CAR.length_m / steer_rad
    body = Body(0.0, 0.0, 0.0, 0.0, speed_mps)
    for _ in range(500):
        body = step(body, steer_rad, 0.0, 0.0, 0.01, CAR)
        axle_x = body.x_m - CAR.lever_m * math.cos(body.yaw_rad)
        axle_y = body.y_m - CAR.lever_m * math.sin(body.yaw_rad)
        # It starts at (-b, 0) heading east and turns left, so the centre lies to its north.
        assert math.sqrt((axle_x + CAR.lever_m) ** 2 + (axle_y - radius_m) ** 2) == pytest.approx(radius_m, abs=1e-3)


def test_halving_the_step_reduces_the_error_about_sixteenfold():
    steer_rad, speed_mps = 0.1885, 10.0
    radius_m = CAR.length_m / steer_rad
    quarter_s = 0.5 * math.pi * radius_m / speed_mps
    errors = []
    for steps in (5, 10, 20):
        body = Body(CAR.lever_m, 0.0, 0.0, 0.0, speed_mps)  # the rear axle is at the origin, the centre to its north
        for _ in range(steps):
            body = step(body, steer_rad, 0.0, 0.0, quarter_s / steps, CAR)
        errors.append(math.dist((body.x_m, body.y_m), (radius_m, radius_m + CAR.lever_m)))
    assert 14.0 < errors[0] / errors[1] < 18.0
    assert 14.0 < errors[1] / errors[2] < 18.0


def test_positive_steer_turns_left():
    body = advance(Body(0.0, 0.0, 0.0, 0.0, 5.0), 0.2, 5.0, 0.0, CAR, 0.05, 20)
    assert body.y_m > 0.0
    assert body.yaw_rad > 0.0


def test_speed_changes_no_faster_than_the_limit_and_stops_at_the_command():
    body = advance(Body(0.0, 0.0, 0.0, 0.0, 0.0), 0.0, 5.0, 0.0, CAR, 0.05, 20)
    assert body.speed_mps == pytest.approx(CAR.accel_mps2 * 1.0)
    body = advance(body, 0.0, 5.0, 0.0, CAR, 0.05, 100)
    assert body.speed_mps == 5.0


def test_a_car_that_stands_does_not_turn_but_a_pedestrian_does():
    still = Body(0.0, 0.0, 0.0, 0.0, 0.0)
    person = KINDS[Kind.PEDESTRIAN].limits
    assert advance(still, CAR.steer_max_rad, 0.0, 0.0, CAR, 0.05, 20).yaw_rad == 0.0
    assert advance(still, person.steer_max_rad, 0.0, 0.0, person, 0.05, 20).yaw_rad == pytest.approx(person.spin_max_radps)


def test_a_multirotor_climbs_on_the_spot_and_a_fixed_wing_keeps_its_least_speed():
    copter, plane = KINDS[Kind.MULTIROTOR].limits, KINDS[Kind.FIXED_WING].limits
    up = advance(Body(0.0, 0.0, 10.0, 0.0, 0.0), 0.0, 0.0, copter.pitch_max_rad, copter, 0.05, 20)
    assert (up.x_m, up.z_m) == (0.0, pytest.approx(10.0 + copter.climb_max_mps))
    slow = advance(Body(0.0, 0.0, 100.0, 0.0, 20.0), 0.0, 0.0, 0.0, plane, 0.05, 400)
    assert slow.speed_mps == plane.speed_min_mps


def test_climb_is_speed_times_sine_of_pitch_within_the_limit():
    plane = KINDS[Kind.FIXED_WING].limits
    assert motion(Body(0.0, 0.0, 0.0, 0.0, 20.0), 0.0, 0.1, plane).vz_mps == pytest.approx(20.0 * math.sin(0.1))
    assert motion(Body(0.0, 0.0, 0.0, 0.0, 60.0), 0.0, 0.35, plane).vz_mps == plane.climb_max_mps


@pytest.mark.parametrize("kind", [Kind.GROUND, Kind.SURFACE, Kind.PEDESTRIAN])
def test_what_stays_on_the_surface_does_not_climb(kind):
    limits = KINDS[kind].limits
    assert advance(Body(0.0, 0.0, 3.0, 0.0, 2.0), 0.0, 2.0, limits.pitch_max_rad, limits, 0.05, 40).z_m == 3.0


def test_a_submarine_stays_under_water_and_an_aircraft_above_ground():
    boat, plane = KINDS[Kind.UNDERWATER].limits, KINDS[Kind.FIXED_WING].limits
    assert advance(Body(0.0, 0.0, -0.1, 0.0, 3.0), 0.0, 3.0, 0.6, boat, 0.05, 100).z_m == 0.0
    assert advance(Body(0.0, 0.0, 1.0, 0.0, 20.0), 0.0, 20.0, -0.3, plane, 0.05, 100).z_m == 0.0


def test_every_kind_has_sound_limits():
    for kind in Kind:
        limits = KINDS[kind].limits
        assert 0.0 <= limits.speed_min_mps <= KINDS[kind].cruise_mps <= limits.speed_max_mps
        assert limits.length_m > 0.0 and limits.accel_mps2 > 0.0 and limits.steer_max_rad > 0.0
        assert limits.z_low_m < limits.z_high_m
