"""The file of the embedded record: how it is laid out, opened and checked, and what its errors mean to a person."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from wire.errors import RecordError

APPLICATION_ID: Final = 0x4D6F5645  # "MoVE": tells our file from any other SQLite database
SCHEMA_VERSION: Final = 1
BUSY_S: Final = 3.0  # how long a writer waits for another one
PAGE_BYTES: Final = 16_384  # half the work of 4,096 for a fleet's blobs
CHECKPOINT_PAGES: Final = 1_000  # 16 MB of log are folded into the file at a time

HEADER_BYTES: Final = 100  # of every SQLite database

SCHEMA: Final = """
CREATE TABLE sources (source TEXT PRIMARY KEY, last_batch INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    started_unix_s REAL NOT NULL,
    ended_unix_s REAL,
    last_unix_s REAL NOT NULL,
    row_count INTEGER NOT NULL DEFAULT 0,
    vehicle_count INTEGER NOT NULL DEFAULT 0,
    summary TEXT,
    head TEXT,
    vids BLOB NOT NULL DEFAULT x''
);
CREATE TABLE parts (
    part INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    t_first_s REAL,
    t_last_s REAL,
    n INTEGER NOT NULL
);
CREATE INDEX parts_of_run ON parts (run, part);
CREATE TABLE chunks (
    chunk INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    part INTEGER NOT NULL REFERENCES parts,
    vid_first INTEGER NOT NULL,
    vid_last INTEGER NOT NULL,
    t_first_s REAL,
    t_last_s REAL,
    n INTEGER NOT NULL,
    rows BLOB NOT NULL
);
CREATE INDEX chunks_of_part ON chunks (part, vid_first);
CREATE TABLE advisories (
    advisory INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    t_first_s REAL,
    t_last_s REAL,
    n INTEGER NOT NULL,
    rows BLOB NOT NULL
);
CREATE INDEX advisories_of_run ON advisories (run, advisory);
CREATE TABLE events (
    event INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    what TEXT NOT NULL,
    t_s REAL NOT NULL,
    unix_s REAL NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX events_of_run ON events (run, event);
"""


def open_file(path: Path, *, create: bool, busy_s: float = BUSY_S) -> sqlite3.Connection:
    """A connection to a record that is known to be ours, in autocommit. The caller closes it."""
    _look(path, create)
    with saying(path):
        try:
            return _open_checked(path, "mode=rwc" if create else "mode=rw", create, busy_s)
        except sqlite3.OperationalError as err:
            if create or not _can_only_be_read(err, path):
                raise
        return _open_checked(path, "immutable=1", create, busy_s)


@contextmanager
def saying(path: Path) -> Iterator[None]:
    """Turn what SQLite says about the file into one sentence for a person."""
    try:
        yield
    except sqlite3.Error as err:
        raise RecordError(f"{path} {_meaning(err)}") from err


@contextmanager
def transaction(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    """All or nothing, and on disk once it is left. Waits for another writer, at most BUSY_S."""
    with saying(path):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # SQLite itself rolls back after some errors, a full disk among them
                db.execute("ROLLBACK")
            raise


def _look(path: Path, create: bool) -> None:
    """What SQLite would say in fewer words, or not at all."""
    try:
        if path.is_dir():
            raise RecordError(f"{path} is a folder; give the path of a record file")
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.exists():
            raise RecordError(f"there is no record at {path}; record a run first or give another path")
        elif path.stat().st_size == 0:
            raise RecordError(f"{path} is an empty file, not a record")
        if path.exists() and 0 < path.stat().st_size < HEADER_BYTES:  # SQLite takes it for an empty one and overwrites it
            raise RecordError(f"{path} {_MEANINGS[sqlite3.SQLITE_NOTADB]}")
    except (OSError, ValueError) as err:  # ValueError: a NUL in the path
        raise RecordError(f"{path} cannot be opened: {getattr(err, 'strerror', None) or err}") from err


def _open_checked(path: Path, how: str, create: bool, busy_s: float) -> sqlite3.Connection:
    db = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", timeout=busy_s, uri=True, isolation_level=None)
    try:
        if create and _pragma(db, "application_id") == 0:
            _make(db, path, busy_s)
        _check(db, path)
        db.execute("PRAGMA synchronous = FULL")  # an acknowledged batch outlives a power cut
        db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    except BaseException:
        db.close()
        raise
    return db


def _check(db: sqlite3.Connection, path: Path) -> None:
    if _pragma(db, "application_id") != APPLICATION_ID:
        raise RecordError(f"{path} is an SQLite database, but not a record of MoVE; give another path")
    version = _pragma(db, "user_version")
    if version != SCHEMA_VERSION:
        raise RecordError(
            f"{path} has layout {version} and this MoVE reads layout {SCHEMA_VERSION}; use the MoVE that recorded it"
            + (" or a newer one" if version > SCHEMA_VERSION else "")
        )


def _make(db: sqlite3.Connection, path: Path, busy_s: float) -> None:
    """Lay out an empty database; somebody else's is left alone. Two that do this at once take turns."""
    if db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        return
    db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    _log_ahead(db, busy_s)
    with transaction(db, path):
        if _pragma(db, "application_id") == 0:
            for statement in SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _log_ahead(db: sqlite3.Connection, busy_s: float) -> None:
    """With a write-ahead log readers do not wait for the writer, nor the writer for them."""
    until_s = time.monotonic() + busy_s
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as err:  # SQLite waits for others in all but this one statement
            if err.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until_s:
                raise
            time.sleep(0.01)


def _pragma(db: sqlite3.Connection, name: str) -> int:
    number: int = db.execute(f"PRAGMA {name}").fetchone()[0]
    return number


def _can_only_be_read(err: sqlite3.OperationalError, path: Path) -> bool:
    """A record on a medium without write access: SQLite then needs to be told that nobody writes."""
    if err.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return False
    return os.access(path, os.R_OK) and not os.access(path.parent, os.W_OK, effective_ids=_EFFECTIVE)


_EFFECTIVE: Final = os.access in os.supports_effective_ids

_MEANINGS: Final[dict[int, str]] = {
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full; free some space",
    sqlite3.SQLITE_BUSY: "is locked by another program; wait for it or stop it",
    sqlite3.SQLITE_LOCKED: "is locked by another program; wait for it or stop it",
    sqlite3.SQLITE_NOTADB: "is not a record: it is no SQLite database; give another path",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a copy, or save what is left with sqlite3's .recover",
    sqlite3.SQLITE_READONLY: "cannot be written: there is no permission to write it",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: check that it and its folder may be read and written",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error",
}


def _meaning(err: sqlite3.Error) -> str:
    code = getattr(err, "sqlite_errorcode", None)
    known = None if code is None else _MEANINGS.get(code & 0xFF)
    return known or f"cannot be used: {err}"
