"""`mve` for real: processes, sockets, signals, kill -9."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from recording.store import open_store

CONFIGS = Path(__file__).parents[2] / "configs"
MVE = [sys.executable, "-m", "launcher.command"]


def free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Field:
    """A folder with a scenario on free ports, and the command to run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.udp, self.control, self.publish, self.record_port = free_ports(4)
        self.record = folder / "record.sqlite"
        self.started: list[subprocess.Popen[str]] = []
        text = (CONFIGS / "three_vehicles.toml").read_text()
        core = (
            f"[core]\nudp_port = {self.udp}\ncontrol_port = {self.control}\npublish_port = {self.publish}\n"
            f"record_port = {self.record_port}\nlost_s = 4.0\n\n[bounds]"
        )
        self.scenario = folder / "three.toml"
        self.scenario.write_text(text.replace("[bounds]", core))

    def mve(self, *words: str, within_s: float = 60.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*MVE, *words], capture_output=True, text=True, timeout=within_s, cwd=self.folder, env=self.environment(), check=False
        )

    def start(self, *words: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [*MVE, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder, env=self.environment()
        )
        self.started.append(process)
        return process

    def run(self, *words: str, **how: Any) -> subprocess.CompletedProcess[str]:
        return self.mve("run", str(self.scenario), *words, **how)

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.mve(*words, "--core", f"127.0.0.1:{self.control}")

    def info(self) -> dict[str, Any]:
        from launcher.control import Control
        from wire.errors import LinkError

        with Control(f"127.0.0.1:{self.control}", wait_s=0.5) as control:
            try:
                return control.ask("info")
            except LinkError:
                return {}

    def until(self, is_so: Callable[[dict[str, Any]], bool], within_s: float = 20.0) -> dict[str, Any]:
        until_s = time.monotonic() + within_s
        while time.monotonic() < until_s:
            info = self.info()
            if info and is_so(info):
                return info
            time.sleep(0.05)
        raise AssertionError(f"not so within {within_s} s: {self.info()}")

    def environment(self) -> dict[str, str]:
        return os.environ | {"MVE_RECORD": str(self.record), "PYTHONPATH": str(CONFIGS.parent)}

    def rows(self) -> Any:
        """The rows of the newest run in GO, by time and vid."""
        with open_store(self.record) as store:
            rows = store.run("last").rows()
        rows = rows[rows["run_state"] == 3]
        return rows[np.lexsort((rows["vid"], rows["t_s"]))]

    def events(self) -> list[str]:
        with open_store(self.record) as store:
            return [event.what for event in store.run("last").events()]

    def process(self, parent: "subprocess.Popen[str]", word: str) -> psutil.Process:
        """The child of `mve run` that was started as `mve WORD`."""
        for child in psutil.Process(parent.pid).children():
            if word in child.cmdline():
                return child
        raise AssertionError(f"no {word} process")


@pytest.fixture
def field(tmp_path: Path) -> Iterator[Field]:
    made = Field(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
        process.communicate()


def same_bits(one: Any, other: Any) -> bool:
    names = [name for name in one.dtype.names if name not in ("arrival_unix_s", "margin_pct")]
    count = min(len(one), len(other))
    return count > 0 and all(np.array_equal(one[name][:count], other[name][:count]) for name in names)


def test_lockstep_over_processes_gives_the_bits_of_one_process(field):
    assert field.run("--fast", "--duration", "20").returncode == 0
    fast = field.rows()
    done = field.run("--lockstep", "--duration", "20")
    assert done.returncode == 0, done.stderr
    locked = field.rows()
    assert len(fast) == len(locked) == 3 * 201
    assert same_bits(fast, locked)


def test_real_time_stays_within_a_beats_travel_of_fast(field):
    assert field.run("--fast", "--duration", "6").returncode == 0
    fast = field.rows()
    done = field.run("--duration", "6")
    assert done.returncode == 0, done.stderr
    real = field.rows()
    for t_s in (1.0, 3.0, 6.0):
        for vid in (101, 102, 103):
            one, other = (rows[(rows["vid"] == vid) & (np.abs(rows["t_s"] - t_s) < 0.05)][0] for rows in (fast, real))
            assert np.hypot(one["x_m"] - other["x_m"], one["y_m"] - other["y_m"]) < 0.6
    for word in (
        "run id",
        "rows recorded",
        "rows refused",
        "closest approach",
        "advisories sent",
        "real-time margin",
        "test fidelity",
    ):
        assert word.removesuffix(" id") in done.stdout


def test_the_rate_shortens_the_wait(field):
    started_s = time.monotonic()
    assert field.run("--duration", "12", "--rate", "4").returncode == 0
    assert time.monotonic() - started_s < 11.0
    assert field.rows()["t_s"].max() == pytest.approx(12.0)


def test_a_run_by_hand_obeys_the_operator_and_refuses_what_is_illegal(field):
    run = field.start("run", str(field.scenario), "--manual")
    field.until(lambda info: info["vehicles"] == 3)
    refused = field.ask("go")
    assert refused.returncode == 2
    assert "cannot change from READY to GO: GO follows SET or PAUSE" in refused.stderr
    assert "SET" in field.ask("set").stdout
    field.until(lambda info: info["behind"] == 0)
    assert "GO" in field.ask("go").stdout
    field.until(lambda info: info["t_s"] > 1.0)
    status = field.ask("status", "--once").stdout
    for word in ("red", "green", "blue", "ground", "GO", "fresh", "m/s", "%", " at "):
        assert word in status
    assert "noted" in field.ask("note", "a dog on the track").stdout
    field.ask("pause")
    held = field.until(lambda info: info["run_state"] == "PAUSE" and info["behind"] == 0)
    time.sleep(0.5)
    assert field.info()["t_s"] == held["t_s"]
    assert "SET" in field.ask("set").stdout  # armed anew: the second run
    field.ask("stop")
    out, _ = run.communicate(timeout=20)
    assert run.returncode == 0
    assert out.count("rows recorded") == 2
    runs = json.loads(field.mve("runs", "--json").stdout)
    assert [info["state"] for info in runs] == ["complete", "complete"]
    assert "note" in [event.what for event in open_store(field.record).run(runs[1]["run_id"]).events()]


def test_ctrl_c_stops_every_process_and_keeps_the_record(field):
    run = field.start("run", str(field.scenario))
    field.until(lambda info: info["t_s"] > 1.0)
    family = psutil.Process(run.pid).children(recursive=True)
    assert len(family) == 6  # core, recorder, the vehicles' parent and three vehicles
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=20)
    assert run.returncode == 0, out
    assert "Traceback" not in out
    psutil.wait_procs(family, timeout=5)
    assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in family)
    assert json.loads(field.mve("runs", "--json").stdout)[0]["state"] == "complete"


