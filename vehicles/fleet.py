"""A fleet: the vehicles that one process hosts. One is the normal case; thousands are the same physics, compiled.

Pure: advisories and messages in, rows and messages out, one beat at a time.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from vehicles.mind import NOBODY, Other, urgency_m
from vehicles.spec import VehicleSpec
from vehicles.vehicle import Vehicle
from wire.frame import Frame
from wire.rows import ADVISORY, STATE, Rows, empty_rows, unpack_rows
from wire.words import EVERYONE, UNKNOWN_U8, Advice, RunState

COMPILE_FROM: Final = 50  # vehicles; below this plain Python is quicker than loading the compiled code
REPORT: Final = "found"  # the first word of the message that a search sends
NO_ADVISORIES: Final = empty_rows(0, ADVISORY)


class Said(NamedTuple):
    """A message that a vehicle wants to send."""

    from_vid: int
    to_vid: int
    t_s: float
    text: str


class Heard(NamedTuple):
    """A message that has reached a vehicle."""

    to_vid: int
    from_vid: int
    t_s: float
    text: str


class Fleet:
    def __init__(
        self,
        specs: Sequence[VehicleSpec],
        *,
        seed: int,
        beat_s: float,
        step_s: float,
        frame: Frame,
        compile_from: int = COMPILE_FROM,
    ) -> None:
        self.specs = tuple(specs)
        self.beat_s = beat_s
        made = {"seed": seed, "beat_s": beat_s, "step_s": step_s, "frame": frame}
        compilable = [s for s in specs if all(slot.number < 100 for slot in s.slots)]
        if len(compilable) < compile_from:
            compilable = []
        held = {spec.vid for spec in compilable}
        self._singles = {spec.vid: Vehicle(spec, **made) for spec in specs if spec.vid not in held}  # type: ignore[arg-type]
        self._many: Any = None
        if compilable:
            from vehicles.compiled import CompiledFleet  # numba: only who needs it pays for it

            self._many = CompiledFleet(compilable, **made)  # type: ignore[arg-type]
        self.reset()

    def reset(self) -> None:
        """Back to the initial conditions, at simulation time 0."""
        self._beats = 0
        self._signals: set[int] = set()
        for vehicle in self._singles.values():
            vehicle.reset()
        if self._many is not None:
            self._many.reset()

    @property
    def t_s(self) -> float:
        """A product, not a sum: every host of a run has the same time to the bit."""
        return self._beats * self.beat_s

    def start_at(self, beats: int) -> None:
        """Join a run that is under way."""
        self._beats = beats

    def advance(self, advisories: Rows = NO_ADVISORIES, heard: Sequence[Heard] = ()) -> list[Said]:
        """One beat on; what the vehicles have to say to each other."""
        self._listen(heard)
        t_s = self.t_s
        self._beats += 1
        signals: set[int] = set()
        if self._singles:
            others = sort_advisories(advisories, self._singles)
            for vid, vehicle in self._singles.items():
                vehicle.advance(t_s, *others.get(vid, (NOBODY, NOBODY, NOBODY)))
                if vehicle.signal:
                    signals.add(vid)
        if self._many is not None:
            signals |= self._many.advance(t_s, advisories)
        new, self._signals = signals - self._signals, signals
        return [Said(vid, EVERYONE, self.t_s, f"{REPORT} {self._target(vid)}") for vid in sorted(new)]

    def rows(self, run_state: RunState, margin_pct: int = UNKNOWN_U8) -> Rows:
        moving = run_state == RunState.GO
        t_s = self.t_s
        packed = b"".join(v.row(t_s, run_state, margin_pct, moving) for v in self._singles.values())
        if self._many is None:
            return unpack_rows(packed, STATE)
        rows: Rows = self._many.rows(t_s, run_state, margin_pct, moving)
        return unpack_rows(packed + rows.tobytes(), STATE) if packed else rows

    def _listen(self, heard: Sequence[Heard]) -> None:
        for message in heard:
            if not message.text.startswith(REPORT):
                continue
            if message.to_vid in self._singles:
                vehicle = self._singles[message.to_vid]
                vehicle.report_s = min(vehicle.report_s, self.t_s)
            elif self._many is not None:
                self._many.hear_report(message.to_vid, self.t_s)

    def _target(self, vid: int) -> int:
        spec = next(spec for spec in self.specs if spec.vid == vid)
        return next((s.settings.target for s in spec.slots if hasattr(s.settings, "target")), 0)


def sort_advisories(advisories: Rows, wanted: dict[int, Vehicle]) -> dict[int, tuple[Other, Other, Other]]:
    """For each vehicle the most urgent threat, its leader and its target."""
    best: dict[int, list[Other]] = {}
    for row in advisories.tolist():
        to_vid, about_vid, advice, _, length_m, _, x, y, z, vx, vy, vz, distance_m, approach_s, miss_m = row
        place = advice - Advice.AVOID
        if to_vid not in wanted or not 0 <= place < 3:  # advice of a later version is not for us
            continue
        other = Other(True, about_vid, x, y, z, vx, vy, vz, length_m, distance_m, approach_s, miss_m)
        slots = best.setdefault(to_vid, [NOBODY, NOBODY, NOBODY])
        if place != 0 or is_more_urgent(other, slots[0]):
            slots[place] = other
    return {vid: (slots[0], slots[1], slots[2]) for vid, slots in best.items()}


def is_more_urgent(other: Other, than: Other) -> bool:
    if not than.known:
        return True
    mine_m = urgency_m(other.distance_m, other.approach_s, other.miss_m)
    theirs_m = urgency_m(than.distance_m, than.approach_s, than.miss_m)
    return mine_m < theirs_m or (mine_m == theirs_m and other.vid < than.vid)
