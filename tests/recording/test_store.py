"""What every backend must do. A further backend joins the `place` fixture."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recording.store import RECORDED, SENT, open_store, pick_rows, pick_run
from tests.recording.builders import (
    BEGAN_UNIX_S,
    RUN,
    begins,
    came,
    ends,
    happened,
    state_bytes,
    state_rows,
    went,
)
from wire.errors import CodecError, RecordError
from wire.record import AdvisoriesWent, Happened, RowsCame, RunBegins, RunEnds
from wire.rows import ADVISORY, STATE


@pytest.fixture(params=["embedded"])
def place(request, tmp_path):
    return tmp_path / f"runs.{request.param}"


@pytest.fixture
def store(place):
    with open_store(place, create=True) as opened:
        yield opened


def write(store, *entries, source="core-1"):
    store.write([(store.last_batch(source) + 1, list(entries))], source)


def test_a_recorded_row_is_a_state_row_and_its_arrival():
    assert RECORDED.names == (*STATE.names, "arrival_unix_s")
    assert [RECORDED.fields[name][1] for name in STATE.names] == [STATE.fields[name][1] for name in STATE.names]
    assert (RECORDED.itemsize, SENT.itemsize) == (104, 80)


def test_rows_come_back_bit_for_bit(store):
    rows = state_rows([5, 3, 9], t_s=[0.1, 0.1, 0.1])
    write(store, begins(), came(rows, unix_s=BEGAN_UNIX_S + 0.125))
    back = store.run(RUN).rows()
    assert back.dtype == RECORDED
    assert back["vid"].tolist() == [3, 5, 9]  # they arrived together
    assert state_bytes(back) == rows[np.argsort(rows["vid"])].tobytes()
    assert back["arrival_unix_s"].tolist() == [BEGAN_UNIX_S + 0.125] * 3


def test_rows_outlive_closing(place):
    rows = state_rows([1, 2])
    with open_store(place, create=True) as store:
        write(store, begins(), came(rows))
    with open_store(place) as store:
        assert state_bytes(store.run("last").rows()) == rows.tobytes()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    transactions=st.lists(
        st.lists(
            st.lists(st.tuples(st.integers(1, 6), st.floats(0.0, 5.0, width=16)), max_size=8, unique_by=lambda row: row[0]),
            max_size=4,
        ),
        max_size=5,
    )
)
def test_whatever_was_written_is_read_once_by_every_way_of_asking(tmp_path_factory, transactions):
    seen = []
    with open_store(tmp_path_factory.mktemp("record") / "runs", create=True) as store:
        write(store, begins())
        for transaction in transactions:
            entries = []
            for beat in transaction:
                vids, times = [vid for vid, _ in beat], [t_s for _, t_s in beat]
                rows = state_rows(vids, t_s=times, seed=len(seen))
                unix_s = BEGAN_UNIX_S + len(seen)
                seen += [(unix_s, row.tobytes(), row) for row in rows]
                entries.append(came(rows, unix_s=unix_s))
            write(store, *entries)
        run = store.run(RUN)
        everything = sorted(packed for _, packed, _ in seen)
        assert run.info.row_count == len(seen)
        assert run.vids() == sorted({int(row["vid"]) for *_, row in seen})
        assert run.info.vehicle_count == len(run.vids())

        back = run.rows()
        assert sorted(state_bytes(back[i : i + 1]) for i in range(len(back))) == everything
        assert (np.diff(back["arrival_unix_s"]) >= 0.0).all()

        in_order = [rows[i : i + 1] for rows in run.iter_rows() for i in range(len(rows))]
        assert sorted(map(state_bytes, in_order)) == everything
        keys = [(float(row["t_s"][0]), int(row["vid"][0])) for row in in_order]
        assert keys == sorted(keys)

        for vid in range(8):
            track = run.rows(vid)
            own = sorted((row["t_s"], unix_s, packed) for unix_s, packed, row in seen if row["vid"] == vid)
            assert state_bytes(track) == b"".join(packed for *_, packed in own)
            between = run.rows(vid, since_s=1.0, until_s=3.0)
            assert state_bytes(between) == b"".join(packed for t_s, _, packed in own if 1.0 <= t_s < 3.0)


def test_times_bound_what_is_read(store):
    write(store, begins(), *(came(state_rows([1, 2], t_s=t_s, seed=t_s)) for t_s in range(4)))
    write(store, *(came(state_rows([1, 2], t_s=t_s, seed=t_s)) for t_s in range(4, 8)))
    run = store.run(RUN)
    assert run.rows(1, since_s=3.0, until_s=6.0)["t_s"].tolist() == [3.0, 4.0, 5.0]
    assert run.rows(1, since_s=6.0)["t_s"].tolist() == [6.0, 7.0]
    assert sorted(run.rows(until_s=2.0)["t_s"].tolist()) == [0.0, 0.0, 1.0, 1.0]
    assert len(run.rows(1, since_s=100.0)) == 0
    assert run.rows(77).dtype == RECORDED


def test_a_track_is_ordered_by_its_own_time_even_when_rows_came_late(store):
    write(store, begins(), came(state_rows([1], t_s=2.0)))
    write(store, came(state_rows([1], t_s=1.0)))
    assert store.run(RUN).rows(1)["t_s"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("vehicles", [999, 1000, 1001, 2500])
def test_one_vehicle_is_found_in_a_fleet_of_any_size(store, vehicles):
    vids = np.arange(1, vehicles + 1) * 7
    for t_s in range(3):
        write(store, begins(), came(state_rows(vids, t_s=t_s, seed=t_s)))
    run = store.run(RUN)
    assert run.info.vehicle_count == vehicles
    assert run.info.row_count == 3 * vehicles
    for vid in (7, 7 * 500, 7 * vehicles):
        assert run.rows(vid)["t_s"].tolist() == [0.0, 1.0, 2.0]
        assert set(run.rows(vid)["vid"].tolist()) == {vid}
    assert len(run.rows(8)) == len(run.rows(7 * vehicles + 1)) == 0


def test_a_time_that_is_no_number_costs_nothing_but_itself(store):
    rows = state_rows([1, 2, 3], t_s=[np.nan, 1.0, np.nan])
    write(store, begins(), came(rows), came(state_rows([1], t_s=np.nan)))
    run = store.run(RUN)
    assert len(run.rows()) == 4
    assert sum(map(len, run.iter_rows())) == 4
    assert run.rows(since_s=0.0)["vid"].tolist() == [2]


def test_a_batch_that_comes_twice_is_kept_once(store):
    first, second = [begins(), came(state_rows([1]))], [came(state_rows([1], t_s=0.1))]
    store.write([(1, first)], "core-1")
    store.write([(1, first), (2, second), (2, second)], "core-1")
    store.write([(1, first), (2, second)], "core-1")
    assert store.run(RUN).rows()["t_s"].tolist() == [0.0, 0.1]
    assert store.last_batch("core-1") == 2


def test_each_source_counts_for_itself(store):
    store.write([(7, [begins(), came(state_rows([1]))])], "core-1")
    store.write([(1, [came(state_rows([1], t_s=0.1))])], "core-2")
    assert (store.last_batch("core-1"), store.last_batch("core-2"), store.last_batch("core-3")) == (7, 1, 0)
    assert store.run(RUN).info.row_count == 2


def test_a_batch_without_entries_is_still_counted(store):
    store.write([(1, [])], "core-1")
    assert store.last_batch("core-1") == 1
    assert store.runs() == []


@pytest.mark.parametrize(
    "bad",
    [
        RowsCame(run_id=RUN, unix_s=1.0, packed=bytes(STATE.itemsize + 1)),
        RowsCame(run_id=RUN, unix_s=1.0, packed="text"),
        AdvisoriesWent(run_id=RUN, unix_s=1.0, packed=bytes(ADVISORY.itemsize - 1)),
        RowsCame(run_id=RUN, unix_s=float("nan"), packed=b""),
        RowsCame(run_id=RUN, unix_s="now", packed=b""),
        RowsCame(run_id=7, unix_s=1.0, packed=b""),
        RowsCame(run_id="", unix_s=1.0, packed=b""),
        RowsCame(run_id="\ud800", unix_s=1.0, packed=b""),
        RunBegins(run_id=RUN, unix_s=1.0, head={"speed": float("inf")}),
        RunBegins(run_id=RUN, unix_s=1.0, head=["no", "map"]),
        RunEnds(run_id=RUN, unix_s=1.0, summary={"raw": b"bytes"}),
        Happened(run_id=RUN, unix_s=1.0, t_s=float("inf"), what="note", detail={}),
        Happened(run_id=RUN, unix_s=1.0, t_s=1.0, what=None, detail={}),
        Happened(run_id=RUN, unix_s=1.0, t_s=1.0, what="note", detail={"x": float("nan")}),
    ],
)
def test_an_entry_that_is_not_what_it_says_is_refused_before_anything_is_written(store, bad):
    with pytest.raises(CodecError):
        store.write([(1, [begins(), came(state_rows([1]))]), (2, [bad])], "core-1")
    assert store.last_batch("core-1") == 0
    assert store.runs() == []


def test_a_detail_too_deep_for_json_is_refused(store):
    deep = {}
    for _ in range(100_000):
        deep = {"in": deep}
    with pytest.raises(CodecError):
        write(store, happened("note", **deep))


def test_a_run_with_an_end_is_complete(store):
    head = {"scenario": {"name": "three vehicles"}, "seed": 7, "mode": "lockstep", "vehicles": [{"vid": 1}]}
    write(store, begins(**head), came(state_rows([1, 2])), ends(closest_m=1.5))
    (info,) = store.runs()
    assert (info.state, info.why) == ("complete", "")
    assert (info.run_id, info.name, info.seed, info.mode) == (RUN, "three vehicles", 7, "lockstep")
    assert (info.started_unix_s, info.ended_unix_s) == (BEGAN_UNIX_S, BEGAN_UNIX_S + 60.0)
    assert (info.row_count, info.vehicle_count) == (2, 2)
    assert (info.head, info.summary) == (head, {"closest_m": 1.5})


def test_a_run_without_an_end_is_incomplete_and_says_so(store):
    write(store, begins(), came(state_rows([1]), unix_s=BEGAN_UNIX_S + 12.5))
    (info,) = store.runs()
    assert info.state == "incomplete"
    assert info.why == "no end was recorded, the last entry is 12.5 s after the first"
    assert (info.ended_unix_s, info.summary) == (None, None)


def test_rows_whose_beginning_was_lost_are_kept_and_the_run_is_incomplete(store):
    write(store, came(state_rows([1]), unix_s=BEGAN_UNIX_S), ends())
    (info,) = store.runs()
    assert (info.state, info.why) == ("incomplete", "no beginning was recorded")
    assert (info.row_count, info.head, info.name, info.seed, info.mode) == (1, {}, "", None, "")


def test_a_run_that_another_core_takes_over_is_one_run_that_has_not_ended(store):
    write(store, begins(seed=7), came(state_rows([1])), ends())
    write(store, begins(unix_s=BEGAN_UNIX_S + 90.0, seed=7, again=True), source="core-2")
    (info,) = store.runs()
    assert (info.state, info.started_unix_s, info.head) == ("incomplete", BEGAN_UNIX_S, {"seed": 7, "again": True})
    write(store, ends(unix_s=BEGAN_UNIX_S + 99.0), source="core-2")
    (info,) = store.runs()
    assert (info.state, info.ended_unix_s) == ("complete", BEGAN_UNIX_S + 99.0)


def test_one_transaction_may_hold_several_runs(store):
    write(store, begins("a"), came(state_rows([1]), run_id="a"), ends("a"), begins("b"), came(state_rows([2]), run_id="b"))
    assert [store.run(name).rows()["vid"].tolist() for name in ("a", "b")] == [[1], [2]]
    assert [store.run(name).info.state for name in ("a", "b")] == ["complete", "incomplete"]


def test_runs_are_listed_newest_first(store):
    write(store, begins("b", unix_s=2.0), begins("c", unix_s=3.0), begins("a", unix_s=1.0))
    assert [info.run_id for info in store.runs()] == ["c", "b", "a"]
    assert store.run("last").info.run_id == "c"


def test_events_come_back_in_order_with_their_details(store):
    told = [happened("run_state", t_s=-3.0, to="GO"), happened("note", text='„Grüße" 🚗', numbers=[1, 2.5, None])]
    write(store, begins(), *told)
    write(store, happened("vehicle_lost", t_s=7.0, vid=3))
    assert store.run(RUN).events() == [*told, happened("vehicle_lost", t_s=7.0, vid=3)]


def test_advisories_come_back_in_order_bit_for_bit(store):
    first, second = went([4, 2], unix_s=BEGAN_UNIX_S + 1.0), went([3], unix_s=BEGAN_UNIX_S + 2.0)
    write(store, begins(), first, second)
    back = store.run(RUN).advisories()
    assert back.dtype == SENT
    assert back["to_vid"].tolist() == [4, 2, 3]
    assert (back["sent_unix_s"] - BEGAN_UNIX_S).tolist() == [1.0, 1.0, 2.0]
    raw = back.view(np.uint8).reshape(len(back), -1)[:, : ADVISORY.itemsize]
    assert raw.tobytes() == first.packed + second.packed


def test_a_run_in_which_nothing_moved_is_empty_not_an_error(store):
    write(store, begins(), came(state_rows([])), went([]))
    run = store.run(RUN)
    assert (len(run.rows()), len(run.advisories()), run.events(), run.vids()) == (0, 0, [], [])
    assert list(run.iter_rows()) == []


def test_an_id_its_beginning_or_last_all_name_a_run():
    ids = ["20261118-2", "20261118-1", "20261117-1"]
    assert pick_run("20261118-1", ids, "runs") == "20261118-1"
    assert pick_run("20261117", ids, "runs") == "20261117-1"
    assert pick_run("last", ids, "runs") == "20261118-2"
    assert pick_run("a", ["ab", "a"], "runs") == "a"  # the whole id is meant, though another begins with it


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        ("20261119-1", "there is no run '20261119-1' in runs; the nearest are 20261118-1, "),
        ("", "there is no run '' in runs"),
        ("20261118", "2 runs in runs begin with '20261118': 20261118-2, 20261118-1; give more of the id"),
    ],
)
def test_a_run_that_is_not_meant_clearly_is_an_error_with_a_way_out(which, sentence):
    with pytest.raises(RecordError) as caught:
        pick_run(which, ["20261118-2", "20261118-1", "20261117-1"], "runs")
    assert str(caught.value).startswith(sentence)


def test_many_runs_with_the_same_beginning_are_not_all_listed():
    with pytest.raises(RecordError, match="9 runs in runs begin with '2': 20, 21, 22, 23, 24, …; give more of the id"):
        pick_run("2", [f"2{i}" for i in range(9)], "runs")


def test_asking_an_empty_record_for_a_run_is_an_error(store, place):
    with pytest.raises(RecordError, match="holds no run yet"):
        store.run("last")


def test_mongodb_is_not_there_yet():
    with pytest.raises(RecordError, match="MongoDB is not there yet"):
        open_store("mongodb://localhost/move", create=True)


def test_picked_rows_are_those_that_numpy_would_pick():
    rows = state_rows([3, 1, 2])
    order = np.array([2, 0])
    assert pick_rows(rows, order).tobytes() == rows[order].tobytes()
    assert pick_rows(rows, rows["vid"] > 1).dtype == rows.dtype
