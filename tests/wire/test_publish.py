import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.strategies import json_objects, json_values, read_or_reason, reals, texts
from wire.errors import CodecError
from wire.publish import Event, Roster, StateFrame, pack_published, to_json, unpack_published
from wire.rows import ADVISORY, STATE, unpack_rows


def rows_of(layout, most):
    sizes = st.integers(0, most).flatmap(lambda n: st.binary(min_size=n * layout.itemsize, max_size=n * layout.itemsize))
    return sizes.map(lambda packed: unpack_rows(packed, layout))


state_frames = rows_of(STATE, 3).flatmap(
    lambda rows: st.builds(
        StateFrame,
        head=json_objects,
        rows=st.just(rows),
        conditions=st.binary(min_size=len(rows), max_size=len(rows)).map(lambda raw: np.frombuffer(raw, np.uint8)),
        advisories=rows_of(ADVISORY, 3),
    )
)
rosters = st.builds(Roster, vehicles=st.lists(json_objects, max_size=4))
events = st.builds(Event, t_s=reals, unix_s=reals, what=texts, detail=json_objects)

TOPICS = [b"state", b"roster", b"event"]
frames_of_any_kind = st.sampled_from(TOPICS) | st.binary(max_size=100) | json_values.map(to_json)


def reads_or_refuses(frames):
    item, reason = read_or_reason(unpack_published, frames)
    if item is None:
        assert reason in {"unknown kind", "wrong shape", "not finite", "cut row"}
    else:
        packed = pack_published(item)
        assert pack_published(unpack_published(packed)) == packed


@given(state_frames)
def test_a_state_frame_comes_back(frame):
    again = unpack_published(pack_published(frame))
    assert isinstance(again, StateFrame)
    assert again.head == frame.head
    assert again.rows.tobytes() == frame.rows.tobytes()
    assert again.rows.dtype == STATE
    assert again.conditions.tolist() == frame.conditions.tolist()
    assert again.advisories.tobytes() == frame.advisories.tobytes()
    assert again.advisories.dtype == ADVISORY


@given(rosters | events)
def test_a_roster_and_an_event_come_back(item):
    assert unpack_published(pack_published(item)) == item


@given(st.lists(frames_of_any_kind, max_size=6))
def test_any_frames_are_read_or_refused(frames):
    reads_or_refuses(frames)


@given(st.sampled_from(TOPICS), json_values.map(to_json) | st.binary(max_size=30), st.lists(st.binary(max_size=200)))
def test_any_frames_behind_a_topic_are_read_or_refused(topic, text, more):
    reads_or_refuses([topic, text, *more])


@given(state_frames | rosters | events, st.data())
def test_frames_with_one_replaced_are_read_or_refused(item, data):
    frames = pack_published(item)
    frames[data.draw(st.integers(0, len(frames) - 1))] = data.draw(frames_of_any_kind)
    reads_or_refuses(frames)


@pytest.mark.parametrize("frames", [[], [b""], [b"stat"], [b"states"], [b"\xff\xfe" * 50]])
def test_no_known_topic_is_an_unknown_kind(frames):
    with pytest.raises(CodecError) as caught:
        unpack_published(frames)
    assert caught.value.reason == "unknown kind"


@pytest.mark.parametrize(
    "frames",
    [
        [b"state"],
        [b"state", b"{}", b"", b""],
        [b"state", b"{}", b"", b"", b"", b""],
        [b"state", b"[]", b"", b"", b""],
        [b"state", b'[["a",1]]', b"", b"", b""],
        [b"state", b"{}", b"", b"\x00", b""],  # a condition without a row
        [b"state", b"{}", bytes(96), b"", b""],
        [b"roster"],
        [b"roster", b"[]", b""],
        [b"roster", b'"text"'],
        [b"roster", b"[1]"],
        [b"roster", b"{}"],
        [b"roster", b"[" * 100_000],
        [b"event"],
        [b"event", b"[]"],
        [b"event", b'["1", 2, "note", {}]'],
        [b"event", b'[1, true, "note", {}]'],
        [b"event", b"[1, 2, 3, {}]"],
        [b"event", b'[1, 2, "note", []]'],
        [b"event", b"[1" + b"0" * 400 + b', 2, "note", {}]'],
        [b"event", b"\xff"],
    ],
)
def test_frames_of_another_shape_are_refused(frames):
    with pytest.raises(CodecError) as caught:
        unpack_published(frames)
    assert caught.value.reason == "wrong shape"


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_not_finite_is_refused(bad):
    for frames in ([b"event", f'[{bad}, 2, "note", {{}}]'.encode()], [b"roster", f'[{{"length_m": {bad}}}]'.encode()]):
        with pytest.raises(CodecError) as caught:
            unpack_published(frames)
        assert caught.value.reason == "not finite"


@pytest.mark.parametrize("cut", [2, 4])
def test_half_a_row_is_a_cut_row(cut):
    frames = [b"state", b"{}", b"", b"", b""]
    frames[cut] = bytes(50)
    with pytest.raises(CodecError) as caught:
        unpack_published(frames)
    assert caught.value.reason == "cut row"


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_is_not_published_either(bad):
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"t_s": bad})


@given(json_values)
def test_json_says_the_value(value):
    assert json.loads(to_json(value)) == value
