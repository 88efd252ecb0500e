"""The vehicle process: a fleet's host behind a real socket and a real clock, in real time or in lockstep."""

import logging
import secrets
import select
import time
from collections.abc import Callable

import zmq

from vehicles.fleet import Fleet
from vehicles.host import Host
from wire.codec import unpack
from wire.errors import CodecError
from wire.messages import Beat
from wire.udp import Address, UdpSocket
from wire.words import RunState

log = logging.getLogger(__name__)


def make_host(fleet: Fleet, datagram_bytes: int) -> Host:
    return Host(fleet, sender=secrets.randbits(62), datagram_bytes=datagram_bytes, clock=time.monotonic, unix=time.time)


def run_realtime(host: Host, core: Address, stop: Callable[[], bool]) -> None:
    """Serve until STOP or `stop`. A datagram waits at most one beat: in GO the process wakes only to move."""
    with UdpSocket(receive_buffer=1 << 20) as link:
        while not host.finished and not stop():
            for data, sender in link.drain(1000):
                if sender == core:
                    host.receive(data)
            for data in host.tick():
                link.send(data, core)
            wait_s = host.due_s - time.monotonic()
            if wait_s <= 0.0:
                continue
            if host.order.state == RunState.GO:
                time.sleep(min(wait_s, 1.0))
            else:
                select.select([link], [], [], min(wait_s, 1.0))


def run_lockstep(host: Host, endpoint: str, stop: Callable[[], bool]) -> None:
    """Answer each beat of Core with the states of that beat, until STOP or `stop`."""
    context = zmq.Context()
    link = context.socket(zmq.DEALER)
    link.setsockopt(zmq.LINGER, 500)
    link.connect(endpoint)
    try:
        link.send_multipart(host.hello())
        while not host.finished and not stop():
            if not link.poll(200):
                continue
            frames = link.recv_multipart()
            beat = -1
            for frame in frames:
                host.receive(frame)
                beat = max(beat, _beat_of(frame))
            if beat >= 0:
                link.send_multipart(host.beat(beat))
    finally:
        link.close()
        context.term()


def _beat_of(frame: bytes) -> int:
    try:
        message = unpack(frame)
    except CodecError:
        return -1  # the host has counted it
    return message.beat if isinstance(message, Beat) else -1
