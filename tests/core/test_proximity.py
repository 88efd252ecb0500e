import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from core import cells
from core.proximity import FEW, REST_MPS, Pairs, all_pairs_within, nearest, pairs_within, warm_up

UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking a whole world outlasts the test's time limit


def slow_pairs(position, velocity, length, lengths):
    """Every pair, one by one, in plain floats: what a reader would write on paper."""
    rows = []
    for i in range(len(length)):
        for j in range(i + 1, len(length)):
            d = [float(position[j][k]) - float(position[i][k]) for k in range(3)]
            u = [float(velocity[j][k]) - float(velocity[i][k]) for k in range(3)]
            reach = lengths * (float(length[i]) + float(length[j])) / 2.0
            d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
            if d2 <= reach * reach:
                rows.append((i, j, math.sqrt(d2), *slow_approach(d, u)))
    return rows


def slow_approach(d, u):
    opening = d[0] * u[0] + d[1] * u[1] + d[2] * u[2]
    speed2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    t = -opening / speed2 if opening < 0.0 and speed2 > 1.0e-18 else 0.0
    return t, min(math.dist([d[k] + u[k] * t for k in range(3)], [0.0] * 3), math.dist(d, [0.0] * 3))


def assert_same_bits(one: Pairs, other: Pairs):
    for name, a, b in zip(Pairs._fields, one, other, strict=True):
        assert a.dtype == b.dtype, name
        assert a.tobytes() == b.tobytes(), name


def assert_as_slow(pairs: Pairs, rows):
    assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == [row[:2] for row in rows]
    assert pairs.distance_m.tolist() == [row[2] for row in rows]
    assert pairs.approach_s.tolist() == [row[3] for row in rows]
    assert pairs.miss_m == pytest.approx([row[4] for row in rows], rel=1e-9, abs=1e-9)


def checked(position, length, lengths, velocity=None):
    """The pairs of this world, after comparing them with all pairs, bit for bit."""
    position = np.asarray(position, dtype=np.float64)
    length = np.broadcast_to(np.asarray(length, dtype=np.float64), len(position))
    velocity = -position[::-1] if velocity is None else np.asarray(velocity, dtype=np.float64)
    pairs = pairs_within(position, velocity, length, lengths)
    assert_same_bits(pairs, all_pairs_within(position, velocity, length, lengths))
    return pairs


coordinates = st.one_of(
    st.integers(-6, 6).map(float), st.floats(-1.0e6, 1.0e6), st.floats(-9.0, 9.0), st.sampled_from([-0.0, 1e9, -1e9])
)
vehicles = st.tuples(
    st.tuples(coordinates, coordinates, coordinates),
    st.tuples(*3 * [st.one_of(st.integers(-3, 3).map(float), st.floats(-400.0, 400.0, width=32))]),
    st.one_of(st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.5, 60.0]), st.floats(0.0, 500.0)),
)


@settings(max_examples=400, deadline=None, phases=UNSHRUNK)
@given(st.lists(vehicles, max_size=14), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.3, 100.0]))
def test_both_halves_equal_the_slow_reference(fleet, lengths):
    position = np.array([vehicle[0] for vehicle in fleet]).reshape(-1, 3)
    velocity = np.array([vehicle[1] for vehicle in fleet]).reshape(-1, 3)
    length = np.array([vehicle[2] for vehicle in fleet])
    pairs = pairs_within(position, velocity, length, lengths)
    assert_as_slow(pairs, slow_pairs(position, velocity, length, lengths))
    if fleet:
        assert_same_bits(Pairs(*cells.pairs_within(position, velocity, length, lengths, REST_MPS)), pairs)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("neighbours", [0.1, 3.0, 40.0])
@pytest.mark.parametrize("count", [FEW, FEW + 1, 300, 2_000])
def test_random_worlds_equal_all_pairs(count, neighbours, seed):
    chance = np.random.default_rng(seed)
    side_m = 20.0 * (count * 4.19 / neighbours) ** (1.0 / 3.0)
    position, velocity = chance.uniform(-side_m, 0.5 * side_m, (count, 3)), chance.normal(0.0, 10.0, (count, 3))
    checked(position, 4.0, 5.0, velocity)
    checked(position, chance.choice([0.5, 4.5, 12.0, 60.0], count, p=[0.6, 0.35, 0.04, 0.01]), 5.0, velocity)
    checked(position * (1.0, 1.0, 0.0), chance.uniform(0.1, 9.0, count), 5.0, velocity)


