import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import cells
from core.proximity import REST_MPS, all_pairs_within


def everyone(position):
    return np.arange(len(position))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**62), max_size=60))
def test_the_radix_sort_sorts_and_keeps_equals_in_order(numbers):
    given_number, given_row = np.array([*numbers, cells.AFTER_LAST]), np.arange(len(numbers))
    number, row = cells.radix_sorted(given_number, given_row, np.empty_like(given_number), np.empty_like(given_row))
    order = np.argsort(np.array(numbers, dtype=np.int64), kind="stable")
    assert number.tolist() == [*np.array(numbers, dtype=np.int64)[order].tolist(), cells.AFTER_LAST]
    assert row.tolist() == order.tolist()


def classes_of(position, length):
    row = np.empty(len(length), dtype=np.int64)
    return row, cells.size_classes(position, length, np.empty_like(row), row)


def test_size_classes_halve_and_leave_the_unplaced_to_the_end():
    position = np.zeros((8, 3))
    position[2, 1] = math.nan
    length = np.array([60.0, 0.0, 1.0, 4.5, 31.0, 30.0, 4.0, 60.0])
    row, begin = classes_of(position, length)
    classes = [row[a:b].tolist() for a, b in pairwise(begin) if a < b]
    assert classes == [[1], [3, 6], [5], [0, 4, 7], [2]]
    assert begin[cells.CLASSES] == 7


def test_vehicles_without_length_are_one_class():
    row, begin = classes_of(np.zeros((5, 3)), np.zeros(5))
    assert row.tolist() == [0, 1, 2, 3, 4]
    assert np.count_nonzero(np.diff(begin)) == 1


def number_of(position, grid):
    number, row = np.empty(len(position) + 1, dtype=np.int64), np.empty(len(position), dtype=np.int64)
    count = cells.cell_numbers(position, everyone(position), *grid, number, row)
    assert number[count] == cells.AFTER_LAST
    assert row[:count].tolist() == everyone(position).tolist()
    return number[:count]


@settings(max_examples=100, deadline=None)
@given(
    st.tuples(*3 * [st.floats(-1.0e6, 1.0e6)]),
    st.tuples(*3 * [st.one_of(st.floats(-1.0, 1.0), st.sampled_from([-1.0, 0.0, 1.0]))]),
    st.sampled_from([1e-3, 0.1, 1.0, 27.0, 5e3]),
    st.floats(0.0, 1.0e9),
)
def test_vehicles_within_reach_are_in_neighbouring_cells(place, way, reach_m, far_m):
    other = np.array(place) + np.array(way) * reach_m
    position = np.array([place, other, np.array(place) - far_m, np.array(place) + 2.0 * far_m])
    if (np.abs(position[1] - position[0]) > reach_m).any():  # rounded to the far side of the reach
        return
    grid = cells.grid_over(position, everyone(position), reach_m)
    number = number_of(position, grid)
    across, up = int(grid.cells[0]), int(grid.cells[0] * grid.cells[1])
    offsets = {z * up + y * across + x for z in (-1, 0, 1) for y in (-1, 0, 1) for x in (-1, 0, 1)}
    assert int(number[1] - number[0]) in offsets
    assert len(offsets) == 27
    assert (number > 0).all()


def test_a_world_of_any_width_has_a_grid_with_numbers_of_62_bits():
    position = np.array([(-1e99, -1e99, -1e99), (1e99, 1e99, 1e99), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1e9, 0.0, 0.0)])
    grid = cells.grid_over(position, everyone(position), 0.0)
    assert tuple(grid.cells) == cells.AXIS_CELLS
    assert math.prod(grid.cells.tolist()) <= 2**62
    assert (np.diff(np.sort(number_of(position, grid))) >= 0).all()


def test_vehicles_far_off_leave_the_cells_of_the_others_narrow():
    position = np.random.default_rng(1).uniform(-500.0, 500.0, (3_000, 3))
    position[17], position[18] = 1.0e9, -1.0e9
    grid = cells.grid_over(position, everyone(position), 10.0)
    crowd = np.unique(number_of(position, grid), return_counts=True)[1]
    assert crowd.max() < 6


