"""The errors of MoVE, one class per boundary.

MoveError
├── CodecError     a datagram or frame that cannot be read; `reason` is the word it is counted under
├── ConfigError    a scenario or study file that does not hold together
├── LinkError      a port in use, an address that does not resolve, a Core that does not answer
├── CommandError   an operator's command that is not legal now
└── RecordError    a record that cannot be opened, read or written

Every message is one sentence: what, where, what to do.
"""


class MoveError(Exception):
    """Anything MoVE says no to. The command prints it without a traceback."""


class CodecError(MoveError):
    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class ConfigError(MoveError):
    pass


class LinkError(MoveError):
    pass


class CommandError(MoveError):
    pass


class RecordError(MoveError):
    pass
