"""`mve run`: start every process of a scenario, walk the run from Ready to Stop, and leave nothing behind."""

import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from launcher.control import Control
from launcher.processes import Process
from launcher.scenario import Scenario
from recording.store import RunInfo, open_store
from wire.errors import CommandError, LinkError, RecordError

START_S: Final = 30.0  # for everybody to report
RESTARTS_MOST: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    scenario_file: str
    record: Path
    manual: bool = False
    lockstep: bool = False
    rate: float | None = None
    overrides: tuple[str, ...] = ()  # --seed and --duration as they were given


class Session:
    """The processes of one `mve run`."""

    def __init__(self, scenario: Scenario, options: RunOptions, console: Console) -> None:
        self._scenario = scenario
        self._options = options
        self._console = console
        self._stop = threading.Event()
        self._processes: list[Process] = []
        self.run_ids: list[str] = []

    def run(self) -> list[RunInfo]:
        """From start to summary. Ctrl-C stops the run cleanly; a second one does so at once."""
        before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._interrupt)
        try:
            self._start()
            with Control(f"{self._host}:{self._ports['control']}") as control:
                self._walk(control)
                self._watch(control)
        finally:
            for process in self._processes:
                process.end(within_s=12.0 if process.name == "core" else 5.0)
            signal.signal(signal.SIGINT, before[0])
            signal.signal(signal.SIGTERM, before[1])
        return self._infos()

    def _interrupt(self, _: int, __: FrameType | None) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt
        self._stop.set()

    def _start(self) -> None:
        options, core = self._options, self._scenario.core
        mode = ["--lockstep"] if options.lockstep else []
        rate = ["--rate", str(options.rate)] if options.rate is not None else []
        shared = [options.scenario_file, *options.overrides, *mode]
        open_store(options.record, create=True).close()  # a record that cannot be written is told before anything starts
        self._core = Process("core", ["core", *shared, *rate], speaks=True)
        self._processes.append(self._core)
        self._ports: dict[str, Any] = self._core.first_line(within_s=20.0)
        self._host = "127.0.0.1" if core.host == "0.0.0.0" else core.host
        for name, port in (("udp", "udp"), ("control", "control"), ("publish", "publish"), ("record", "record")):
            self._core.arguments += [f"--{name}-port", str(self._ports[port])]  # a restarted Core listens where it did
        source = f"tcp://{self._host}:{self._ports['record']}"
        self._recorder = Process("recorder", ["recorder", "--from", source, "--record", str(options.record)])
        self._processes.insert(1, self._recorder)
        self._vehicles = Process("vehicles", ["vehicles", *shared, "--core", f"{self._host}:{self._ports['udp']}"])
        self._processes.insert(0, self._vehicles)
        self._console.print(
            f"{self._scenario.name}: {len(self._scenario.specs())} vehicles, Core at {self._host}, "
            f"UDP {self._ports['udp']}, control {self._ports['control']}, State stream {self._ports['publish']}"
        )

    def _walk(self, control: Control) -> None:
        """Ready, Set, Go; by hand that is left to the operator."""
        info = self._await(control, "report", lambda info: info["vehicles"] >= info["expected"])
        if self._options.manual:
            self._console.print(
                f"{info.get('vehicles', 0)} vehicles are READY. From another terminal: mve set, mve go, mve pause, mve stop "
                f"(--core {control.address})"
            )
            return
        for word in ("set", "go"):
            if self._stop.is_set():
                return
            answer = control.ask(word)
            self._note(answer)
            self._console.print(answer["text"])
            if word == "set":
                self._await(control, "answer SET", lambda info: info["behind"] == 0)

    def _await(self, control: Control, what: str, is_so: Any) -> dict[str, Any]:
        until_s = time.monotonic() + START_S
        info: dict[str, Any] = {}
        while not self._stop.is_set():
            info = self._ask_info(control)
            if info and is_so(info):
                break
            if time.monotonic() > until_s:
                missing = info.get("expected", 0) - info.get("vehicles", 0)
                self._console.print(f"[yellow]{missing} vehicles did not {what} within {START_S:.0f} s; going on without them[/]")
                break
            self._check_processes()
            time.sleep(0.02)
        return info

    def _watch(self, control: Control) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f} of {task.total:.0f} s"),
            TextColumn("{task.fields[text]}"),
        )
        with Progress(*columns, console=self._console, transient=True) as bar:
            task = bar.add_task("READY", total=self._scenario.duration_s, text="")
            told = False
            while self._core.code is None or self._core.code != 0:
                if self._stop.is_set() and not told:
                    told = self._tell_stop(control)
                self._check_processes()
                info = self._ask_info(control)
                if info:
                    self._note(info)
                    bar.update(task, description=info["run_state"], completed=max(0.0, info["t_s"]), text=progress_text(info))
                self._stop.wait(0.2) if not told else time.sleep(0.05)

    def _tell_stop(self, control: Control) -> bool:
        try:
            control.ask("stop")
        except (CommandError, LinkError):
            return self._core.code is not None
        return True

    def _ask_info(self, control: Control) -> dict[str, Any]:
        try:
            return control.ask("info")
        except LinkError:
            return {}  # Core is on its way down or up again

    def _check_processes(self) -> None:
        """Core and the recorder are brought back; the vehicles' parent tells itself which of its own have ended."""
        for process in (self._core, self._recorder):
            if process.code in (None, 0) or (process is self._recorder and self._core.code == 0):
                continue
            if process.restarts >= RESTARTS_MOST:
                raise LinkError(f"the {process.name} ended {RESTARTS_MOST + 1} times; its messages above say why")
            self._console.print(f"[yellow]the {process.name} ended ({process.code}); starting it again[/]")
            process.restart()
        if self._vehicles.code is not None and self._core.code is None and not self._stop.is_set():
            self._stop.set()

    def _note(self, answer: dict[str, Any]) -> None:
        run_id = answer.get("run_id")
        if run_id and run_id not in self.run_ids:
            self.run_ids.append(run_id)

    def _infos(self) -> list[RunInfo]:
        with open_store(self._options.record) as store:
            infos = []
            for run_id in self.run_ids:
                try:
                    infos.append(store.run(run_id).info)
                except RecordError as err:
                    self._console.print(f"[red]{err}[/]")
            return infos


def progress_text(info: dict[str, Any]) -> str:
    tally = info["tally"]
    closest = f", closest {tally['closest_m']:.1f} m" if tally.get("closest_m") is not None else ""
    refused = f", {tally['refused']:,} refused" if tally["refused"] else ""
    return f"{tally['rows']:,} rows, {tally['advisories']:,} advisories{closest}{refused}"
