"""`mve doctor`: is this machine fit for a test."""

import socket
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from rich.console import Console
from rich.table import Table

from core.ports import Ports

PACKAGES: Final = ("move-mve", "numpy", "numba", "pyzmq", "msgpack", "utm", "pydantic", "rich", "pymongo", "bokeh")
NEEDED: Final = PACKAGES[:8]


def examine(console: Console) -> int:
    """0 when everything needed is there and free, else 1."""
    table = Table(show_header=False, box=None, padding=(0, 2))
    fine = sys.version_info >= (3, 11)
    table.add_row("Python", sys.version.split()[0] + ("" if fine else ", too old: 3.11 or newer is needed"))
    for package in PACKAGES:
        try:
            table.add_row(package, version(package))
        except PackageNotFoundError:
            needed = package in NEEDED
            fine = fine and not needed
            table.add_row(package, "missing: run `make demo` or `pip install -e .`" if needed else "not installed (optional)")
    ports = Ports()
    for name, port in (("udp", ports.udp), ("control", ports.control), ("publish", ports.publish), ("record", ports.record)):
        free = is_free(ports.host, port, udp=name == "udp")
        fine = fine and free
        table.add_row(f"port {port} ({name})", "free" if free else "in use: a Core runs already, or another program has it")
    worst_s = sleep_error_s()
    table.add_row(
        "clock",
        f"a sleep of 10 ms ends at most {1000 * worst_s:.1f} ms late" + ("" if worst_s < 0.02 else ": this machine is busy"),
    )
    granted = receive_buffer()
    hint = "" if granted >= 4 << 20 else "; for thousands of vehicles: sysctl net.core.rmem_max=16777216"
    table.add_row("UDP buffer", f"{granted >> 10:,} KiB granted{hint}")
    console.print(table)
    return 0 if fine else 1


def is_free(host: str, port: int, *, udp: bool) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM) as probe:
        if not udp:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def sleep_error_s() -> float:
    worst_s = 0.0
    for _ in range(50):
        before_s = time.perf_counter()
        time.sleep(0.01)
        worst_s = max(worst_s, time.perf_counter() - before_s - 0.01)
    return worst_s


def receive_buffer() -> int:
    from wire.udp import UdpSocket

    with UdpSocket(("127.0.0.1", 0)) as probe:
        return probe.receive_buffer
