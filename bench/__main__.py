"""`python -m bench [--full] [PART…]`: run the benches, print a table, write JSON."""

import argparse
import importlib
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

PARTS = ("model", "proximity", "processes", "drift")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed and memory.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all unless named")
    parser.add_argument("--full", action="store_true", help="more sizes, more repetitions, longer runs")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="folder for the JSON (%(default)s)")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {sorted(unknown)[0]!r}; known are {', '.join(PARTS)}")
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    results = {}
    for name in arguments.parts or PARTS:
        console.print(f"{name} …")
        results[name] = importlib.import_module(f"bench.{name}").run(not arguments.full)
        table = Table(title=name, title_justify="left")
        for column in ("measure", "N", "median", "lowest", "highest", "unit", "runs"):
            table.add_column(column, justify="left" if column in ("measure", "unit") else "right")
        for row in results[name]:
            low, high = row["spread"]
            table.add_row(
                row["measure"], f"{row['n']:,}", f"{row['value']:.4g}", f"{low:.4g}", f"{high:.4g}", row["unit"], str(row["runs"])
            )
        console.print(table)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    machine = {
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "cpu": platform.processor(),
    }
    versions = {package: version(package) for package in ("move-mve", "numpy", "numba", "pyzmq", "msgpack")}
    path.write_text(json.dumps({"machine": machine, "versions": versions, "results": results}, indent=2))
    console.print(f"written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