def test_a_small_random_world_above_few_equals_the_slow_reference():
    chance = np.random.default_rng(5)
    position, velocity = chance.uniform(-40.0, 40.0, (150, 3)), chance.normal(0.0, 5.0, (150, 3))
    length = chance.uniform(0.5, 6.0, 150)
    rows = slow_pairs(position, velocity, length, 6.0)
    assert len(rows) > 100
    assert_as_slow(pairs_within(position, velocity, length, 6.0), rows)


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_and_one_alone_are_no_pair(count):
    pairs = checked(np.zeros((count, 3)), 4.0, 5.0)
    assert [len(column) for column in pairs] == [0] * 5
    assert [column.dtype for column in pairs] == [np.int64] * 2 + [np.float64] * 3


@pytest.mark.parametrize("count", [2, 30, 200])
@pytest.mark.parametrize(("length", "lengths"), [(4.0, 5.0), (0.0, 5.0), (4.0, 0.0)])
def test_all_in_one_place_are_all_pairs(count, length, lengths):
    pairs = checked(np.full((count, 3), -7.25), length, lengths, np.zeros((count, 3)))
    assert len(pairs.first) == count * (count - 1) // 2
    assert not pairs.distance_m.any()
    assert not pairs.miss_m.any()


def test_all_in_one_cell():
    position = np.random.default_rng(7).uniform(-1.0, 1.0, (400, 3))
    assert len(checked(position, 1.0, 10.0).first) == 400 * 399 // 2
    assert 0 < len(checked(position, 1.0, 0.9).first) < 400 * 399 // 2


