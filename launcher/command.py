"""The `mve` command."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console

from wire.errors import ConfigError, MoveError, RecordError

if TYPE_CHECKING:
    from launcher.scenario import Scenario

RECORD: Final = "record/move.sqlite"  # where runs are kept unless --record or MVE_RECORD says otherwise
CORE: Final = "127.0.0.1:6601"
EXAMPLES: Final = """\
examples:
  mve run configs/three_vehicles.toml           three vehicles for a minute, recorded
  mve run configs/search.toml --fast            the same scenario language, as fast as the machine allows
  mve run configs/follow.toml --manual          then, from another terminal: mve set, mve go, mve pause, mve stop
  mve status                                    who is where, live
  mve runs                                      what has been recorded
  mve export last --to csv --out run.csv        a run for your own tools
"""
Handler = Callable[[argparse.Namespace, Console], int]


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    logging.basicConfig(
        level=getattr(logging, arguments.log.upper()), format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr
    )
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    if os.environ.get("MVE_CHILD"):
        from launcher.parts import die_with_parent

        die_with_parent()
    try:
        handler: Handler = arguments.handler
        return handler(arguments, console)
    except MoveError as err:
        print(f"mve: {err}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has gone
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mve",
        description="MoVE, the Mobility Virtual Environment.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--log", default="warning", choices=("debug", "info", "warning", "error"), help="how much to log (%(default)s)"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_run(commands)
    for word, what in (
        ("ready", "send everybody back to READY"),
        ("set", "arm a run: initial conditions, reports at the beat"),
        ("go", "let simulated time run"),
        ("pause", "hold everybody where they are"),
        ("stop", "end the run and all its processes"),
    ):
        command = _add(commands, word, what, _order)
        command.set_defaults(word=word)
        _add_core(command)
    status = _add(commands, "status", "a live table of all vehicles", _status)
    status.add_argument("--once", action="store_true", help="print it once")
    status.add_argument("--rows", type=int, default=40, help="vehicles shown at the most (%(default)s)")
    _add_core(status)
    note = _add(commands, "note", "write a note into the record of the run", _note)
    note.add_argument("text")
    _add_core(note)
    runs = _add(commands, "runs", "the recorded runs, newest first", _runs)
    runs.add_argument("--json", action="store_true", help="as JSON, with everything that is known of each")
    _add_record(runs)
    export = _add(commands, "export", "write a recorded run to a file", _export)
    export.add_argument("run", metavar="RUN", help="its id, the beginning of it, or 'last'")
    export.add_argument("--to", required=True, help="the format: csv")
    export.add_argument("--out", required=True, type=Path, help="the file to write")
    _add_record(export)
    check = _add(commands, "check", "check a scenario file and say what it holds", _check)
    check.add_argument("scenario")
    _add(commands, "doctor", "what is installed, which ports are free, how the clock does", _doctor)
    _add_parts(commands)
    return parser


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = _add(commands, "run", "run a scenario from Ready to Stop and record it", _run)
    _add_scenario(run)
    run.add_argument("--manual", action="store_true", help="do not walk Ready, Set, Go; wait for mve set and mve go")
    run.add_argument("--fast", action="store_true", help="in this one process, as fast as the machine allows")
    _add_mode(run)
    _add_record(run)


def _add_parts(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    core = _add(commands, "core", "Core alone, for other hosts and containers", _core)
    _add_scenario(core)
    _add_mode(core)
    core.add_argument("--host", help="the address to listen on (the scenario's)")
    for name in ("udp", "control", "publish", "record"):
        core.add_argument(f"--{name}-port", type=int, help="(the scenario's)")
    vehicles = _add(commands, "vehicles", "the vehicles of a scenario alone, near Core or on another host", _vehicles)
    _add_scenario(vehicles)
    vehicles.add_argument(
        "--core", required=True, metavar="HOST:PORT", help="Core's UDP address (its TCP address with --lockstep)"
    )
    vehicles.add_argument("--only", metavar="VIDS", help="only these, like 200-299,305")
    vehicles.add_argument("--lockstep", action="store_true")
    recorder = _add(commands, "recorder", "the recorder alone", _recorder)
    recorder.add_argument("--from", dest="source", required=True, metavar="tcp://HOST:PORT", help="Core's record port")
    _add_record(recorder)


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", word: str, what: str, handler: Handler
) -> argparse.ArgumentParser:
    command = commands.add_parser(word, help=what, description=what[0].upper() + what[1:] + ".")
    command.set_defaults(handler=handler)
    return command


def _add_scenario(command: argparse.ArgumentParser) -> None:
    command.add_argument("scenario", help="a TOML file, see configs/")
    command.add_argument("--duration", type=float, metavar="SECONDS", help="simulated seconds (the scenario's)")
    command.add_argument("--seed", type=int, help="(the scenario's)")


def _add_mode(command: argparse.ArgumentParser) -> None:
    command.add_argument("--lockstep", action="store_true", help="every process waits for every beat: reproducible to the bit")
    command.add_argument("--rate", type=_positive, help="simulated seconds per second (1; in lockstep as fast as possible)")


def _add_core(command: argparse.ArgumentParser) -> None:
    command.add_argument("--core", default=CORE, metavar="HOST:PORT", help="Core's control port (%(default)s)")


def _add_record(command: argparse.ArgumentParser) -> None:
    default = os.environ.get("MVE_RECORD", RECORD)
    command.add_argument("--record", default=default, metavar="FILE", help="the record (%(default)s; MVE_RECORD changes it)")


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value <= 1000.0:
        raise argparse.ArgumentTypeError("must be above 0 and at most 1000")
    return value


# Each handler imports what it needs: `mve --help` and `mve stop` answer at once.


def _load(arguments: argparse.Namespace) -> "Scenario":
    from launcher.scenario import Overrides, load

    return load(arguments.scenario, Overrides(duration_s=arguments.duration, seed=arguments.seed))


def _run(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.run import RunOptions, Session
    from launcher.summary import show_summary

    if arguments.fast and (arguments.lockstep or arguments.manual or arguments.rate is not None):
        raise ConfigError("--fast runs in one process without a clock: leave out --lockstep, --manual and --rate")
    scenario = _load(arguments)
    record = Path(arguments.record)
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise RecordError(f"cannot make the folder {record.parent} for the record: {err.strerror}") from err
    if arguments.fast:
        from launcher.fast import run_fast

        infos = [run_fast(scenario, record, console)]
    else:
        overrides = [f"--{name}={value}" for name in ("duration", "seed") if (value := getattr(arguments, name)) is not None]
        options = RunOptions(
            scenario_file=arguments.scenario,
            record=record,
            manual=arguments.manual,
            lockstep=arguments.lockstep,
            rate=arguments.rate,
            overrides=tuple(overrides),
        )
        infos = Session(scenario, options, console).run()
    for info in infos:
        show_summary(console, info, str(record))
    if not infos:
        console.print("no run was started, nothing was recorded")
    return 0


def _order(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.control import Control

    with Control(arguments.core) as control:
        console.print(control.ask(arguments.word)["text"])
    return 0


def _note(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.control import Control

    with Control(arguments.core) as control:
        console.print(control.ask("note", arguments.text)["text"])
    return 0


def _status(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.status import show_status

    return show_status(arguments.core, console, once=arguments.once, rows_most=max(1, arguments.rows))


def _runs(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.listing import show_runs

    return show_runs(Path(arguments.record), console, as_json=arguments.json)


def _export(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.listing import export_run

    return export_run(Path(arguments.record), arguments.run, arguments.to, arguments.out, console)


def _check(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.listing import show_scenario
    from launcher.scenario import load

    return show_scenario(load(arguments.scenario), console)


def _doctor(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.doctor import examine

    return examine(console)


def _core(arguments: argparse.Namespace, console: Console) -> int:
    from core.ports import Ports
    from launcher.parts import run_core

    scenario = _load(arguments)
    core = scenario.core
    given = {name: getattr(arguments, f"{name}_port") for name in ("udp", "control", "publish", "record")}
    ports = Ports(
        host=arguments.host or core.host,
        **{name: getattr(core, f"{name}_port") if port is None else port for name, port in given.items()},
    )
    return run_core(scenario, ports, lockstep=arguments.lockstep, rate=arguments.rate)


def _vehicles(arguments: argparse.Namespace, console: Console) -> int:
    from launcher.parts import parse_spans, run_vehicles

    only = parse_spans(arguments.only) if arguments.only else None
    return run_vehicles(_load(arguments), arguments.core, lockstep=arguments.lockstep, only=only)


def _recorder(arguments: argparse.Namespace, console: Console) -> int:
    import signal
    import threading

    from recording.recorder import run_recorder

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return run_recorder(arguments.source, arguments.record, stop)


if __name__ == "__main__":
    sys.exit(main())