def test_a_lone_ship_looks_only_at_its_surroundings():
    chance = np.random.default_rng(2)
    position = chance.uniform(-5_000.0, 5_000.0, (10_000, 3)) * (1.0, 1.0, 0.001)
    length = np.full(10_000, 0.5)
    length[0] = 60.0
    grid = cells.grid_over(position, np.array([0]), 4.0 * (60.0 + 0.5) / 2.0)
    assert len(cells.listed("others", position, length, np.arange(1, 10_000), grid).row) < 30


def test_the_list_of_pairs_grows_as_needed():
    position = np.zeros((40, 3))
    grid = cells.grid_over(position, everyone(position), 1.0)
    own = cells.listed("own", position, np.ones(40), everyone(position), grid)
    found, count = cells.swept(own, own, 0, 1.0, np.empty((3, 2), dtype=np.int64), 0)
    assert count == 40 * 39 // 2 <= len(found)
    first, second = cells.sorted_pairs(found, count, np.empty_like(found), np.empty((41, 2), dtype=np.int64))
    expected = np.triu_indices(40, 1)
    assert (first.tolist(), second.tolist()) == (expected[0].tolist(), expected[1].tolist())


@pytest.mark.parametrize("count", [1, 2, 5, 40])
@pytest.mark.parametrize("seed", range(10))
def test_few_vehicles_in_cells_equal_all_pairs(count, seed):
    chance = np.random.default_rng(seed)
    position, velocity = chance.integers(-9, 9, (count, 3)) * 0.5, chance.normal(0.0, 5.0, (count, 3))
    length = chance.choice([0.0, 0.25, 1.0, 3.0, 8.0], count)
    pairs = cells.pairs_within(position, velocity, length, 1.0, REST_MPS)
    for column, expected in zip(pairs, all_pairs_within(position, velocity, length, 1.0), strict=True):
        assert column.tobytes() == expected.tobytes()


def test_results_are_not_kept_memory():
    chance = np.random.default_rng(3)
    earlier = []
    for count in (200, 100, 300):
        position, length = chance.uniform(-20.0, 20.0, (count, 3)), chance.choice([0.5, 2.0, 9.0], count)
        pairs = cells.pairs_within(position, position, length, 2.0, REST_MPS)
        earlier.append((pairs, all_pairs_within(position, position, length, 2.0)))
        assert not any(np.shares_memory(column, piece) for column in pairs for piece in cells.KEPT.pieces.values())
    for pairs, expected in earlier:
        assert [column.tobytes() for column in pairs] == [column.tobytes() for column in expected]


def test_threads_do_not_share_kept_memory():
    chance = np.random.default_rng(4)
    worlds = [(chance.uniform(-30.0, 30.0, (400, 3)), chance.choice([0.5, 2.0, 9.0], 400)) for _ in range(40)]

    def check(world):
        return cells.pairs_within(world[0], world[0], world[1], 2.0, REST_MPS)

    with ThreadPoolExecutor(4) as pool:
        for (position, length), pairs in zip(worlds, pool.map(check, worlds), strict=True):
            expected = all_pairs_within(position, position, length, 2.0)
            assert [column.tobytes() for column in pairs] == [column.tobytes() for column in expected]


def test_a_very_large_piece_of_memory_is_given_back(monkeypatch):
    monkeypatch.setattr(cells, "KEPT_MOST", 100)
    kept = cells.Kept()
    assert len(kept.ints("a", 101)) == 101
    assert not kept.pieces
    assert np.shares_memory(kept.ints("a", 100), kept.ints("a", 20))


def test_nobody_placed_is_no_pair():
    pairs = cells.pairs_within(np.full((3, 3), math.nan), np.zeros((3, 3)), np.ones(3), 1.0, REST_MPS)
    assert [len(column) for column in pairs] == [0] * 5
