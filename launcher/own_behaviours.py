"""A user's own behaviour, `module:function`: found beside the scenario file or on Python's path.

Reading a scenario that names one runs its module, as any import does.
"""

import functools
import importlib
import importlib.util
import inspect
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_type_hints

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from launcher.faults import unknown
from vehicles.behaviours import Decide
from wire.errors import ConfigError


class Found(NamedTuple):
    decide: Decide
    settings: Any  # the NamedTuple class that its parameter `s` is annotated with


def find(name: str, folder: Path) -> Found:
    """Raises ConfigError with one sentence."""
    module_name, _, function_name = name.partition(":")
    if not function_name.isidentifier() or not all(part.isidentifier() for part in module_name.split(".")):
        raise ConfigError(f"behaviour '{name}' must be a module and a function, as in 'my_module:my_function'")
    module = _module(module_name, folder)
    function = getattr(module, function_name, None)
    if function is None:
        public = [word for word, value in vars(module).items() if inspect.isfunction(value)]
        raise ConfigError(f"module '{module_name}' has an {unknown('function', function_name, public)}")
    try:
        inspect.signature(function).bind(None, None, None)
    except (TypeError, ValueError) as err:
        raise ConfigError(f"behaviour '{name}' must be a function (own, seen, s) -> Command") from err
    return Found(function, _settings(name, function))


def _settings(name: str, function: Any) -> Any:
    try:
        settings = get_type_hints(function).get("s")
    except Exception as err:  # whatever the user's annotations do
        raise ConfigError(f"behaviour '{name}': its annotations cannot be read: {err}") from err
    if not (isinstance(settings, type) and issubclass(settings, tuple) and hasattr(settings, "_fields")):
        raise ConfigError(f"behaviour '{name}': its parameter 's' must be annotated with a NamedTuple, its settings")
    try:
        TypeAdapter(settings)
    except (PydanticUserError, NameError) as err:
        first = str(err).splitlines()[0]
        raise ConfigError(f"behaviour '{name}': its settings cannot be checked: {first}") from err
    return settings


def _module(name: str, folder: Path) -> ModuleType:
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    try:
        if path.is_file():
            return _load(str(path.resolve()), str(folder.resolve()), path.stat().st_mtime_ns)
        return importlib.import_module(name)
    except ModuleNotFoundError as err:
        if err.name is not None and (name == err.name or name.startswith(err.name + ".")):
            raise ConfigError(f"module '{name}' is neither in '{folder}' nor on Python's path") from err
        raise ConfigError(f"module '{name}' cannot be imported: {err}") from err
    except (Exception, SystemExit) as err:  # whatever the user's module does
        raise ConfigError(f"module '{name}' cannot be imported: {type(err).__name__}: {_line(err)}") from err


@functools.lru_cache(maxsize=64)  # the same file gives the same functions, so that equal scenarios are equal
def _load(path: str, folder: str, _changed_ns: int) -> ModuleType:
    key = f"{Path(path).stem}_{zlib.crc32(path.encode()):08x}"  # two folders may hold modules of one name
    spec = importlib.util.spec_from_file_location(key, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    sys.path.insert(0, folder)  # it may import its neighbours
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[key]
        raise
    finally:
        sys.path.remove(folder)
    return module


def _line(err: BaseException) -> str:
    return (str(err).splitlines() or [""])[0]
