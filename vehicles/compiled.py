"""Many vehicles of one process, compiled: the same physics and the same bits as `vehicles.vehicle.Vehicle` one by one."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from vehicles.behaviours import BEHAVIOURS
from vehicles.compiled_code import code_for, field_kinds
from vehicles.kernel import HELD, KNOWN_ADVICE, Beat, Minds
from vehicles.spec import VehicleSpec
from wire.frame import Frame
from wire.rows import ADVISORY, STATE, Rows, empty_rows
from wire.words import NO_BEHAVIOUR, RunState


class CompiledFleet:
    """Vehicles with built-in behaviours only. Making the first one of a process loads or compiles the code."""

    def __init__(self, specs: Sequence[VehicleSpec], *, seed: int, beat_s: float, step_s: float, frame: Frame) -> None:
        self._code = code_for(BEHAVIOURS)
        steps = round(beat_s / step_s)
        self._beat = Beat(0.0, as_int64(seed), float(beat_s), beat_s / steps, steps)
        self._frame = Frame(int(frame.zone), *(float(value) for value in frame[1:]))
        self._start = start_table(specs)
        self._table = self._start.copy()
        self._minds = minds_of(specs)
        self._row_of = np.zeros(int(self._start["vid"].max(initial=0)) + 1, dtype=np.int32)  # 0 for those elsewhere
        self._row_of[self._start["vid"]] = np.arange(1, len(specs) + 1)
        self._picked = np.empty((len(specs), KNOWN_ADVICE), dtype=np.int32)
        self.advance(0.0, empty_rows(0, ADVISORY))  # load the code now, not in the first beat of a run
        self.rows(0.0, RunState.READY, 0, moving=True)
        self.reset()

    def reset(self) -> None:
        """Initial conditions, as SET asks."""
        self._table[:] = self._start
        self._minds.memory[:] = 0.0

    def advance(self, t_s: float, advisories: Rows) -> set[int]:
        """From t_s one beat on; the vids of those whose behaviours signal."""
        told = np.ascontiguousarray(advisories).view()
        told.flags.writeable = False  # always, so that there is one type of array to compile for
        self._code.pick(told, self._row_of, self._picked)
        beat = self._beat._replace(t_s=float(t_s))
        if not self._code.advance(self._table, self._minds, told, self._picked, beat):
            return set()
        return set(self._table["vid"][self._table["signal"]].tolist())

    def rows(self, t_s: float, run_state: int, margin_pct: int, moving: bool) -> Rows:
        """New state rows, in the order of the specs."""
        state = empty_rows(len(self._table), STATE)
        self._code.write(self._table, self._frame, float(t_s), int(run_state), int(margin_pct), bool(moving), state)
        return state

    def hear_report(self, vid: int, t_s: float) -> None:
        """Nothing, for a vid that is not hosted here."""
        if 0 <= vid < len(self._row_of) and self._row_of[vid]:
            held = self._table[self._row_of[vid] - 1]
            held["report_s"] = min(held["report_s"], t_s)


def as_int64(seed: int) -> int:
    """The low 64 bits, of which chance uses 32."""
    return (seed + 2**63) % 2**64 - 2**63


def start_table(specs: Sequence[VehicleSpec]) -> Rows:
    rest = (0.0, 0.0, math.inf)  # steer, pitch, report
    rows = [(*s.limits, *s.start, s.cruise_mps, *rest, s.vid, len(s.slots), NO_BEHAVIOUR, False) for s in specs]
    return np.array(rows, dtype=HELD)


def minds_of(specs: Sequence[VehicleSpec]) -> Minds:
    most = max((len(spec.slots) for spec in specs), default=0)
    code = np.zeros((len(specs), most), dtype=np.int32)
    at = np.zeros((len(specs), most), dtype=np.int32)
    decides = {line.number: line.decide for line in BEHAVIOURS.values()}
    cells: list[float] = []
    placed: dict[tuple[Any, ...], int] = {}  # by the bits of the settings: 0.0 and -0.0 are equal but not the same
    for i, spec in enumerate(specs):
        for j, slot in enumerate(spec.slots):
            if decides.get(slot.number) is not slot.decide:
                raise ValueError(f"vehicle {spec.vid}: {slot.name} is not a built-in behaviour")
            key = (slot.number, *(np.asarray(value, dtype=np.float64).tobytes() for value in slot.settings))
            if key not in placed:
                placed[key] = place(slot.name, slot.settings, cells)
            code[i, j], at[i, j] = slot.number, placed[key]
    return Minds(code, at, np.zeros((len(specs), most)), np.array(cells, dtype=np.float64))


def place(name: str, settings: Any, cells: list[float]) -> int:
    """Appends the settings to the cells, long ones first; where the cells that the dispatcher reads begin."""
    read: list[float] = []
    layout: Any = type(settings)
    for field, kind in field_kinds(name, layout).items():
        value = getattr(settings, field)
        if kind is tuple:
            read += [len(cells), len(cells) + len(value)]
            cells += value
        else:
            read.append(value)
    at = len(cells)
    cells += read
    return at