@pytest.mark.parametrize("count", [30, 1_000])
@pytest.mark.parametrize("spacing_m", [1.0, 0.1, 2.5, 1.0e5])
def test_a_lattice_with_the_spacing_as_threshold_pairs_direct_neighbours(count, spacing_m):
    side = round(count ** (1.0 / 3.0))
    steps = np.stack(np.meshgrid(*3 * [np.arange(side) - side // 2], indexing="ij"), axis=-1).reshape(-1, 3)
    pairs = checked(steps * spacing_m, spacing_m, 1.0)
    if spacing_m != 0.1:  # multiples of 0.1 are rounded: some neighbours are a little farther apart
        assert len(pairs.first) == 3 * side * side * (side - 1)


@pytest.mark.parametrize("others", [0, 100])
def test_a_distance_equal_to_the_threshold_is_in_and_the_next_larger_one_is_out(others):
    crowd = [(1000.0 + 100.0 * k, 0.0, 0.0) for k in range(others)]
    length = [4.0, 6.0, *[1.0] * others]
    assert len(checked([(0.0, 0.0, 0.0), (6.0, 8.0, 0.0), *crowd], length, 2.0).first) == 1
    assert len(checked([(0.0, 0.0, 0.0), (6.0, math.nextafter(8.0, 9.0), 0.0), *crowd], length, 2.0).first) == 0


@pytest.mark.parametrize("spread_m", [1.0e6, 1.0e9])
def test_clusters_far_apart_keep_their_pairs(spread_m):
    chance = np.random.default_rng(8)
    centre = chance.choice([-spread_m, 0.0, spread_m], (40, 3))
    position = (centre[:, None, :] + chance.uniform(-8.0, 8.0, (40, 25, 3))).reshape(-1, 3)
    assert len(checked(position, 1.5, 4.0).first) > 1_000
    assert len(checked(position, chance.choice([1e-3, 0.5, 5.0], 1_000), 4.0).first) > 1_000


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_line_along_any_axis(axis):
    position = np.zeros((500, 3))
    position[:, axis] = np.random.default_rng(9).permutation(500) * 3.0
    assert len(checked(position, 3.0, 1.0).first) == 499


def test_one_long_vehicle_meets_short_ones_that_do_not_meet_each_other():
    chance = np.random.default_rng(10)
    position = chance.uniform(-300.0, 300.0, (2_000, 3)) * (1.0, 1.0, 0.01)
    length = np.full(2_000, 0.5)
    length[1_234] = 60.0
    pairs = checked(position, length, 4.0)
    ship = (pairs.first == 1_234) | (pairs.second == 1_234)
    assert ship.sum() > 50
    assert pairs.distance_m[~ship].max() <= 2.0


@pytest.mark.parametrize("count", [40, 900])
def test_relabelled_vehicles_give_the_same_pairs(count):
    chance = np.random.default_rng(11)
    position, velocity = chance.uniform(-60.0, 60.0, (count, 3)), chance.normal(0.0, 9.0, (count, 3))
    length, label = chance.choice([1.0, 4.5, 20.0], count), chance.permutation(count)
    pairs = pairs_within(position, velocity, length, 3.0)
    moved = pairs_within(position[label], velocity[label], length[label], 3.0)
    one, other = label[moved.first], label[moved.second]
    first, second = np.minimum(one, other), np.maximum(one, other)
    order = np.lexsort((second, first))
    assert_same_bits(pairs, Pairs(first[order], second[order], *(column[order] for column in moved[2:])))


@pytest.mark.parametrize("count", [50, 700])
def test_indices_rise_in_lexicographic_order(count):
    pairs = checked(np.random.default_rng(12).uniform(-30.0, 30.0, (count, 3)), 2.0, 4.0)
    assert (pairs.first < pairs.second).all()
    assert (np.diff(pairs.first * count + pairs.second) > 0).all()


@pytest.mark.parametrize("count", [10, 200])
def test_a_vehicle_without_a_finite_position_is_near_nobody(count):
    position = np.zeros((count, 3))
    position[1, 0], position[2, 1], position[3, 2], position[4] = math.nan, math.inf, -math.inf, math.nan
    pairs = checked(position, 1.0, 1.0, np.zeros((count, 3)))
    assert len(pairs.first) == (count - 4) * (count - 5) // 2
    assert set(pairs.first) | set(pairs.second) == {0, *range(5, count)}
    index, distance_m = nearest(position)
    assert index[1:5].tolist() == [-1] * 4
    assert np.isinf(distance_m[1:5]).all()
    assert (distance_m[5:] == 0.0).all()


def test_views_lists_and_read_only_arrays_are_taken():
    chance = np.random.default_rng(13)
    rows = chance.uniform(-20.0, 20.0, (100, 8)).astype(np.float32)
    rows.flags.writeable = False
    pairs = pairs_within(rows[:, 1:4], rows[:, 4:7], np.abs(rows[:, 7]), 1)
    plain = rows.astype(np.float64)
    assert len(pairs.first)
    assert_same_bits(pairs, all_pairs_within(plain[:, 1:4], plain[:, 4:7], np.abs(plain[:, 7]), 1.0))


@pytest.mark.parametrize("count", [3, 100])
@pytest.mark.parametrize(
    ("length", "lengths"), [(-1.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (1.0, math.inf)]
)
def test_lengths_that_make_no_sense_are_refused(count, length, lengths):
    everyone = np.full(count, 2.0)
    everyone[1] = length
    with pytest.raises(ValueError, match="lengths"):
        pairs_within(np.zeros((count, 3)), np.zeros((count, 3)), everyone, lengths)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="shapes"):
        pairs_within(np.zeros((3, 3)), np.zeros((2, 3)), np.ones(3), 1.0)
    with pytest.raises(ValueError, match="shapes"):
        pairs_within(np.zeros((3, 2)), np.zeros((3, 2)), np.ones(3), 1.0)


ENCOUNTERS = {  # position and velocity of both, distance now, time until the closest approach, distance then
    "head-on": ((0, 0, 0), (10, 0, 0), (100, 0, 0), (-10, 0, 0), 100.0, 5.0, 0.0),
    "head-on, two metres aside": ((0, 0, 0), (10, 0, 0), (100, 2, 0), (-10, 0, 0), math.hypot(100, 2), 5.0, 2.0),
    "crossing, together at the corner": ((-30, 0, 0), (10, 0, 0), (0, -30, 0), (0, 10, 0), math.hypot(30, 30), 3.0, 0.0),
    "crossing, one late": ((-30, 0, 0), (10, 0, 0), (0, -50, 0), (0, 10, 0), math.hypot(30, 50), 4.0, math.hypot(10, 10)),
    "one dives past the other": ((0, 0, 40), (0, 0, -8), (3, 4, 0), (0, 0, 0), math.hypot(5, 40), 5.0, 5.0),
    "parting": ((0, 0, 0), (-10, 0, 0), (20, 0, 0), (10, 0, 0), 20.0, 0.0, 20.0),
    "abreast, at right angles to the way": ((0, 0, 0), (0, 9, 0), (5, 0, 0), (0, 3, 0), 5.0, 0.0, 5.0),
    "parallel": ((0, 0, 0), (12, 5, 1), (0, 7, 0), (12, 5, 1), 7.0, 0.0, 7.0),
    "overtaking": ((0, 0, 0), (15, 0, 0), (50, 3, 0), (5, 0, 0), math.hypot(50, 3), 5.0, 3.0),
    "parked": ((0, 0, 0), (0, 0, 0), (0, 0, 6), (0, 0, 0), 6.0, 0.0, 6.0),
    "in one place, apart at once": ((1, 1, 1), (0, 0, 0), (1, 1, 1), (3, 0, 0), 0.0, 0.0, 0.0),
}


@pytest.mark.parametrize("others", [0, 100])
@pytest.mark.parametrize("name", ENCOUNTERS)
def test_closest_approach(name, others):
    place, velocity, other_place, other_velocity, distance_m, approach_s, miss_m = ENCOUNTERS[name]
    crowd = [(1.0e5 + 1.0e4 * k, 0.0, 0.0) for k in range(others)]
    pairs = checked([place, other_place, *crowd], 10.0, 20.0, [velocity, other_velocity, *[(0.0, 0.0, 0.0)] * others])
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0], [1])
    assert pairs.distance_m == pytest.approx([distance_m])
    assert pairs.approach_s == pytest.approx([approach_s])
    assert pairs.miss_m == pytest.approx([miss_m], abs=1e-12)


def test_the_miss_is_the_smallest_distance_along_the_way_and_none_is_larger_than_now():
    chance = np.random.default_rng(14)
    position, velocity = chance.uniform(-30.0, 30.0, (200, 3)), chance.normal(0.0, 8.0, (200, 3))
    pairs = pairs_within(position, velocity, np.full(200, 4.0), 4.0)
    assert (pairs.miss_m <= pairs.distance_m).all()
    apart, relative = (column[pairs.second] - column[pairs.first] for column in (position, velocity))
    for share in (0.0, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
        later = np.linalg.norm(apart + relative * (pairs.approach_s * share)[:, None], axis=1)
        assert (later >= pairs.miss_m * (1.0 - 1e-9) - 1e-9).all()


def test_a_speed_difference_of_rounding_errors_is_rest():
    pairs = checked([(0.0, 0.0, 0.0), (5.0, 0.0, 0.0)], 4.0, 3.0, [(1e-12, 0.0, 0.0), (0.0, 0.0, 0.0)])
    assert (pairs.approach_s.tolist(), pairs.miss_m.tolist()) == ([0.0], [5.0])


def slow_nearest(position):
    d2 = sum((position[:, None, k] - position[None, :, k]) ** 2 for k in range(3))
    np.fill_diagonal(d2, np.inf)
    return d2.argmin(axis=1), np.sqrt(d2.min(axis=1))


@pytest.mark.parametrize("count", [2, 3, FEW, FEW + 1, 1_500])
@pytest.mark.parametrize("kind", ["random", "flat", "lattice", "one place", "far"])
def test_nearest_equals_the_smallest_of_all_distances(count, kind):
    chance = np.random.default_rng(count)
    position = {
        "random": chance.normal(0.0, 100.0, (count, 3)),
        "flat": chance.uniform(-50.0, 50.0, (count, 3)) * (0.2, 1.0, 0.0),
        "lattice": chance.integers(-5, 5, (count, 3)).astype(np.float64),
        "one place": np.full((count, 3), 3.5),
        "far": chance.choice([-1e6, 1e6], (count, 3)) + chance.normal(0.0, 1.0, (count, 3)),
    }[kind]
    index, distance_m = nearest(position)
    expected, expected_m = slow_nearest(position)
    assert index.tolist() == expected.tolist()
    assert distance_m.tolist() == expected_m.tolist()


def test_nearest_of_nobody_and_of_one_alone():
    assert [column.tolist() for column in nearest(np.empty((0, 3)))] == [[], []]
    assert [column.tolist() for column in nearest(np.zeros((1, 3)))] == [[-1], [math.inf]]


def test_nearest_with_no_finite_position_at_all():
    index, distance_m = nearest(np.full((FEW + 1, 3), math.nan))
    assert (index == -1).all()
    assert np.isinf(distance_m).all()


def test_a_small_core_does_not_load_numba():
    code = (
        "import sys, numpy as np; from core.proximity import nearest, pairs_within;"
        f"p = np.zeros(({FEW}, 3)); pairs_within(p, p, np.ones({FEW}), 3.0); nearest(p);"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_warm_up_leaves_nothing_to_compile():
    warm_up()
    compiled = len(cells.sweep.overloads), len(cells.nearest.overloads)
    checked(np.zeros((FEW + 1, 3)), np.arange(FEW + 1), 2)
    nearest(np.zeros((FEW + 1, 3)))
    assert (len(cells.sweep.overloads), len(cells.nearest.overloads)) == compiled == (1, 1)
