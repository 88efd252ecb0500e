"""Rows, entries and batches for the tests of recording."""

import numpy as np

from recording.store import RECORDED
from wire.record import AdvisoriesWent, Happened, RowsCame, RunBegins, RunEnds, pack_batch
from wire.rows import ADVISORY, STATE

RUN = "20261118-091500-otter"
BEGAN_UNIX_S = 1_760_000_000.0


def state_rows(vids, t_s=0.0, seed=1):
    """Rows with random bytes in all that the record has no business to look at."""
    rows = np.frombuffer(np.random.default_rng(seed).bytes(len(vids) * STATE.itemsize), dtype=STATE).copy()
    rows["vid"] = vids
    rows["t_s"] = t_s
    return rows


def readable_rows(vids, t_s=0.0, seed=1):
    """Rows with numbers that a person would believe."""
    rows = np.zeros(len(vids), dtype=STATE)
    chance = np.random.default_rng(seed)
    for name in STATE.names:
        if STATE[name].kind == "f":
            rows[name] = chance.normal(scale=50.0, size=len(vids))
    rows["run_state"] = 3
    rows["vid"] = vids
    rows["t_s"] = t_s
    return rows


def begins(run_id=RUN, unix_s=BEGAN_UNIX_S, **head):
    return RunBegins(run_id=run_id, unix_s=unix_s, head=head)


def ends(run_id=RUN, unix_s=BEGAN_UNIX_S + 60.0, **summary):
    return RunEnds(run_id=run_id, unix_s=unix_s, summary=summary)


def came(rows, unix_s=BEGAN_UNIX_S, run_id=RUN):
    return RowsCame(run_id=run_id, unix_s=unix_s, packed=rows.tobytes())


def happened(what, run_id=RUN, unix_s=BEGAN_UNIX_S, t_s=0.0, **detail):
    return Happened(run_id=run_id, unix_s=unix_s, t_s=t_s, what=what, detail=detail)


def went(to_vids, run_id=RUN, unix_s=BEGAN_UNIX_S, t_s=0.0):
    advisories = np.zeros(len(to_vids), dtype=ADVISORY)
    advisories["to_vid"] = to_vids
    advisories["t_s"] = t_s
    advisories["reserved"] = 7
    return AdvisoriesWent(run_id=run_id, unix_s=unix_s, packed=advisories.tobytes())


def state_bytes(recorded):
    """The bytes of recorded rows as they were before they were recorded."""
    return np.ascontiguousarray(recorded).view(np.uint8).reshape(len(recorded), RECORDED.itemsize)[:, : STATE.itemsize].tobytes()


def batch_frames(number, entries, source=b"core-1"):
    return [b"batch", source, b"%d" % number, pack_batch(entries)]


class CountedClock:
    """Each look at it takes a while, so that every wait comes to its end without a sleep."""

    def __init__(self, tick_s=0.01):
        self.t_s = 0.0
        self._tick_s = tick_s

    def __call__(self):
        self.t_s += self._tick_s
        return self.t_s
