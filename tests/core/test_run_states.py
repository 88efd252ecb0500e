"""Only legal changes happen, and simulation time follows them."""

import pytest

from core.run_states import LEGAL, Run
from wire.errors import CommandError
from wire.messages import Order
from wire.words import RunState


def run(*states: RunState, countdown_s: float = 0.0, rate: float = 1.0) -> Run:
    made = Run(beat_s=0.1, rate=rate, countdown_s=countdown_s)
    for state in states:
        made.change(state, 100.0, "a run")
    return made


PATHS = {
    RunState.READY: (),
    RunState.SET: (RunState.SET,),
    RunState.GO: (RunState.SET, RunState.GO),
    RunState.PAUSE: (RunState.SET, RunState.GO, RunState.PAUSE),
    RunState.STOP: (RunState.STOP,),
}


@pytest.mark.parametrize("now", list(RunState))
@pytest.mark.parametrize("to", list(RunState))
def test_a_change_is_made_if_and_only_if_it_is_legal(now, to):
    made = run(*PATHS[now])
    if to in LEGAL[now]:
        made.change(to, 101.0, "next")
        assert made.state == to
    else:
        with pytest.raises(CommandError, match=f"cannot change from {now.name} to {to.name}"):
            made.change(to, 101.0, "next")
        assert made.state == now


def test_go_counts_down_and_time_runs_at_the_rate():
    made = run(RunState.SET, RunState.GO, countdown_s=0.5, rate=4.0)
    assert made.t_s(100.0) == pytest.approx(-2.0)
    assert made.t_s(100.5) == pytest.approx(0.0)
    assert made.t_s(101.5) == pytest.approx(4.0)
    assert made.due_s(10) == pytest.approx(100.75)


def test_pause_holds_time_at_a_beat_and_go_takes_it_up_again():
    made = run(RunState.SET, RunState.GO, countdown_s=0.5)
    made.change(RunState.PAUSE, 103.03, "")
    assert made.t_s(200.0) == pytest.approx(2.7)
    made.change(RunState.GO, 300.0, "")
    assert made.t_s(300.5) == pytest.approx(2.7)


def test_set_after_pause_arms_a_new_run_at_time_zero():
    made = run(RunState.SET, RunState.GO, RunState.PAUSE)
    number = made.number
    made.change(RunState.SET, 105.0, "second")
    assert (made.run_id, made.t_s(110.0), made.set_number) == ("second", 0.0, number + 1)


def test_a_core_started_in_the_middle_takes_over_the_time_of_the_vehicles():
    made = run()
    made.adopt(Order(5, RunState.GO, 3.0, 1.0, "theirs"), 100.0)
    made.align(42.0, 101.0)
    assert (made.state, made.number, made.run_id) == (RunState.GO, 5, "theirs")
    assert made.t_s(102.0) == pytest.approx(43.0)
