"""Processes that `mve run` starts, watches and always ends."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import IO, Final

from wire.errors import LinkError

CHILD: Final = "MVE_CHILD"  # in a child's environment: end when the parent does


class Process:
    """One part of MoVE as a process of its own, away from the terminal's Ctrl-C."""

    def __init__(self, name: str, arguments: Sequence[str], *, speaks: bool = False) -> None:
        self.name = name
        self.arguments = list(arguments)
        self.restarts = 0
        self._speaks = speaks
        self._start()

    def _start(self) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "launcher.command", *self.arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if self._speaks else subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | {CHILD: str(os.getpid())},
        )

    def restart(self) -> None:
        self.restarts += 1
        self._close()
        self._start()

    def first_line(self, within_s: float) -> dict[str, object]:
        """The line of JSON that a part says once it listens. Raises LinkError when it ends before, having said why."""
        out: IO[bytes] = self._popen.stdout  # type: ignore[assignment]
        ready, _, _ = select.select([out], [], [], within_s)
        line = out.readline() if ready else b""
        if not line:
            raise LinkError(f"the {self.name} did not start")
        said = json.loads(line)
        assert isinstance(said, dict)
        return said

    @property
    def code(self) -> int | None:
        """How it ended, None while it runs."""
        return self._popen.poll()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def end(self, within_s: float) -> None:
        """Wait for its own end, then ask, then insist."""
        until_s = time.monotonic() + within_s
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None and self._popen.poll() is None:
                self._popen.send_signal(number)
            try:
                self._popen.wait(max(0.1, until_s - time.monotonic()))
                break
            except subprocess.TimeoutExpired:
                until_s = time.monotonic() + 3.0
        self._close()

    def _close(self) -> None:
        if self._popen.stdout is not None:
            self._popen.stdout.close()
