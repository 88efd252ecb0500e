"""The loop, with a link in memory and a counted clock: no sleep, no port."""

import logging
import threading

import pytest

from recording import recorder
from recording.link import MemoryLink
from recording.recorder import Served, run_recorder, serve
from recording.store import open_store
from tests.recording.builders import RUN, CountedClock, batch_frames, begins, came, ends, happened, state_rows
from wire.errors import LinkError, RecordError

CORE = [b"core", b"core-1"]
END = [b"end"]


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "runs", create=True) as opened:
        yield opened


class Failing:
    """A store that refuses a number of writes before it takes one."""

    def __init__(self, store, refusals, sentence="the disk is full"):
        self._store = store
        self._refusals = refusals
        self._sentence = sentence
        self.tried_s = []
        self.clock = CountedClock()

    def write(self, batches, source):
        self.tried_s.append(self.clock.t_s)
        if self._refusals:
            self._refusals -= 1
            raise RecordError(self._sentence)
        self._store.write(batches, source)

    def last_batch(self, source):
        return self._store.last_batch(source)


class Written:
    """A store in memory that notes how much each write brought."""

    def __init__(self, clock=None):
        self.writes = []
        self.when_s = []
        self._clock = clock

    def write(self, batches, source):
        self.writes.append([number for number, _ in batches])
        if self._clock:
            self.when_s.append(self._clock.t_s)

    def last_batch(self, source):
        return max((number for write in self.writes for number in write), default=0)


class StoppingLink(MemoryLink):
    """Sets `stop` when the recorder looks for its n-th message."""

    def __init__(self, arriving, stop, after):
        super().__init__(arriving)
        self._stop = stop
        self._left = after

    def receive(self, timeout_s):
        self._left -= 1
        if self._left == 0:
            self._stop.set()
        return super().receive(timeout_s)


def record(frames, store, *, clock=None, flush_s=0.5):
    link = MemoryLink(frames)
    served = serve(link, store, threading.Event(), flush_s=flush_s, now=clock or CountedClock())
    return link.sent, served


def test_all_that_core_says_is_on_disk_and_acknowledged_at_the_end(store):
    rows = [state_rows([1, 2], t_s=t_s, seed=t_s) for t_s in range(3)]
    batches = [[begins()], *([came(one)] for one in rows), [ends()]]
    frames = [CORE, *(batch_frames(number, batch) for number, batch in enumerate(batches, start=1)), END]
    sent, served = record(frames, store)
    assert served == Served(written=5, unreadable=0, ignored=0, left=0)
    assert sent[0] == [b"have", b"", b"0"]
    assert sent[1] == [b"have", b"core-1", b"0"]
    assert sent[-1] == [b"have", b"core-1", b"5"]
    assert store.run(RUN).info.state == "complete"
    assert store.run(RUN).rows(1)["t_s"].tolist() == [0.0, 1.0, 2.0]


def test_an_end_with_nothing_to_write_is_answered_and_leaves(store):
    sent, served = record([CORE, END], store)
    assert sent[-1] == [b"have", b"core-1", b"0"]
    assert served == Served(0, 0, 0, 0)


def test_a_batch_is_written_within_the_flush_time():
    clock = CountedClock()
    store = Written(clock)
    stop = threading.Event()
    link = StoppingLink([CORE, batch_frames(1, [])], stop, after=40)
    arrived_s = clock.t_s
    serve(link, store, stop, flush_s=0.2, now=clock)
    assert store.writes == [[1]]
    assert 0.2 <= store.when_s[0] - arrived_s < 0.4


def test_batches_that_arrive_close_together_are_written_together():
    store = Written()
    record([CORE, *(batch_frames(number, []) for number in range(1, 8)), END], store)
    assert store.writes == [[1, 2, 3, 4, 5, 6, 7]]


def test_much_data_is_written_before_its_time_and_in_pieces(monkeypatch):
    monkeypatch.setattr(recorder, "FLUSH_BYTES", 20_000)
    store = Written()
    many = [batch_frames(number, [came(state_rows(range(1, 101)))]) for number in range(1, 8)]  # 9.6 kB each
    record([CORE, *many, END], store, flush_s=1e9)
    assert store.writes == [[1, 2, 3], [4, 5, 6], [7]]


def test_core_is_told_again_and_again_what_is_on_disk():
    store = Written()
    stop = threading.Event()
    clock = CountedClock()
    link = StoppingLink([CORE], stop, after=200)
    serve(link, store, stop, now=clock)
    said = [frames for frames in link.sent if frames == [b"have", b"core-1", b"0"]]
    assert len(said) == pytest.approx(clock.t_s / 0.5, rel=0.2)


def test_a_gap_is_not_written_past_and_is_filled_when_core_sends_it_again(store):
    one, two, three = ([happened(word)] for word in ("one", "two", "three"))
    frames = [CORE, *(batch_frames(n, e) for n, e in ((1, one), (3, three), (2, two), (3, three), (2, two))), END]
    sent, served = record(frames, store)
    assert [event.what for event in store.run(RUN).events()] == ["one", "two", "three"]
    assert served == Served(written=3, unreadable=0, ignored=2, left=0)
    assert sent[-1] == [b"have", b"core-1", b"3"]


