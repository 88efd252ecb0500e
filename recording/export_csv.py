"""A run as CSV: one line per state row, in the order of `recording.time_order` (t_s, then vid); the column names carry the units.

A number has as many digits as it takes to read back the same bits, 32-bit columns as 32-bit numbers. What is not known is
empty: name and kind of a vehicle that the head does not list, a percentage that was not measured.
"""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from recording.store import Run
from recording.whole_file import whole_file
from wire.rows import Rows
from wire.words import UNKNOWN_U8, Kind, RunState

NUMBERS: Final = (
    *("x_m", "y_m", "z_m", "lat_deg", "lon_deg", "yaw_rad", "pitch_rad", "roll_rad", "speed_mps"),
    *("vx_mps", "vy_mps", "vz_mps", "yaw_rate_radps", "accuracy_m"),
)
PERCENTAGES: Final = ("margin_pct", "battery_pct")
COLUMNS: Final = (
    *("vid", "name", "kind", "t_s", "arrival_unix_s", "run_state", "behaviour"),
    *NUMBERS,
    *PERCENTAGES,
)
PERCENT: Final = ["" if value == UNKNOWN_U8 else str(value) for value in range(256)]


def write_csv(run: Run, out_path: Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Raises RecordError when `out_path` cannot be written; then nothing is left of it. A file that is there is replaced."""
    names, kinds = _vehicles(run.info.head)
    words = _words(run.info.head)
    states = [str(number) for number in range(256)]
    for state in RunState:
        states[state] = state.name
    done = 0
    with whole_file(out_path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for rows in run.iter_rows():
            writer.writerows(_lines(rows, names, kinds, words, states))
            done += len(rows)
            if progress is not None:
                progress(done, max(done, run.info.row_count))


def _lines(
    rows: Rows, names: dict[int, str], kinds: dict[int, str], words: list[str], states: list[str]
) -> Iterator[tuple[Any, ...]]:
    vids = rows["vid"].tolist()
    return zip(
        vids,
        [names.get(vid, "") for vid in vids],
        [kinds.get(vid, "") for vid in vids],
        rows["t_s"].tolist(),
        rows["arrival_unix_s"].tolist(),
        [states[number] for number in rows["run_state"].tolist()],
        [words[number] for number in rows["behaviour"].tolist()],
        *(_shortest(rows[name]) for name in NUMBERS),
        *([PERCENT[value] for value in rows[name].tolist()] for name in PERCENTAGES),
        strict=True,
    )


def _shortest(column: Any) -> list[Any]:
    """A 32-bit number taken as a 64-bit one would show digits that it does not have; a double is left to the CSV writer."""
    if column.dtype == np.float64:
        return list(column.tolist())
    return list(column.astype(np.dtypes.StringDType()).tolist())


def _vehicles(head: dict[str, Any]) -> tuple[dict[int, str], dict[int, str]]:
    """Names and kinds by vid. A head is data from elsewhere: what does not fit is left out."""
    names: dict[int, str] = {}
    kinds: dict[int, str] = {}
    listed = head.get("vehicles")
    for vehicle in listed if isinstance(listed, list) else []:
        if isinstance(vehicle, dict) and isinstance(vehicle.get("vid"), int):
            names[vehicle["vid"]] = str(vehicle.get("name", ""))
            kinds[vehicle["vid"]] = _kind(vehicle.get("kind", ""))
    return names, kinds


def _kind(kind: Any) -> str:
    return Kind(kind).name.lower() if isinstance(kind, int) and kind in set(Kind) else str(kind)


def _words(head: dict[str, Any]) -> list[str]:
    """By the number of the behaviour: its name, or the number itself."""
    named = head.get("behaviour_names")
    known = named if isinstance(named, dict) else {}
    return [str(known.get(str(number), number)) for number in range(256)]
