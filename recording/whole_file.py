"""Files that appear whole or not at all: whoever looks at the path finds the old one or the finished one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from wire.errors import RecordError


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """UTF-8 text for `path`, put in its place when the block is left without an error. Raises RecordError if it cannot be."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")  # the same folder: a rename does not cross disks
    try:
        if path.is_dir():
            raise RecordError(f"cannot write {path}: it is a folder; give the name of a file")
        try:
            with draft.open("w", newline="", encoding="utf-8") as file:
                yield file
            os.replace(draft, path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as err:  # ValueError: a NUL in the path
        raise RecordError(f"cannot write {path}: {getattr(err, 'strerror', None) or err}") from err
