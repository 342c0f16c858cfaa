"""The limits of what a command takes in; files and merges may hold more (docs/reference/records.md)."""

from collections.abc import Container, Mapping
from functools import cache
from itertools import chain

from graphmem.errors import BadInput
from graphmem.kernel.model.field import TEXT_BYTES, Limit
from graphmem.kernel.model.record import Frozen, limits, row_fields
from graphmem.kernel.versions import pairs

PLACEHOLDER = "…"  # of a text, in the commands that answers offer


def refuse_oversize(record: Frozen, given: Container[str] | None = None) -> None:
    """
    Raise ``BadInput`` for the first field over its limit.

    Args:
        record: what would be stored.
        given: fields that the caller gave, by their names in a row; None for all. What a file holds is not looked at.

    The error names the field, its size and the limit; nothing is ever cut.
    """
    fields = record.model_fields_set
    for name, alias, limit in _limited(type(record)):
        if name not in fields or (given is not None and alias not in given):
            continue
        value = getattr(record, name)
        if isinstance(value, str):
            _refuse_text(record.kind, alias, value, limit)
        elif isinstance(value, tuple | dict):
            if len(value) > limit.items:
                raise _too_large(record.kind, alias, f"{len(value):,} items", f"{limit.items:,}")
            for item in chain(*pairs(value)) if isinstance(value, dict) else value:
                _refuse_text(record.kind, alias, item, limit)


def refuse_blank(model: type[Frozen], given: Mapping[str, object]) -> None:
    """
    Raise ``BadInput`` for a text without a word in it: it would count as an answer and say nothing.

    Args:
        given: values by their names in a row, as a person gave them.
    """
    for name in _texts(model):
        value = given.get(name)
        if isinstance(value, str) and value.strip() in ("", PLACEHOLDER):
            needed = model.model_fields[name].is_required()
            hint = "say it in words" if needed else f"say it in words, or leave it out; edit --unset {name} removes it"
            found = "is empty" if not value.strip() else f"is {PLACEHOLDER!r}, a placeholder"
            raise BadInput(f"{model.__name__.lower()}: {name} {found}", hint=hint, details={"field": name})


@cache
def _texts(model: type[Frozen]) -> tuple[str, ...]:
    """Return the fields that are a text in words, by their names in a row, in order."""
    return tuple(sorted(name for _, name, limit in _limited(model) if limit.size == TEXT_BYTES and not limit.items))


@cache
def _limited(model: type[Frozen]) -> tuple[tuple[str, str, Limit], ...]:
    """Return the name, the name in a row and the limit of each field that has one."""
    found = limits(model)
    return tuple((name, alias, found[alias]) for name, alias, _ in row_fields(model) if alias in found)


def _refuse_text(kind: str, field: str, value: str, limit: Limit) -> None:
    """Raise ``BadInput`` for a text over its limit of characters or of bytes."""
    if limit.characters and len(value) > limit.characters:
        raise _too_large(kind, field, f"{len(value):,} characters", f"{limit.characters:,}")
    if limit.size and len(value) * 4 > limit.size and len(value.encode()) > limit.size:  # a character has 4 at most
        raise _too_large(kind, field, f"{len(value.encode()):,} bytes of UTF-8", f"{limit.size:,}")


def _too_large(kind: str, field: str, size: str, limit: str) -> BadInput:
    """Report what is too large, and how large it may be."""
    return BadInput(
        f"{kind} field {field!r} has {size}, at most {limit} are taken",
        hint="shorten it; nothing is cut silently",
        details={"field": field},
    )
