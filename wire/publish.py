"""The State stream: what Core (or a replay) publishes each beat to the map, to bridges and to `mve status`.

Three kinds of multipart ZMQ message, told apart by their first frame:
  state   JSON head · packed state rows · one byte of Condition per row · packed avoid advisories of this beat
  roster  JSON list of all vehicles that introduced themselves; sent when it changes and every few seconds
  event   JSON of one event
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wire.errors import CodecError
from wire.rows import ADVISORY, STATE, Rows, unpack_rows

STATE_TOPIC: Final = b"state"
ROSTER_TOPIC: Final = b"roster"
EVENT_TOPIC: Final = b"event"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFrame:
    head: dict[str, Any]  # t_s, unix_s, run_state, run_id, beat, counters
    rows: Rows
    conditions: NDArray[np.uint8]
    advisories: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    vehicles: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    t_s: float
    unix_s: float
    what: str
    detail: dict[str, Any]


Published = StateFrame | Roster | Event


def pack_published(item: Published) -> list[bytes]:
    if isinstance(item, StateFrame):
        return [
            STATE_TOPIC,
            to_json(item.head),
            item.rows.tobytes(),
            item.conditions.tobytes(),
            item.advisories.tobytes(),
        ]
    if isinstance(item, Roster):
        return [ROSTER_TOPIC, to_json(item.vehicles)]
    return [EVENT_TOPIC, to_json([item.t_s, item.unix_s, item.what, item.detail])]


def unpack_published(frames: list[bytes]) -> Published:
    """Raises CodecError for anything that `pack_published` did not make."""
    read = _READERS.get(frames[0]) if frames else None
    if read is None:
        raise CodecError("unknown kind", str(frames[0][:20]) if frames else "no frames")
    try:
        return read(*frames[1:])
    except (ValueError, TypeError, OverflowError, RecursionError) as err:
        raise CodecError("wrong shape", "no published message") from err


def _read_state(head: bytes, packed: bytes, conditions: bytes, advisories: bytes) -> StateFrame:
    rows = unpack_rows(packed, STATE)
    if len(rows) != len(conditions):
        raise CodecError("wrong shape", "one condition per row")
    return StateFrame(
        head=_from_json(head, dict),
        rows=rows,
        conditions=np.frombuffer(conditions, dtype=np.uint8),
        advisories=unpack_rows(advisories, ADVISORY),
    )


def _read_roster(text: bytes) -> Roster:
    vehicles = _from_json(text, list)
    if not all(type(vehicle) is dict for vehicle in vehicles):
        raise CodecError("wrong shape", "a vehicle of the roster is no object")
    return Roster(vehicles=vehicles)


def _read_event(text: bytes) -> Event:
    t_s, unix_s, what, detail = _from_json(text, list)
    if not {type(t_s), type(unix_s)} <= {float, int} or type(what) is not str or type(detail) is not dict:
        raise CodecError("wrong shape", "an event is two times, a word and an object")
    return Event(t_s=float(t_s), unix_s=float(unix_s), what=what, detail=detail)


_READERS: Final[dict[bytes, Callable[..., Published]]] = {
    STATE_TOPIC: _read_state,
    ROSTER_TOPIC: _read_roster,
    EVENT_TOPIC: _read_event,
}


def _from_json(data: bytes, expected: type) -> Any:
    """As strict as `to_json`. Raises CodecError, ValueError or RecursionError."""
    value = json.loads(data, parse_constant=_finite, parse_float=_finite)
    if type(value) is not expected:
        raise CodecError("wrong shape", f"a {type(value).__name__} instead of a {expected.__name__}")
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise CodecError("not finite", text[:20])
    return number


def to_json(value: Any) -> bytes:
    """Strict JSON: a NaN or infinity is an error here, not at the reader."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
