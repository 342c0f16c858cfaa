"""
Texts in the forms of other programs: TOML, JSON and YAML that a project or a user brings, read within bounds.

A parser takes what it is given: TOML is quadratic in the parts of a dotted key, a few bytes of YAML stand for a
gigabyte, and a JSON of brackets is a hundred times as large in memory. So a text is looked at first, in one pass, and
refused with ``ValueError`` where it has more than a file of its sort has. Every such file that graphmem did not write
itself is read here, or by patterns of its lines (``rules/lock_files.py``).
Source: docs/guarantees.md, "With a hostile branch".
"""

import tomllib
from collections.abc import Callable
from typing import Any

import orjson

from graphmem.kernel.ndjson import NESTING
from graphmem.patterns import lazy_re

TOML_CHARS = 256 * 1024  # of a manifest or a client's settings; the parser takes 0.2 s for the worst of them
TOML_PARTS = 20  # of a dotted key
JSON_CHARS = 16 * 2**20  # package-lock.json of a large project has 3
JSON_VALUES = 1_000_000  # each takes some fifty bytes of memory
YAML_CHARS = 32 * 1024  # of the front matter of a type's file; the parser takes 0.3 s for the worst of them
PART = r"(?:[\w-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+')"
LONG_KEY = lazy_re(rf"(?<![\w-]){PART}(?:[ \t]*+\.[ \t]*+{PART}){{{TOML_PARTS}}}")
LONG_NUMBER = lazy_re(r"[-+]?[0-9.][0-9a-fA-FxXoO_:.+-]{32,}")  # also binary, hexadecimal, of base 60


def toml(text: str) -> dict[str, Any]:
    """
    Return the table that a text holds.

    Raises:
        ValueError: it is not TOML, or is made to take time.
    """
    _refuse_size(text, TOML_CHARS)
    if (found := LONG_KEY.search(text)) is not None:
        raise ValueError(f"a key has more than {TOML_PARTS} parts: {found[0][:40]}…")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def json(text: str, *, load: Callable[[str], Any] = orjson.loads) -> Any:
    """
    Return the value that a text holds.

    Args:
        load: the parser, where not the usual one.

    Raises:
        ValueError: it is not JSON, or is made to take memory.
    """
    _refuse_size(text, JSON_CHARS)
    if text.count(",") + text.count("[") + text.count("{") > JSON_VALUES:
        raise ValueError(f"it has more than {JSON_VALUES:,} values")
    try:
        return load(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def yaml(text: str) -> Any:
    """
    Return the value that a text holds.

    Raises:
        ValueError: it has aliases or long numbers, which represent more than is read, is nested deep, or too long.
        yaml.YAMLError: it is not YAML.
    """
    import yaml as parser  # noqa: PLC0415 - 25 ms that only a changed vocabulary pays

    _refuse_size(text, YAML_CHARS)
    starts = (
        parser.FlowSequenceStartToken,
        parser.FlowMappingStartToken,
        parser.BlockSequenceStartToken,
        parser.BlockMappingStartToken,
    )
    ends = (parser.FlowSequenceEndToken, parser.FlowMappingEndToken, parser.BlockEndToken)
    depth = 0
    for token in parser.scan(text):
        depth += isinstance(token, starts) - isinstance(token, ends)
        if isinstance(token, parser.AliasToken) or depth > NESTING:
            raise ValueError(f"the front matter has aliases, or is nested over {NESTING} levels deep")
        if isinstance(token, parser.ScalarToken) and token.plain and LONG_NUMBER.fullmatch(token.value):
            raise ValueError(f"a number of {len(token.value):,} characters: {token.value[:30]}…")
    return parser.safe_load(text)


def _refuse_size(text: str, most: int) -> None:
    """Raise ``ValueError`` for a text of more than so many characters."""
    if len(text) > most:
        raise ValueError(f"it has {len(text):,} characters; at most {most:,} are read")
