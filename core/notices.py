"""What is worth a line in the event log: a pair that comes too near, a target found, a vehicle gone or back."""

import logging
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.state import State
from wire.rows import DETECTS, Rows
from wire.words import Condition

log = logging.getLogger(__name__)

MOST: Final = 20  # of one sort in one beat; the rest is counted in one line


class Notice(NamedTuple):
    what: str
    detail: dict[str, Any]


class Notices:
    """Remembers what was so at the last beat, so that only changes are told."""

    def __init__(self) -> None:
        self._pairs: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._detecting: set[int] = set()

    def pairs(self, advisories: Rows) -> list[Notice]:
        """The pairs that are warned now and were not at the last beat."""
        ahead = advisories[advisories["to_vid"] < advisories["about_vid"]]
        keys = np.sort(ahead["to_vid"].astype(np.int64) << 32 | ahead["about_vid"])
        new = np.setdiff1d(keys, self._pairs, assume_unique=True)
        self._pairs = keys
        notices = [Notice("avoid", {"vids": [key >> 32, key & 0xFFFFFFFF]}) for key in new[:MOST].tolist()]
        if len(new) > MOST:
            notices.append(Notice("avoid_more", {"pairs": len(new) - MOST}))
        return notices

    def detections(self, state: State) -> list[Notice]:
        """The vehicles that have come within reach of their target."""
        rows = state.rows
        detecting = set(rows["vid"][(rows["flags"] & DETECTS) > 0].tolist())
        notices = []
        for vid in sorted(detecting - self._detecting):
            i = state.index_of(vid)
            place = {"x_m": float(rows["x_m"][i]), "y_m": float(rows["y_m"][i])}
            notices.append(Notice("detection", {"vid": vid, "target": state.roster[i].searches, **place}))
        self._detecting = detecting
        return notices

    def conditions(self, state: State, before: NDArray[np.uint8]) -> list[Notice]:
        """Who has become stale or lost since `before`, and who has come back."""
        after = state.condition
        worse = (after != before) & (after >= Condition.STALE) & state.reported
        back = (before >= Condition.STALE) & (after < Condition.STALE)
        changed = np.flatnonzero(worse | back)
        notices = []
        for i in changed[:MOST].tolist():
            what = Condition(int(after[i])).name.lower() if worse[i] else "joined"
            (log.warning if worse[i] else log.info)("vehicle %d %s", state.rows["vid"][i], what)
            notices.append(Notice(what, {"vid": int(state.rows["vid"][i]), "name": state.roster[i].name}))
        if len(changed) > MOST:
            notices.append(Notice("conditions_more", {"vehicles": len(changed) - MOST}))
        return notices
