"""`mve run --fast`: the scenario in this one process, as fast as the machine allows."""

import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from launcher.parts import core_settings, new_run_id
from launcher.scenario import Scenario
from launcher.world import World
from recording.store import RunInfo, open_store
from wire.record import Entry

FLUSH_BYTES = 8 << 20


class Keeper:
    """Gathers entries into batches of a sensible size and writes them."""

    def __init__(self, where: Path, source: str) -> None:
        self._store = open_store(where, create=True)
        self._source = source
        self._number = 0
        self._entries: list[Entry] = []
        self._bytes = 0

    def keep(self, entries: list[Entry]) -> None:
        self._entries += entries
        self._bytes += sum(len(getattr(entry, "packed", b"")) + 200 for entry in entries)
        if self._bytes > FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._entries:
            self._number += 1
            self._store.write([(self._number, self._entries)], self._source)
            self._entries, self._bytes = [], 0

    def close(self, run_id: str) -> RunInfo:
        self.flush()
        with self._store as store:
            return store.run(run_id).info


def run_fast(scenario: Scenario, where: Path, console: Console) -> RunInfo:
    run_id = new_run_id()
    keeper = Keeper(where, f"fast {run_id}")
    world = World(
        core_settings(scenario, mode="fast"),
        scenario.specs(),
        step_s=scenario.step_s,
        frame=scenario.frame,
        run_id=run_id,
        started_unix_s=time.time(),
        keep=keeper.keep,
    )
    started_s = time.monotonic()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} s"),
        TextColumn("{task.fields[factor]:,.0f} x real time"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    try:
        with bar:
            task = bar.add_task(scenario.name, total=scenario.duration_s, factor=0.0)
            shown_s = started_s
            for t_s in world.run(scenario.duration_s):
                now_s = time.monotonic()
                if now_s - shown_s > 0.1:
                    shown_s = now_s
                    bar.update(task, completed=t_s, factor=t_s / (now_s - started_s))
    except KeyboardInterrupt:
        world.stop()
        console.print("stopped by Ctrl-C; what has run so far is recorded")
    taken_s = time.monotonic() - started_s
    t_s = world.summary()["t_s"]
    console.print(f"{t_s:.1f} s simulated in {taken_s:.2f} s, {t_s / max(taken_s, 1e-9):,.0f} x real time")
    return keeper.close(run_id)
