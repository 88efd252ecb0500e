"""Drift of simulated against wall-clock time with every core loaded by other work."""

import multiprocessing
import os
import time
from typing import Any

import numpy as np

from bench.sessions import session
from recording.store import open_store


def _burn(until_s: float) -> None:
    while time.monotonic() < until_s:
        sum(range(10_000))


def run(quick: bool) -> list[dict[str, Any]]:
    duration_s = 60.0 if quick else 600.0
    cores = os.cpu_count() or 1
    burners = [multiprocessing.Process(target=_burn, args=(time.monotonic() + duration_s + 60.0,)) for _ in range(cores)]
    for burner in burners:
        burner.start()
    try:
        with session(count=3, duration_s=duration_s) as running:
            running.await_go()
            running.process.wait(duration_s + 60.0)
            with open_store(running.record) as store:
                recorded = store.run("last")
                rows = recorded.rows()
                summary = recorded.info.summary or {}
    finally:
        for burner in burners:
            burner.terminate()
            burner.join()
    rows = rows[rows["run_state"] == 3]
    drift_s = []
    for vid in np.unique(rows["vid"]):
        track = rows[(rows["vid"] == vid) & (rows["t_s"] > 0.0)]
        lag_s = track["arrival_unix_s"] - track["t_s"]
        lag_s -= np.median(lag_s)
        tenth = len(lag_s) // 10
        drift_s.append(float(np.median(lag_s[-tenth:]) - np.median(lag_s[:tenth])))
    worst_s = max(drift_s, key=abs)
    margin = float(summary.get("margin_mean_pct") or 0.0)
    return [
        {
            "measure": f"drift over {duration_s:.0f} s, {cores} cores loaded",
            "n": 3,
            "value": 1000.0 * worst_s,
            "unit": "ms",
            "spread": [1000.0 * min(drift_s), 1000.0 * max(drift_s)],
            "runs": len(drift_s),
        },
        {
            "measure": "mean real-time margin under that load",
            "n": 3,
            "value": margin,
            "unit": "%",
            "spread": [margin, margin],
            "runs": 1,
        },
    ]
