"""What only the embedded record can run into: locks, full disks, removed files, damaged blobs, readers beside the writer."""

import resource
import sqlite3
import subprocess
import sys
from itertools import pairwise

import pytest

from recording.sqlite_store import SqliteStore
from recording.store import open_store
from tests.recording.builders import RUN, begins, came, ends, happened, state_rows, went
from wire.errors import RecordError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def store(path):
    with SqliteStore(path, create=True, busy_s=0.05) as opened:
        yield opened


def blobs(path):
    db = sqlite3.connect(path)
    found = db.execute("SELECT vid_first, vid_last, t_first_s, t_last_s, n, length(rows) FROM chunks ORDER BY chunk").fetchall()
    db.close()
    return found


def test_each_vehicle_has_a_blob_of_its_own_in_a_transaction(store, path):
    store.write([(1, [begins(), came(state_rows([7, 2], t_s=0.5)), came(state_rows([2, 7], t_s=[0.6, 0.4]))])], "core-1")
    assert blobs(path) == [(2, 2, 0.5, 0.6, 2, 208), (7, 7, 0.4, 0.5, 2, 208)]


@pytest.mark.parametrize(("vehicles", "count"), [(1000, 1000), (1001, 501), (2500, 834), (10_000, 1000)])
def test_a_large_fleet_shares_at_most_a_thousand_blobs(store, path, vehicles, count):
    store.write([(1, [begins(), came(state_rows(range(1, vehicles + 1)))])], "core-1")
    found = blobs(path)
    assert len(found) == count
    assert sum(n for *_, n, _ in found) == vehicles
    assert all(last < first for (_, last, *_), (first, *_) in pairwise(found))


def test_a_reader_sees_whole_transactions_while_the_writer_goes_on(store, path):
    store.write([(1, [begins(), came(state_rows([1, 2, 3]))])], "core-1")
    with open_store(path) as reader:
        run = reader.run(RUN)
        assert len(run.rows()) == 3
        for number in range(2, 30):
            store.write([(number, [came(state_rows([1, 2, 3], t_s=number))])], "core-1")
            assert reader.run(RUN).info.row_count == len(run.rows()) == 3 * number


def test_a_reader_in_the_middle_of_a_run_does_not_stop_the_writer(store, path):
    for number in range(1, 4):
        store.write([(number, [begins(), came(state_rows(range(1, 40_001), t_s=number))])], "core-1")
    with open_store(path) as reader:
        reading = reader.run(RUN).iter_rows()
        first = next(reading)
        store.write([(4, [came(state_rows([1], t_s=9.0)), ends()])], "core-1")
        assert len(first) + sum(len(rows) for rows in reading) == 120_000


def test_another_writer_makes_this_one_wait_and_then_say_so(store, path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RecordError, match="is locked by another program"):
        store.write([(1, [begins()])], "core-1")
    assert store.last_batch("core-1") == 0  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    store.write([(1, [begins()])], "core-1")
    assert store.last_batch("core-1") == 1


def test_a_full_disk_is_an_error_that_costs_nothing_and_passes(store, path):
    store.write([(1, [begins()])], "core-1")
    much = [came(state_rows(range(1, 5001), t_s=t_s)) for t_s in range(10)]
    (pages,) = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(RecordError, match="the disk is full"):
        store.write([(2, much)], "core-1")
    assert store.last_batch("core-1") == 1
    assert store.run(RUN).info.row_count == 0
    store._db.execute("PRAGMA max_page_count = 1000000")
    store.write([(2, much)], "core-1")
    assert store.run(RUN).info.row_count == 50_000


def test_a_limit_on_the_size_of_files_is_an_error_that_costs_nothing_and_passes(store):
    store.write([(1, [begins()])], "core-1")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        with pytest.raises(RecordError, match="the disk reports an error"):
            store.write([(2, [came(state_rows(range(1, 10_001)))])], "core-1")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    store.write([(2, [came(state_rows(range(1, 10_001)))])], "core-1")
    assert store.run(RUN).info.row_count == 10_000


@pytest.mark.parametrize("replaced", [False, True])
def test_a_record_that_was_removed_while_open_takes_no_more_rows(store, path, replaced):
    store.write([(1, [begins()])], "core-1")
    path.rename(path.with_name("moved"))
    if replaced:
        path.touch()
    with pytest.raises(RecordError, match="was removed or replaced"):
        store.write([(2, [came(state_rows([1]))])], "core-1")


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE chunks SET rows = x'00'", lambda run: run.rows()),
        ("UPDATE chunks SET rows = x'00'", lambda run: list(run.iter_rows())),
        ("UPDATE chunks SET rows = 'text'", lambda run: run.rows(1)),
        ("UPDATE advisories SET rows = x'00'", lambda run: run.advisories()),
        ("UPDATE events SET detail = '{'", lambda run: run.events()),
        ("UPDATE events SET detail = '[1]'", lambda run: run.events()),
        ("UPDATE runs SET vids = x'00'", lambda run: run.vids()),
        ("DROP TABLE chunks", lambda run: run.rows()),
    ],
)
def test_damaged_content_is_an_error_in_one_sentence(store, statement, read):
    store.write([(1, [begins(), came(state_rows([1])), went([1]), happened("note")])], "core-1")
    run = store.run(RUN)
    store._db.execute(statement)
    with pytest.raises(RecordError, match=r"is damaged|cannot be used"):
        read(run)


@pytest.mark.parametrize("column", ["head", "summary"])
def test_a_damaged_head_names_the_run(store, column):
    store.write([(1, [begins(), ends()])], "core-1")
    store._db.execute(f"UPDATE runs SET {column} = 'no json'")
    with pytest.raises(RecordError, match=f"is damaged: the head of run {RUN}"):
        store.runs()


def test_a_closed_store_says_that_it_cannot_be_used(path):
    store = SqliteStore(path, create=True)
    store.close()
    with pytest.raises(RecordError, match="cannot be used"):
        store.runs()


def test_a_writer_that_is_killed_leaves_whole_transactions(path):
    """kill -9 at any moment: what was committed is there, the rest is not, the file opens."""
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\n"
            "from recording.store import open_store\n"
            "from tests.recording.builders import begins, came, state_rows\n"
            "store = open_store(sys.argv[1], create=True)\n"
            "for number in range(1, 1_000_000):\n"
            "    store.write([(number, [begins(), came(state_rows(range(1, 501), t_s=number))])], 'core-1')\n"
            "    print(number, flush=True)\n",
            str(path),
        ],
        stdout=subprocess.PIPE,
    )
    with writer:
        said = [int(writer.stdout.readline()) for _ in range(20)]
        writer.kill()
    with open_store(path) as store:
        held = store.last_batch("core-1")
        assert held >= said[-1]
        assert store.run(RUN).info.row_count == len(store.run(RUN).rows()) == 500 * held
