"""State keeps the newest row of each vehicle, as arrays."""

import numpy as np

from core.state import State
from tests.core.builders import states
from wire.messages import Introduction
from wire.words import VID_MAX, Kind


def made(*vids: int) -> State:
    state = State()
    for vid in vids:
        assert state.introduce(Introduction(vid, "", Kind.GROUND, 2.0, False, ()), 0)
    return state


def put(state: State, rows, numbers=None, now_s: float = 0.0):
    numbers = np.zeros(len(rows), dtype=np.int64) if numbers is None else np.array(numbers, dtype=np.int64)
    place, refused = state.judge(rows, np.zeros(len(rows), dtype=np.int32), 1e5)
    assert not refused
    return state.update(rows, place, numbers, now_s)


def test_it_grows_to_any_number_and_keeps_everybody_apart():
    vids = [*range(1, 1000), 70_000, VID_MAX]
    state = made(*vids)
    put(state, states(*vids, x_m=np.arange(len(vids), dtype=float)))
    assert state.rows["vid"].tolist() == vids
    assert state.rows["x_m"].tolist() == list(range(len(vids)))
    assert state.indices_of(np.array([VID_MAX, 5_000], dtype=np.uint32)).tolist() == [len(vids) - 1, -1]


def test_of_two_rows_in_one_drain_the_newer_wins_whatever_their_order():
    state = made(101)
    rows = states(101, 101, t_s=[0.2, 0.1], x_m=[2.0, 1.0])
    assert put(state, rows).tolist() == [False, False]
    assert state.rows["x_m"].tolist() == [2.0]


def test_an_older_row_is_late_and_a_newer_order_counts_before_time():
    state = made(101)
    put(state, states(101, t_s=5.0), [2])
    assert put(state, states(101, t_s=4.9), [2]).tolist() == [True]
    assert put(state, states(101, t_s=6.0), [1]).tolist() == [True]
    assert put(state, states(101, t_s=0.0), [3]).tolist() == [False]
    assert state.rows["t_s"].tolist() == [0.0]
