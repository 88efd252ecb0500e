"""How long one proximity check takes, closest approach included, beside comparing all pairs in numpy."""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, Final

import numpy as np

from core.proximity import Floats, Pairs, all_pairs_within, pairs_within, warm_up

COUNTS: Final = (100, 1_000, 10_000, 100_000)
ALL_PAIRS_COUNTS: Final = (100, 1_000, 3_000)  # beyond, numpy needs seconds and gigabytes
NEIGHBOURS: Final = 3.0
LENGTH_M: Final = 4.5
LENGTHS: Final = 6.0

World = tuple[Floats, Floats, Floats, float]
Check = Callable[[Floats, Floats, Floats, float], Pairs]


def run(quick: bool) -> list[dict[str, Any]]:
    warm_up()
    runs = 5 if quick else 21
    rows = [measured("proximity check", pairs_within, count, runs) for count in COUNTS]
    return rows + [measured("all pairs in numpy", all_pairs_within, count, runs) for count in ALL_PAIRS_COUNTS]


def world(count: int, seed: int) -> World:
    """Vehicles scattered in a cube in which each has about NEIGHBOURS others within the threshold."""
    chance = np.random.default_rng(seed)
    side_m = LENGTHS * LENGTH_M * (count * 4.0 / 3.0 * np.pi / NEIGHBOURS) ** (1.0 / 3.0)
    position_m = chance.uniform(-side_m / 2.0, side_m / 2.0, (count, 3))
    return position_m, chance.normal(0.0, 10.0, (count, 3)), np.full(count, LENGTH_M), LENGTHS


def measured(measure: str, check: Check, count: int, runs: int) -> dict[str, Any]:
    """Another world each time: the processor would learn the branches of a small one by heart."""
    taken_ms = []
    check(*world(count, 0))
    for seed in range(1, runs + 1):
        place = world(count, seed)
        begin_s = perf_counter()
        check(*place)
        taken_ms.append(1_000.0 * (perf_counter() - begin_s))
    spread = [min(taken_ms), max(taken_ms)]
    return {"measure": measure, "n": count, "value": median(taken_ms), "unit": "ms", "spread": spread, "runs": runs}
