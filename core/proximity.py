"""Who is near whom: the pairs within a threshold, their closest approach, and everyone's nearest neighbour.

Pure functions of arrays with one row per vehicle. The answer is that of comparing all pairs, to the bit. Up to FEW vehicles
that is what happens here, in numpy, so that a small Core starts fast; above, `core.cells` finds the same pairs compiled.
A vehicle whose position is not finite is near nobody.
"""

import math
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW: Final = 64
REST_MPS: Final = 1.0e-9  # slower than this relative to each other is at rest: 30 years for a metre


class Pairs(NamedTuple):
    """One entry per pair, in lexicographic order of (first, second), first < second."""

    first: Ints  # index of a vehicle
    second: Ints  # index of the other
    distance_m: Floats  # 3-D, now
    approach_s: Floats  # until the closest approach on straight ways, 0 when parting or at rest relative to each other
    miss_m: Floats  # distance at that time


def pairs_within(position_m: Floats, velocity_mps: Floats, length_m: Floats, lengths: float) -> Pairs:
    """The pairs no farther apart than `lengths` times the mean of their two characteristic lengths.

    Velocities are finite. Time and memory grow with the vehicles and the pairs found: all vehicles in one place are all pairs.
    Raises ValueError for shapes that do not fit each other and for lengths that are negative or not finite.
    """
    position_m, velocity_mps, length_m = _plain(position_m), _plain(velocity_mps), _plain(length_m)
    count = len(length_m)
    if position_m.shape != (count, 3) or velocity_mps.shape != (count, 3) or length_m.shape != (count,):
        raise ValueError(f"shapes {position_m.shape}, {velocity_mps.shape}, {length_m.shape} do not fit each other")
    longest_m = length_m.max(initial=0.0)  # NaN if any is
    if not (length_m.min(initial=0.0) >= 0.0 and lengths >= 0.0 and math.isfinite(lengths * longest_m)):
        raise ValueError("lengths must be finite and not negative")
    if count <= FEW:
        return all_pairs_within(position_m, velocity_mps, length_m, lengths)
    from core import cells  # numba is slow to import: only where it pays

    return Pairs(*cells.pairs_within(position_m, velocity_mps, length_m, float(lengths), REST_MPS))


def all_pairs_within(position_m: Floats, velocity_mps: Floats, length_m: Floats, lengths: float) -> Pairs:
    """The same by comparing all pairs: the meaning of `pairs_within`, quadratic in time and memory."""
    count = len(length_m)
    first, second = _few_pairs(count) if count <= FEW else np.triu_indices(count, 1)
    with np.errstate(invalid="ignore", over="ignore"):  # positions that are not finite
        dx, dy, dz = (position_m[second] - position_m[first]).T
        reach = lengths * (length_m[first] + length_m[second]) / 2.0
        near = dx * dx + dy * dy + dz * dz <= reach * reach
    first, second = first[near], second[near]
    dx, dy, dz = (position_m[second] - position_m[first]).T
    ux, uy, uz = (velocity_mps[second] - velocity_mps[first]).T
    distance_m = np.sqrt(dx * dx + dy * dy + dz * dz)
    opening = dx * ux + dy * uy + dz * uz
    speed2 = ux * ux + uy * uy + uz * uz
    closing = (opening < 0.0) & (speed2 > REST_MPS * REST_MPS)
    approach_s = np.divide(-opening, speed2, out=np.zeros_like(distance_m), where=closing)
    mx, my, mz = dx + ux * approach_s, dy + uy * approach_s, dz + uz * approach_s
    miss_m = np.minimum(np.sqrt(mx * mx + my * my + mz * mz), distance_m)
    return Pairs(first, second, distance_m, approach_s, miss_m)


def nearest(position_m: Floats) -> tuple[Ints, Floats]:
    """For each vehicle the index of the nearest other one (the smaller index of equals) and its distance.

    A vehicle without any other gets -1 and infinity. For a table once a second, not for every beat: 20,000 vehicles take
    some 30 ms, and just under a second when all are in one place.
    """
    position_m = _plain(position_m)
    if len(position_m) <= FEW:
        return _nearest_of_all(position_m)
    from core import cells

    placed = position_m[np.isfinite(position_m).all(axis=1)]
    axis = int(np.argmax(np.ptp(placed, axis=0))) if len(placed) else 0
    return cells.nearest(position_m, np.argsort(position_m[:, axis]), axis)


def warm_up() -> None:
    """Load the compiled half, and compile it if this machine has not yet (some seconds), before a beat has to wait for it."""
    apart_m = np.arange(3.0 * (FEW + 1)).reshape(-1, 3)
    pairs_within(apart_m, apart_m, apart_m[:, 0], 1.0)
    nearest(apart_m)


def _plain(array: Floats) -> Floats:
    return np.require(array, np.float64, ["C", "W"])  # one layout, so that the kernels are compiled once


@lru_cache(maxsize=8)
def _few_pairs(count: int) -> tuple[Ints, Ints]:
    first, second = np.triu_indices(count, 1)
    return first, second


def _nearest_of_all(position_m: Floats) -> tuple[Ints, Floats]:
    count = len(position_m)
    if count == 0:
        return np.empty(0, dtype=np.int64), np.empty(0)
    with np.errstate(invalid="ignore", over="ignore"):
        dx, dy, dz = (position_m[:, None, :] - position_m[None, :, :]).transpose(2, 0, 1)
        d2 = dx * dx + dy * dy + dz * dz
    d2[np.isnan(d2)] = np.inf
    np.fill_diagonal(d2, np.inf)
    index = d2.argmin(axis=1)
    distance_m = np.sqrt(d2[np.arange(count), index])
    index[np.isinf(distance_m)] = -1
    return index, distance_m
