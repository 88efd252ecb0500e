"""A hundred vehicles as a hundred processes: start, cost of each, loss at Core."""

import statistics
import time
from typing import Any

from bench.sessions import session

COUNT = 100
WATCH_S = 20.0


def run(quick: bool) -> list[dict[str, Any]]:
    once = [_once() for _ in range(1 if quick else 3)]
    return [
        {
            "measure": measure,
            "n": COUNT,
            "value": statistics.median(run[measure] for run in once),
            "unit": unit,
            "spread": [min(run[measure] for run in once), max(run[measure] for run in once)],
            "runs": len(once),
        }
        for measure, unit in (
            ("`mve run` to all in GO", "s"),
            ("CPU per vehicle process", "ms/s"),
            ("memory per vehicle process (PSS)", "MB"),
            ("rows at Core", "/s"),
            ("lost", "%"),
            ("late beats of Core", "%"),
            ("lowest real-time margin", "%"),
        )
    ]


def _once() -> dict[str, float]:
    with session(count=COUNT, duration_s=3600.0) as running:
        go_s = running.await_go()
        time.sleep(3.0)
        vehicles = running.vehicles()
        before, cpu0 = running.info()["tally"], sum(sum(v.cpu_times()[:2]) for v in vehicles)
        t0_s = time.monotonic()
        time.sleep(WATCH_S)
        after, cpu1 = running.info()["tally"], sum(sum(v.cpu_times()[:2]) for v in vehicles)
        took_s = time.monotonic() - t0_s
        pss = [vehicle.memory_full_info().pss for vehicle in vehicles]
        rows = after["rows"] - before["rows"]
        lost = after["lost_datagrams"] - before["lost_datagrams"]
        return {
            "`mve run` to all in GO": go_s,
            "CPU per vehicle process": 1000.0 * (cpu1 - cpu0) / took_s / len(vehicles),
            "memory per vehicle process (PSS)": statistics.mean(pss) / 1e6,
            "rows at Core": rows / took_s,
            "lost": 100.0 * lost / max(1, rows + lost),
            "late beats of Core": 100.0 * (after["late_beats"] - before["late_beats"]) / max(1, after["beats"] - before["beats"]),
            "lowest real-time margin": float(after["margin_min_pct"]),
        }
