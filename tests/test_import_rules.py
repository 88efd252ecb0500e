"""The arrows between the folders, and a few other things that no folder may do. The tables are those of DESIGN.

The sources are parsed, not imported: an import inside a function counts as well.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ALL = {"wire", "core", "vehicles", "sensors", "live_gps", "recording", "mapping", "launcher", "optimizer"}
MAY_IMPORT = {
    "wire": set(),
    "core": {"wire"},
    "vehicles": {"wire", "sensors"},
    "sensors": {"wire"},
    "live_gps": {"wire"},
    "recording": {"wire"},
    "mapping": {"wire", "recording"},
    "launcher": ALL - {"optimizer"},
    "optimizer": ALL,
}
OURS = ALL | {"bench", "tests"}  # nobody may import the last two
MSGPACK_HOME = "wire/codec.py"
MAY_PRINT = {"launcher", "bench"}
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}


def imported(tree, path):
    """The dotted name of every module that a source imports, with the line; relative ones made absolute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            folders = Path(path).parent.parts
            base = folders[: len(folders) - node.level + 1] if node.level else ()
            names = [node.module] if node.module else [alias.name for alias in node.names]
            for name in names:
                yield ".".join([*base, name]), node.lineno
        elif isinstance(node, ast.Call) and called(node) in {"import_module", "__import__"} and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value, node.lineno


def called(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def faults(path, source):
    """What a source does that its folder may not do. `path` is relative to the repository."""
    folder = Path(path).parts[0]
    tree = ast.parse(source)
    found = []
    for name, line in imported(tree, path):
        top = name.split(".")[0]
        if folder in MAY_IMPORT and top in OURS - MAY_IMPORT[folder] - {folder}:
            found.append(f"{path}:{line}: {folder} may not import {top}")
        if top == "msgpack" and path != MSGPACK_HOME:
            found.append(f"{path}:{line}: only {MSGPACK_HOME} knows msgpack")
    if folder not in MAY_PRINT:
        found += [
            f"{path}:{node.lineno}: {folder} may not print"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        ]
    if EMPTY_NAMES & {part.removesuffix(".py") for part in Path(path).parts}:
        found.append(f"{path}: a file is named after the thing in it")
    return found


def sources(folder):
    return sorted(path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)


@pytest.mark.parametrize("folder", sorted(ALL | {"bench"}))
def test_a_folder_keeps_the_rules(folder):
    assert (ROOT / folder).is_dir(), "was it renamed?"
    found = []
    for path in sources(folder):
        found += faults(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    assert found == []


def test_every_package_has_a_rule():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= OURS
    assert packages >= {"wire", "core"}  # the search finds something


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("wire/rows.py", "import core"),
        ("wire/rows.py", "from core.state import State"),
        ("core/state.py", "import numpy, vehicles.models as models"),
        ("core/state.py", "def late():\n    from vehicles import models"),
        ("core/state.py", "if TYPE_CHECKING:\n    import launcher"),
        ("core/state.py", "import importlib\nimportlib.import_module('vehicles.models')"),
        ("core/state.py", "__import__('vehicles')"),
        ("core/state.py", "from .. import vehicles"),
        ("core/state.py", "from ..vehicles import models"),
        ("core/state.py", "import tests.core"),
        ("vehicles/behaviours/wander.py", "from ...core import state"),
        ("vehicles/process.py", "import core.state"),
        ("sensors/cone.py", "import vehicles"),
        ("live_gps/follower.py", "import vehicles"),
        ("recording/store.py", "from mapping import live_map"),
        ("mapping/live_map.py", "import core"),
        ("launcher/command.py", "from optimizer import study"),
        ("optimizer/study.py", "import bench"),
    ],
)
def test_an_arrow_that_is_not_drawn_is_found(path, source):
    assert [fault for fault in faults(path, source) if "may not import" in fault]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("wire/rows.py", "import numpy\nfrom wire.errors import CodecError\nfrom . import words"),
        ("vehicles/behaviours/wander.py", "from ..models import Own\nfrom sensors import cone"),
        ("launcher/command.py", "import core, vehicles, mapping, recording\nprint('fine')"),
        ("optimizer/study.py", "from launcher import world"),
        ("core/state.py", "import corelib\nself.print(1)\nlog.print('no')"),
        ("wire/codec.py", "import msgpack"),
        ("bench/speed.py", "import optimizer, core\nprint(1)"),
    ],
)
def test_what_is_allowed_is_not_found(path, source):
    assert faults(path, source) == []


@pytest.mark.parametrize("source", ["import msgpack", "from msgpack import packb", "def f():\n    import msgpack.ext"])
@pytest.mark.parametrize("path", ["recording/store.py", "wire/record.py", "bench/speed.py", "core/codec.py"])
def test_msgpack_outside_the_codec_is_found(path, source):
    assert faults(path, source) == [f"{path}:{2 if 'def' in source else 1}: only wire/codec.py knows msgpack"]


@pytest.mark.parametrize("path", ["core/state.py", "wire/rows.py", "optimizer/study.py"])
def test_a_print_is_found(path):
    assert faults(path, "def f():\n    print('here')") == [f"{path}:2: {path.split('/')[0]} may not print"]


@pytest.mark.parametrize("path", ["core/utils.py", "wire/helpers.py", "launcher/common.py", "vehicles/utils/angle.py"])
def test_a_name_that_says_nothing_is_found(path):
    assert faults(path, "") == [f"{path}: a file is named after the thing in it"]
