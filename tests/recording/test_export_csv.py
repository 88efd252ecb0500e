import csv

import numpy as np
import pytest

from recording.export import EXPORTERS
from recording.export_csv import COLUMNS, write_csv
from recording.store import open_store
from tests.recording.builders import BEGAN_UNIX_S, begins, came, readable_rows
from wire.errors import RecordError
from wire.rows import STATE

HEAD = {
    "vehicles": [{"vid": 1, "name": 'Otter, "big"', "kind": 1}, {"vid": 2, "name": "Grüße", "kind": "pedestrian"}],
    "behaviour_names": {"1": "wander", "2": "avoid"},
}


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "runs", create=True) as opened:
        yield opened


def exported(store, tmp_path, head, *entries):
    store.write([(1, [begins(**head), *entries])], "core-1")
    write_csv(store.run("last"), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_csv_is_in_the_table():
    assert EXPORTERS["csv"] is write_csv


def test_the_header_names_the_units(store, tmp_path):
    exported(store, tmp_path, HEAD, came(readable_rows([1])))
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == (
        "vid,name,kind,t_s,arrival_unix_s,run_state,behaviour,x_m,y_m,z_m,lat_deg,lon_deg,yaw_rad,pitch_rad,roll_rad,"
        "speed_mps,vx_mps,vy_mps,vz_mps,yaw_rate_radps,accuracy_m,margin_pct,battery_pct"
    )


def test_every_number_reads_back_to_the_same_bits(store, tmp_path):
    rows = readable_rows(range(1, 200), t_s=np.linspace(0.0, 1.0, 199))
    rows["yaw_rad"][:5] = [0.1, 1e-30, 3.0e38, -0.0, 16777217.0]
    lines = exported(store, tmp_path, HEAD, came(rows, unix_s=BEGAN_UNIX_S + 0.1))
    for name in STATE.names:
        if STATE[name].kind == "f":
            back = np.array([line[name] for line in lines]).astype(STATE[name])
            assert back.tobytes() == np.ascontiguousarray(rows[name]).tobytes(), name
    assert {float(line["arrival_unix_s"]) for line in lines} == {BEGAN_UNIX_S + 0.1}
    assert lines[0]["yaw_rad"] == "0.1"  # not 0.10000000149011612


def test_names_kinds_and_behaviours_are_words_where_the_head_has_them(store, tmp_path):
    rows = readable_rows([1, 2, 3])
    rows["behaviour"] = [1, 2, 9]
    rows["run_state"] = [1, 3, 77]
    lines = exported(store, tmp_path, HEAD, came(rows))
    shown = [(line["name"], line["kind"], line["behaviour"], line["run_state"]) for line in lines]
    assert shown == [
        ('Otter, "big"', "ground", "wander", "READY"),
        ("Grüße", "pedestrian", "avoid", "GO"),
        ("", "", "9", "77"),
    ]


@pytest.mark.parametrize("head", [{}, {"vehicles": 3, "behaviour_names": []}, {"vehicles": [7, {"name": "x"}, {"vid": 1}]}])
def test_a_head_that_says_nothing_leaves_the_words_empty(store, tmp_path, head):
    (line,) = exported(store, tmp_path, head, came(readable_rows([1])))
    assert (line["vid"], line["name"], line["kind"], line["behaviour"]) == ("1", "", "", "0")


def test_a_percentage_that_was_not_measured_is_empty(store, tmp_path):
    rows = readable_rows([1, 2])
    rows["margin_pct"], rows["battery_pct"] = [255, 97], [80, 255]
    lines = exported(store, tmp_path, HEAD, came(rows))
    assert [(line["margin_pct"], line["battery_pct"]) for line in lines] == [("", "80"), ("97", "")]


def test_lines_are_in_order_of_time_then_vid(store, tmp_path):
    lines = exported(
        store,
        tmp_path,
        HEAD,
        came(readable_rows([2], t_s=0.2)),
        came(readable_rows([2, 1], t_s=0.1)),
        came(readable_rows([1], t_s=0.2)),
    )
    assert [(line["t_s"], line["vid"]) for line in lines] == [("0.1", "1"), ("0.1", "2"), ("0.2", "1"), ("0.2", "2")]


def test_an_empty_run_is_a_header(store, tmp_path):
    assert exported(store, tmp_path, HEAD) == []
    assert (tmp_path / "out.csv").read_text() == ",".join(COLUMNS) + "\n"


def test_progress_ends_at_the_number_of_rows(store, tmp_path):
    entries = [begins(), *(came(readable_rows(range(1, 40_001), t_s=t_s)) for t_s in range(3))]
    for number, entry in enumerate(entries):
        store.write([(number + 1, [entry])], "core-1")
    told = []
    write_csv(store.run("last"), tmp_path / "out.csv", lambda done, total: told.append((done, total)))
    assert told[-1] == (120_000, 120_000)
    assert len(told) > 1
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_place_that_cannot_be_written_is_an_error(store, tmp_path):
    store.write([(1, [begins()])], "core-1")
    with pytest.raises(RecordError, match="cannot write"):
        write_csv(store.run("last"), tmp_path / "nowhere" / "out.csv")
