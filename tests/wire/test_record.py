from typing import get_args

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.strategies import blobs, damaged, json_objects, msgpack_values, read_or_reason, reals, texts
from wire import record
from wire.errors import CodecError
from wire.record import AdvisoriesWent, Entry, Happened, RowsCame, RunBegins, RunEnds, pack_batch, unpack_batch

ENTRIES = {
    RunBegins: st.builds(RunBegins, run_id=texts, unix_s=reals, head=json_objects),
    RowsCame: st.builds(RowsCame, run_id=texts, unix_s=reals, packed=blobs),
    AdvisoriesWent: st.builds(AdvisoriesWent, run_id=texts, unix_s=reals, packed=blobs),
    Happened: st.builds(Happened, run_id=texts, unix_s=reals, t_s=reals, what=texts, detail=json_objects),
    RunEnds: st.builds(RunEnds, run_id=texts, unix_s=reals, summary=json_objects),
}
batches = st.lists(st.one_of(*ENTRIES.values()), max_size=4)
ROWS = RowsCame(run_id="run", unix_s=1.5, packed=bytes(96))


def reads_or_refuses(data):
    batch, reason = read_or_reason(unpack_batch, data)
    if batch is None:
        assert reason in {"not msgpack", "wrong shape"}
    else:
        assert pack_batch(unpack_batch(pack_batch(batch))) == pack_batch(batch)


def test_every_entry_is_known():
    assert set(get_args(Entry)) == set(record._ENTRIES.values()) == set(ENTRIES)
    assert {field for made in ENTRIES for field in made.__slots__} == set(record._TYPES)


@given(batches)
def test_a_batch_comes_back(batch):
    assert unpack_batch(pack_batch(batch)) == batch


@given(st.binary(max_size=200))
def test_any_bytes_are_a_batch_or_refused(data):
    reads_or_refuses(data)


@given(msgpack_values)
def test_any_msgpack_value_is_a_batch_or_refused(value):
    reads_or_refuses(msgpack.packb(value))


@given(damaged(batches.map(pack_batch)))
def test_a_damaged_batch_is_read_or_refused(data):
    reads_or_refuses(data)


@given(st.sampled_from(list(ENTRIES)), st.lists(msgpack_values, max_size=6))
def test_any_fields_of_a_known_entry_are_read_or_refused(made, values):
    reads_or_refuses(msgpack.packb([[made.__name__, *values]]))


@pytest.mark.parametrize("made", list(ENTRIES), ids=lambda made: made.__name__)
def test_a_field_of_another_type_is_refused(made):
    good = {"run_id": "run", "unix_s": 1.5, "t_s": 0.5, "what": "note", "packed": b"", "head": {}}
    good |= {"detail": {}, "summary": {}}
    assert unpack_batch(msgpack.packb([[made.__name__, *(good[field] for field in made.__slots__)]]))
    for odd in made.__slots__:
        fields = [None if field == odd else good[field] for field in made.__slots__]
        with pytest.raises(CodecError, match=f"{odd} of {made.__name__}"):
            unpack_batch(msgpack.packb([[made.__name__, *fields]]))


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        [[]],
        [["Unknown", 1]],
        [[5]],
        [["RowsCame"]],
        [["RowsCame", "run", 1.0]],
        [["RowsCame", "run", 1.0, b"", 1]],
    ],
)
def test_an_entry_of_another_shape_is_refused(value):
    with pytest.raises(CodecError, match="wrong shape"):
        unpack_batch(msgpack.packb(value))


def test_one_bad_entry_refuses_the_batch():
    good = msgpack.unpackb(pack_batch([ROWS]))
    with pytest.raises(CodecError):
        unpack_batch(msgpack.packb([*good, ["RowsCame", "run", 1.0, "text"]]))


def test_an_empty_batch_is_a_batch():
    assert unpack_batch(pack_batch([])) == []
