"""The recorder over real ZMQ, in its own process, killed in the middle."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
import zmq

from recording.recorder import run_recorder
from recording.store import open_store
from tests.recording.builders import RUN, begins, came, ends, happened, state_bytes, state_rows
from wire.record import pack_batch

RECORDER = """
import signal, sys, threading
from recording.recorder import run_recorder
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
sys.exit(run_recorder(sys.argv[1], sys.argv[2], stop))
"""
VIDS = range(1, 21)
DEADLINE_S = 30.0


class CoreStandIn:
    """Core's end of the link: keeps every batch until it is acknowledged, and sends it again to a recorder that came back."""

    def __init__(self, source=b"core-1"):
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = 0
        self.endpoint = f"tcp://127.0.0.1:{self._socket.bind_to_random_port('tcp://127.0.0.1')}"
        self._source = source
        self._kept = {}
        self._recorder = b""
        self._sent = 0
        self.number = 0
        self.have = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
        self._context.term()

    def keep(self, *entries):
        self.number += 1
        self._kept[self.number] = pack_batch(list(entries))

    def turn(self, wait_s=0.005):
        if self._socket.poll(wait_s * 1000):
            identity, word, source, number = self._socket.recv_multipart()
            assert word == b"have"
            if source != self._source:
                self._socket.send_multipart([identity, b"core", self._source])
                return
            self.have = max(self.have, int(number))
            if identity != self._recorder:
                self._recorder, self._sent = identity, int(number)
            self._kept = {n: data for n, data in self._kept.items() if n > self.have}
        for number, data in self._kept.items():
            if self._recorder and number > self._sent:
                self._socket.send_multipart([self._recorder, b"batch", self._source, b"%d" % number, data])
                self._sent = number

    def until(self, reached):
        deadline_s = time.monotonic() + DEADLINE_S
        while not reached():
            assert time.monotonic() < deadline_s
            self.turn()

    def end(self):
        self._socket.send_multipart([self._recorder, b"end"])


@pytest.fixture
def core():
    with CoreStandIn() as stand_in:
        yield stand_in


def start(endpoint, path):
    return subprocess.Popen([sys.executable, "-c", RECORDER, endpoint, str(path)])


def test_one_run_from_begin_to_end_over_a_real_link(core, tmp_path):
    codes = []
    recorder = threading.Thread(
        target=lambda: codes.append(run_recorder(core.endpoint, str(tmp_path / "runs"), threading.Event()))
    )
    recorder.start()
    core.keep(begins(seed=7))
    core.keep(came(state_rows(VIDS)))
    core.keep(ends())
    core.until(lambda: core.have == 3)
    core.end()
    recorder.join(DEADLINE_S)
    assert codes == [0]
    with open_store(tmp_path / "runs") as store:
        assert (store.run(RUN).info.state, store.run(RUN).info.row_count) == ("complete", len(VIDS))


def test_a_recorder_that_is_killed_again_and_again_records_every_row_once(core, tmp_path):
    """kill -9 at moments drawn at random; the readers look on."""
    path = tmp_path / "runs"
    chance = random.Random(5)
    beats = [state_rows(VIDS, t_s=number, seed=number) for number in range(300)]
    core.keep(begins())
    recorder = start(core.endpoint, path)
    try:
        for kills in range(1, 4):
            for rows in beats[(kills - 1) * 100 : kills * 100]:
                core.keep(came(rows))
                core.turn(0.001)
            some = core.have + chance.randrange(1, 40)  # enough that it is at work, not so much that it is done
            core.until(lambda some=some: core.have >= min(some, core.number - 30))
            recorder.kill()
            assert recorder.wait() == -signal.SIGKILL
            with open_store(path) as store:  # whole, and all that was acknowledged
                assert store.last_batch("core-1") >= core.have
                assert store.run(RUN).info.state == "incomplete"
            recorder = start(core.endpoint, path)
        core.keep(ends())
        core.until(lambda: core.have == core.number)
        core.end()
        assert recorder.wait(DEADLINE_S) == 0
    finally:
        recorder.kill()
        recorder.wait()
    with open_store(path) as store:
        run = store.run(RUN)
        assert run.info.state == "complete"
        assert run.info.row_count == len(VIDS) * len(beats)
        for vid in (1, 13, 20):
            assert state_bytes(run.rows(vid)) == b"".join(rows[rows["vid"] == vid].tobytes() for rows in beats)


def test_sigterm_writes_what_has_arrived_and_leaves_with_zero(core, tmp_path):
    recorder = start(core.endpoint, tmp_path / "runs")
    try:
        core.keep(begins(), came(state_rows(VIDS)))
        core.until(lambda: core.have == 1)
        core.keep(happened("last words"))
        core.turn()
        time.sleep(0.05)  # for the frames to cross, well within the flush time
        os.kill(recorder.pid, signal.SIGTERM)
        core.until(lambda: core.have == 2)
        assert recorder.wait(DEADLINE_S) == 0
    finally:
        recorder.kill()
        recorder.wait()
    with open_store(tmp_path / "runs") as store:
        assert [event.what for event in store.run(RUN).events()] == ["last words"]
