"""`mve status`: a live table of all vehicles, from the State stream of any Core."""

import math
import time
from typing import Any, Final

import numpy as np
import zmq
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from core.proximity import nearest
from launcher.control import Control
from vehicles.behaviours import BEHAVIOURS
from wire.errors import CodecError, LinkError
from wire.publish import Roster, StateFrame, unpack_published
from wire.words import UNKNOWN_U8, Condition, RunState

NAMES: Final = {behaviour.number: name for name, behaviour in BEHAVIOURS.items()}
STYLES: Final = {Condition.FRESH: "", Condition.LATE: "yellow", Condition.STALE: "red", Condition.LOST: "dim red"}


class Watcher:
    """The newest frame and roster of a State stream."""

    def __init__(self, context: "zmq.Context[zmq.Socket[bytes]]", host: str, port: int) -> None:
        self._socket = context.socket(zmq.SUB)
        self._socket.setsockopt(zmq.SUBSCRIBE, b"")
        self._socket.setsockopt(zmq.RCVHWM, 50)
        self._socket.connect(f"tcp://{host}:{port}")
        self.frame: StateFrame | None = None
        self.roster: dict[int, dict[str, Any]] = {}
        self.heard_s = time.monotonic()

    def read(self, within_s: float) -> bool:
        """Take in everything that has come, waiting for the first. Whether anything did."""
        if not self._socket.poll(int(1000 * within_s)):
            return False
        while self._socket.poll(0):
            try:
                item = unpack_published(self._socket.recv_multipart())
            except CodecError:
                continue
            if isinstance(item, StateFrame):
                self.frame = item
            elif isinstance(item, Roster):
                self.roster = {int(vehicle["vid"]): vehicle for vehicle in item.vehicles}
        self.heard_s = time.monotonic()
        return True


def show_status(address: str, console: Console, *, once: bool, rows_most: int) -> int:
    with Control(address) as control:
        info = control.ask("info")
        host = control.host
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    try:
        watcher = Watcher(context, host, int(info["ports"]["publish"]))
        until_s = time.monotonic() + 3.5
        while (watcher.frame is None or not watcher.roster) and time.monotonic() < until_s:
            watcher.read(0.2)
        if watcher.frame is None:
            raise LinkError(f"the Core at {address} answers but publishes nothing on port {info['ports']['publish']}")
        if once or not console.is_terminal:
            console.print(picture(watcher, rows_most))
            return 0
        with Live(console=console, refresh_per_second=4, screen=False) as live:
            while True:
                watcher.read(0.3)
                live.update(picture(watcher, rows_most))
    except KeyboardInterrupt:
        return 0
    finally:
        context.destroy(linger=0)


def picture(watcher: Watcher, rows_most: int) -> Group:
    frame = watcher.frame
    assert frame is not None
    head = frame.head
    quiet_s = time.monotonic() - watcher.heard_s
    line = Text(f"{head['run_state']}  {head['t_s']:.1f} s  run {head['run_id'] or '-'}  {len(frame.rows)} vehicles  ")
    line.append(
        f"{head['rows']:,} rows, {head['refused']:,} refused, {head['lost_datagrams']:,} lost, {head['advisories']:,} advisories"
    )
    if quiet_s > 2.0:
        line.append(f"  Core has been silent for {quiet_s:.0f} s", style="bold red")
    table = Table()
    for column in ("vid", "name", "kind", "run state", "condition", "behaviour", "speed", "margin", "age", "lost", "nearest"):
        table.add_column(column, justify="left" if column in ("name", "kind", "run state", "condition", "behaviour") else "right")
    order = np.argsort(frame.rows["vid"])
    position = np.stack([frame.rows["x_m"], frame.rows["y_m"], frame.rows["z_m"]], axis=1)
    near, away_m = nearest(position)
    for i in order[:rows_most].tolist():
        table.add_row(
            *cells(frame, i, watcher.roster, int(near[i]), float(away_m[i])), style=STYLES[Condition(int(frame.conditions[i]))]
        )
    parts: list[Any] = [line, table]
    if len(order) > rows_most:
        parts.append(Text(f"… and {len(order) - rows_most} more; --rows N shows more of them"))
    return Group(*parts)


def cells(frame: StateFrame, i: int, roster: dict[int, dict[str, Any]], near: int, away_m: float) -> list[str]:
    row = frame.rows[i]
    vehicle = roster.get(int(row["vid"]), {})
    age_s = max(0.0, frame.head["t_s"] - float(row["t_s"])) if frame.head["run_state"] == RunState.GO.name else 0.0
    margin = "-" if row["margin_pct"] == UNKNOWN_U8 else f"{row['margin_pct']} %"
    return [
        str(row["vid"]),
        str(vehicle.get("name", "?")),
        str(vehicle.get("kind", "?")),
        RunState(int(row["run_state"])).name,
        Condition(int(frame.conditions[i])).name.lower(),
        NAMES.get(int(row["behaviour"]), "-" if row["behaviour"] == 0 else str(row["behaviour"])),
        f"{row['speed_mps']:.1f} m/s",
        margin,
        f"{age_s:.1f} s",
        str(vehicle.get("lost", "?")),
        "-" if near < 0 or not math.isfinite(away_m) else f"{frame.rows['vid'][near]} at {away_m:.1f} m",
    ]
