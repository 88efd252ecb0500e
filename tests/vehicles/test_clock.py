"""Soft real time keeps up with the wall clock without drift."""

import random

from vehicles.clock import SoftRealTime


def play(pace: SoftRealTime, beats: int, late_s, start_s: float = 0.0) -> list[float]:
    """Run beats on a counted clock; `late_s(k)` is how long beat k takes and oversleeps. The error after each."""
    now_s, errors = start_s, []
    for k in range(1, beats + 1):
        now_s += late_s(k)
        now_s += pace.sleep_s(now_s, k - 1) if k == 1 else 0.0
        now_s += late_s(k)
        sleep_s = pace.sleep_s(now_s, k)
        errors.append(pace.error_s)
        now_s += sleep_s
    return errors


def test_drift_does_not_grow_over_an_hour_of_noise():
    noise = random.Random(3)
    errors = play(SoftRealTime(0.1, 0.0), 36_000, lambda _: noise.uniform(0.001, 0.02))
    assert max(map(abs, errors[-1000:])) <= 0.1
    assert abs(sum(errors[-1000:]) / 1000) < 0.01


def test_the_integral_takes_out_a_constant_delay():
    errors = play(SoftRealTime(0.1, 0.0), 500, lambda _: 0.01)
    assert abs(errors[-1]) < 0.001


def test_margin_is_the_share_of_the_beat_that_is_slept():
    pace = SoftRealTime(0.1, 0.0)
    assert pace.sleep_s(0.05, 0) < 0.05
    assert 0.0 < pace.margin < 0.5


def test_a_process_stopped_for_five_seconds_catches_up_and_does_not_run_ahead():
    pace = SoftRealTime(0.1, 0.0)
    errors = play(pace, 400, lambda k: 5.0 if k == 100 else 0.001)
    assert max(errors) > 4.0
    assert min(errors[150:]) > -0.05
    assert abs(errors[-1]) < 0.01


def test_overload_shows_as_no_margin_and_late_beats():
    pace = SoftRealTime(0.1, 0.0)
    play(pace, 100, lambda _: 0.15)
    assert pace.margin == 0.0
    assert pace.late > 90