def test_a_killed_vehicle_goes_stale_then_lost_the_others_go_on_and_it_can_rejoin(field):
    run = field.start("run", str(field.scenario))
    field.until(lambda info: info["t_s"] > 0.5)
    vehicles = field.process(run, "vehicles").children()
    vehicles[1].kill()
    killed_s = field.info()["t_s"]
    field.until(lambda info: info["t_s"] > killed_s + 5.5)
    status = field.ask("status", "--once").stdout
    assert "lost" in status
    assert status.count("fresh") == 2
    again = field.start("vehicles", str(field.scenario), "--core", f"127.0.0.1:{field.udp}", "--only", "102")
    field.until(lambda _: field.ask("status", "--once").stdout.count("fresh") == 3)
    field.ask("stop")
    assert run.wait(20) == 0
    assert again.wait(20) == 0
    told = field.events()
    assert told.index("stale") < told.index("lost") < len(told) - 1 - told[::-1].index("joined")
    assert np.ptp(field.rows()["t_s"][field.rows()["vid"] == 101]) > 5.0


def test_a_killed_core_comes_back_and_the_vehicles_report_to_it(field):
    run = field.start("run", str(field.scenario))
    field.until(lambda info: info["t_s"] > 2.0)
    field.process(run, "core").kill()
    info = field.until(lambda info: info["vehicles"] == 3 and info["run_state"] == "GO" and info["t_s"] > 5.0)
    run_id = info["run_id"]
    field.ask("stop")
    out, _ = run.communicate(timeout=25)
    assert run.returncode == 0, out
    with open_store(field.record) as store:
        rows = store.run(run_id).rows(vid=101)
    assert rows["t_s"].min() == 0.0
    assert rows["t_s"].max() > 5.0
    assert np.diff(np.unique(rows["t_s"])).max() < 3.0  # the time that Core was away, and no more


