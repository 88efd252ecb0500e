"""The export formats: one file, one test and one line of this table each."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from recording.export_csv import write_csv
from recording.store import Run

Progress = Callable[[int, int], None]  # rows done, rows in all
Exporter = Callable[[Run, Path, Progress | None], None]  # raises RecordError when the path cannot be written

EXPORTERS: Final[dict[str, Exporter]] = {
    "csv": write_csv,
}
