import logging

import pytest

from recording.intake import Intake
from tests.recording.builders import batch_frames, begins, came, happened, state_rows
from wire.codec import pack_entries
from wire.errors import RecordError
from wire.record import RowsCame


@pytest.fixture
def held():
    """What the store holds, by source; the tests write to it."""
    return {}


@pytest.fixture
def intake(held):
    return Intake(lambda source: held.get(source, 0))


def queued(intake):
    return [(source, waiting.number) for source, waiting in _all(intake)]


def _all(intake):
    if not len(intake):
        return []
    source, batches = intake.next_write(10**9)
    return [(source, waiting) for waiting in batches]


def test_before_core_has_spoken_the_recorder_says_only_that_it_is_there(intake):
    assert intake.have() == [b"have", b"", b"0"]


def test_core_is_told_at_once_what_is_on_disk_of_its_source(intake, held):
    held["core-7"] = 41
    assert intake.take([b"core", b"core-7"]) is True
    assert intake.have() == [b"have", b"core-7", b"41"]


def test_batches_are_queued_in_order_and_acknowledged_only_when_written(intake, held):
    for number in (1, 2, 3):
        assert intake.take(batch_frames(number, [happened("note")])) is False
    assert queued(intake) == [("core-1", 1), ("core-1", 2), ("core-1", 3)]
    assert intake.have() == [b"have", b"core-1", b"0"]
    held["core-1"] = 3
    intake.written(intake.next_write(10**9)[1])
    assert (len(intake), intake.size) == (0, 0)
    assert intake.have() == [b"have", b"core-1", b"3"]
    intake.take(batch_frames(4, []))
    assert queued(intake) == [("core-1", 4)]


def test_numbering_goes_on_from_what_the_store_holds(intake, held):
    held["core-1"] = 10
    assert [intake.take(batch_frames(number, [])) for number in (10, 11, 12)] == [True, False, False]
    assert queued(intake) == [("core-1", 11), ("core-1", 12)]


def test_what_comes_after_a_gap_is_ignored_and_core_is_told_once(intake):
    intake.take(batch_frames(1, []))
    assert [intake.take(batch_frames(number, [])) for number in (3, 4, 5)] == [True, False, False]
    assert queued(intake) == [("core-1", 1)]
    assert [intake.take(batch_frames(number, [])) for number in (2, 3)] == [False, False]
    assert queued(intake) == [("core-1", 1), ("core-1", 2), ("core-1", 3)]
    assert intake.take(batch_frames(9, [])) is True  # a new gap is told anew
    assert intake.ignored == 4


def test_a_batch_that_is_queued_already_is_ignored(intake):
    for number in (1, 2, 1, 2):
        intake.take(batch_frames(number, []))
    assert queued(intake) == [("core-1", 1), ("core-1", 2)]


def test_a_restarted_core_has_a_count_of_its_own_and_the_old_batches_are_kept(intake):
    intake.take(batch_frames(1, [], source=b"old"))
    intake.take([b"core", b"new"])
    intake.take(batch_frames(1, [], source=b"new"))
    assert intake.have() == [b"have", b"new", b"0"]
    source, batches = intake.next_write(10**9)
    assert (source, [waiting.number for waiting in batches]) == ("old", [1])
    intake.written(batches)
    assert queued(intake) == [("new", 1)]


def test_a_write_takes_no_more_than_it_is_told(intake):
    for number in range(1, 6):
        intake.take(batch_frames(number, [came(state_rows(range(1, 101)))]))
    _, batches = intake.next_write(15_000)  # 9.6 kB each
    assert [waiting.number for waiting in batches] == [1, 2]


def test_a_queue_that_is_full_leaves_the_rest_to_core(held):
    intake = Intake(lambda source: held.get(source, 0), queue_max_bytes=25_000)
    for number in range(1, 6):
        intake.take(batch_frames(number, [came(state_rows(range(1, 101)))]))
    assert queued(intake) == [("core-1", 1), ("core-1", 2)]
    held["core-1"] = 2
    intake.written(intake.next_write(10**9)[1])
    intake.take(batch_frames(3, [came(state_rows(range(1, 1001)))]))  # larger than the queue: taken alone
    assert queued(intake) == [("core-1", 3)]


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", b"\xff" * 50, pack_entries([["Unknown", 1]]), pack_entries([["RowsCame", 1, 2, 3]])]
)
def test_a_batch_that_cannot_be_read_is_acknowledged_counted_and_told(intake, data, caplog):
    intake.take([b"batch", b"core-1", b"1", data])
    intake.take(batch_frames(2, [happened("note")]))
    assert queued(intake) == [("core-1", 1), ("core-1", 2)]
    assert _all(intake)[0][1].entries == []
    assert intake.unreadable == 1
    (told,) = caplog.records
    assert told.levelno == logging.ERROR
    assert told.getMessage().startswith("batch 1 of core-1 cannot be recorded whole: 0 entries kept, refused: ")


def test_one_bad_entry_does_not_cost_the_others(intake, caplog):
    good = [begins(), came(state_rows([1]))]
    cut = RowsCame(run_id="r", unix_s=0.0, packed=b"cut")
    intake.take(batch_frames(1, [good[0], cut, happened("note", x=float("nan")), good[1]]))
    assert _all(intake)[0][1].entries == good
    assert intake.unreadable == 1
    assert "2 entries kept, refused: cut row: 3 bytes are not whole rows of 96; wrong shape: " in caplog.text


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [b""],
        [b"hello"],
        [b"core"],
        [b"core", b""],
        [b"core", b"\xff"],
        [b"end", b"now"],
        [b"batch", b"core-1", b"1"],
        [b"batch", b"", b"1", b"\x90"],
        [b"batch", b"core-1", b"one", b"\x90"],
        [b"batch", b"core-1", b"-1", b"\x90"],
        [b"batch", b"core-1", "²".encode(), b"\x90"],
        [b"batch", b"core-1", b"1" * 19, b"\x90"],
    ],
)
def test_what_is_not_understood_is_told_counted_and_changes_nothing(intake, frames, caplog):
    assert intake.take(frames) is False
    assert (len(intake), intake.ignored, intake.ended) == (0, 1, False)
    assert caplog.messages[0].startswith("a message from Core was ignored: ")
    assert intake.have() == [b"have", b"", b"0"]


def test_the_end_is_noticed(intake):
    intake.take([b"end"])
    assert intake.ended


def test_a_store_that_cannot_be_asked_is_an_error_and_costs_only_the_asking():
    def fail(_):
        raise RecordError("the disk reports an error")

    intake = Intake(fail)
    intake.take([b"core", b"core-1"])
    with pytest.raises(RecordError):
        intake.have()
    with pytest.raises(RecordError):
        intake.take(batch_frames(1, []))
    assert len(intake) == 0
