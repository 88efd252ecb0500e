import math
import re
from pathlib import Path
from typing import get_args

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.strategies import MESSAGES, blobs, damaged, messages, msgpack_values, read_or_reason
from wire import codec
from wire.codec import DATAGRAM_MAX, HEADER_BYTES, TEXT_MAX, pack, pack_entries, unpack, unpack_entries
from wire.errors import CodecError
from wire.messages import (
    Advisories,
    AnyMessage,
    Beat,
    Datagram,
    Hello,
    Introduction,
    Message,
    Order,
    RunOrder,
    States,
    Welcome,
)
from wire.rows import ADVISORY, STATE
from wire.words import VID_MAX, Kind, RunState

REASONS = {
    "empty",
    "too long",
    "not msgpack",
    "wrong shape",
    "other version",
    "unknown kind",
    "other row layout",
    "out of range",
    "not finite",
}
HEAD = {"sender": 77, "seq": 3, "t_sent_s": 1.7e9}
ORDER = Order(number=4, state=RunState.GO, t_s=1.5, rate=1.0, run_id="run")
CAR = Introduction(vid=101, name="car", kind=Kind.GROUND, length_m=4.5, live=False, behaviours=("wander",), follows=7, searches=8)
SAMPLES = {
    Hello: Hello(**HEAD, part=0, parts=2, order=ORDER, vehicles=(CAR,)),
    Welcome: Welcome(**HEAD, order=ORDER, part=0, refused=(5,)),
    States: States(**HEAD, order_number=4, packed=bytes(96)),
    Advisories: Advisories(**HEAD, order=ORDER, packed=bytes(72)),
    RunOrder: RunOrder(**HEAD, order=ORDER),
    Message: Message(**HEAD, from_vid=1, to_vid=2, t_s=0.5, text="hello"),
    Beat: Beat(**HEAD, order=ORDER, beat=9),
}
CLASSES = sorted(SAMPLES, key=lambda made: made.KIND)


def fields_of(message):
    return msgpack.unpackb(pack(message))


def paths_of(fields, path=()):
    """Where each value lies, arrays within arrays included."""
    for index, value in enumerate(fields):
        yield (*path, index)
        if isinstance(value, list):
            yield from paths_of(value, (*path, index))


def value_at(fields, path):
    for index in path:
        fields = fields[index]
    return fields


def replaced(fields, path, value):
    copy = list(fields)
    copy[path[0]] = value if len(path) == 1 else replaced(fields[path[0]], path[1:], value)
    return copy


def reason_of(data):
    with pytest.raises(CodecError) as caught:
        unpack(data)
    return caught.value.reason


def reads_or_refuses(data):
    """Either a message that travels on unchanged, or a refusal under a known word."""
    message, reason = read_or_reason(unpack, data)
    assert reason in REASONS if message is None else unpack(pack(message)) == message


def test_every_message_has_a_writer_a_reader_a_strategy_and_a_sample():
    classes = set(get_args(AnyMessage))
    assert set(Datagram.__subclasses__()) >= classes  # slots make a second class of the same name
    assert {made.__name__ for made in Datagram.__subclasses__()} == {made.__name__ for made in classes}
    assert set(codec._BODIES) == classes
    assert set(codec._READERS) == {made.KIND for made in classes}
    assert len(codec._READERS) == len(classes)
    assert set(MESSAGES) == set(SAMPLES) == classes


@pytest.mark.parametrize("made", CLASSES, ids=lambda made: made.__name__)
def test_what_was_packed_is_unpacked(made):
    @given(MESSAGES[made])
    def check(message):
        again = unpack(pack(message))
        assert again == message
        assert type(again) is made

    check()


def test_enumerations_come_back_as_enumerations():
    hello = unpack(pack(SAMPLES[Hello]))
    assert isinstance(hello.order, Order)
    assert hello.order.state is RunState.GO
    assert hello.vehicles[0].kind is Kind.GROUND


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data):
    reads_or_refuses(data)


@given(msgpack_values)
def test_any_msgpack_value_is_read_or_refused(value):
    reads_or_refuses(msgpack.packb(value))


