"""Entries as Core sends them into what a backend keeps of each run. Pure, and the same for every backend."""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recording.store import RECORDED, SENT, pick_rows
from wire.errors import CodecError
from wire.publish import to_json
from wire.record import AdvisoriesWent, Entry, Happened, RowsCame, RunBegins, RunEnds
from wire.rows import ADVISORY, STATE, Rows, unpack_rows

BLOBS_MAX: Final = 1_000  # of one run in one transaction: beyond, vehicles share a blob


@dataclass(slots=True, kw_only=True)
class Gathered:
    """Everything that one transaction brings for one run."""

    run_id: str
    first_unix_s: float
    last_unix_s: float
    begins: RunBegins | None = None
    ends: RunEnds | None = None
    rows_came: list[RowsCame] = field(default_factory=list)
    advisories_went: list[AdvisoriesWent] = field(default_factory=list)
    events: list[Happened] = field(default_factory=list)

    def rows(self) -> Rows:
        """RECORDED, in the order of arrival."""
        return _stamped([(came.packed, came.unix_s) for came in self.rows_came], STATE, RECORDED)

    def advisories(self) -> Rows:
        """SENT, in the order of sending."""
        return _stamped([(went.packed, went.unix_s) for went in self.advisories_went], ADVISORY, SENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Rows of one vehicle, or of neighbouring vids, ordered by vid and then by arrival."""

    vid_first: int
    vid_last: int
    t_first_s: float
    t_last_s: float
    n: int
    packed: memoryview


def check_entry(entry: Entry) -> None:
    """Raises CodecError unless every backend can keep the entry: what comes off a socket is believed in nothing."""
    _text(entry.run_id, "the run id")
    if not entry.run_id:
        raise CodecError("wrong shape", "the run id is empty")
    _finite(entry.unix_s, "unix_s")
    match entry:
        case RunBegins():
            _plain(entry.head, "the head")
        case RunEnds():
            _plain(entry.summary, "the summary")
        case Happened():
            _text(entry.what, "what")
            _finite(entry.t_s, "t_s")
            _plain(entry.detail, "the detail")
        case RowsCame():
            _whole_rows(entry.packed, STATE)
        case AdvisoriesWent():
            _whole_rows(entry.packed, ADVISORY)


def gather(entries: list[Entry]) -> list[Gathered]:
    """By run, in the order in which the runs first appear. The entries have been checked."""
    runs: dict[str, Gathered] = {}
    for entry in entries:
        run = runs.get(entry.run_id)
        if run is None:
            run = Gathered(run_id=entry.run_id, first_unix_s=entry.unix_s, last_unix_s=entry.unix_s)
            runs[entry.run_id] = run
        run.first_unix_s = min(run.first_unix_s, entry.unix_s)
        run.last_unix_s = max(run.last_unix_s, entry.unix_s)
        match entry:
            case RunBegins():  # again: a restarted Core took the run over, an earlier end no longer holds
                run.begins, run.ends = entry, None
            case RunEnds():
                run.ends = entry
            case Happened():
                run.events.append(entry)
            case RowsCame():
                run.rows_came.append(entry)
            case AdvisoriesWent():
                run.advisories_went.append(entry)
    return list(runs.values())


def chunks(rows: Rows) -> tuple[list[Chunk], NDArray[np.uint32]]:
    """One for each vehicle, or at most BLOBS_MAX for neighbouring ones; and the vids that occur, ascending.

    `rows` are RECORDED, in arrival order and not none.
    """
    order = np.argsort(rows["vid"], kind="stable")  # the beats come sorted, which this sort makes use of
    rows = pick_rows(rows, order)
    vids = np.ascontiguousarray(rows["vid"])
    starts = np.concatenate(([0], np.flatnonzero(vids[1:] != vids[:-1]) + 1))
    seen = vids[starts]
    starts = starts[:: -(-len(starts) // BLOBS_MAX)]  # every k-th vehicle begins a blob
    ends = np.append(starts[1:], len(rows))
    t_s = rows["t_s"]
    packed = rows.view(np.uint8).data
    size = RECORDED.itemsize
    columns = zip(
        starts.tolist(),
        ends.tolist(),
        vids[starts].tolist(),
        vids[ends - 1].tolist(),
        np.fmin.reduceat(t_s, starts).tolist(),
        np.fmax.reduceat(t_s, starts).tolist(),
        strict=True,
    )
    made = [
        Chunk(
            vid_first=vid_first,
            vid_last=vid_last,
            t_first_s=t_first_s,
            t_last_s=t_last_s,
            n=end - start,
            packed=packed[start * size : end * size],
        )
        for start, end, vid_first, vid_last, t_first_s, t_last_s in columns
    ]
    return made, seen


def _stamped(parts: list[tuple[bytes, float]], layout: np.dtype[np.void], stamped: np.dtype[np.void]) -> Rows:
    """The rows of all parts, each followed by the time of its part. A row's own bytes stay as they came."""
    raw = np.frombuffer(b"".join(packed for packed, _ in parts), dtype=np.uint8).reshape(-1, layout.itemsize)
    made = np.empty(len(raw), dtype=stamped)
    made.view(np.uint8).reshape(len(raw), stamped.itemsize)[:, : layout.itemsize] = raw
    counts = [len(packed) // layout.itemsize for packed, _ in parts]
    made[(stamped.names or ())[-1]] = np.repeat(np.array([unix_s for _, unix_s in parts], dtype=np.float64), counts)
    return made


def _text(value: Any, what: str) -> None:
    if type(value) is not str:
        raise CodecError("wrong shape", f"{what} is no text")
    try:
        value.encode()
    except UnicodeEncodeError as err:
        raise CodecError("wrong shape", f"{what} is no Unicode text") from err


def _finite(value: Any, what: str) -> None:
    if type(value) is not float and type(value) is not int:
        raise CodecError("wrong shape", f"{what} is no number")
    if not math.isfinite(value):
        raise CodecError("not finite", what)


def _plain(value: Any, what: str) -> None:
    if type(value) is not dict:
        raise CodecError("wrong shape", f"{what} is no map")
    try:
        to_json(value)
    except (TypeError, ValueError, RecursionError) as err:
        raise CodecError("wrong shape", f"{what} is not strict JSON: {err}") from err


def _whole_rows(packed: Any, layout: np.dtype[np.void]) -> None:
    if type(packed) is not bytes:
        raise CodecError("wrong shape", "the rows are no bytes")
    unpack_rows(packed, layout)
