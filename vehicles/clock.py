"""Soft real time: simulated time keeps up with the wall clock, without drift (equations 6 and 7 of the MoVE paper)."""

from typing import Final

GAIN: Final = 0.3  # k_I


class SoftRealTime:
    """Says how long to sleep after each beat so that the N-th beat ends at its place on an absolute time line.

    The integral term takes out the constant part of the delay (computing, waking up late). It is held within one beat, and a
    stall longer than a beat does not enter it: a process that was stopped catches up and does not run ahead afterwards.
    """

    def __init__(self, interval_s: float, start_s: float) -> None:
        self.interval_s = interval_s  # wall-clock seconds per beat
        self.start_s = start_s  # wall clock at simulation time 0
        self.error_s = 0.0  # eq. 6: how far simulated time is behind
        self.error_max_s = 0.0
        self.margin = 1.0  # share of the beat that is left to sleep
        self.late = 0  # beats that ended more than half a beat after their time
        self._error_sum_s = 0.0

    def sleep_s(self, now_s: float, beats: int) -> float:
        """How long to sleep now that `beats` beats are done."""
        self.error_s = now_s - self.start_s - beats * self.interval_s
        self.error_max_s = max(self.error_max_s, abs(self.error_s))
        self.late += self.error_s > 0.5 * self.interval_s
        if abs(self.error_s) < self.interval_s:
            total_s = self._error_sum_s + self.error_s
            self._error_sum_s = min(max(total_s, -self.interval_s), self.interval_s)
        pause_s = max(0.0, self.interval_s - self.error_s - GAIN * self._error_sum_s)
        self.margin = min(1.0, pause_s / self.interval_s)
        return pause_s
