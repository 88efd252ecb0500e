"""What a run adds up to: counters for everything refused or missing, the closest approach, the margin."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.advise import Snapshot
from core.proximity import FEW, Pairs
from wire.rows import Rows
from wire.words import UNKNOWN_U8


class Tally:
    """Since the last SET; `refused` and `datagrams` since Core started."""

    def __init__(self) -> None:
        self.datagrams = 0
        self.refused: Counter[str] = Counter()
        self.begin_run()

    def begin_run(self) -> None:
        self.rows = 0
        self.late_rows = 0
        self.lost = 0  # datagrams missing from the senders' sequences
        self.advisories = 0
        self.held_back = 0
        self.detections = 0
        self.messages = 0
        self.late_beats = 0
        self.beats = 0
        self.refused_before = self.refused.total()
        self.closest_m: float | None = None
        self.closest_t_s = 0.0
        self.closest_vids = (0, 0)
        self._margin_sum = 0
        self._margin_rows = 0
        self.margin_min_pct: int | None = None

    def take_margins(self, margin_pct: NDArray[np.uint8]) -> None:
        known = margin_pct[margin_pct != UNKNOWN_U8]
        if len(known):
            self._margin_sum += int(known.sum())
            self._margin_rows += len(known)
            low = int(known.min())
            self.margin_min_pct = low if self.margin_min_pct is None else min(low, self.margin_min_pct)

    def take_closest(self, rows: Rows, now: Snapshot, pairs: Pairs, t_s: float) -> None:
        """Among all pairs while they are few, else among those that were warned."""
        first, second, distance_m = pairs.first, pairs.second, pairs.distance_m
        if 2 <= len(now.place) <= FEW:
            first, second = np.triu_indices(len(now.place), 1)
            away = now.position_m[first] - now.position_m[second]
            distance_m = np.sqrt((away * away).sum(axis=1))
        if not len(distance_m):
            return
        i = int(distance_m.argmin())
        if self.closest_m is None or distance_m[i] < self.closest_m:
            vids = sorted(rows["vid"][now.place[[first[i], second[i]]]].tolist())
            self.closest_m, self.closest_t_s, self.closest_vids = float(distance_m[i]), t_s, (vids[0], vids[1])

    def summary(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "refused": self.refused.total() - self.refused_before,
            "refused_by_reason": dict(self.refused),
            "late_rows": self.late_rows,
            "lost_datagrams": self.lost,
            "advisories": self.advisories,
            "advisories_held_back": self.held_back,
            "detections": self.detections,
            "messages": self.messages,
            "beats": self.beats,
            "late_beats": self.late_beats,
            "closest_m": self.closest_m,
            "closest_t_s": self.closest_t_s,
            "closest_vids": list(self.closest_vids),
            "margin_mean_pct": round(self._margin_sum / self._margin_rows, 1) if self._margin_rows else None,
            "margin_min_pct": self.margin_min_pct,
        }
