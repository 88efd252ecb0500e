import os
import sqlite3
import tempfile
import threading
from pathlib import Path

import pytest

from recording.sqlite_file import APPLICATION_ID, SCHEMA_VERSION, open_file
from recording.store import open_store
from tests.recording.builders import RUN, begins, came, ends, state_rows
from wire.errors import RecordError


def sentence_of(where, **how):
    with pytest.raises(RecordError) as caught:
        open_store(where, **how)
    sentence = str(caught.value)
    assert str(where) in sentence
    assert "\n" not in sentence
    return sentence


def test_the_file_says_whose_it_is_and_keeps_what_is_committed(tmp_path):
    with open_store(tmp_path / "runs", create=True) as store:
        store.write([(1, [begins()])], "core-1")
    db = sqlite3.connect(tmp_path / "runs")
    pragmas = {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version", "journal_mode")}
    db.close()
    assert pragmas == {"application_id": APPLICATION_ID, "user_version": SCHEMA_VERSION, "journal_mode": "wal"}
    db = open_file(tmp_path / "runs", create=False)
    assert db.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
    assert db.execute("PRAGMA busy_timeout").fetchone()[0] == 3000
    db.close()


def test_a_missing_record_is_an_error_and_is_not_made(tmp_path):
    assert "there is no record at" in sentence_of(tmp_path / "runs")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_record_is_made_with_its_folders_when_asked_for(tmp_path):
    open_store(tmp_path / "deep" / "down" / "runs", create=True).close()
    with open_store(tmp_path / "deep" / "down" / "runs") as store:
        assert store.runs() == []


def test_making_a_record_that_is_there_opens_it(tmp_path):
    for number in (1, 2):
        with open_store(str(tmp_path / "runs"), create=True) as store:
            store.write([(number, [begins(f"run-{number}")])], "core-1")
    with open_store(tmp_path / "runs") as store:
        assert len(store.runs()) == 2


def test_a_path_with_signs_that_mean_something_in_an_address_is_a_path(tmp_path):
    open_store(tmp_path / "50% of it?mode=ro#x", create=True).close()
    assert (tmp_path / "50% of it?mode=ro#x").exists()


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("content", [b"vid,t_s\n1,0.0\n" * 500, b"x", bytes(5000), b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_an_error_and_left_alone(tmp_path, content, create):
    path = tmp_path / "runs"
    path.write_bytes(content)
    sentence_of(path, create=create)
    assert path.read_bytes() == content


def test_an_empty_file_is_no_record_but_may_become_one(tmp_path):
    path = tmp_path / "runs"
    path.touch()
    assert "is an empty file" in sentence_of(path)
    open_store(path, create=True).close()
    open_store(path).close()


@pytest.mark.parametrize("create", [False, True])
def test_somebody_elses_database_is_an_error_and_left_alone(tmp_path, create):
    path = tmp_path / "theirs"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE bookmarks (url)")
    db.close()
    before = path.read_bytes()
    assert "not a record of MoVE" in sentence_of(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("version", "advice"), [(SCHEMA_VERSION + 1, "or a newer one"), (0, "the MoVE that recorded it")])
def test_a_record_of_another_layout_is_an_error_that_names_both(tmp_path, version, advice):
    open_store(tmp_path / "runs", create=True).close()
    db = sqlite3.connect(tmp_path / "runs")
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
    sentence = sentence_of(tmp_path / "runs")
    assert f"has layout {version} and this MoVE reads layout {SCHEMA_VERSION}" in sentence
    assert sentence.endswith(advice)


def test_a_folder_is_no_record(tmp_path):
    assert "is a folder" in sentence_of(tmp_path)
    assert "is a folder" in sentence_of(tmp_path, create=True)


def test_a_path_below_a_file_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    assert "cannot be opened: " in sentence_of(tmp_path / "file" / "runs", create=True)


def test_a_path_that_no_system_knows_is_an_error():
    with pytest.raises(RecordError, match=r"cannot be opened|there is no record"):
        open_store("nul\0byte")


def test_a_database_with_a_broken_page_is_damaged(tmp_path):
    path = tmp_path / "runs"
    with open_store(path, create=True) as store:
        store.write([(1, [begins(), came(state_rows(range(1, 500)))])], "core-1")
    data = bytearray(path.read_bytes())
    data[16384:] = b"\xff" * len(data[16384:])  # all but the first page
    path.write_bytes(data)
    with pytest.raises(RecordError, match="is damaged"), open_store(path) as store:
        store.runs()


def test_two_that_make_the_same_record_at_once_take_turns(tmp_path):
    troubles = []
    gate = threading.Barrier(4)

    def make(number):
        gate.wait()
        try:
            with open_store(tmp_path / "runs", create=True) as store:
                store.write([(1, [begins(f"run-{number}")])], f"core-{number}")
        except RecordError as err:
            troubles.append(err)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    with open_store(tmp_path / "runs") as store:
        assert len(store.runs()) == 4


@pytest.fixture
def public_folder():
    """A folder that anybody may reach; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs users and rights")
def test_a_record_that_may_only_be_read_can_be_read_and_not_written(public_folder):
    path = public_folder / "runs"
    with open_store(path, create=True) as store:
        store.write([(1, [begins(), came(state_rows([1])), ends()])], "core-1")
    path.chmod(0o444)
    public_folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)  # nobody: root may write everywhere
    try:
        with open_store(path) as store:
            assert store.run(RUN).rows()["vid"].tolist() == [1]
            with pytest.raises(RecordError, match="there is no permission to write it"):
                store.write([(2, [])], "core-1")
        with pytest.raises(RecordError):
            open_store(public_folder / "other", create=True)
    finally:
        if root:
            os.seteuid(0)
