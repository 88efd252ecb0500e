"""Reading one run of the embedded record."""

import json
import math
import sqlite3
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recording.sqlite_file import saying
from recording.store import RECORDED, SENT, RunInfo, pick_rows
from recording.time_order import in_time_order
from wire.errors import CodecError, RecordError
from wire.record import Happened
from wire.rows import Rows, unpack_rows

# Blobs of a part do not overlap, so that only the one that begins last at or before the vid can hold it: one look-up in
# the index for each part, however many vehicles there are.
_OF_ONE: Final = """
SELECT chunks.rows FROM parts JOIN chunks ON chunks.chunk = (
    SELECT chunk FROM chunks WHERE part = parts.part AND vid_first <= :vid ORDER BY vid_first DESC LIMIT 1
)
WHERE parts.run = :run AND chunks.vid_last >= :vid
"""
_OF_ALL: Final = "SELECT chunks.rows FROM parts CROSS JOIN chunks USING (part) WHERE parts.run = :run"
_BETWEEN: Final = """
 AND parts.t_last_s >= :since_s AND parts.t_first_s < :until_s
 AND chunks.t_last_s >= :since_s AND chunks.t_first_s < :until_s
"""
_IN_ORDER: Final = " ORDER BY parts.part"


def read_vids(packed: bytes, path: Path) -> NDArray[np.uint32]:
    """The vids of a run, ascending, from the column that keeps them."""
    try:
        return np.frombuffer(packed, dtype="<u4")
    except (TypeError, ValueError) as err:
        raise RecordError(f"{path} is damaged: the vehicles of a run cannot be read") from err


class SqliteRun:
    """`recording.store.Run`; lives as long as the store it came from."""

    def __init__(self, db: sqlite3.Connection, path: Path, run: int, info: RunInfo) -> None:
        self._db = db
        self._path = path
        self._run = run
        self.info = info

    def rows(self, vid: int | None = None, since_s: float | None = None, until_s: float | None = None) -> Rows:
        bounded = since_s is not None or until_s is not None
        since_s = -math.inf if since_s is None else since_s
        until_s = math.inf if until_s is None else until_s
        query = (_OF_ALL if vid is None else _OF_ONE) + (_BETWEEN if bounded else "") + _IN_ORDER
        wanted = {"run": self._run, "vid": vid, "since_s": since_s, "until_s": until_s}
        rows = self._joined(self._fetch(query, wanted), RECORDED)
        if vid is not None:
            rows = pick_rows(rows, rows["vid"] == vid)
        if bounded:
            rows = pick_rows(rows, (rows["t_s"] >= since_s) & (rows["t_s"] < until_s))
        if vid is not None:
            return pick_rows(rows, np.argsort(rows["t_s"], kind="stable"))
        return pick_rows(rows, np.lexsort((rows["vid"], rows["arrival_unix_s"])))

    def iter_rows(self) -> Iterator[Rows]:
        parts = self._fetch("SELECT part, t_first_s FROM parts WHERE run = :run ORDER BY part", {"run": self._run})
        starts_s = [math.inf if t_first_s is None else t_first_s for _, t_first_s in parts]  # None: no row has a time
        later_s = list(accumulate(reversed([*starts_s, math.inf][1:]), min))[::-1]
        # Read part by part: a reader that keeps one query open keeps the writer's log from being folded into the file.
        read = (
            (self._joined(self._fetch("SELECT rows FROM chunks WHERE part = :part", {"part": part}), RECORDED), later)
            for (part, _), later in zip(parts, later_s, strict=True)
        )
        return in_time_order(read)

    def advisories(self) -> Rows:
        found = self._fetch("SELECT rows FROM advisories WHERE run = :run ORDER BY advisory", {"run": self._run})
        return self._joined(found, SENT)

    def events(self) -> list[Happened]:
        query = "SELECT unix_s, t_s, what, detail FROM events WHERE run = :run ORDER BY event"
        try:
            return [
                Happened(run_id=self.info.run_id, unix_s=unix_s, t_s=t_s, what=what, detail=dict(json.loads(detail)))
                for unix_s, t_s, what, detail in self._fetch(query, {"run": self._run})
            ]
        except (TypeError, ValueError) as err:
            raise self._damaged("an event") from err

    def vids(self) -> list[int]:
        ((packed,),) = self._fetch("SELECT vids FROM runs WHERE run = :run", {"run": self._run})
        vids: list[int] = read_vids(packed, self._path).tolist()
        return vids

    def _fetch(self, query: str, wanted: dict[str, Any]) -> list[tuple[Any, ...]]:
        with saying(self._path):
            return self._db.execute(query, wanted).fetchall()

    def _joined(self, found: list[tuple[bytes]] | list[tuple[Any, ...]], layout: np.dtype[np.void]) -> Rows:
        try:
            return unpack_rows(b"".join(packed for (packed,) in found), layout)
        except (TypeError, CodecError) as err:
            raise self._damaged("rows") from err

    def _damaged(self, what: str) -> RecordError:
        return RecordError(f"{self._path} is damaged: {what} of run {self.info.run_id} cannot be read")
