"""The sockets of a Core: vehicles, control, publication, record."""

import json
import logging
from types import TracebackType
from typing import Any, NamedTuple, Self

import zmq

from core.hub import Hub, Outbox
from core.record_link import RecordLink, bind
from wire.errors import CommandError
from wire.publish import pack_published, to_json
from wire.udp import UdpSocket

log = logging.getLogger(__name__)


class Ports(NamedTuple):
    """Where Core listens. 0 takes any free port."""

    host: str = "127.0.0.1"
    udp: int = 6600
    control: int = 6601
    publish: int = 6602
    record: int = 6603


class Doors:
    """Everything but the vehicle link: the same in real time and in lockstep."""

    def __init__(self, ports: Ports, source: str) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        try:
            self.control = self._context.socket(zmq.ROUTER)
            self.control.setsockopt(zmq.LINGER, 200)
            control = bind(self.control, ports.host, ports.control)
            self.publisher = self._context.socket(zmq.PUB)
            self.publisher.setsockopt(zmq.LINGER, 200)
            self.publisher.setsockopt(zmq.SNDHWM, 20)  # a slow reader misses frames, Core waits for nobody
            publish = bind(self.publisher, ports.host, ports.publish)
            self.record = RecordLink(self._context, ports.host, ports.record, source)
        except BaseException:
            self._context.destroy(linger=0)
            raise
        self.ports = ports._replace(control=control, publish=publish, record=self.record.port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        self.record.close()
        self._context.destroy(linger=200)

    def bind_lockstep(self) -> "zmq.Socket[bytes]":
        """The vehicle link of lockstep: TCP on the number that UDP has in real time."""
        link = self._context.socket(zmq.ROUTER)
        link.setsockopt(zmq.LINGER, 500)
        self.ports = self.ports._replace(udp=bind(link, self.ports.host, self.ports.udp))
        return link

    def answer(self, hub: Hub, now_s: float) -> None:
        """Every command that has come, each with its answer."""
        while True:
            try:
                identity, *frames = self.control.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            reply = self._reply(hub, frames[-1] if frames else b"", now_s)
            self.control.send_multipart([identity, *frames[:-1], to_json(reply)], zmq.NOBLOCK)

    def flush(self, out: Outbox) -> None:
        for item in out.published:
            self.publisher.send_multipart(pack_published(item), zmq.NOBLOCK)
        self.record.keep(out.entries)
        self.record.serve()

    def _reply(self, hub: Hub, data: bytes, now_s: float) -> dict[str, Any]:
        try:
            request = json.loads(data)
            word, text = str(request["do"]), str(request.get("text", ""))
        except (ValueError, KeyError, TypeError, RecursionError):
            return {"ok": False, "text": 'a command is JSON like {"do": "go"}'}
        if word == "info":
            return {"ok": True, "text": "", **self._info(hub, now_s)}
        try:
            return {"ok": True, "text": hub.command(word, now_s, text), "run_id": hub.run.run_id}
        except CommandError as err:
            return {"ok": False, "text": str(err)}

    def _info(self, hub: Hub, now_s: float) -> dict[str, Any]:
        return {
            "ports": self.ports._asdict(),
            "run_state": hub.run.state.name,
            "run_id": hub.run.run_id,
            "t_s": hub.run.t_s(now_s),
            "vehicles": int(hub.state.reported.sum()),
            "expected": hub.settings.expected,
            "behind": sum(peer.echo < hub.run.number for peer in hub.peers.all if now_s - peer.heard_s < hub.settings.lost_s),
            "beat_s": hub.settings.beat_s,
            "record_waiting": self.record.waiting,
            "record_dropped": self.record.dropped_entries,
            "tally": hub.tally.summary(),
        }


def udp_at(ports: Ports) -> UdpSocket:
    return UdpSocket((ports.host, ports.udp))
