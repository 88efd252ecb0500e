"""`mve runs`, `mve export`, `mve check`: what has been recorded, and what a scenario holds."""

import dataclasses
import difflib
import json
import time
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from launcher.scenario import Scenario
from recording.export import EXPORTERS
from recording.store import open_store
from wire.errors import RecordError


def show_runs(record: Path, console: Console, *, as_json: bool) -> int:
    with open_store(record) as store:
        infos = store.runs()
    if as_json:
        print(json.dumps([dataclasses.asdict(info) for info in infos], indent=2))
        return 0
    table = Table(title=f"{len(infos)} runs in {record}", title_justify="left")
    for column in ("run", "scenario", "started", "mode", "seed", "vehicles", "rows", "closest approach", "state"):
        table.add_column(column, justify="right" if column in ("seed", "vehicles", "rows", "closest approach") else "left")
    for info in infos:
        summary = info.summary or {}
        closest_m = summary.get("closest_m")
        table.add_row(
            info.run_id,
            info.name,
            time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(info.started_unix_s)),
            info.mode,
            str(info.seed),
            str(info.vehicle_count),
            f"{info.row_count:,}",
            "-" if closest_m is None else f"{closest_m:.2f} m",
            info.state if not info.why else f"{info.state}: {info.why}",
        )
    console.print(table)
    return 0


def export_run(record: Path, which: str, to: str, out: Path, console: Console) -> int:
    if to not in EXPORTERS:
        near = difflib.get_close_matches(to, EXPORTERS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise RecordError(f"unknown format {to!r}{hint} Known: {', '.join(EXPORTERS)}")
    with open_store(record) as store, Progress(console=console, transient=True) as bar:
        run = store.run(which)
        task = bar.add_task(f"exporting {run.info.run_id}", total=None)
        EXPORTERS[to](run, out, lambda done, total: bar.update(task, completed=done, total=total))
    console.print(f"run {run.info.run_id}: {run.info.row_count:,} rows written to {out}")
    return 0


def show_scenario(scenario: Scenario, console: Console) -> int:
    specs = scenario.specs()
    console.print(
        f"{scenario.name}: {len(specs)} vehicles in {len(scenario.processes())} processes, {scenario.duration_s:g} s, "
        f"beat {scenario.beat_s:g} s, step {scenario.step_s:g} s, seed {scenario.seed}, test fidelity {scenario.fidelity()}"
    )
    table = Table()
    for column in ("vid", "name", "kind", "start", "cruise", "behaviours, highest priority first"):
        table.add_column(column)
    for spec in specs[:40]:
        table.add_row(
            str(spec.vid),
            spec.name,
            spec.kind.name.lower(),
            f"{spec.start.x_m:.1f}, {spec.start.y_m:.1f}, {spec.start.z_m:.1f} m",
            f"{spec.cruise_mps:g} m/s",
            ", ".join(f"{slot.name} {slot.priority}" for slot in spec.slots),
        )
    console.print(table)
    if len(specs) > 40:
        console.print(f"… and {len(specs) - 40} more")
    return 0
