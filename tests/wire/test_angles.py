import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.angles import TURN_RAD, wrap_pi


@pytest.mark.parametrize(
    ("angle_rad", "wrapped_rad"),
    [
        (0.0, 0.0),
        (1.0, 1.0),
        (-1.0, -1.0),
        (math.pi, -math.pi),  # the seam belongs to the negative side
        (-math.pi, -math.pi),
        (1.5 * math.pi, -0.5 * math.pi),
        (-1.5 * math.pi, 0.5 * math.pi),
        (7.0 * TURN_RAD + 0.25, 0.25),
        (-7.0 * TURN_RAD - 0.25, -0.25),
    ],
)
def test_wraps_to_the_nearest_turn(angle_rad, wrapped_rad):
    assert wrap_pi(angle_rad) == pytest.approx(wrapped_rad, abs=1e-14)


@given(st.floats(-1e6, 1e6))
def test_the_result_is_in_range_and_points_the_same_way(angle_rad):
    wrapped_rad = wrap_pi(angle_rad)
    assert -math.pi <= wrapped_rad < math.pi
    assert math.cos(wrapped_rad - angle_rad) == pytest.approx(1.0, abs=1e-12)


@given(st.integers(-1000, 1000), st.integers(-3, 3))
def test_the_range_holds_next_to_the_seam(turns, steps):
    angle_rad = math.pi + TURN_RAD * turns
    for _ in range(abs(steps)):
        angle_rad = math.nextafter(angle_rad, math.copysign(math.inf, steps))
    assert -math.pi <= wrap_pi(angle_rad) < math.pi


@given(st.floats(-1e6, 1e6))
def test_wrapping_twice_changes_nothing(angle_rad):
    assert wrap_pi(wrap_pi(angle_rad)) == wrap_pi(angle_rad)