def test_a_killed_recorder_loses_nothing(field):
    run = field.start("run", str(field.scenario), "--duration", "8")
    field.until(lambda info: info["t_s"] > 2.0)
    field.process(run, "recorder").kill()
    out, _ = run.communicate(timeout=40)
    assert run.returncode == 0, out
    info = json.loads(field.mve("runs", "--json").stdout)[0]
    assert info["state"] == "complete"
    assert (
        info["row_count"] == info["summary"]["rows"] or abs(info["row_count"] - info["summary"]["rows"]) <= 12
    )  # echoes of STOP
    rows = field.rows()
    assert len(np.unique(rows[rows["vid"] == 101]["t_s"])) == 81


def test_junk_on_the_vehicle_port_is_counted_and_harms_nobody(field):
    run = field.start("run", str(field.scenario), "--duration", "5")
    field.until(lambda info: info["t_s"] > 0.5)
    noise = np.random.default_rng(1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as junk:
        for size in (0, 1, 64, 1200, 9000, 60_000):
            for _ in range(20):
                junk.sendto(noise.bytes(size), ("127.0.0.1", field.udp))
    info = field.until(lambda info: info["tally"]["refused"] >= 120)
    assert info["tally"]["refused"] == 120
    out, _ = run.communicate(timeout=20)
    assert run.returncode == 0, out
    assert "120" in out
    rows = field.rows()
    assert len(rows[rows["vid"] == 101]) >= 51
    assert set(rows["vid"].tolist()) == {101, 102, 103}


def test_export_writes_every_row_with_units_in_the_header(field):
    field.run("--fast", "--duration", "3")
    done = field.mve("export", "last", "--to", "csv", "--out", "run.csv")
    assert done.returncode == 0, done.stderr
    with (field.folder / "run.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert {"vid", "t_s", "x_m", "y_m", "z_m", "lat_deg", "lon_deg", "yaw_rad", "speed_mps", "run_state"} <= lines[0].keys()
    rows = field.rows()
    going = [line for line in lines if line["run_state"] == "GO"]
    assert [float(line["x_m"]) for line in going] == rows["x_m"].tolist()


SENTENCES = [
    (("run", "nowhere.toml"), "nowhere.toml"),
    (("export", "last", "--to", "csv", "--out", "x.csv"), "record"),
    (("runs",), "record"),
    (("status",), "no Core answers"),
    (("go",), "no Core answers"),
    (("go", "--core", "nonsense"), "looks like 127.0.0.1:6601"),
    (("vehicles", "{scenario}", "--core", "127.0.0.1:1", "--only", "9"), "none of the vehicles asked for"),
    (("vehicles", "{scenario}", "--core", "127.0.0.1:1", "--only", "x-y"), "names no vids"),
    (("run", "{scenario}", "--fast", "--lockstep"), "leave out --lockstep"),
    (("run", "{scenario}", "--fast", "--record", "/proc/none/record.sqlite"), "/proc/none"),
]


@pytest.mark.parametrize(("words", "sentence"), SENTENCES, ids=[" ".join(words[:2]) for words, _ in SENTENCES])
def test_what_cannot_be_done_is_one_sentence_and_no_traceback(field, words, sentence):
    words = [word.replace("{scenario}", str(field.scenario)) for word in words]
    if words[0] in ("status", "go") and "--core" not in words:
        words += ["--core", f"127.0.0.1:{field.control}"]
    done = field.mve(*words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_told_and_nothing_is_left_running(field):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", field.udp))
        done = field.run("--duration", "2")
    assert done.returncode == 2
    assert f"cannot listen on UDP 127.0.0.1:{field.udp}: the port is in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_and_doctor_answer(field):
    assert "mve run configs/three_vehicles.toml" in field.mve("--help").stdout
    assert "numpy" in field.mve("doctor").stdout
