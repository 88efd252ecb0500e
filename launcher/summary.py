"""A finished run in a few lines."""

from typing import Any

from rich.console import Console
from rich.table import Table

from recording.store import RunInfo


def show_summary(console: Console, info: RunInfo, where: str) -> None:
    summary: dict[str, Any] = info.summary or {}
    table = Table(title=f"run {info.run_id}", show_header=False, title_justify="left", box=None, padding=(0, 2))
    for name, value in summary_lines(info, summary):
        table.add_row(name, value)
    table.add_row("recorded in", where)
    console.print(table)


def summary_lines(info: RunInfo, summary: dict[str, Any]) -> list[tuple[str, str]]:
    closest = "no pair came near"
    if summary.get("closest_m") is not None:
        a, b = summary["closest_vids"]
        closest = f"{summary['closest_m']:.2f} m between {a} and {b} at {summary['closest_t_s']:.1f} s"
    margin = "no clock ran"
    if summary.get("margin_mean_pct") is not None:
        margin = f"{summary['margin_mean_pct']:.0f} % on average, {summary['margin_min_pct']} % at the least"
    refused = f"{summary.get('refused', 0):,}"
    reasons = summary.get("refused_by_reason") or {}
    if reasons:
        refused += " (" + ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items())) + ")"
    fidelity = info.head.get("fidelity") or {}
    lines = [
        ("scenario", f"{info.name}, seed {info.seed}, {info.mode}"),
        ("state", info.state + (f": {info.why}" if info.why else "")),
        ("simulated", f"{summary.get('t_s', 0.0):.1f} s, {info.vehicle_count} vehicles"),
        ("rows recorded", f"{info.row_count:,}"),
        ("rows refused", refused),
        ("rows late", f"{summary.get('late_rows', 0):,}"),
        ("datagrams lost", f"{summary.get('lost_datagrams', 0):,}"),
        ("closest approach", closest),
        ("advisories sent", f"{summary.get('advisories', 0):,}"),
        ("real-time margin", margin),
        ("late beats of Core", f"{summary.get('late_beats', 0):,} of {summary.get('beats', 0):,}"),
    ]
    if summary.get("detections"):
        lines.append(("detections", f"{summary['detections']:,}"))
    if fidelity:
        values = list(fidelity.values())
        lines.append(("test fidelity", "/".join(map(str, values)) + f" = {sum(values)}"))
    return lines
