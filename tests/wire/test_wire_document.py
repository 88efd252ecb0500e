"""docs/wire.md cannot rot: its byte tables, hex dumps and C code are read here and compared with the code."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from wire.codec import WIRE_VERSION, pack, unpack
from wire.frame import frame_at, world_of
from wire.messages import Hello, RunOrder, States
from wire.rows import ADVISORY, DETECTS, LIVE, ROWS_VERSION, STATE, TROUBLES, row_dict, trouble, unpack_rows

DOCUMENT = (Path(__file__).parents[2] / "docs" / "wire.md").read_text(encoding="utf-8")


def table_under(heading):
    section = DOCUMENT.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| (\d+) \| (\d+) \| (\S+) \| `(\w+)` \|", section, re.MULTILINE)


@pytest.mark.parametrize(("heading", "layout"), [("The STATE row", STATE), ("The ADVISORY row", ADVISORY)])
def test_the_documents_byte_table_is_the_layout(heading, layout):
    types = {"u32": "<u4", "u8": "u1", "f64": "<f8", "f32": "<f4", "u8[3]": ("u1", (3,))}
    rows = table_under(heading)
    assert np.dtype([(name, types[kind]) for _, _, kind, name in rows]) == layout
    for offset, size, _, name in rows:
        kind, at = layout.fields[name]
        assert (int(offset), int(size)) == (at, kind.itemsize)


def examples():
    """The bytes of each hex dump of the document, with the values its notes name."""
    for block in re.findall(r"```hex\n(.*?)```", DOCUMENT, re.DOTALL):
        lines = [line.split(";", 1) for line in block.splitlines()]
        data = bytes.fromhex("".join(code for code, _ in lines))
        notes = [re.fullmatch(r" ([\w ]+) = (.+)", note) for _, note in lines]
        yield data, {note[1]: json.loads(note[2]) for note in notes if note}


def said(message):
    """What the notes of a hex dump must say of a message."""
    values = {"version": WIRE_VERSION, "kind": message.KIND}
    values |= {name: getattr(message, name) for name in ("sender", "seq", "t_sent_s")}
    if isinstance(message, States):
        [row] = unpack_rows(message.packed, STATE)
        return values | {"order_number": message.order_number, "row layout": ROWS_VERSION} | row_dict(row)
    values |= message.order._asdict()
    if isinstance(message, Hello):
        [vehicle] = message.vehicles
        values |= {"part": message.part, "parts": message.parts, **vehicle._asdict(), "kind": message.KIND}
        values |= {"vehicle kind": vehicle.kind, "behaviours": list(vehicle.behaviours)}
    return values


def test_the_documents_examples_decode_to_the_values_beside_them():
    kinds = []
    for data, notes in examples():
        message = unpack(data)
        kinds.append(type(message))
        assert pack(message) == data
        values = said(message)
        assert set(values) == set(notes)
        for name, value in values.items():
            single = isinstance(message, States) and name in STATE.names and STATE.fields[name][0] == np.float32
            assert (np.float32(notes[name]) if single else notes[name]) == value, name
    assert kinds == [Hello, RunOrder, States]


def example_row():
    [data] = [data for data, notes in examples() if notes["kind"] == States.KIND]
    return data, unpack_rows(unpack(data).packed, STATE)


def test_the_documents_example_is_a_place_on_earth():
    _, rows = example_row()
    assert trouble(rows).tolist() == [0]
    x_m, y_m = world_of(rows[0]["lat_deg"], rows[0]["lon_deg"], frame_at(29.19, -81.05))
    assert (x_m, y_m) == (pytest.approx(rows[0]["x_m"], abs=1e-6), pytest.approx(rows[0]["y_m"], abs=1e-6))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_documents_c_code_writes_the_example(tmp_path):
    data, rows = example_row()
    [code] = re.findall(r"```c\n(.*?)```", DOCUMENT, re.DOTALL)
    assigned = "".join(f"s.{name} = {value!r};" for name, value in row_dict(rows[0]).items())
    checked = "".join(
        f'_Static_assert(offsetof({struct_name}, {name}) == {layout.fields[name][1]}, "{name}");\n'
        for struct_name, layout in (("move_state", STATE), ("move_advisory", ADVISORY))
        for name in layout.names
    )
    main = (
        f"#include <stdio.h>\n{checked}int main(void) {{ static uint8_t out[200]; move_state s = {{0}}; {assigned}"
        "size_t n = move_states(out, 81985529216486895u, 42, 1700000000.25, 3, &s, 1);"
        "return fwrite(out, 1, n, stdout) != n; }\n"
    )
    (tmp_path / "vehicle.c").write_text(code + main, encoding="utf-8")
    built = ["cc", "-std=c11", "-Wall", "-Wextra", "-o", "vehicle", "vehicle.c"]
    done = subprocess.run(built, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "warning" not in done.stderr
    written = subprocess.run([tmp_path / "vehicle"], capture_output=True, check=True).stdout
    assert f"Writes {len(written) - 96} + 96 * rows bytes" in DOCUMENT
    assert unpack(written) == unpack(data)


def test_the_documents_flags_are_the_codes():
    assert f"{LIVE} LIVE" in DOCUMENT
    assert f"{DETECTS} DETECTS" in DOCUMENT
    assert all(f"`{word}`" in DOCUMENT for word in TROUBLES if word)