def test_a_recorder_that_comes_back_takes_what_is_new(store):
    first = [[begins()], [came(state_rows([1]))]]
    record([CORE, *(batch_frames(number, entries) for number, entries in enumerate(first, start=1)), END], store)
    again = [*first, [came(state_rows([1], t_s=0.1))]]
    sent, _ = record([CORE, *(batch_frames(number, entries) for number, entries in enumerate(again, start=1)), END], store)
    assert sent[1] == [b"have", b"core-1", b"2"]
    assert store.run(RUN).rows()["t_s"].tolist() == [0.0, 0.1]


def test_a_batch_that_cannot_be_read_does_not_block_those_after_it(store):
    bad = [b"batch", b"core-1", b"1", b"\xc1"]
    sent, served = record([CORE, bad, batch_frames(2, [happened("note")]), END], store)
    assert sent[-1] == [b"have", b"core-1", b"2"]
    assert served.unreadable == 1
    assert [event.what for event in store.run(RUN).events()] == ["note"]


def test_junk_on_the_link_costs_a_log_line_and_no_more(store):
    _, served = record([[b"?"], [], CORE, [b"batch"], batch_frames(1, [begins()]), END], store)
    assert served == Served(written=1, unreadable=0, ignored=3, left=0)


def test_a_full_disk_costs_time_and_no_row(store, caplog):
    caplog.set_level(logging.INFO)
    failing = Failing(store, refusals=30)
    rows = [state_rows([1], t_s=t_s) for t_s in range(3)]
    frames = [CORE, *(batch_frames(number, [came(one)]) for number, one in enumerate(rows, start=1)), END]
    sent, served = record(frames, failing, clock=failing.clock)
    assert store.run(RUN).rows()["t_s"].tolist() == [0.0, 1.0, 2.0]
    assert served == Served(written=3, unreadable=0, ignored=0, left=0)
    assert sent[-1] == [b"have", b"core-1", b"3"]
    assert all(frames[2] == b"0" for frames in sent[:-1])  # nothing is acknowledged before it is on disk
    trouble_s = failing.tried_s[-1] - failing.tried_s[0]
    told = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert trouble_s > 14.0  # tried twice a second
    assert len(told) == pytest.approx(trouble_s / 5.0, abs=1.5)  # told every five
    assert told[0].getMessage() == "the disk is full; 3 batches wait and are tried again"
    assert caplog.messages.count("the record can be written again") == 1


def test_a_store_that_cannot_even_be_asked_is_asked_again(store, caplog):
    class Deaf(Failing):
        deaf_until_s = 3.0

        def last_batch(self, source):
            if self.clock.t_s < self.deaf_until_s:
                raise RecordError("the disk reports an error")
            return super().last_batch(source)

    deaf = Deaf(store, refusals=0)
    stop = threading.Event()
    link = StoppingLink([CORE, batch_frames(1, [begins()])], stop, after=300)
    serve(link, deaf, stop, now=deaf.clock)
    assert link.sent[-1] == [b"have", b"core-1", b"0"]  # so that Core sends the batch once more
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1


def test_a_stop_writes_what_has_arrived_and_leaves(store):
    stop = threading.Event()
    stop.set()
    link = MemoryLink([CORE, batch_frames(1, [begins()]), batch_frames(2, [happened("note")])])
    served = serve(link, store, stop, now=CountedClock())
    assert served == Served(written=2, unreadable=0, ignored=0, left=0)
    assert link.sent[-1] == [b"have", b"core-1", b"2"]


def test_a_stop_is_heard_while_core_talks_without_pause(store):
    class Talking(MemoryLink):
        number = 0

        def receive(self, timeout_s):
            self.number += 1
            return batch_frames(self.number, [happened("note")])

    stop = threading.Event()
    stop.set()
    served = serve(Talking(), store, stop, now=CountedClock(tick_s=0.1))
    assert served.left == 0
    assert served.written > 0


def test_a_stop_while_the_disk_is_full_gives_up_in_the_end_and_says_what_is_left(store, caplog):
    failing = Failing(store, refusals=10**9)
    stop = threading.Event()
    stop.set()
    link = MemoryLink([CORE, batch_frames(1, [begins()])])
    served = serve(link, failing, stop, now=failing.clock)
    assert served == Served(written=0, unreadable=0, ignored=0, left=1)
    assert caplog.messages[-1] == "stopped with 1 batches that could not be written; Core still has them"
    assert [b"have", b"core-1", b"1"] not in link.sent


def test_an_end_while_the_disk_is_full_waits_for_the_disk(store):
    failing = Failing(store, refusals=100)
    _, served = record([CORE, batch_frames(1, [begins()]), END], failing, clock=failing.clock)
    assert served.left == 0
    assert store.last_batch("core-1") == 1


def test_a_recorder_that_cannot_begin_says_why(tmp_path):
    with pytest.raises(RecordError, match="is a folder"):
        run_recorder("tcp://127.0.0.1:6003", str(tmp_path), threading.Event())
    with pytest.raises(LinkError, match="cannot connect to Core"):
        run_recorder("nowhere", str(tmp_path / "runs"), threading.Event())
