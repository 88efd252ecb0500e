"""Rows, advisories and datagrams for tests."""

from typing import Any

from core.hub import Hub
from core.settings import CoreSettings
from wire.codec import pack
from wire.messages import Hello, Introduction, Order, States
from wire.rows import ADVISORY, STATE, Rows, empty_rows
from wire.words import Kind, RunState


def advisory(*, to: int, about: int, advice: int = 1, **fields: Any) -> Rows:
    row = empty_rows(1, ADVISORY)
    row["to_vid"], row["about_vid"], row["advice"] = to, about, advice
    for name, value in fields.items():
        row[name] = value
    return row


def states(*vids: int, run_state: int = RunState.GO, **fields: Any) -> Rows:
    rows = empty_rows(len(vids), STATE)
    rows["vid"], rows["run_state"] = vids, run_state
    rows["margin_pct"] = rows["battery_pct"] = 255
    for name, value in fields.items():
        rows[name] = value
    return rows


class Sender:
    """A vehicle process as Core sees it."""

    def __init__(self, number: int, *vids: int, address: Any = ("127.0.0.1", 5001), **introduction: Any) -> None:
        self.number = number
        self.vids = vids
        self.address = address
        self.seq = 0
        self.introduction = {"kind": Kind.GROUND, "length_m": 2.0, "live": False, "behaviours": ("avoid",)} | introduction

    def hello(self, order: Order | None = None) -> tuple[bytes, Any]:
        order = order or Order(0, RunState.READY, 0.0, 1.0, "")
        vehicles = tuple(Introduction(vid=vid, name=f"car {vid}", **self.introduction) for vid in self.vids)
        return self._pack(Hello, part=0, parts=1, order=order, vehicles=vehicles)

    def states(self, rows: Rows, order_number: int = 0) -> tuple[bytes, Any]:
        return self._pack(States, order_number=order_number, packed=rows.tobytes())

    def _pack(self, kind: Any, **body: Any) -> tuple[bytes, Any]:
        self.seq += 1
        return pack(kind(sender=self.number, seq=self.seq, t_sent_s=0.0, **body)), self.address


def hub(**settings: Any) -> Hub:
    runs = iter(f"run {n}" for n in range(1, 1000))
    return Hub(CoreSettings(**settings), sender=9, unix=lambda: 1000.0, new_run_id=lambda: next(runs))
