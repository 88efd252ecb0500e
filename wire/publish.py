"""The State stream: what Core (or a replay) publishes each beat to the map, to bridges and to `mve status`.

Three kinds of multipart ZMQ message, told apart by their first frame:
  state   JSON head · packed state rows · one byte of Condition per row · packed avoid advisories of this beat
  roster  JSON list of all vehicles that introduced themselves; sent when it changes and every few seconds
  event   JSON of one event
"""

import json
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
    try:
        if frames[0] == STATE_TOPIC:
            _, head, rows, conditions, advisories = frames
            frame = StateFrame(
                head=dict(json.loads(head)),
                rows=unpack_rows(rows, STATE),
                conditions=np.frombuffer(conditions, dtype=np.uint8),
                advisories=unpack_rows(advisories, ADVISORY),
            )
            if len(frame.rows) != len(frame.conditions):
                raise CodecError("wrong shape", "one condition per row")
            return frame
        if frames[0] == ROSTER_TOPIC:
            return Roster(vehicles=list(json.loads(frames[1])))
        if frames[0] == EVENT_TOPIC:
            t_s, unix_s, what, detail = json.loads(frames[1])
            return Event(t_s=float(t_s), unix_s=float(unix_s), what=str(what), detail=dict(detail))
    except (ValueError, TypeError, IndexError) as err:
        raise CodecError("wrong shape", "no published message") from err
    raise CodecError("unknown kind", str(frames[0][:20]))


def to_json(value: Any) -> bytes:
    """Strict JSON: a NaN or infinity is an error here, not at the reader."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
