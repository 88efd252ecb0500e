"""Compiles `vehicles.kernel` with the behaviours of the table, and keeps the machine code on disk.

numba compiles the plain functions as they are. What cannot be written once is the step from a behaviour's number to its function
and its own settings type: that dispatcher is generated from the table. It goes into a module whose name holds a hash of all that
the machine code depends on, so that numba's cache, which knows only the file it caches for, is never stale.
"""

import functools
import hashlib
import inspect
import os
import sys
import tempfile
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numba.extending import register_jitable

from vehicles import kernel
from vehicles.behaviours import Behaviour
from vehicles.mind import SILENT

PACKAGES: Final = {"vehicles", "wire", "sensors"}  # whose functions may be compiled; and those of the behaviours
WRITTEN_S: Final = 1_000_000_000  # numba compares the file's time: whoever writes it, it is the same file

HEAD: Final = '''"""Written by vehicles.compiled_code from the table of behaviours; may be deleted at any time."""

import numba
from numba.extending import register_jitable


@register_jitable
def decide(code, own, seen, cells, at):
'''
TAIL: Final = """    return SILENT


@numba.njit(cache=True, error_model="numpy", nogil=True)
def pick(advisories, row_of, picked):
    pick_advisories(advisories, row_of, picked)


@numba.njit(cache=True, error_model="numpy", nogil=True)
def advance(table, minds, advisories, picked, beat):
    return advance_rows(decide, table, minds, advisories, picked, beat)


@numba.njit(cache=True, error_model="numpy", nogil=True)
def write(table, frame, t_s, run_state, margin_pct, moving, state):
    write_rows(table, frame, t_s, run_state, margin_pct, moving, state)
"""

_jitable: set[Callable[..., Any]] = set()


class Plan(NamedTuple):
    """What to compile."""

    name: str  # of the module; another one for anything else that the machine code depends on
    text: str
    given: dict[str, Any]  # globals of the module
    functions: set[Callable[..., Any]]


def code_for(table: Mapping[str, Behaviour]) -> Any:
    """The module with `pick`, `advance` and `write`; compiled once for a table, then loaded."""
    plan = plan_for(table)
    if plan.name not in sys.modules:
        for function in plan.functions - _jitable:
            register_jitable(function)
            _jitable.add(function)
        load(plan)
    return sys.modules[plan.name]


def plan_for(table: Mapping[str, Behaviour]) -> Plan:
    given: dict[str, Any] = {"SILENT": SILENT}
    for function in (kernel.pick_advisories, kernel.advance_rows, kernel.write_rows):
        given[function.__name__] = function
    for line in table.values():
        given[f"decide_{line.number}"], given[f"Settings_{line.number}"] = line.decide, line.settings
    text = HEAD + "".join(branch(name, line) for name, line in table.items()) + TAIL
    reached: dict[Callable[..., Any], list[str]] = {}
    for value in given.values():
        if isinstance(value, types.FunctionType):
            reach(value, reached)
    return Plan(f"move_fleet_{digest(text, given, reached)}", text, given, set(reached))


def branch(name: str, line: Behaviour) -> str:
    """The lines of the dispatcher that read the settings of one behaviour from its cells."""
    read, at = [], 0
    for kind in field_kinds(name, line.settings).values():
        if kind is float:
            read.append(f"cells[at + {at}]")
        elif kind is bool:
            read.append(f"cells[at + {at}] != 0.0")
        elif kind is int:
            read.append(f"int(cells[at + {at}])")
        else:
            read.append(f"cells[int(cells[at + {at}]) : int(cells[at + {at + 1}])]")
            at += 1
        at += 1
    settings = f"Settings_{line.number}({', '.join(read)})"
    return f"    if code == {line.number}:  # {name}\n        return decide_{line.number}(own, seen, {settings})\n"


@functools.cache
def field_kinds(name: str, settings: Any) -> dict[str, Any]:
    """float, int, bool or tuple for each field. Raises TypeError for a field that compiled code cannot have."""
    hints = typing.get_type_hints(settings)
    kinds = {field: typing.get_origin(hints[field]) or hints[field] for field in settings._fields}
    for field, kind in kinds.items():
        if kind not in (float, int, bool) and hints[field] != tuple[float, ...]:
            raise TypeError(f"{name}.{field}: a setting is float, int, bool or tuple[float, ...], not {hints[field]}")
    return kinds


def reach(function: Callable[..., Any], reached: dict[Callable[..., Any], list[str]]) -> None:
    """Adds the function and all that it calls, each with the constants and types that it uses."""
    if function in reached:
        return
    reached[function] = constants = []
    for name, value in used(function):
        if not isinstance(value, types.FunctionType):
            constants.append(f"{name} = {value!r} {getattr(value, '_fields', '')}")
        elif package(value) in PACKAGES | {package(function)}:
            reach(value, reached)


def used(function: Any) -> Iterator[tuple[str, Any]]:
    """The globals that a function names, those of modules of ours included."""
    names = sorted(named(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] in PACKAGES:
                yield from ((key, vars(value)[key]) for key in names if key in vars(value))
        elif name in function.__globals__:
            yield name, value


def named(code: types.CodeType) -> set[str]:
    """Also by the functions inside it, such as comprehensions."""
    inner = (named(const) for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*inner)


def package(function: Callable[..., Any]) -> str:
    return function.__module__.partition(".")[0]


def digest(text: str, given: Mapping[str, Any], reached: Mapping[Callable[..., Any], list[str]]) -> str:
    parts = [text, numba.__version__, np.__version__, sys.version]
    parts += [f"{name} = {getattr(value, '__qualname__', value)!r}" for name, value in given.items()]
    for function in sorted(reached, key=lambda f: (f.__module__, f.__qualname__)):
        parts += [function.__module__, inspect.getsource(function), *reached[function]]
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()


def load(plan: Plan) -> None:
    """Writes the module, unless it is there already, and runs it. numba keeps the machine code beside it."""
    path = cache_folder() / f"{plan.name}.py"
    if not path.exists():
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as file:
            file.write(plan.text)
        os.utime(file.name, (WRITTEN_S, WRITTEN_S))
        os.replace(file.name, path)  # at once: another process may be doing the same
    module = types.ModuleType(plan.name)
    module.__file__ = str(path)
    vars(module).update(plan.given)
    exec(compile(plan.text, path, "exec"), vars(module))  # our text, whatever the file holds
    sys.modules[plan.name] = module  # numba looks it up there


def cache_folder() -> Path:
    """Where the machine code is kept: of numba's, the user's cache and a temporary folder the first that can be written."""
    for base in (os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME"), Path("~/.cache").expanduser()):
        if base:
            folder = Path(base) / "move-mve"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=folder).close()
            except OSError:
                continue
            return folder
    return Path(tempfile.mkdtemp(prefix="move-mve-"))  # new: numba trusts what it finds, so it must be nobody else's
