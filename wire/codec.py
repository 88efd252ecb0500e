"""Messages to bytes and back: a msgpack array `[version, kind, sender, seq, t_sent, body...]`.

The one file that knows msgpack. `unpack` returns a message or raises CodecError, whatever the bytes.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import msgpack

from wire.errors import CodecError
from wire.messages import (
    Advisories,
    AnyMessage,
    Beat,
    Hello,
    Introduction,
    Message,
    Order,
    RunOrder,
    States,
    Welcome,
)
from wire.rows import ROWS_VERSION
from wire.words import VID_MAX, Kind, RunState

WIRE_VERSION: Final = 1
DATAGRAM_MAX: Final = 65_507  # what UDP can carry at all
TEXT_MAX: Final = 400  # characters of a name or a message
SEQ_MAX: Final = 2**63 - 1
SENDER_MAX: Final = 2**63 - 1
HEADER_BYTES: Final = 160  # room that a states or advisories datagram needs beside its rows, at most


def pack(message: AnyMessage) -> bytes:
    head = [WIRE_VERSION, message.KIND, message.sender, message.seq, message.t_sent_s]
    data: bytes = msgpack.packb(head + _BODIES[type(message)](message))
    return data


def unpack(data: bytes) -> AnyMessage:
    if not data:
        raise CodecError("empty")
    if len(data) > DATAGRAM_MAX:
        raise CodecError("too long", f"{len(data)} bytes")
    try:
        fields = msgpack.unpackb(data)
    except (ValueError, TypeError, RecursionError, OverflowError, msgpack.UnpackException) as err:
        raise CodecError("not msgpack", type(err).__name__) from err
    if type(fields) is not list or len(fields) < 5:
        raise CodecError("wrong shape", "not an array of at least 5")
    version, kind, sender, seq, t_sent_s = fields[:5]
    if version != WIRE_VERSION or type(version) is not int:
        raise CodecError("other version", f"{_brief(version)} instead of {WIRE_VERSION}")
    read = _READERS.get(kind) if type(kind) is int else None
    if read is None:
        raise CodecError("unknown kind", _brief(kind))
    head = {
        "sender": _whole(sender, "sender", 0, SENDER_MAX),
        "seq": _whole(seq, "seq", 0, SEQ_MAX),
        "t_sent_s": _real(t_sent_s, "t_sent"),
    }
    return read(head, fields[5:])


def pack_entries(entries: list[list[Any]]) -> bytes:
    """A batch on its way to the recorder: each entry is a list of plain values and bytes."""
    data: bytes = msgpack.packb(entries)
    return data


def unpack_entries(data: bytes) -> list[list[Any]]:
    try:
        entries = msgpack.unpackb(data)
    except (ValueError, TypeError, RecursionError, OverflowError, msgpack.UnpackException) as err:
        raise CodecError("not msgpack", type(err).__name__) from err
    if type(entries) is not list or not all(type(entry) is list and entry for entry in entries):
        raise CodecError("wrong shape", "a batch is an array of arrays")
    return entries


def _brief(value: Any) -> str:
    """For people. The text of a nested array could be endless, or too deep to make."""
    return str(value) if type(value) is int else f"a {type(value).__name__}"


def _whole(value: Any, what: str, low: int, high: int) -> int:
    if type(value) is not int:
        raise CodecError("wrong shape", f"{what} is no integer")
    if not low <= value <= high:
        raise CodecError("out of range", f"{what} {value}")
    return value


def _real(value: Any, what: str) -> float:
    if type(value) is not float and type(value) is not int:
        raise CodecError("wrong shape", f"{what} is no number")
    if abs(value) > 1e18:
        raise CodecError("not finite" if math.isinf(value) else "out of range", what)
    if value != value:
        raise CodecError("not finite", what)
    return float(value)


def _text(value: Any, what: str) -> str:
    if type(value) is not str:
        raise CodecError("wrong shape", f"{what} is no text")
    if len(value) > TEXT_MAX:
        raise CodecError("out of range", f"{what} is longer than {TEXT_MAX} characters")
    return value


def _bytes(value: Any, what: str) -> bytes:
    if type(value) is not bytes:
        raise CodecError("wrong shape", f"{what} is no bin")
    return value


def _array(value: Any, what: str, length: int | None = None) -> list[Any]:
    if type(value) is not list or (length is not None and len(value) != length):
        raise CodecError("wrong shape", f"{what} is no array" + (f" of {length}" if length is not None else ""))
    return value


def _flag(value: Any, what: str) -> bool:
    if type(value) is not bool:
        raise CodecError("wrong shape", f"{what} is neither true nor false")
    return value


def _packed(version: Any, packed: Any) -> bytes:
    if type(version) is not int or version != ROWS_VERSION:
        raise CodecError("other row layout", f"{_brief(version)} instead of {ROWS_VERSION}")
    return _bytes(packed, "rows")


def _order(value: Any) -> Order:
    number, state, t_s, rate, run_id = _array(value, "order", 5)
    rate = _real(rate, "rate")
    if rate <= 0.0:
        raise CodecError("out of range", f"rate {rate}")
    return Order(
        number=_whole(number, "order number", 0, SEQ_MAX),
        state=RunState(_whole(state, "run state", RunState.READY, RunState.STOP)),
        t_s=_real(t_s, "t_s"),
        rate=rate,
        run_id=_text(run_id, "run id"),
    )


def _introduction(value: Any) -> Introduction:
    vid, name, kind, length_m, live, behaviours, follows, searches = _array(value, "introduction", 8)
    length_m = _real(length_m, "length")
    if not 0.0 < length_m <= 1000.0:
        raise CodecError("out of range", f"length {length_m} m")
    return Introduction(
        vid=_whole(vid, "vid", 1, VID_MAX),
        name=_text(name, "name"),
        kind=Kind(_whole(kind, "kind", min(Kind), max(Kind))),
        length_m=length_m,
        live=_flag(live, "live"),
        behaviours=tuple(_text(behaviour, "behaviour") for behaviour in _array(behaviours, "behaviours")),
        follows=None if follows is None else _whole(follows, "follows", 1, VID_MAX),
        searches=None if searches is None else _whole(searches, "searches", 1, VID_MAX),
    )


def _read_hello(head: dict[str, Any], body: list[Any]) -> Hello:
    part, parts, order, vehicles = _array(body, "hello", 4)
    parts = _whole(parts, "parts", 1, 1_000_000)
    return Hello(
        **head,
        part=_whole(part, "part", 0, parts - 1),
        parts=parts,
        order=_order(order),
        vehicles=tuple(_introduction(vehicle) for vehicle in _array(vehicles, "vehicles")),
    )


def _read_welcome(head: dict[str, Any], body: list[Any]) -> Welcome:
    order, part, refused = _array(body, "welcome", 3)
    return Welcome(
        **head,
        order=_order(order),
        part=_whole(part, "part", 0, 1_000_000),
        refused=tuple(_whole(vid, "vid", 1, VID_MAX) for vid in _array(refused, "refused")),
    )


def _read_states(head: dict[str, Any], body: list[Any]) -> States:
    order_number, version, packed = _array(body, "states", 3)
    return States(**head, order_number=_whole(order_number, "order number", 0, SEQ_MAX), packed=_packed(version, packed))


def _read_advisories(head: dict[str, Any], body: list[Any]) -> Advisories:
    order, version, packed = _array(body, "advisories", 3)
    return Advisories(**head, order=_order(order), packed=_packed(version, packed))


def _read_run_order(head: dict[str, Any], body: list[Any]) -> RunOrder:
    return RunOrder(**head, order=_order(_array(body, "run order", 1)[0]))


def _read_message(head: dict[str, Any], body: list[Any]) -> Message:
    from_vid, to_vid, t_s, text = _array(body, "message", 4)
    return Message(
        **head,
        from_vid=_whole(from_vid, "from", 1, VID_MAX),
        to_vid=_whole(to_vid, "to", 0, VID_MAX),
        t_s=_real(t_s, "t_s"),
        text=_text(text, "text"),
    )


def _read_beat(head: dict[str, Any], body: list[Any]) -> Beat:
    order, beat = _array(body, "beat", 2)
    return Beat(**head, order=_order(order), beat=_whole(beat, "beat", 0, SEQ_MAX))


_READERS: Final[dict[int, Callable[[dict[str, Any], list[Any]], AnyMessage]]] = {
    Hello.KIND: _read_hello,
    Welcome.KIND: _read_welcome,
    States.KIND: _read_states,
    Advisories.KIND: _read_advisories,
    RunOrder.KIND: _read_run_order,
    Message.KIND: _read_message,
    Beat.KIND: _read_beat,
}

_BODIES: Final[dict[type, Callable[[Any], list[Any]]]] = {
    Hello: lambda m: [m.part, m.parts, m.order, m.vehicles],
    Welcome: lambda m: [m.order, m.part, m.refused],
    States: lambda m: [m.order_number, ROWS_VERSION, m.packed],
    Advisories: lambda m: [m.order, ROWS_VERSION, m.packed],
    RunOrder: lambda m: [m.order],
    Message: lambda m: [m.from_vid, m.to_vid, m.t_s, m.text],
    Beat: lambda m: [m.order, m.beat],
}
