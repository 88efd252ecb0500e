import numpy as np
import pytest

from recording.gathering import chunks, gather
from recording.store import RECORDED
from tests.recording.builders import BEGAN_UNIX_S, begins, came, ends, happened, state_rows, went


def test_entries_are_gathered_by_run_in_the_order_of_their_first_appearance():
    gathered = gather([begins("b"), happened("note", run_id="a"), ends("b"), happened("note", run_id="b")])
    assert [(run.run_id, len(run.events)) for run in gathered] == [("b", 1), ("a", 1)]
    assert gathered[0].ends is not None


def test_the_span_of_a_run_is_that_of_its_entries_whatever_their_order():
    (run,) = gather([happened("late", unix_s=9.0), happened("early", unix_s=2.0), happened("between", unix_s=5.0)])
    assert (run.first_unix_s, run.last_unix_s) == (2.0, 9.0)


def test_a_new_beginning_undoes_an_end_and_an_end_the_beginning_does_not():
    assert gather([begins(), ends(), begins()])[0].ends is None
    assert gather([begins(), ends()])[0].begins is not None


def test_rows_are_stamped_with_the_arrival_of_their_entry():
    (run,) = gather([came(state_rows([3, 1]), unix_s=BEGAN_UNIX_S), came(state_rows([2]), unix_s=BEGAN_UNIX_S + 1.0)])
    rows = run.rows()
    assert rows["vid"].tolist() == [3, 1, 2]
    assert (rows["arrival_unix_s"] - BEGAN_UNIX_S).tolist() == [0.0, 0.0, 1.0]


def test_entries_without_rows_make_no_rows():
    (run,) = gather([came(state_rows([])), went([])])
    assert (len(run.rows()), len(run.advisories())) == (0, 0)


@pytest.mark.parametrize("vehicles", [1, 999, 1000, 1001, 3456])
def test_chunks_hold_every_row_once_in_order_of_vid_and_arrival(vehicles):
    vids = np.random.default_rng(3).permutation(np.repeat(np.arange(1, vehicles + 1), 3))
    rows = np.zeros(len(vids), dtype=RECORDED)
    rows["vid"], rows["t_s"] = vids, np.arange(len(vids))
    made, seen = chunks(rows)
    assert len(made) <= 1000
    assert seen.tolist() == list(range(1, vehicles + 1))
    back = np.frombuffer(b"".join(chunk.packed for chunk in made), dtype=RECORDED)
    assert back.tobytes() == rows[np.argsort(vids, kind="stable")].tobytes()
    for chunk in made:
        own = np.frombuffer(chunk.packed, dtype=RECORDED)
        assert (own["vid"].min(), own["vid"].max()) == (chunk.vid_first, chunk.vid_last)
        assert (own["t_s"].min(), own["t_s"].max(), len(own)) == (chunk.t_first_s, chunk.t_last_s, chunk.n)
