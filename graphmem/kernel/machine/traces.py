"""
Texts and names of purged records, by which their traces are found in the files of this machine.

A purge keeps it in ``state/purge.json`` before it changes a row, and removes that file last: where it is cut off, the
next command goes on with it (``graphmem/kernel/store/purging.py``).
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from graphmem.kernel.model import MODELS, Record
from graphmem.kernel.model.record import row_fields
from graphmem.kernel.ndjson import Row
from graphmem.kernel.system import safe_files
from graphmem.names import row_key

TIMES = frozenset({"kind", "created_at", "edited", "archived_at", "at", "tags", "sources", "files"})  # tell no record
M = TypeVar("M", bound=BaseModel)
SHORTEST = 8  # characters of a text that tells a record


class Traces(BaseModel):
    """
    Texts and names of purged records.

    Attributes:
        hashes: of the rows of the purge: while the store has none of them, nothing was purged.
        keys: references by key.
        handles: every reference that may mean one of them.
        words: what their rows say and nothing else would: texts and references, also as JSON has them.
        digests: of the texts whose vectors go, hexadecimal.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    hashes: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    handles: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    digests: frozenset[str] = frozenset()

    def is_told(self, text: str) -> bool:
        """Return whether a text holds one of their texts."""
        return any(word in text for word in self.words)

    def is_called(self, ref: str) -> bool:
        """Return whether a reference is one of theirs; they may be gone by now."""
        return ref in self.handles

    def untold(self, value: Any) -> Any:
        """Return a JSON value without the texts that hold one of theirs."""
        match value:
            case str():
                return None if self.is_told(value) else value
            case dict():
                kept = {name: self.untold(part) for name, part in value.items() if not self.is_told(name)}
                return {name: part for name, part in kept.items() if part is not None or value[name] is None}
            case list():
                return [part for part in map(self.untold, value) if part is not None]
        return value

    def cleared(self, value: M) -> M:
        """Return a value of a model without the texts that hold one of theirs; a field that needs one goes whole."""
        data = value.model_dump(mode="json", exclude_none=True)
        if not self.is_told(orjson.dumps(data).decode()):
            return value
        kept = self.untold(data)
        try:
            return type(value).model_validate(kept)
        except ValidationError as error:
            wrong = {str(one["loc"][0]) for one in error.errors()}
            return type(value).model_validate({name: part for name, part in kept.items() if name not in wrong})

    def is_file_told(self, path: Path) -> bool:
        """Return whether a file holds one of their texts."""
        return self.is_told(safe_files.read(path).decode("utf-8", "replace"))

    def __or__(self, other: "Traces") -> "Traces":
        return Traces(**{name: getattr(self, name) | getattr(other, name) for name in Traces.model_fields})


def traces_of(rows: Collection[Row], hashes: Iterable[str] = (), digests: Iterable[bytes] = ()) -> Traces:
    """Return the texts and names of the records with these rows; rows of relations and facts name other records too."""
    own = [row for row in rows if issubclass(MODELS.get(row["kind"], BaseModel), Record)]
    handles = {ref for row in own for ref in _handles_of(row)}
    telling = {text for row in own for text in _texts_of(row, _plain_fields(row["kind"])) if len(text) >= SHORTEST}
    telling |= {handle for handle in handles if len(handle) >= SHORTEST}
    return Traces(
        hashes=frozenset(hashes),
        keys=frozenset(map(_key_ref, own)),
        handles=frozenset(handles),
        words=frozenset(telling | {orjson.dumps(text).decode()[1:-1] for text in telling}),
        digests=frozenset(digest.hex() for digest in digests),
    )


def _handles_of(row: Row) -> Iterator[str]:
    """Yield every reference that may mean the record with this row."""
    ref = _key_ref(row)
    record_type = ref.partition("/")[0]
    aliases = row.get("aliases")
    yield ref
    names = [row["name"]] if "name" in row else []
    yield from (f"{record_type}/{name}" for name in (*names, *(aliases if isinstance(aliases, list) else ())))


def _key_ref(row: Row) -> str:
    """Return the reference by key of the record with this row; a run and an event have no name."""
    key = row_key(row, frozenset())
    return key if "name" in row else f"{row['kind']}/{key}"


@cache
def _plain_fields(kind: str) -> frozenset[str]:
    """Return the fields of a kind that tell no record: times, choices, and references of other records."""
    model = MODELS[kind]
    assert issubclass(model, Record)
    choices = {alias for name, alias, _ in row_fields(model) if _is_choice(model.model_fields[name].annotation)}
    return TIMES | choices | model.refers.keys() | set(model.single_references)


def _is_choice(annotation: object) -> bool:
    """Return whether a field has one of a few values."""
    return get_origin(annotation) is Literal or any(map(_is_choice, get_args(annotation)))


def _texts_of(value: object, but: Collection[str]) -> Iterator[str]:
    """Yield the texts in a row but for some of its fields."""
    match value:
        case str():
            yield value
        case dict():
            yield from (text for name, part in value.items() if name not in but for text in _texts_of(part, but))
        case list():
            yield from (text for part in value for text in _texts_of(part, but))


def read(path: Path) -> Traces | None:
    """Return what a purge left to be cleared; None where there is nothing, or the file is damaged."""
    try:
        return Traces.model_validate_json(safe_files.read(path))
    except (OSError, ValidationError):
        return None


def keep(path: Path, traces: Traces) -> None:
    """Keep what is to be cleared, beside what is left of an earlier purge."""
    before = read(path)
    safe_files.put(path, (before | traces if before else traces).model_dump_json().encode(), is_flushed=True)
