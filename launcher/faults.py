"""What is wrong with a scenario, in sentences: file, table, key, and what would be right."""

import difflib
import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from wire.errors import ConfigError

Place = tuple[str | int, ...]  # keys and positions from the top of the file down, as pydantic's `loc`

MOST_FAULTS: Final = 50  # listed; the rest are counted
_WANTED: Final = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "an array",
    "tuple_type": "an array",
    "dict_type": "a table",
    "model_type": "a table",
    "arguments_type": "a table",
}
_RANGE: Final = {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}


class Faults:
    """Gathers the sentences about one file, so that all of them are told at once."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.sentences: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.sentences)

    def add(self, place: Place, sentence: str) -> None:
        tables = place_words(place)
        self.sentences.append(f"{self.file} [{tables}]: {sentence}" if tables else f"{self.file}: {sentence}")

    def add_error(self, err: ValidationError, place: Place, model: Any, hidden: Iterable[str] = ()) -> None:
        """One sentence for each fault that pydantic found in a table of class `model` at `place`; not for hidden keys."""
        unseen = frozenset(hidden)
        for detail in err.errors(include_url=False):
            if detail["loc"] and detail["loc"][0] in unseen:
                continue
            where, sentence = _sentence(detail, model, unseen)
            self.add((*place, *where), sentence)

    def raise_if_any(self) -> None:
        if self.sentences:
            told = self.sentences[:MOST_FAULTS]
            if len(self.sentences) > MOST_FAULTS:
                told.append(f"{self.file}: and {len(self.sentences) - MOST_FAULTS} more faults")
            raise ConfigError("\n".join(told))


def key_fault(sentence: str) -> PydanticCustomError:
    """For a validator of one key; the sentence names the key."""
    return PydanticCustomError("key_fault", "{sentence}", {"sentence": sentence})


def table_fault(sentence: str) -> PydanticCustomError:
    """For a validator of a whole table."""
    return PydanticCustomError("table_fault", "{sentence}", {"sentence": sentence})


def place_words(place: Place) -> str:
    """('vehicles', 1, 'start') as `vehicles 2, start`."""
    words: list[str] = []
    for part in place:
        if isinstance(part, int):
            words[-1:] = [f"{words[-1]} {part + 1}" if words else str(part + 1)]
        else:
            words.append(part)
    return ", ".join(words)


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """The sentence about a word that is not known, with the nearest one that is."""
    words = list(known)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    if near:
        return f"unknown {what} {_quoted(word)}; did you mean {near[0]!r}?"
    if words and len(words) <= 24:
        return f"unknown {what} {_quoted(word)}; known are {', '.join(words)}"
    return f"unknown {what} {_quoted(word)}" + ("" if words else "; nothing can be set here")


def shown(value: Any) -> str:
    """A value as it stands in the file, shortened."""
    if isinstance(value, str):
        return "the text " + _quoted(value, '"')
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "an array"
    return _short(json.dumps(value, default=str))


def fields_of(model: Any) -> list[str]:
    """The keys of a pydantic model or of a NamedTuple class."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        return list(model.model_fields)
    return list(getattr(model, "_fields", ()))


def _sentence(detail: ErrorDetails, model: Any, hidden: frozenset[str]) -> tuple[Place, str]:
    kind, loc, value = detail["type"], detail["loc"], detail["input"]
    if kind == "table_fault":
        return loc, detail["msg"]
    table, key = _split(loc)
    if kind == "key_fault":
        return table, detail["msg"]
    owner = _model_at(model, table)
    if kind == "extra_forbidden":
        return table, unknown("key", key, [name for name in fields_of(owner) if name not in hidden])
    if kind == "missing":
        return table, f"missing key '{key}'"
    named = f"'{key}'" + "".join(f" item {part + 1}" for part in loc[len(table) + 1 :] if isinstance(part, int))
    if not loc:
        named = "it"
    if kind in _RANGE:
        return table, f"{named} = {_short(str(value))} is out of range; allowed is {_range_of(owner, key, detail)}"
    if kind in _WANTED:
        return table, f"{named} must be {_WANTED[kind]}, not {shown(value)}"
    return table, f"{named} is not right: {detail['msg'][0].lower()}{detail['msg'][1:]}"


def _split(loc: Place) -> tuple[Place, str]:
    """The table and the key in it; positions within the key's own array are left off."""
    last = max((i for i, part in enumerate(loc) if isinstance(part, str)), default=0)
    return loc[:last], str(loc[last]) if loc else ""


def _model_at(model: Any, table: Place) -> Any:
    """The class of a table, going down from the class at the top."""
    for part in table:
        if isinstance(part, str):
            model = _class_in(_hint(model, part))
    return model


def _hint(model: Any, key: str) -> Any:
    try:
        return get_type_hints(model, include_extras=True).get(key)
    except (TypeError, NameError):  # no class, or a user's annotation that does not resolve
        return None


def _class_in(hint: Any) -> Any:
    if isinstance(hint, type) and fields_of(hint):
        return hint
    return next((found for arg in get_args(hint) if (found := _class_in(arg)) is not None), None)


def _range_of(model: Any, key: str, detail: ErrorDetails) -> str:
    limits: dict[str, Any] = {}
    for mark in _marks(_hint(model, key)):
        for name, bound in (("ge", Ge), ("gt", Gt), ("le", Le), ("lt", Lt)):
            if isinstance(mark, bound):
                limits[name] = getattr(mark, name)
    return range_words(limits or detail.get("ctx", {}))


def _marks(hint: Any) -> Sequence[Any]:
    """The limits that stand in an annotation, at any depth: Annotated[float, Ge(0)] | None."""
    own = list(hint.__metadata__) if get_origin(hint) is Annotated else []
    return own + [mark for arg in get_args(hint) if get_origin(arg) is not None for mark in _marks(arg)]


def range_words(limits: dict[str, Any]) -> str:
    low = f"more than {_number(limits['gt'])}" if "gt" in limits else ""
    low = f"{_number(limits['ge'])}" if "ge" in limits else low
    high = f"less than {_number(limits['lt'])}" if "lt" in limits else ""
    high = f"{_number(limits['le'])}" if "le" in limits else high
    if low and high:
        return f"{low} to {high}"
    if low:
        return low if "gt" in limits else f"{low} or more"
    return high if "lt" in limits else f"{high} or less"


def _number(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _quoted(text: str, mark: str = "'") -> str:
    return mark + _short(text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text) + mark


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
