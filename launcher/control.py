"""Talk to a running Core: commands and questions, each with its answer."""

import json
from types import TracebackType
from typing import Any, Final, Self

import zmq

from wire.errors import CommandError, LinkError
from wire.publish import to_json

CORE: Final = "127.0.0.1:6601"  # the control port of a Core with default settings
WAIT_S: Final = 3.0


class Control:
    """`with` closes it. A Core that does not answer is a LinkError, a refused command a CommandError."""

    def __init__(self, address: str, wait_s: float = WAIT_S) -> None:
        host, colon, port = address.removeprefix("tcp://").rpartition(":")
        if not colon or not port.isdigit() or not 0 < int(port) < 65536:
            raise LinkError(f"{address!r} is no address of a Core's control port; it looks like {CORE}")
        self.host = host
        self.address = f"{host}:{port}"
        self._wait_ms = int(1000 * wait_s)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._dial()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        self._context.destroy(linger=0)

    def ask(self, word: str, text: str = "") -> dict[str, Any]:
        answer = self._exchange({"do": word, "text": text})
        if not answer.get("ok"):
            raise CommandError(str(answer.get("text", "refused without a reason")))
        return answer

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        self._socket.send(to_json(request))
        if not self._socket.poll(self._wait_ms):
            self._socket.close(linger=0)
            self._socket = self._dial()
            raise LinkError(
                f"no Core answers at {self.address}; start one with `mve run SCENARIO`, or name it with --core HOST:PORT"
            )
        try:
            answer = json.loads(self._socket.recv())
        except ValueError as err:
            raise LinkError(f"what answers at {self.address} is no Core") from err
        if not isinstance(answer, dict):
            raise LinkError(f"what answers at {self.address} is no Core")
        return answer

    def _dial(self) -> "zmq.Socket[bytes]":
        link = self._context.socket(zmq.REQ)
        try:
            link.connect(f"tcp://{self.address}")
        except zmq.ZMQError as err:
            raise LinkError(f"cannot reach {self.address}: {err}") from err
        return link
