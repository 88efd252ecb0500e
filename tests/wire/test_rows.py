"""The layouts, and the check of what a row says. `test_wire_document.py` compares them with docs/wire.md."""

import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.errors import CodecError
from wire.rows import (
    ADVISORY,
    REACH_MAX_M,
    STATE,
    TROUBLES,
    empty_rows,
    pack_rows,
    row_dict,
    trouble,
    unpack_rows,
)
from wire.words import VID_MAX

STATE_STRUCT = struct.Struct("<IBBBB6d9fB3B")
ADVISORY_STRUCT = struct.Struct("<IIB3Bf4d6f")
STATE_OFFSETS = {
    "vid": 0,
    "run_state": 4,
    "behaviour": 5,
    "flags": 6,
    "margin_pct": 7,
    "t_s": 8,
    "x_m": 16,
    "y_m": 24,
    "z_m": 32,
    "lat_deg": 40,
    "lon_deg": 48,
    "yaw_rad": 56,
    "pitch_rad": 60,
    "roll_rad": 64,
    "speed_mps": 68,
    "vx_mps": 72,
    "vy_mps": 76,
    "vz_mps": 80,
    "yaw_rate_radps": 84,
    "accuracy_m": 88,
    "battery_pct": 92,
    "reserved": 93,
}
ADVISORY_OFFSETS = {
    "to_vid": 0,
    "about_vid": 4,
    "advice": 8,
    "reserved": 9,
    "length_m": 12,
    "t_s": 16,
    "x_m": 24,
    "y_m": 32,
    "z_m": 40,
    "vx_mps": 48,
    "vy_mps": 52,
    "vz_mps": 56,
    "distance_m": 60,
    "approach_s": 64,
    "miss_m": 68,
}
FLOATS = [name for name in STATE.names if STATE.fields[name][0].kind == "f"]


def one_row(**values):
    rows = empty_rows(1, STATE)
    for name, value in {"vid": 101, "run_state": 3, **values}.items():
        rows[0][name] = value
    return rows


def word_of(rows, **more):
    [index] = trouble(rows, **more)
    return TROUBLES[index]


@pytest.mark.parametrize(
    ("layout", "size", "offsets"),
    [(STATE, 96, STATE_OFFSETS), (ADVISORY, 72, ADVISORY_OFFSETS)],
    ids=["state", "advisory"],
)
def test_sizes_and_offsets_stay(layout, size, offsets):
    assert layout.itemsize == size
    assert {name: layout.fields[name][1] for name in layout.names} == offsets


def test_a_state_row_is_the_struct_of_the_document():
    values = list(range(1, len(STATE.names) + 3))  # reserved has three
    packed = STATE_STRUCT.pack(*values)
    [row] = unpack_rows(packed, STATE)
    assert [row[name] for name in STATE.names[:-1]] == values[:-3]
    assert row["reserved"].tolist() == values[-3:]
    assert pack_rows(unpack_rows(packed, STATE)) == packed


def test_an_advisory_row_is_the_struct_of_the_document():
    values = list(range(1, len(ADVISORY.names) + 3))
    [row] = unpack_rows(ADVISORY_STRUCT.pack(*values), ADVISORY)
    flat = [number for name in ADVISORY.names for number in np.atleast_1d(row[name]).tolist()]
    assert flat == values


@pytest.mark.parametrize("layout", [STATE, ADVISORY], ids=["state", "advisory"])
def test_any_whole_rows_come_back(layout):
    @given(st.integers(0, 5).flatmap(lambda n: st.binary(min_size=n * layout.itemsize, max_size=n * layout.itemsize)))
    def check(packed):
        rows = unpack_rows(packed, layout)
        assert len(rows) == len(packed) // layout.itemsize
        assert pack_rows(rows) == packed

    check()


@pytest.mark.parametrize("layout", [STATE, ADVISORY], ids=["state", "advisory"])
def test_every_cut_is_a_cut_row(layout):
    for length in set(range(3 * layout.itemsize)) - {0, layout.itemsize, 2 * layout.itemsize}:
        with pytest.raises(CodecError) as caught:
            unpack_rows(bytes(length), layout)
        assert caught.value.reason == "cut row"


def test_rows_are_a_view_that_cannot_be_written():
    rows = unpack_rows(bytes(96), STATE)
    with pytest.raises(ValueError, match="read-only"):
        rows["vid"] = 1


def test_no_bytes_are_no_rows():
    assert len(unpack_rows(b"", STATE)) == 0
    assert trouble(unpack_rows(b"", STATE)).tolist() == []


def test_empty_rows_are_zero():
    assert pack_rows(empty_rows(2, ADVISORY)) == bytes(144)


