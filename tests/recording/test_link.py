"""One contract, for the link without a socket and for the real one on loopback."""

import time

import pytest
import zmq

from recording.link import MemoryLink, ZmqLink
from wire.errors import LinkError

WAIT_S = 5.0


class MemoryCore:
    """Core's end of a MemoryLink."""

    def __init__(self, link):
        self._link = link

    def send(self, frames):
        self._link.arriving.append(frames)

    def receive(self):
        return self._link.sent.pop(0)


class ZmqCore:
    """Core's end of a ZmqLink. Core can only answer: the recorder speaks first."""

    def __init__(self, router):
        self._router = router
        self._recorder = b""

    def send(self, frames):
        self._router.send_multipart([self._recorder, *frames])

    def receive(self):
        assert self._router.poll(WAIT_S * 1000)
        self._recorder, *frames = self._router.recv_multipart()
        return frames


@pytest.fixture(params=["memory", "zmq"])
def both_ends(request):
    if request.param == "memory":
        link = MemoryLink()
        yield link, MemoryCore(link)
        return
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router:
        router.linger = 0
        port = router.bind_to_random_port("tcp://127.0.0.1")
        with ZmqLink(f"tcp://127.0.0.1:{port}") as link:
            yield link, ZmqCore(router)


def test_what_the_recorder_says_reaches_core(both_ends):
    link, core = both_ends
    link.send([b"have", b"", b"0"])
    link.send([b"have", b"core-1", b"17"])
    assert [core.receive(), core.receive()] == [[b"have", b"", b"0"], [b"have", b"core-1", b"17"]]


def test_what_core_says_comes_in_order_frame_by_frame(both_ends):
    link, core = both_ends
    link.send([b"have", b"", b"0"])
    core.receive()
    said = [[b"core", b"s"], [b"batch", b"s", b"1", bytes(200_000)], [b"batch", b"s", b"2", b""], [b"end"]]
    for frames in said:
        core.send(frames)
    assert [link.receive(WAIT_S) for _ in said] == said


@pytest.mark.parametrize("timeout_s", [0.0, 0.01])
def test_silence_is_none(both_ends, timeout_s):
    link, _ = both_ends
    assert link.receive(timeout_s) is None


def test_speaking_to_a_core_that_is_away_does_not_block():
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router:
        port = router.bind_to_random_port("tcp://127.0.0.1")
    began_s = time.monotonic()
    with ZmqLink(f"tcp://127.0.0.1:{port}") as link:
        for _ in range(1000):
            link.send([b"have", b"core-1", b"1"])
        assert time.monotonic() - began_s < 0.5


@pytest.mark.parametrize("endpoint", ["", "127.0.0.1:6000", "udp://127.0.0.1:6000", "tcp://127.0.0.1"])
def test_an_address_that_is_none_is_an_error_in_one_sentence(endpoint):
    with pytest.raises(LinkError, match="cannot connect to Core at"):
        ZmqLink(endpoint)
