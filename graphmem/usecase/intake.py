"""From what somebody gives to a checked record: names, defaults, limits, and what an edit leaves behind."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pydantic import ValidationError

from graphmem.catalog.catalog import Catalog
from graphmem.errors import BadInput, Conflict, Refused
from graphmem.ledger.codec import complaint, too_large
from graphmem.model import MODELS, Entity, Frozen, Insight, Record, Task
from graphmem.model.field import as_set
from graphmem.model.record import row_fields
from graphmem.names import SLUG, mark, slug, split_ref
from graphmem.ndjson import BadLine, decode, encode
from graphmem.rules.limits import refuse_oversize
from graphmem.rules.line import COLOUR
from graphmem.rules.suggest import did_you_mean

Kept = TypeVar("Kept", bound=Frozen)

UNITED = frozenset({"tags", "sources", "files", "cites", "aliases", "derived_from"})  # sets that adding again unites
NAMED = {"run": "lesson/", "insight": "experience/"}  # what a bare name in a field is
EMPTY: Mapping[str, str] = {}
TICK = timedelta(milliseconds=1)


def build(kind: str, fields: Mapping[str, Any], now: datetime) -> Frozen:
    """
    Return a record of ``kind`` from the fields that somebody gave.

    Raises:
        BadInput: a field is missing, unknown to no model, of the wrong type or over its limit.
    """
    given = {name: without_colours(value) for name, value in fields.items() if value is not None}
    try:
        made = MODELS[kind].model_validate({"created_at": now, **given, "kind": kind})
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"{kind}: {message}", hint=expected, details={"field": first_field(error)}) from None
    refuse_oversize(made)
    refuse_unreadable(made)
    return made


def without_colours(value: Any) -> Any:
    """Return a text without the escape sequences that a terminal shows as colours, any other value as it is."""
    return COLOUR.sub("", value) if isinstance(value, str) else value


def refuse_unreadable(record: Frozen) -> None:
    """Raise ``BadInput`` for a record whose row is too large or nested too deep, or could not be read back."""
    line = encode(record.to_row())
    try:
        decode(line)
        if bad := too_large(line):
            raise bad
    except BadLine as bad:
        raise BadInput(f"{record.kind}: {bad.message}", hint=bad.expected) from None


def first_field(error: ValidationError) -> str:
    """Return the name of the field that a model complains about first."""
    found = error.errors()[0]["loc"]
    return ".".join(str(part) for part in found)


def refuse_no_slug(kind: str, name: str) -> None:
    """Raise ``BadInput`` for a given name that is no slug; the hint is the slug that would be."""
    if not SLUG.fullmatch(name):
        raise BadInput(
            f"{kind} name {name!r} is no slug (a-z 0-9 - _ . up to 120 characters)",
            hint=f"{slug(name)!r} would be" if slug(name) else "take letters, digits, - _ .",
            details={"field": "name", "slug": slug(name)},
        )


def made_name(catalog: Catalog, kind: str, source: str, search_text: str, created_at: datetime) -> str:
    """
    Return the name made from a text; where it is taken by another text, with a mark of the text.

    That of an experience begins with its day.
    """
    made = slug(source)
    if kind == "experience":
        made = f"{created_at:%Y-%m-%d}_{made or mark(search_text)}"
    if made:
        number = catalog.lookup(kind, made)
        if number is None or catalog.stored(number).search_text == search_text:
            return made
    return f"{made}-{mark(search_text)}"


def full_ref(record: Record, ref: str) -> str:
    """Return the reference that a field of a record means, which may leave out the kind where there is only one."""
    return ref if "/" in ref else f"{NAMED.get(record.kind, '')}{ref}"


def keyed(catalog: Catalog, made: Kept, handles: Mapping[str, str] = EMPTY) -> Kept:
    """
    Return a record that names others by key, as rows do.

    Args:
        handles: references that come to be in the same write: reference by key.

    Raises:
        BadInput: an insight names an experience that is neither there nor in ``handles``.
    """
    changes: dict[str, Any] = {}
    record: Frozen = made
    if not isinstance(record, Record) or isinstance(record, Task):  # the use cases of campaigns name a task's
        return made
    for field in record.references:
        given = [full_ref(record, ref) for ref in getattr(record, field)]
        known = catalog.known({ref for ref in given if ref not in handles})
        keys = {ref: catalog.stored(number).key_ref for ref, number in known.items()} | dict(handles)
        missing = [ref for ref in given if ref not in keys]
        if missing and isinstance(record, Insight):
            raise BadInput(f"{missing[0]!r} is no experience that is there", hint="see: graphmem list experience")
        changes[field] = as_set(keys.get(ref, ref) for ref in given)
    if all(getattr(made, field) == value for field, value in changes.items()):
        return made
    return made.model_copy(update=changes)


def refuse_taken(catalog: Catalog, scope: str, name: str, *, but: int | None = None) -> None:
    """Raise ``Conflict`` where a name is taken, as key, name or alias."""
    number = catalog.lookup(scope, name)
    if number is not None and number != but:
        ref = catalog.refs([number])[number]
        raise Conflict(f"the name {scope}/{name} is taken by {ref}", hint="take another name", details={"ref": ref})


def refuse_archived(catalog: Catalog, number: int) -> None:
    """Raise ``Refused`` for a record that is archived."""
    record = catalog.stored(number)
    if record.is_archived:
        ref = catalog.refs([number])[number]
        raise Refused(f"{ref} is archived", hint=f"bring it back with: graphmem restore {ref}", details={"ref": ref})


def known_type(catalog: Catalog, type_name: str) -> None:
    """Raise ``BadInput`` for an entity type that nothing declares."""
    known = catalog.vocabulary.entities
    if type_name not in known:
        hint = did_you_mean(type_name, known) or f"declare it with: graphmem type add entity {type_name}"
        raise BadInput(f"entity type {type_name!r} is not declared", hint=hint, details={"type": type_name})


def changed(record: Kept, changes: Mapping[str, Any], now: datetime) -> Kept:
    """
    Return a record with some values changed and the time of each noted in ``edited``; itself where nothing changes.

    Args:
        changes: values by their names in a row; None takes a value away.
        now: the time of the change; a field's time always grows, also when the clock went back.
    """
    candidate = rebuilt(record, changes)
    names = {alias: name for name, alias, _ in row_fields(type(record))}
    extra, old_extra = candidate.__pydantic_extra__ or {}, record.__pydantic_extra__ or {}
    edited = dict(record.edited)
    for alias in changes:
        name = names.get(alias)
        is_same = (
            getattr(candidate, name) == getattr(record, name) if name else extra.get(alias) == old_extra.get(alias)
        )
        if not is_same and alias != "edited":
            edited[alias] = max(now, edited.get(alias, record.created_at) + TICK)
    if edited == record.edited:
        return record
    refuse_oversize(candidate, {alias for alias in edited if edited[alias] != record.edited.get(alias)})
    after = rebuilt(candidate, {"edited": edited})
    refuse_unreadable(after)
    return after


def rebuilt(record: Kept, changes: Mapping[str, Any]) -> Kept:
    """Return a checked copy, or say which value it refuses."""
    try:
        return record.replaced(changes)
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"{record.kind}: {message}", hint=expected, details={"field": first_field(error)}) from None


def united(record: Record, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that adding a key again makes: given fields replace, absent ones stay, sets are united."""
    names = {alias: name for name, alias, _ in row_fields(type(record))}
    changes: dict[str, Any] = {}
    for alias, value in given.items():
        if alias in ("kind", "key", "name", "created_at", "edited", "type") or value is None:
            continue
        is_set = alias in UNITED and alias in names
        changes[alias] = sorted({*getattr(record, names[alias]), *value}) if is_set else value
    if isinstance(record, Entity) or "type" not in given:
        return changes
    return {**changes, "type": given["type"]}


def end_of(ref: str) -> str:
    """Return the scope of a reference."""
    return split_ref(ref)[0]
