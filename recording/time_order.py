"""Rows as they were committed into rows in time order, in bounded memory.

Vehicles report late and out of turn, so that the times of one commit overlap those of the next. A row is passed on once
no later commit can hold an earlier one. The order is t_s, then vid, then arrival. Only where that would mean holding more
than `HELD_MAX` rows (a long pause, during which t_s stands still, or a phone that sends an old track) are those rows passed
on as they are: then each array is in this order, but the next one may reach back.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from recording.store import pick_rows
from wire.rows import Rows

YIELD_MIN: Final = 65_536  # rows: enough for numpy to be quick, 7 MB
HELD_MAX: Final = 1_000_000  # rows: 104 MB


def in_time_order(parts: Iterable[tuple[Rows, float]], *, yield_min: int = YIELD_MIN, held_max: int = HELD_MAX) -> Iterator[Rows]:
    """Each part comes with the smallest t_s of all parts after it, infinite for the last."""
    waiting: list[Rows] = []
    fresh = 0  # rows since the last look
    for rows, later_s in parts:
        waiting.append(rows)
        fresh += len(rows)
        if fresh < yield_min:
            continue
        held = np.concatenate(waiting)
        early = held["t_s"] < later_s
        if len(held) - np.count_nonzero(early) > held_max:
            early[:] = True
        if early.any():
            yield _sorted(pick_rows(held, early))
        waiting, fresh = [pick_rows(held, ~early)], 0
    if any(len(rows) for rows in waiting):
        yield _sorted(np.concatenate(waiting))


def _sorted(rows: Rows) -> Rows:
    return pick_rows(rows, np.lexsort((rows["arrival_unix_s"], rows["vid"], rows["t_s"])))
