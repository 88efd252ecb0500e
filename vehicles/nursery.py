"""Vehicle processes forked from one parent that has everything loaded: a thousand starts a second, memory shared."""

import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import NamedTuple

log = logging.getLogger(__name__)


class Ended(NamedTuple):
    vids: tuple[int, ...]
    why: str  # "killed by SIGKILL", "ended with code 1"


class Nursery:
    """Starts one child per group of vids and notices when one ends."""

    def __init__(self, live: Callable[[tuple[int, ...], Callable[[], bool]], None]) -> None:
        self._live = live  # runs in the child: hosts these vids until told to stop
        self._children: dict[int, tuple[int, ...]] = {}

    def start(self, groups: Sequence[tuple[int, ...]]) -> None:
        gc.collect()
        gc.freeze()  # the collector of a child would otherwise touch, and so copy, every shared page
        sys.stdout.flush()
        sys.stderr.flush()
        for vids in groups:
            pid = os.fork()
            if pid == 0:
                os._exit(self._grow_up(vids))
            self._children[pid] = vids

    def _grow_up(self, vids: tuple[int, ...]) -> int:
        told: list[int] = []

        def tell(number: int, _: FrameType | None) -> None:
            told.append(number)

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
        signal.signal(signal.SIGTERM, tell)
        parent = os.getppid()
        try:
            self._live(vids, lambda: bool(told) or os.getppid() != parent)
        except Exception:
            log.exception("the process of vid %s failed", ", ".join(map(str, vids[:5])))
            return 1
        return 0

    def reap(self) -> list[Ended]:
        """The children that have ended since the last call, whatever way."""
        ended = []
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            vids = self._children.pop(pid, ())
            code = os.waitstatus_to_exitcode(status)
            ended.append(Ended(vids, f"killed by {signal.Signals(-code).name}" if code < 0 else f"code {code}"))
        return ended

    @property
    def pids(self) -> dict[int, tuple[int, ...]]:
        return dict(self._children)

    def end(self, within_s: float) -> None:
        """Ask all to stop; those that do not within the time are killed."""
        for pid in self._children:
            os.kill(pid, signal.SIGTERM)
        until_s = time.monotonic() + within_s
        while self._children and time.monotonic() < until_s:
            self.reap()
            time.sleep(0.01)
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)
        while self._children:
            self.reap()
            time.sleep(0.01)
