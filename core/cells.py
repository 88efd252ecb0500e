"""The compiled half of the proximity check: a cell list that is exact in any world, in time linear in vehicles and pairs.

Vehicles are sorted by the number of the cell they are in (a radix sort; nothing is allocated by the volume of the world, and
no two cells share a number). A sweep through that order keeps a window on a neighbouring row of cells; the window only
moves forward, so that the search needs no table and reads memory in order.

Cells must be as wide as the largest threshold, and one ship would make them too wide for ten thousand pedestrians. So
vehicles are split into size classes, each half as long as the next: a class is swept in cells of its own, and then against
all smaller vehicles, in a grid that covers only what the class can reach. A ship thus looks at its own surroundings, and no
two pedestrians are compared because of it.

Working memory is kept from call to call, for each thread its own: fresh pages from the system would cost a quarter of the
check. No fastmath: the sums are those of `core.proximity` in the same order, so that both give the same bits.
"""

import math
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])

CLASSES: Final = 16  # size classes, the first for all below the longest vehicle / 2**15
SLACK: Final = 1.0e-4  # cells are wider than the threshold by this part: far more than cell numbers are rounded off
FINEST_M: Final = 1.0e-9  # narrowest cell, also for thresholds of 0
AXIS_CELLS: Final = (2**23, 2**23, 2**16)  # at most along x, y and z: with cells of 1 m, the Earth and its air
FARTHEST_M: Final = 1.0e100  # beyond, and where a coordinate is not a number, a vehicle is near nobody
DIGIT: Final = 11  # bits per pass of the radix sort
AFTER_LAST: Final = 2**63 - 1  # ends a list of cell numbers
KEPT_MOST: Final = 2**23  # numbers of 8 bytes in one piece of memory that is kept; a larger one is given back


class Grid(NamedTuple):
    low_m: Floats  # corners of all that is within reach
    high_m: Floats
    origin_m: Floats
    per_m: float  # cells per metre
    cells: Ints  # along each axis


class Listed(NamedTuple):
    number: Ints  # of the cell, rising, AFTER_LAST in the end
    row: Ints  # of the vehicle
    body: Floats  # x, y, z and length, side by side


