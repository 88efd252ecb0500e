"""What Core accepted reaches the recorder exactly once, whoever goes away in between. Real ZMQ on loopback."""

from typing import ClassVar

import pytest
import zmq

from core.record_link import RecordLink
from wire.errors import LinkError
from wire.record import Happened, unpack_batch


@pytest.fixture
def context():
    made = zmq.Context()
    yield made
    for recorder in Recorder.all:
        recorder.socket.close(linger=0)
    Recorder.all.clear()
    made.destroy(linger=0)


def event(n: int) -> Happened:
    return Happened(run_id="r", unix_s=0.0, t_s=float(n), what="note", detail={})


class Recorder:
    all: ClassVar[list["Recorder"]] = []

    def __init__(self, context, port: int) -> None:
        self.all.append(self)
        self.socket = context.socket(zmq.DEALER)
        self.socket.connect(f"tcp://127.0.0.1:{port}")

    def have(self, source: bytes, number: int) -> None:
        self.socket.send_multipart([b"have", source, b"%d" % number])

    def get(self, link: RecordLink, count: int) -> list[list[bytes]]:
        got: list[list[bytes]] = []
        for _ in range(200):
            link.serve()
            while self.socket.poll(5):
                got.append(self.socket.recv_multipart())
            if len(got) >= count:
                break
        return got


@pytest.fixture
def link(context):
    made = RecordLink(context, "127.0.0.1", 0, "core 1")
    yield made
    made.close()


def test_batches_come_in_order_and_are_kept_until_they_are_acknowledged(context, link):
    recorder = Recorder(context, link.port)
    recorder.have(b"", 0)
    assert recorder.get(link, 1) == [[b"core", b"core 1"]]
    for n in range(3):
        link.keep([event(n)])
    recorder.have(b"core 1", 0)
    got = recorder.get(link, 3)
    assert [(frames[0], frames[2]) for frames in got] == [(b"batch", b"1"), (b"batch", b"2"), (b"batch", b"3")]
    assert [unpack_batch(frames[3])[0].t_s for frames in got] == [0.0, 1.0, 2.0]
    assert link.waiting == 3
    recorder.have(b"core 1", 2)
    recorder.get(link, 1)
    assert link.waiting == 1


def test_a_new_recorder_gets_what_the_old_one_did_not_keep(context, link):
    old = Recorder(context, link.port)
    for n in range(5):
        link.keep([event(n)])
    old.have(b"core 1", 0)
    old.get(link, 5)
    old.have(b"core 1", 2)
    old.get(link, 1)
    new = Recorder(context, link.port)
    new.have(b"core 1", 2)
    assert [frames[2] for frames in new.get(link, 3)] == [b"3", b"4", b"5"]


def test_a_long_absence_is_caught_up_window_by_window(context, link):
    for n in range(200):
        link.keep([event(n)])
    recorder = Recorder(context, link.port)
    have = 0
    recorder.have(b"core 1", 0)
    while have < 200:
        for frames in recorder.get(link, 1):
            assert int(frames[2]) == have + 1
            have += 1
        recorder.have(b"core 1", have)
    recorder.get(link, 1)
    assert link.waiting == 0


def test_what_no_longer_fits_is_counted(context):
    link = RecordLink(context, "127.0.0.1", 0, "core 1", keep_bytes=200)
    for n in range(20):
        link.keep([event(n)])
    assert link.waiting > 0
    assert link.dropped_entries == 20 - link.waiting
    link.close()


def test_junk_on_the_record_port_is_ignored(context, link):
    stranger = Recorder(context, link.port)
    for frames in ([b"x"], [b"have", b"core 1", b"-1"], [b"have", b"core 1", b"9" * 30], [b"", b"", b""]):
        stranger.socket.send_multipart(frames)
    link.keep([event(1)])
    assert stranger.get(link, 1) == []
    assert link.waiting == 1


def test_a_port_in_use_is_one_sentence(context, link):
    with pytest.raises(LinkError, match="the port is in use"):
        RecordLink(context, "127.0.0.1", link.port, "core 2")
