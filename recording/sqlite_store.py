"""The embedded record: one SQLite file, read by any number of processes while the recorder writes.

Rows lie in blobs as they came, one blob per vehicle and transaction (`recording.gathering.chunks`). A transaction's share
of one run is a `part`; within it blobs are found by vid. Everything is appended and nothing sorted into older pages, so
that a transaction costs the same in a long run as in a short one.
"""

import json
import sqlite3
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from recording.gathering import Gathered, check_entry, chunks, gather
from recording.sqlite_file import BUSY_S, open_file, saying, transaction
from recording.sqlite_run import SqliteRun, read_vids
from recording.store import RunInfo, pick_run, run_info
from wire.errors import RecordError
from wire.publish import to_json
from wire.record import Entry
from wire.rows import Rows

_INFO: Final = "SELECT run_id, started_unix_s, ended_unix_s, last_unix_s, row_count, vehicle_count, summary, head FROM runs"


class SqliteStore:
    """`recording.store.Store` on a file. `with` closes it."""

    def __init__(self, path: Path, *, create: bool, busy_s: float = BUSY_S) -> None:
        self._path = path
        self._db = open_file(path, create=create, busy_s=busy_s)
        self._inode = path.stat().st_ino

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with saying(self._path):
            self._db.close()

    def write(self, batches: list[tuple[int, list[Entry]]], source: str) -> None:
        for _, entries in batches:
            for entry in entries:
                check_entry(entry)
        self._check_in_place()
        with transaction(self._db, self._path):
            held = last = self._last_batch(source)
            fresh: list[Entry] = []
            for number, entries in batches:
                if number > last:
                    fresh += entries
                    last = number
            if last == held:
                return
            for gathered in gather(fresh):
                self._write_run(gathered)
            self._db.execute("INSERT OR REPLACE INTO sources (source, last_batch) VALUES (?, ?)", (source, last))

    def last_batch(self, source: str) -> int:
        with saying(self._path):
            return self._last_batch(source)

    def runs(self) -> list[RunInfo]:
        with saying(self._path):
            found = self._db.execute(f"{_INFO} ORDER BY started_unix_s DESC, run DESC").fetchall()
        return [self._info(columns) for columns in found]

    def run(self, which: str) -> SqliteRun:
        with saying(self._path):
            ids = self._db.execute("SELECT run_id FROM runs ORDER BY started_unix_s DESC, run DESC").fetchall()
            run_id = pick_run(which, [run_id for (run_id,) in ids], str(self._path))
            columns = self._db.execute(f"{_INFO} WHERE run_id = ?", (run_id,)).fetchone()
            (run,) = self._db.execute("SELECT run FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        return SqliteRun(self._db, self._path, run, self._info(columns))

    def _info(self, columns: tuple[Any, ...]) -> RunInfo:
        run_id, started_unix_s, ended_unix_s, last_unix_s, row_count, vehicle_count, summary, head = columns
        try:
            return run_info(
                run_id=run_id,
                started_unix_s=started_unix_s,
                ended_unix_s=ended_unix_s,
                last_unix_s=last_unix_s,
                row_count=row_count,
                vehicle_count=vehicle_count,
                summary=None if summary is None else dict(json.loads(summary)),
                head=None if head is None else dict(json.loads(head)),
            )
        except (TypeError, ValueError) as err:
            raise RecordError(f"{self._path} is damaged: the head of run {run_id} cannot be read") from err

    def _last_batch(self, source: str) -> int:
        found = self._db.execute("SELECT last_batch FROM sources WHERE source = ?", (source,)).fetchone()
        return 0 if found is None else int(found[0])

    def _check_in_place(self) -> None:
        """A file that was deleted while open still takes every write, and loses it."""
        try:
            if self._path.stat().st_ino == self._inode:
                return
        except OSError:
            pass
        raise RecordError(f"{self._path} was removed or replaced while it was being recorded; restart the recorder")

    def _write_run(self, gathered: Gathered) -> None:
        run = self._run_key(gathered)
        if gathered.begins is not None:
            self._db.execute(
                "UPDATE runs SET head = ?, ended_unix_s = NULL, summary = NULL WHERE run = ?",
                (to_json(gathered.begins.head).decode(), run),
            )
        if gathered.rows_came:
            self._write_rows(run, gathered.rows())
        if gathered.advisories_went:
            self._write_advisories(run, gathered.advisories())
        self._db.executemany(
            "INSERT INTO events (run, what, t_s, unix_s, detail) VALUES (?, ?, ?, ?, ?)",
            ((run, e.what, e.t_s, e.unix_s, to_json(e.detail).decode()) for e in gathered.events),
        )
        if gathered.ends is not None:
            self._db.execute(
                "UPDATE runs SET ended_unix_s = ?, summary = ? WHERE run = ?",
                (gathered.ends.unix_s, to_json(gathered.ends.summary).decode(), run),
            )

    def _run_key(self, gathered: Gathered) -> int:
        """The run's row, made at the first entry of whatever kind: rows whose beginning was lost are kept too."""
        (run,) = self._db.execute(
            "INSERT INTO runs (run_id, started_unix_s, last_unix_s) VALUES (?, ?, ?) ON CONFLICT (run_id) DO UPDATE"
            " SET started_unix_s = min(started_unix_s, excluded.started_unix_s),"
            " last_unix_s = max(last_unix_s, excluded.last_unix_s) RETURNING run",
            (gathered.run_id, gathered.first_unix_s, gathered.last_unix_s),
        ).fetchall()[0]
        return int(run)

    def _write_rows(self, run: int, rows: Rows) -> None:
        if not len(rows):
            return
        part = _insert_part(self._db, run, rows)
        made, seen = chunks(rows)
        self._db.executemany(
            "INSERT INTO chunks (run, part, vid_first, vid_last, t_first_s, t_last_s, n, rows) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (run, part, chunk.vid_first, chunk.vid_last, chunk.t_first_s, chunk.t_last_s, chunk.n, chunk.packed)
                for chunk in made
            ),
        )
        (packed,) = self._db.execute("SELECT vids FROM runs WHERE run = ?", (run,)).fetchone()
        known = read_vids(packed, self._path)
        vids = known if np.array_equal(known, seen) else np.union1d(known, seen)
        if len(vids) > len(known):
            self._db.execute("UPDATE runs SET vids = ?, vehicle_count = ? WHERE run = ?", (vids.tobytes(), len(vids), run))
        self._db.execute("UPDATE runs SET row_count = row_count + ? WHERE run = ?", (len(rows), run))

    def _write_advisories(self, run: int, advisories: Rows) -> None:
        if len(advisories):
            self._db.execute(
                "INSERT INTO advisories (run, t_first_s, t_last_s, n, rows) VALUES (?, ?, ?, ?, ?)",
                (run, *_span_s(advisories), len(advisories), advisories.tobytes()),
            )


def _insert_part(db: sqlite3.Connection, run: int, rows: Rows) -> int:
    made = db.execute("INSERT INTO parts (run, t_first_s, t_last_s, n) VALUES (?, ?, ?, ?)", (run, *_span_s(rows), len(rows)))
    assert made.lastrowid is not None
    return made.lastrowid


def _span_s(rows: Rows) -> tuple[float, float]:
    return float(np.fmin.reduce(rows["t_s"])), float(np.fmax.reduce(rows["t_s"]))
