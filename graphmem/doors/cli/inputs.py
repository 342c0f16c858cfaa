"""Input that a command takes: from a file, from standard input, as ``name=text`` or ``name:=JSON``."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from graphmem.doors.cli.paths import cites, files, from_root
from graphmem.errors import BadInput, NotFound, Unavailable, Usage
from graphmem.kernel.ndjson import Lines
from graphmem.kernel.system.surroundings import current_folder

MOST_INPUT = 2**20  # bytes of a text on standard input; no field may be as long


@contextlib.contextmanager
def lines_of(source: str) -> Iterator[Iterable[bytes]]:
    """Yield the lines of a file, or of standard input for ``-``; none of them is held whole that is far too long."""
    with opened(source) as file:
        yield Lines(file)


@contextlib.contextmanager
def opened(source: str) -> Iterator[BinaryIO]:
    """Yield a file, or standard input for ``-``."""
    if source == "-":
        given = getattr(sys.stdin, "buffer", None)
        if given is None:
            raise Usage("standard input is closed", hint="give a file, or pipe something in")
        yield given
        return
    try:
        file = open(current_folder() / source, "rb")  # noqa: SIM115 - closed below; only opening it may fail in these words
    except FileNotFoundError:
        raise NotFound(f"file {source!r} is not there") from None
    except OSError as error:
        raise Unavailable(f"{source!r} cannot be read: {(error.strerror or '').lower()}") from None
    with file:
        yield file


def text_of(given: str) -> str:
    """
    Return a text that was given, for ``-`` what standard input says.

    Raises:
        Usage: it is not UTF-8, or longer than any text may be.
    """
    if given != "-":
        return given
    with opened("-") as file:
        read = file.read(MOST_INPUT + 1)
    if len(read) > MOST_INPUT:
        raise Usage(f"standard input has more than {MOST_INPUT:,} bytes", hint="pass only the lines with the error")
    try:
        return read.decode().strip("\n")
    except UnicodeDecodeError:
        raise Usage("standard input is not UTF-8", hint="give text") from None


def _json_in(source: str, such_as: str) -> object:
    """Return the JSON of a file, or of standard input for ``-``; ``such_as`` is the hint for other text."""
    with opened(source) as file:
        return _json_of(file.read(), "standard input" if source == "-" else repr(source), such_as)


def _json_of(data: bytes | str, what: str, such_as: str) -> object:
    """Return the value of a text of JSON, or raise ``BadInput``; ``what`` begins the message."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise BadInput(f"{what} is not JSON: {why}", hint=such_as) from None


def _text_in(source: str) -> str:
    """
    Return the text of a file, or of standard input for ``-``.

    Raises:
        BadInput: it is not UTF-8.
    """
    with opened(source) as file:
        data = file.read()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{source!r} is not UTF-8: {error.reason}", hint="a text in UTF-8") from None


def _json_typed(given: str, such_as: str) -> object:
    """Return the object in JSON as it was typed, or in standard input for ``-``."""
    what = "standard input" if given == "-" else repr(given[:80])
    return _object_of(_json_in(given, such_as) if given == "-" else _json_of(given, what, such_as), what, such_as)


def _object_of(made: object, what: str, such_as: str) -> object:
    """Return a value that is a JSON object, or raise ``BadInput``."""
    if not isinstance(made, dict):
        raise BadInput(f"{what} is not a JSON object", hint=such_as)
    return made


def listed(values: Sequence[str] | None) -> list[str]:
    """Return the names of an option that takes several, separated by commas or given again."""
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


# How what is typed becomes the value of a field; each takes the invocation, what is typed, and an example.
READERS: dict[str, Callable[[Any, Any, str], object]] = {
    "names": lambda _, given, __: listed(given),
    "path": lambda invocation, given, _: (
        from_root(invocation.memory.store.client.root, given)
        if isinstance(given, str)
        else files(invocation, given, is_missing_ok=True)
    ),
    "files": lambda invocation, given, _: files(invocation, given, is_missing_ok=False),
    "cites": lambda invocation, given, _: cites(invocation, given),
    "versions": lambda _, given, __: versions_of(given),
    "columns": lambda _, given, __: _columns_of(given),
    "text typed": lambda _, given, __: text_of(given),
    "text": lambda _, given, __: _text_in(given),
    "json": lambda _, given, such_as: _json_in(given, such_as),
    "json object": lambda _, given, such_as: _object_of(_json_in(given, such_as), "the plan", such_as),
    "json typed": lambda _, given, such_as: _json_typed(given, such_as),
}


def versions_of(given: list[str] | None) -> dict[str, str] | None:
    """Return versions of packages by name, from ``NAME=V``."""
    pairs = [text.partition("=") for text in given or ()]
    for name, _, version in pairs:
        if not (name.strip() and version.strip("= ")):
            raise Usage(f"version {name!r} has no value", hint="--version werkzeug=2.3.8")
    return {name.strip(): version.strip("= ") for name, _, version in pairs} or None


def _columns_of(given: list[str]) -> dict[str, str]:
    """Return the column for each field, from ``FIELD=COLUMN``."""
    pairs = [one.partition("=") for one in given]
    for field, _, column in pairs:
        if not (field.strip() and column.strip()):
            raise Usage(f"--map {field!r} names no column", hint="--map trigger=Title")
    return {field.strip(): column.strip() for field, _, column in pairs}