@given(st.sampled_from(CLASSES), st.lists(msgpack_values, max_size=6))
def test_any_body_behind_a_good_header_is_read_or_refused(made, body):
    reads_or_refuses(msgpack.packb([codec.WIRE_VERSION, made.KIND, 1, 1, 1.0, *body]))


@given(damaged(messages.map(pack)))
def test_a_damaged_message_is_read_or_refused(data):
    reads_or_refuses(data)


@given(messages, msgpack_values, st.data())
def test_a_message_with_one_field_replaced_is_read_or_refused(message, value, data):
    fields = fields_of(message)
    path = data.draw(st.sampled_from(list(paths_of(fields))))
    reads_or_refuses(msgpack.packb(replaced(fields, path, value)))


@pytest.mark.parametrize("made", CLASSES, ids=lambda made: made.__name__)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_no_number_of_any_message_may_be_other_than_finite(made, bad):
    fields = fields_of(SAMPLES[made])
    reals = [path for path in paths_of(fields) if type(value_at(fields, path)) is float]
    assert reals  # t_sent at least
    for path in reals:
        assert reason_of(msgpack.packb(replaced(fields, path, bad))) == "not finite"


@pytest.mark.parametrize("made", CLASSES, ids=lambda made: made.__name__)
def test_every_field_of_another_type_is_refused(made):
    fields = fields_of(SAMPLES[made])
    for path in paths_of(fields):
        odd = replaced(fields, path, {"no": "field is a map"})
        assert reason_of(msgpack.packb(odd)) in {"wrong shape", "other version", "unknown kind", "other row layout"}


@pytest.mark.parametrize("made", CLASSES, ids=lambda made: made.__name__)
def test_a_body_with_a_field_too_many_or_too_few_is_refused(made):
    fields = fields_of(SAMPLES[made])
    assert reason_of(msgpack.packb([*fields, 1])) == "wrong shape"
    assert reason_of(msgpack.packb(fields[:-1])) == "wrong shape"


def test_no_bytes_are_empty():
    assert reason_of(b"") == "empty"


def test_more_bytes_than_udp_carries_are_too_long():
    room = DATAGRAM_MAX - len(pack(States(**HEAD, order_number=4, packed=bytes(60_000)))) + 60_000
    assert len(unpack(pack(States(**HEAD, order_number=4, packed=bytes(room)))).packed) == room
    assert reason_of(pack(States(**HEAD, order_number=4, packed=bytes(room + 1)))) == "too long"


@pytest.mark.parametrize("version", [0, 2, 2**63, -1, 1.0, True, None, "1", b"\x01", [1]])
def test_another_version_is_refused_by_name(version):
    assert reason_of(msgpack.packb([version, *fields_of(SAMPLES[Beat])[1:]])) == "other version"


@pytest.mark.parametrize("kind", [0, 8, -1, 2**64 - 1, 1.0, True, None, "states", [3]])
def test_an_unknown_kind_is_refused_by_name(kind):
    assert reason_of(msgpack.packb([1, kind, *fields_of(SAMPLES[Beat])[2:]])) == "unknown kind"


@pytest.mark.parametrize("made", [States, Advisories])
@pytest.mark.parametrize("version", [0, 2, 1.0, True, None, "1"])
def test_another_row_layout_is_refused_by_name(made, version):
    assert reason_of(msgpack.packb(replaced(fields_of(SAMPLES[made]), (6,), version))) == "other row layout"


@pytest.mark.parametrize("value", [None, 7, "text", {}, [], [1, 3, 0, 0]])
def test_what_is_no_array_of_a_header_has_the_wrong_shape(value):
    assert reason_of(msgpack.packb(value)) == "wrong shape"


@pytest.mark.parametrize("data", [b"\xc1", b"\x95\x01", b"\x90\x90", b"\xa1\xff", b"\xdd\xff\xff\xff\xff", b"\x91" * 5000])
def test_what_msgpack_cannot_read_is_not_msgpack(data):
    assert reason_of(data) == "not msgpack"


@pytest.mark.parametrize("before", [b"\x95", b"\x95\x01"])
def test_a_nest_too_deep_to_print_is_refused(before):
    assert reason_of(before + b"\x91" * 1000 + b"\xc0" + b"\x01" * 4)


