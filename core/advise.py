"""From State to advisories: who must avoid whom, and where leaders and targets are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.proximity import Pairs, pairs_within
from core.state import State
from wire.rows import ADVISORY, Rows, empty_rows
from wire.words import Advice, Condition


class Snapshot(NamedTuple):
    """State at one time: everybody who is not lost, moved on to the time of the check."""

    place: NDArray[np.int64]  # in State
    position_m: NDArray[np.float64]
    velocity_mps: NDArray[np.float64]
    length_m: NDArray[np.float64]


def snapshot(state: State, t_s: float, lost_s: float) -> Snapshot:
    """A row older than the check is carried on along its velocity; one of the very beat stays as it is, to the bit."""
    index = np.flatnonzero((state.condition < Condition.LOST) & state.reported)
    rows = state.rows[index]
    velocity = np.stack([rows["vx_mps"], rows["vy_mps"], rows["vz_mps"]], axis=1).astype(np.float64)
    position = np.stack([rows["x_m"], rows["y_m"], rows["z_m"]], axis=1)
    age_s = np.clip(t_s - rows["t_s"], 0.0, lost_s)
    return Snapshot(index, position + velocity * age_s[:, None], velocity, state.length_m[index])


def avoid_rows(state: State, now: Snapshot, t_s: float, lengths: float, most: int) -> tuple[Rows, Pairs, int]:
    """Advisories for both vehicles of each pair that is too near, the pairs, and how many warnings `most` held back."""
    pairs = pairs_within(now.position_m, now.velocity_mps, now.length_m, lengths)
    to = np.concatenate([pairs.first, pairs.second])
    about = np.concatenate([pairs.second, pairs.first])
    rows = empty_rows(len(to), ADVISORY)
    _fill(rows, state, now, to, about, Advice.AVOID, t_s)
    for name, column in (("distance_m", pairs.distance_m), ("approach_s", pairs.approach_s), ("miss_m", pairs.miss_m)):
        rows[name] = np.concatenate([column, column])
    order = np.lexsort((rows["about_vid"], rows["distance_m"], rows["to_vid"]))
    rows = rows[order]
    _, first, sizes = np.unique(rows["to_vid"], return_index=True, return_counts=True)
    rank = np.arange(len(rows)) - np.repeat(first, sizes)
    kept = rows[rank < most]
    return kept, pairs, len(rows) - len(kept)


def wanted_rows(state: State, now: Snapshot, t_s: float, wants: NDArray[np.int64], advice: Advice) -> Rows:
    """Positions of the leaders or targets that vehicles asked for. `wants` has a column of askers and one of asked, as vids."""
    where = np.full(state.count, -1, dtype=np.int64)
    where[now.place] = np.arange(len(now.place))
    to = state.indices_of(wants[:, 0].astype(np.uint32))
    about = state.indices_of(wants[:, 1].astype(np.uint32))
    both = (to >= 0) & (about >= 0)
    to_at, about_at = where[to[both]], where[about[both]]
    there = (to_at >= 0) & (about_at >= 0)
    to_at, about_at = to_at[there], about_at[there]
    rows = empty_rows(len(to_at), ADVISORY)
    _fill(rows, state, now, to_at, about_at, advice, t_s)
    away = now.position_m[to_at] - now.position_m[about_at]
    rows["distance_m"] = np.sqrt((away * away).sum(axis=1))
    return rows


def _fill(
    rows: Rows,
    state: State,
    now: Snapshot,
    to: NDArray[np.int64],
    about: NDArray[np.int64],
    advice: Advice,
    t_s: float,
) -> None:
    vids = state.rows["vid"][now.place]
    rows["to_vid"], rows["about_vid"] = vids[to], vids[about]
    rows["advice"] = advice
    rows["length_m"] = now.length_m[about]
    rows["t_s"] = t_s
    for axis, (place, speed) in enumerate((("x_m", "vx_mps"), ("y_m", "vy_mps"), ("z_m", "vz_mps"))):
        rows[place] = now.position_m[about, axis]
        rows[speed] = now.velocity_mps[about, axis]
