import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recording.store import RECORDED
from recording.time_order import in_time_order


def part(*times_and_vids):
    rows = np.zeros(len(times_and_vids), dtype=RECORDED)
    for i, (t_s, vid) in enumerate(times_and_vids):
        rows[i]["t_s"], rows[i]["vid"] = t_s, vid
    return rows


def with_what_follows(parts):
    starts_s = [min((t_s for t_s, _ in rows), default=math.inf) for rows in parts]
    return [(part(*rows), min(starts_s[i + 1 :], default=math.inf)) for i, rows in enumerate(parts)]


def keys(rows):
    return list(zip(rows["t_s"].tolist(), rows["vid"].tolist(), strict=True))


PARTS = st.lists(st.lists(st.tuples(st.integers(0, 9).map(float), st.integers(1, 5)), max_size=6), max_size=8)


@given(parts=PARTS, yield_min=st.integers(1, 10))
def test_rows_come_by_time_then_vid_and_none_is_lost(parts, yield_min):
    out = [key for rows in in_time_order(with_what_follows(parts), yield_min=yield_min) for key in keys(rows)]
    assert out == sorted(key for rows in parts for key in rows)


@given(parts=PARTS, held_max=st.integers(0, 6))
def test_with_little_memory_none_is_lost_and_each_array_is_in_order(parts, held_max):
    arrays = [keys(rows) for rows in in_time_order(with_what_follows(parts), yield_min=1, held_max=held_max)]
    assert sorted(key for array in arrays for key in array) == sorted(key for rows in parts for key in rows)
    assert all(array == sorted(array) for array in arrays)


def test_a_pause_in_which_time_stands_still_is_passed_on_in_pieces():
    pause = [[(5.0, 1), (5.0, 2)]] * 100
    sizes = [len(rows) for rows in in_time_order(with_what_follows(pause), yield_min=10, held_max=20)]
    assert sum(sizes) == 200
    assert max(sizes) <= 30


def test_rows_are_passed_on_as_soon_as_nothing_earlier_can_come():
    taken = []

    def parts():
        for t_s in range(6):
            taken.append(t_s)
            yield part((float(t_s), 1)), float(t_s + 1)

    first = next(in_time_order(parts(), yield_min=2))
    assert keys(first) == [(0.0, 1), (1.0, 1)]
    assert taken == [0, 1]


def test_rows_of_equal_time_and_vid_stay_in_the_order_of_arrival():
    rows = part((1.0, 7), (1.0, 7), (0.0, 7))
    rows["arrival_unix_s"] = [2.0, 1.0, 3.0]
    (out,) = in_time_order([(rows, math.inf)])
    assert out["arrival_unix_s"].tolist() == [3.0, 1.0, 2.0]
    assert all(a <= b for a, b in pairwise(keys(out)))