@pytest.mark.parametrize(
    ("made", "path", "value"),
    [
        (Beat, (2,), -1),
        (Beat, (2,), 2**63),
        (Beat, (3,), -1),
        (Beat, (4,), 1e19),
        (Beat, (4,), 2**64 - 1),
        (Beat, (5, 0), -1),
        (Beat, (5, 1), 0),
        (Beat, (5, 1), 6),
        (Beat, (5, 2), -1e19),
        (Beat, (5, 3), 0.0),
        (Beat, (5, 3), -1),
        (Beat, (5, 4), "x" * (TEXT_MAX + 1)),
        (Beat, (6,), -1),
        (Hello, (5,), 2),
        (Hello, (5,), -1),
        (Hello, (6,), 0),
        (Hello, (6,), 1_000_001),
        (Hello, (8, 0, 0), 0),
        (Hello, (8, 0, 0), VID_MAX + 1),
        (Hello, (8, 0, 1), "x" * (TEXT_MAX + 1)),
        (Hello, (8, 0, 2), 0),
        (Hello, (8, 0, 2), 7),
        (Hello, (8, 0, 3), 0),
        (Hello, (8, 0, 3), 1000.1),
        (Hello, (8, 0, 6), 0),
        (Hello, (8, 0, 7), VID_MAX + 1),
        (Welcome, (6,), -1),
        (Welcome, (6,), 1_000_001),
        (Welcome, (7, 0), 0),
        (States, (5,), -1),
        (Message, (5,), 0),
        (Message, (6,), VID_MAX + 1),
        (Message, (8,), "x" * (TEXT_MAX + 1)),
    ],
)
def test_a_number_or_text_past_its_limit_is_out_of_range(made, path, value):
    assert reason_of(msgpack.packb(replaced(fields_of(SAMPLES[made]), path, value))) == "out of range"


def test_a_whole_number_will_do_where_a_real_one_is_meant():
    order = unpack(msgpack.packb(replaced(fields_of(SAMPLES[Beat]), (5, 2), 3))).order
    assert (order.t_s, type(order.t_s)) == (3.0, float)


@pytest.mark.parametrize(("made", "layout"), [(States, STATE), (Advisories, ADVISORY)])
def test_the_room_kept_beside_the_rows_is_enough(made, layout):
    big = {"sender": 2**63 - 1, "seq": 2**63 - 1, "t_sent_s": 1.7e9}
    order = Order(number=2**63 - 1, state=RunState.GO, t_s=1e9, rate=1.0, run_id="r" * 90)
    own = {"order_number": 2**63 - 1} if made is States else {"order": order}
    packed = bytes(layout.itemsize * (65_000 // layout.itemsize))
    assert len(pack(made(**big, **own, packed=packed))) - len(packed) <= HEADER_BYTES


def test_every_reason_word_is_in_the_document():
    root = Path(__file__).parents[2]
    words = set(REASONS)
    for source in (root / "wire").glob("*.py"):
        words |= set(re.findall(r'CodecError\(\s*"([^"]+)"', source.read_text(encoding="utf-8")))
    document = (root / "docs" / "wire.md").read_text(encoding="utf-8")
    assert "cut row" in words
    assert [word for word in sorted(words) if f"`{word}`" not in document] == []


@given(st.lists(st.lists(msgpack_values, min_size=1, max_size=4), max_size=4))
def test_entries_come_back(entries):
    data = pack_entries(entries)
    assert pack_entries(unpack_entries(data)) == data


@given(blobs)
def test_any_bytes_are_entries_or_refused(data):
    entries, reason = read_or_reason(unpack_entries, data)
    if entries is None:
        assert reason in {"not msgpack", "wrong shape"}
    else:
        assert all(isinstance(entry, list) and entry for entry in entries)


@pytest.mark.parametrize("value", [None, 3, {}, [1], [[]], [{}], "text"])
def test_entries_of_another_shape_are_refused(value):
    with pytest.raises(CodecError, match="wrong shape"):
        unpack_entries(msgpack.packb(value))
