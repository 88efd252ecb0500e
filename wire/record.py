"""What Core hands to the recorder: entries, gathered into numbered batches.

A batch is acknowledged once it is on disk; until then Core keeps it and sends it again to a recorder that came back.
The number makes a second arrival harmless.
"""

from dataclasses import dataclass
from typing import Any

from wire.codec import pack_entries, unpack_entries
from wire.errors import CodecError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBegins:
    """The head of a run: everything needed to repeat it."""

    run_id: str
    unix_s: float
    head: dict[str, Any]  # scenario, seed, mode, versions, vehicles, fidelity


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsCame:
    """State rows that Core accepted together."""

    run_id: str
    unix_s: float  # arrival
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisoriesWent:
    run_id: str
    unix_s: float
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """A run-state change, a detection, a message, a vehicle lost, a note: `what` names it."""

    run_id: str
    unix_s: float
    t_s: float
    what: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnds:
    run_id: str
    unix_s: float
    summary: dict[str, Any]


Entry = RunBegins | RowsCame | AdvisoriesWent | Happened | RunEnds
_ENTRIES: dict[str, type[Entry]] = {entry.__name__: entry for entry in (RunBegins, RowsCame, AdvisoriesWent, Happened, RunEnds)}
_TYPES: dict[str, tuple[type, ...]] = {
    "run_id": (str,),
    "unix_s": (float, int),
    "t_s": (float, int),
    "what": (str,),
    "packed": (bytes,),
    "head": (dict,),
    "detail": (dict,),
    "summary": (dict,),
}


def pack_batch(entries: list[Entry]) -> bytes:
    return pack_entries([[type(entry).__name__, *(getattr(entry, name) for name in entry.__slots__)] for entry in entries])


def unpack_batch(data: bytes) -> list[Entry]:
    entries: list[Entry] = []
    for name, *values in unpack_entries(data):
        made = _ENTRIES.get(name) if isinstance(name, str) else None
        if made is None or len(values) != len(made.__slots__):
            raise CodecError("wrong shape", "an entry of a batch is not known")
        fields = dict(zip(made.__slots__, values, strict=True))
        for field, value in fields.items():
            if type(value) not in _TYPES[field]:
                raise CodecError("wrong shape", f"{field} of {name} is a {type(value).__name__}")
        entries.append(made(**fields))
    return entries