class Kept(threading.local):
    """Pieces of memory by name; a piece is the caller's until the name is asked for again."""

    def __init__(self) -> None:
        self.pieces: dict[str, Ints] = {}

    def ints(self, name: str, count: int) -> Ints:
        piece = self.pieces.get(name)
        if piece is None or len(piece) < count:
            piece = np.empty(count + count // 4, dtype=np.int64)
            if count <= KEPT_MOST:
                self.pieces[name] = piece
        return piece[:count]

    def floats(self, name: str, count: int) -> Floats:
        return self.ints(name, count).view(np.float64)


KEPT: Final = Kept()


def compiled(function: Function) -> Function:
    return cast(Function, numba.njit(cache=True, error_model="numpy")(function))


def pairs_within(
    position_m: Floats, velocity_mps: Floats, length_m: Floats, lengths: float, rest_mps: float
) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    """The columns of `core.proximity.Pairs`, for at least one vehicle."""
    row = KEPT.ints("row", len(length_m))
    begin = size_classes(position_m, length_m, KEPT.ints("size", len(length_m)), row)
    found, count = KEPT.ints("found", 8 * len(row)).reshape(-1, 2), 0
    shorter_m = 0.0  # the longest of all smaller classes
    for size in np.flatnonzero(np.diff(begin)[:CLASSES]):
        members, smaller = row[begin[size] : begin[size + 1]], row[: begin[size]]
        longest_m = float(length_m[members].max())
        grid = grid_over(position_m, members, lengths * longest_m)
        own = listed("own", position_m, length_m, members, grid)
        line, layer = int(grid.cells[0]), int(grid.cells[0] * grid.cells[1])
        for offset in (0, line, layer - line, layer, layer + line):
            found, count = swept(own, own, offset, lengths, found, count)
        if len(smaller):
            grid = grid_over(position_m, members, lengths * (longest_m + shorter_m) / 2.0)
            own = listed("own", position_m, length_m, members, grid)
            others = listed("others", position_m, length_m, smaller, grid)
            line, layer = int(grid.cells[0]), int(grid.cells[0] * grid.cells[1])
            for offset in (up + north for up in (-layer, 0, layer) for north in (-line, 0, line)):
                found, count = swept(own, others, offset, lengths, found, count)
        shorter_m = longest_m
    by_second, begin = KEPT.ints("by second", 2 * count), KEPT.ints("begin", 2 * (len(row) + 1))
    first, second = sorted_pairs(found, count, by_second.reshape(-1, 2), begin.reshape(-1, 2))
    return first, second, *approaches(position_m, velocity_mps, first, second, rest_mps)


@compiled
def size_classes(position_m: Floats, length_m: Floats, size: Ints, row: Ints) -> Ints:
    """Fill `size` with the classes and `row` by class, the shortest first, the unplaced last; where each class begins."""
    longest_m = length_m.max()
    begin = np.zeros(CLASSES + 2, dtype=np.int64)
    for i in range(len(length_m)):
        far_m = abs(position_m[i, 0]) + abs(position_m[i, 1]) + abs(position_m[i, 2])  # not a number if any is not
        size[i] = CLASSES
        if far_m <= FARTHEST_M:
            size[i] = CLASSES - 1
            top_m = longest_m / 2.0
            while size[i] > 0 and length_m[i] <= top_m:
                size[i] -= 1
                top_m /= 2.0
        begin[size[i] + 1] += 1
    for k in range(CLASSES + 1):
        begin[k + 1] += begin[k]
    following = begin.copy()
    for i in range(len(length_m)):
        row[following[size[i]]] = i
        following[size[i]] += 1
    return begin


def grid_over(position_m: Floats, rows: Ints, reach_m: float) -> Grid:
    """Cells no narrower than the reach, over all that is within reach of these vehicles.

    Where they are spread too far for cell numbers of 62 bits, the grid ends around their median. Vehicles beyond count
    as in its outermost cells: those of neighbouring cells stay in neighbouring cells, so that no pair is missed.
    """
    margin_m = max(reach_m * (1.0 + SLACK), FINEST_M)
    low_m, high_m = corners(position_m, rows)
    low_m, high_m = low_m - margin_m, high_m + margin_m
    origin_m, cells = low_m.copy(), np.empty(3, dtype=np.int64)
    for k, most in enumerate(AXIS_CELLS):
        span = (high_m[k] - low_m[k]) / margin_m + 3.0  # one empty cell at either end keeps the rows of cells apart
        if span > most:
            span = most
            origin_m[k] = np.median(position_m[rows, k]) - most / 2.0 * margin_m
        cells[k] = int(span)
    return Grid(low_m, high_m, origin_m, 1.0 / margin_m, cells)


@compiled
def corners(position_m: Floats, rows: Ints) -> tuple[Floats, Floats]:
    low_m, high_m = np.full(3, np.inf), np.full(3, -np.inf)
    for i in rows:
        for k in range(3):
            low_m[k] = min(low_m[k], position_m[i, k])
            high_m[k] = max(high_m[k], position_m[i, k])
    return low_m, high_m


def listed(name: str, position_m: Floats, length_m: Floats, rows: Ints, grid: Grid) -> Listed:
    """Those of the rows that are within the grid's reach, by cell, in memory kept under this name."""
    number, row = KEPT.ints(name + " number", len(rows) + 1), KEPT.ints(name + " row", len(rows))
    count = cell_numbers(position_m, rows, *grid, number, row)
    spare_number, spare_row = KEPT.ints(name + " spare number", count + 1), KEPT.ints(name + " spare row", count)
    number, row = radix_sorted(number[: count + 1], row[:count], spare_number, spare_row)
    body = KEPT.floats(name + " body", 4 * count).reshape(-1, 4)
    fill_bodies(position_m, length_m, row, body)
    return Listed(number, row, body)


@compiled
def cell_numbers(
    position_m: Floats,
    rows: Ints,
    low_m: Floats,
    high_m: Floats,
    origin_m: Floats,
    per_m: float,
    cells: Ints,
    number: Ints,
    row: Ints,
) -> int:
    """Fill in cell and row of those vehicles that are within the corners, then AFTER_LAST; how many they are."""
    count = 0
    for i in rows:
        cell, within = 0, True
        for k in (2, 1, 0):
            place_m = position_m[i, k]
            within &= low_m[k] <= place_m <= high_m[k]
            cell = cell * cells[k] + int(min(max((place_m - origin_m[k]) * per_m, 0.0), cells[k] - 3.0)) + 1
        number[count], row[count] = cell, i
        count += within
    number[count] = AFTER_LAST
    return count


@compiled
def radix_sorted(number: Ints, row: Ints, spare_number: Ints, spare_row: Ints) -> tuple[Ints, Ints]:
    """Both by rising number, in the given or in the spare memory; the number after the last stays where it is."""
    spare_number[len(row)] = number[len(row)]
    largest = 0
    for i in range(len(row)):
        largest = max(largest, number[i])
    shift = 0
    while largest >> shift > 0:
        begin = np.zeros(2**DIGIT + 1, dtype=np.int64)
        for i in range(len(row)):
            begin[((number[i] >> shift) & (2**DIGIT - 1)) + 1] += 1
        for digit in range(2**DIGIT):
            begin[digit + 1] += begin[digit]
        for i in range(len(row)):
            digit = (number[i] >> shift) & (2**DIGIT - 1)
            spare_number[begin[digit]], spare_row[begin[digit]] = number[i], row[i]
            begin[digit] += 1
        number, spare_number = spare_number, number
        row, spare_row = spare_row, row
        shift += DIGIT
    return number, row


@compiled
def fill_bodies(position_m: Floats, length_m: Floats, row: Ints, body: Floats) -> None:
    for slot in range(len(row)):
        for k in range(3):
            body[slot, k] = position_m[row[slot], k]
        body[slot, 3] = length_m[row[slot]]


def swept(own: Listed, others: Listed, offset: int, lengths: float, found: Ints, count: int) -> tuple[Ints, int]:
    """Add the pairs of all own vehicles with others in the row of cells at this offset, in a longer `found` if need be."""
    a = 0
    while True:
        count, a = sweep(*own, *others, offset, own is others, lengths, found, count, a)
        if a == len(own.row):
            return found, count
        wider = KEPT.ints("found", 4 * len(found) + 2 * len(others.row)).reshape(-1, 2)
        wider[:count] = found[:count]  # which may be the same memory
        found = wider


@compiled
def sweep(
    number: Ints,
    row: Ints,
    body: Floats,
    other_number: Ints,
    other_row: Ints,
    other_body: Floats,
    offset: int,
    alike: bool,
    lengths: float,
    found: Ints,
    count: int,
    a: int,
) -> tuple[int, int]:
    """Add to `found` the pairs of the vehicles from slot `a` on; return how many there are then, and the slot come to.

    That slot is the end, unless there was no room for all its pairs. `alike` says that both lists are the same: each
    vehicle then looks only at those after it.
    """
    begin, end = 0, 0
    while a < len(row):
        middle = number[a] + offset
        while other_number[begin] < middle - 1:
            begin += 1
        while other_number[end] <= middle + 1:
            end += 1
        since = max(begin, a + 1) if alike else begin
        if count + end - since > len(found):
            break
        for b in range(since, end):
            dx, dy, dz = other_body[b, 0] - body[a, 0], other_body[b, 1] - body[a, 1], other_body[b, 2] - body[a, 2]
            reach = lengths * (body[a, 3] + other_body[b, 3]) / 2.0
            found[count, 0], found[count, 1] = row[a], other_row[b]
            count += dx * dx + dy * dy + dz * dz <= reach * reach  # no branch: nobody could predict it
        a += 1
    return count, a


@compiled
def sorted_pairs(found: Ints, count: int, by_second: Ints, begin: Ints) -> tuple[Ints, Ints]:
    """The pairs with the smaller index first, in lexicographic order: counted by the second index, then by the first."""
    first, second = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for i in range(len(begin)):
        begin[i, 0], begin[i, 1] = 0, 0
    for p in range(count):
        begin[min(found[p, 0], found[p, 1]) + 1, 0] += 1
        begin[max(found[p, 0], found[p, 1]) + 1, 1] += 1
    for i in range(len(begin) - 1):
        begin[i + 1, 0] += begin[i, 0]
        begin[i + 1, 1] += begin[i, 1]
    for p in range(count):
        low, high = min(found[p, 0], found[p, 1]), max(found[p, 0], found[p, 1])
        by_second[begin[high, 1], 0], by_second[begin[high, 1], 1] = low, high
        begin[high, 1] += 1
    for p in range(count):
        low, high = by_second[p, 0], by_second[p, 1]
        first[begin[low, 0]], second[begin[low, 0]] = low, high
        begin[low, 0] += 1
    return first, second


@compiled
def approaches(
    position_m: Floats, velocity_mps: Floats, first: Ints, second: Ints, rest_mps: float
) -> tuple[Floats, Floats, Floats]:
    """Distance, time until the closest approach and distance then, as `core.proximity` computes them."""
    distance_m, approach_s, miss_m = np.empty(len(first)), np.zeros(len(first)), np.empty(len(first))
    for p in range(len(first)):
        i, j = first[p], second[p]
        dx = position_m[j, 0] - position_m[i, 0]
        dy = position_m[j, 1] - position_m[i, 1]
        dz = position_m[j, 2] - position_m[i, 2]
        ux = velocity_mps[j, 0] - velocity_mps[i, 0]
        uy = velocity_mps[j, 1] - velocity_mps[i, 1]
        uz = velocity_mps[j, 2] - velocity_mps[i, 2]
        distance_m[p] = miss_m[p] = math.sqrt(dx * dx + dy * dy + dz * dz)
        opening = dx * ux + dy * uy + dz * uz
        speed2 = ux * ux + uy * uy + uz * uz
        if opening < 0.0 and speed2 > rest_mps * rest_mps:
            t = -opening / speed2
            mx, my, mz = dx + ux * t, dy + uy * t, dz + uz * t
            approach_s[p] = t
            miss_m[p] = min(math.sqrt(mx * mx + my * my + mz * mz), distance_m[p])
    return distance_m, approach_s, miss_m


@compiled
def nearest(position_m: Floats, order: Ints, axis: int) -> tuple[Ints, Floats]:
    """Look both ways along the axis, in this rising order, until the way alone is longer than the best distance."""
    count = len(order)
    index, distance_m = np.empty(count, dtype=np.int64), np.empty(count)
    place = position_m[order]
    for a in range(count):
        best, best2 = -1, np.inf
        for step in (-1, 1):
            b = a + step
            while 0 <= b < count:
                dx, dy, dz = place[b, 0] - place[a, 0], place[b, 1] - place[a, 1], place[b, 2] - place[a, 2]
                way = place[b, axis] - place[a, axis]
                if way * way > best2:
                    break
                d2 = dx * dx + dy * dy + dz * dz
                if d2 < best2 or (d2 == best2 and order[b] < best):
                    best, best2 = order[b], d2
                b += step
        index[order[a]], distance_m[order[a]] = best, math.sqrt(best2)
    return index, distance_m
