"""The seeds are fixed, so none of these is ever unlucky; limits are 4 to 5 standard deviations of a fair generator."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.chance import LOW, mix, uniform

COUNT = 100_000
BINS = 100
CHI_SQUARE_MAX = 165.0  # 99 degrees of freedom: one fair generator in 25,000 exceeds it
ALONG = np.arange(COUNT, dtype=np.int64)

ROWS = {
    "over draws": lambda seed: uniform(seed, 101, 1, ALONG),
    "over vids": lambda seed: uniform(seed, ALONG + 1, 1, 0),
    "over seeds": lambda seed: uniform(ALONG + seed, 101, 1, 0),
    "over streams": lambda seed: uniform(seed, 101, ALONG, 0),
}
everywhere = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
seeded = pytest.mark.parametrize("seed", [0, 1, 7, 123_456_789])
words = st.integers(0, LOW)


@given(words, words, words, words)
def test_the_same_arguments_give_the_same_number_in_range(seed, vid, stream, draw):
    number = uniform(seed, vid, stream, draw)
    assert 0.0 <= number < 1.0
    assert uniform(seed, vid, stream, draw) == number


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        ((0, 0, 0, 0), 0.25762357239944267),
        ((0, 1, 0, 0), 0.07802438134109002),
        ((7, 101, 1, 0), 0.8345646676002911),
        ((7, 101, 1, 1), 0.9274784830525523),
        ((7, 102, 1, 0), 0.9295153755316674),
        ((8, 101, 1, 0), 0.7580664646024208),
        ((7, 101, 2, 0), 0.9981325730698061),
        ((4294967295, 4194303, 255, 4294967295), 0.5052070471529138),
    ],
)
def test_recorded_numbers_stay(arguments, number):
    assert uniform(*arguments) == number


@given(words)
def test_fixed_width_integers_agree_with_pythons(seed):
    drawn = uniform(seed, 101, 2, ALONG[:20])  # 64-bit integers that wrap, as in compiled code
    assert drawn.tolist() == [uniform(seed, 101, 2, draw) for draw in range(20)]


@seeded
@everywhere
def test_mean_and_variance_are_those_of_the_uniform_distribution(row, seed):
    numbers = row(seed)
    assert abs(numbers.mean() - 0.5) < 4.5 * math.sqrt(1.0 / 12.0 / COUNT)
    assert abs(numbers.var() - 1.0 / 12.0) < 4.5 * math.sqrt(1.0 / 180.0 / COUNT)


@seeded
@everywhere
def test_all_parts_of_the_range_are_as_likely(row, seed):
    found = np.histogram(row(seed), bins=BINS, range=(0.0, 1.0))[0]
    expected = COUNT / BINS
    assert ((found - expected) ** 2 / expected).sum() < CHI_SQUARE_MAX


@seeded
@everywhere
@pytest.mark.parametrize("apart", [1, 2, 16])
def test_neighbours_do_not_know_of_each_other(row, seed, apart):
    numbers = row(seed)
    assert abs(np.corrcoef(numbers[:-apart], numbers[apart:])[0, 1]) < 4.5 / math.sqrt(COUNT)


@seeded
def test_neighbouring_vids_draw_uncorrelated_rows(seed):
    tables = np.array([uniform(seed, vid, 1, ALONG[:20_000]) for vid in range(100, 112)])
    off_diagonal = np.corrcoef(tables)[~np.eye(len(tables), dtype=bool)]
    assert np.abs(off_diagonal).max() < 5.0 / math.sqrt(20_000)


@seeded
def test_pairs_of_draws_fill_the_square(seed):
    numbers = uniform(seed, 101, 1, ALONG)
    found = np.histogram2d(numbers[0::2], numbers[1::2], bins=10, range=((0, 1), (0, 1)))[0]
    expected = COUNT / 2 / 100
    assert ((found - expected) ** 2 / expected).sum() < CHI_SQUARE_MAX


@seeded
def test_the_low_bits_are_random_too(seed):
    fine = (uniform(seed, 101, 1, ALONG) * 2.0**45) % 1.0  # 8 of the 53 bits
    found = np.histogram(fine, bins=64, range=(0.0, 1.0))[0]
    expected = COUNT / 64
    assert ((found - expected) ** 2 / expected).sum() < 120.0  # 63 degrees of freedom


def test_vids_do_not_share_a_sequence():
    tables = {tuple(uniform(7, vid, 1, ALONG[:4]).tolist()) for vid in range(1, 2001)}
    assert len(tables) == 2000


def test_mix_loses_nothing():
    some = np.random.default_rng(1).integers(0, LOW, 200_000, endpoint=True)
    assert len(np.unique(mix(some))) == len(np.unique(some))
    assert mix(some).max() <= LOW


def test_every_input_bit_of_mix_reaches_every_output_bit():
    some = np.random.default_rng(2).integers(0, LOW, 20_000, endpoint=True)
    for bit in range(32):
        changed = mix(some) ^ mix(some ^ (1 << bit))
        share = [((changed >> out) & 1).mean() for out in range(32)]
        assert min(share) > 0.4
        assert max(share) < 0.6