def test_a_row_for_people_has_plain_numbers():
    plain = row_dict(one_row(x_m=1.5, battery_pct=80)[0])
    assert plain["x_m"] == 1.5
    assert set(plain) == set(STATE.names) - {"reserved"}
    assert json.loads(json.dumps(plain)) == plain


def test_a_good_row_is_believed():
    assert word_of(one_row()) == ""
    edge = one_row(vid=VID_MAX, run_state=5, lat_deg=-90.0, lon_deg=180.0, x_m=REACH_MAX_M, z_m=-REACH_MAX_M)
    assert word_of(edge) == ""


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", FLOATS)
def test_a_number_that_is_not_finite_is_found_in_each_field(name, bad):
    assert len(FLOATS) == 15
    assert word_of(one_row(**{name: bad})) == "not finite"


@pytest.mark.parametrize(
    "values",
    [
        {"vid": 0},
        {"vid": VID_MAX + 1},
        {"vid": 2**32 - 1},
        {"run_state": 0},
        {"run_state": 6},
        {"run_state": 255},
        {"t_s": -1e-9},
        {"accuracy_m": -0.1},
    ],
)
def test_what_cannot_be_is_out_of_range(values):
    assert word_of(one_row(**values)) == "out of range"


@pytest.mark.parametrize(
    "values",
    [
        {"lat_deg": 91.0},
        {"lat_deg": -90.000001},
        {"lon_deg": 181.0},
        {"lon_deg": -180.000001},
        {"x_m": 1.1e9},
        {"y_m": -1.1e9},
        {"z_m": 1.1e9},
    ],
)
def test_what_is_elsewhere_is_far_off(values):
    assert word_of(one_row(**values)) == "far off"


@pytest.mark.parametrize("name", ["x_m", "y_m", "z_m"])
def test_the_reach_is_the_scenarios(name):
    assert word_of(one_row(**{name: -5000.0}), reach_m=5000.0) == ""
    assert word_of(one_row(**{name: -5000.1}), reach_m=5000.0) == "far off"


def test_the_worst_trouble_is_named():
    assert word_of(one_row(lat_deg=91.0, vid=0, yaw_rad=math.nan)) == "not finite"
    assert word_of(one_row(lat_deg=91.0, vid=0)) == "out of range"


def test_one_bad_row_does_not_spoil_its_neighbours():
    rows = np.concatenate([one_row(), one_row(vid=0), one_row(), one_row(x_m=math.nan), one_row(lat_deg=99.0)])
    assert [TROUBLES[index] for index in trouble(rows)] == ["", "out of range", "", "not finite", "far off"]
    assert [TROUBLES[index] for index in trouble(rows[::2])] == ["", "", "far off"]  # rows that do not lie side by side


def slow_word(packed, reach_m):
    """The same in plain Python for one row, from the document."""
    vid, run_state, _, _, _, *reals = STATE_STRUCT.unpack(packed)[:20]
    t_s, x_m, y_m, z_m, lat_deg, lon_deg = reals[:6]
    accuracy_m = reals[14]
    if not all(math.isfinite(real) for real in reals):
        return "not finite"
    if not 1 <= vid <= VID_MAX or not 1 <= run_state <= 5 or t_s < 0.0 or accuracy_m < 0.0:
        return "out of range"
    if max(abs(x_m), abs(y_m), abs(z_m)) > reach_m or abs(lat_deg) > 90.0 or abs(lon_deg) > 180.0:
        return "far off"
    return ""


def numbers_for(name):
    if name == "vid":
        return st.sampled_from([0, 1, VID_MAX, VID_MAX + 1, 2**32 - 1])
    if name == "run_state":
        return st.integers(0, 7)
    edges = [0.0, -0.0, -1.0, 90.0, 90.1, -91.0, 180.0, -180.1, 1e9, -1.1e9, math.nan, math.inf, -math.inf]
    return st.sampled_from(edges) | st.floats(width=8 * STATE.fields[name][0].itemsize)


odd_rows = st.lists(
    st.sampled_from(["vid", "run_state", *FLOATS]).flatmap(lambda name: st.tuples(st.just(name), numbers_for(name))),
    max_size=3,
).map(lambda pairs: one_row(**dict(pairs)).tobytes())


@given(st.lists(odd_rows | st.binary(min_size=96, max_size=96), max_size=8), st.sampled_from([REACH_MAX_M, 100.0]))
def test_agrees_with_a_slow_check_row_by_row(packed, reach_m):
    found = trouble(unpack_rows(b"".join(packed), STATE), reach_m)
    assert [TROUBLES[index] for index in found] == [slow_word(row, reach_m) for row in packed]
