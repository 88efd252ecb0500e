"""Real runs for benches: `mve run` in a folder of its own, on free ports, watched from outside."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from launcher.control import Control
from wire.errors import LinkError

FIELD = """\
duration_s = {duration_s}
seed = 1
origin = {{ lat_deg = 29.18877, lon_deg = -81.04628 }}
[core]
udp_port = {udp}
control_port = {control}
publish_port = {publish}
record_port = {record}
[bounds]
half_width_m = {half_m}
[[vehicles]]
vid = 1001
name = "car"
count = {count}
per_process = {per_process}
start = {{ spread_m = {half_m}, gap_m = 10.0 }}
behaviours = [{{ name = "avoid" }}, {{ name = "stay_in_bounds" }}, {{ name = "periodic_turn" }}, {{ name = "wander" }}]
"""


class Session:
    def __init__(self, folder: Path, process: "subprocess.Popen[bytes]", control_port: int) -> None:
        self.folder = folder
        self.record = folder / "record.sqlite"
        self.process = process
        self.started_s = time.monotonic()
        self._control = f"127.0.0.1:{control_port}"

    def info(self) -> dict[str, Any]:
        with Control(self._control, wait_s=1.0) as control:
            try:
                return control.ask("info")
            except LinkError:
                return {}

    def await_go(self, within_s: float = 120.0) -> float:
        """Seconds from the start of `mve run` until everybody has echoed GO."""
        until_s = time.monotonic() + within_s
        while time.monotonic() < until_s:
            info = self.info()
            if info and info["run_state"] == "GO" and info["behind"] == 0:
                return time.monotonic() - self.started_s
            time.sleep(0.02)
        raise TimeoutError("the vehicles did not reach GO")

    def vehicles(self) -> list[psutil.Process]:
        for child in psutil.Process(self.process.pid).children():
            if "vehicles" in child.cmdline():
                return list(child.children())
        return []


@contextmanager
def session(*, count: int, duration_s: float, per_process: int = 1) -> Iterator[Session]:
    """`mve run` of a field with so many vehicles. Ends it on the way out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        udp, control, publish, record = _free_ports(4)
        text = FIELD.format(
            duration_s=duration_s,
            udp=udp,
            control=control,
            publish=publish,
            record=record,
            count=count,
            per_process=per_process,
            half_m=max(50.0, 15.0 * count**0.5),
        )
        scenario = folder / "field.toml"
        scenario.write_text(text)
        command = [sys.executable, "-m", "launcher.command", "run", str(scenario), "--record", str(folder / "record.sqlite")]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        try:
            yield Session(folder, process, control)
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(60)


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports
