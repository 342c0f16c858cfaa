"""From given fields to a checked record: names, defaults, limits, and what an edit leaves behind."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pydantic import ValidationError

from graphmem.core.logs.line import COLOUR
from graphmem.core.records.limits import refuse_blank, refuse_oversize
from graphmem.errors import BadInput, Conflict, Refused
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger.codec import complaint, too_large
from graphmem.kernel.ledger.types import declaration, drifted
from graphmem.kernel.model import MODELS, Entity, Failure, Frozen, MemoryRecord, Record, Task
from graphmem.kernel.model.authors import SIGNATURE
from graphmem.kernel.model.field import as_set, parse_time
from graphmem.kernel.model.record import row_fields
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import BadLine, decode, encode
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system.shell import command
from graphmem.kernel.versions import by_name, pairs
from graphmem.names import GIVEN_SLUG, collapsed, mark, row_id, slug

Kept = TypeVar("Kept", bound=Frozen)
Named = TypeVar("Named", bound=Record)

# Sets that adding again unites.
UNITED = frozenset({"tags", "sources", "files", "cites", "versions", "aliases", "derived_from"})
AMOUNTS = frozenset({"cost", "saved"})
EMPTY: Mapping[str, str] = {}
TICK = timedelta(milliseconds=1)
SHOWN = 80  # characters of a text in a message


def build(kind: str, fields: Mapping[str, Any], now: datetime) -> Frozen:
    """
    Return a record of ``kind`` from the fields that the caller gave.

    Raises:
        BadInput: a field is missing, unknown to no model, of the wrong type or over its limit.
    """
    given = {name: without_colours(value) for name, value in fields.items() if value is not None}
    refuse_blank(MODELS[kind], given)
    try:
        made = MODELS[kind].model_validate({"created_at": now, **given, "kind": kind})
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"{kind}: {message}", hint=expected, details={"field": _first_field(error)}) from None
    refuse_oversize(made)
    _refuse_unreadable(made)
    return made


def without_colours(value: Any) -> Any:
    """Return a text without the escape sequences that a terminal shows as colours, any other value as it is."""
    return COLOUR.sub("", value) if isinstance(value, str) else value


def _refuse_unreadable(record: Frozen) -> None:
    """Raise ``BadInput`` for a record whose row is too large or nested too deep, or could not be read back."""
    line = encode(record.to_row())
    try:
        decode(line)
        if bad := too_large(line):
            raise bad
    except BadLine as bad:
        raise BadInput(f"{record.kind}: {bad.message}", hint=bad.expected) from None


def _first_field(error: ValidationError) -> str:
    """Return the name of the field that a model complains about first."""
    found = error.errors()[0]["loc"]
    return ".".join(str(part) for part in found)


def refuse_no_slug(kind: str, name: str) -> None:
    """Raise ``BadInput`` for a given name that is not a slug; the hint is the slug that would be."""
    if not GIVEN_SLUG.fullmatch(name):
        raise BadInput(
            f"{kind} name {name!r} is not a slug (a-z 0-9 - _ . up to 120 characters, first a letter or digit)",
            hint=f"a slug of it: {slug(name)}" if slug(name) else "use letters, digits, - _ .",
            details={"field": "name", "slug": slug(name)},
        )


def refuse_past(time: str, now: datetime) -> None:
    """Raise ``BadInput`` for a text that is not a time, or a time in the past."""
    try:
        expires = parse_time(time)
    except ValueError as error:
        raise BadInput(f"constraint: {time!r} is not a time", hint=str(error)) from None
    if expires <= now:
        raise BadInput(f"constraint: the expiry {time!r} is in the past", hint="give a future time")


def identified(catalog: Catalog, record: Named, taken: Mapping[str, str] = EMPTY, *, is_named: bool = False) -> Named:
    """
    Return a record with its key and, unless it was given one, its name.

    The key is made from the text that says what the record is, whatever its name (docs/concepts/ledger.md). A record of
    an older store that has this text under its name keeps that as its key.

    Args:
        taken: what the same write gives already: reference by name, reference by key.
        is_named: the record has the name that it was given.
    """
    if not record.identity:
        return record
    key, holder = _free_key(catalog, record)
    plain = record.name if is_named else name_of(record)
    namesake = holder_of(catalog, record.kind, plain)
    for name in (plain, record.plain_name):
        older = namesake if name == plain else holder_of(catalog, record.kind, name)
        if holder is None and older is not None and older.identity_text == record.identity_text:
            holder = older
    if holder is not None:
        return record.model_copy(update={"key": holder.key, "name": record.name if is_named else holder.name})
    ref = f"{record.kind}/{key}"
    is_free = plain and namesake is None and taken.get(f"{record.kind}/{plain}", ref) == ref
    long = f"{plain}-{mark(record.identity_text)}" if plain else key
    return record.model_copy(update={"key": key, "name": plain if is_named or is_free else long})


def name_of(record: Record) -> str:
    """Return the name for a record that was given none, where it is free: of a failure by what its headline tells."""
    from graphmem.core.logs.diagnosis import statement  # noqa: PLC0415 - 100 ms, and reading needs other parts of this module

    told = (
        [one for one in statement(record.trigger) if one.is_telling and one.is_read]
        if isinstance(record, Failure)
        else []
    )
    found = next((one for one in told if one.text.strip() in record.headline), told[0] if told else None)
    is_named = found is not None and (found.code or found.tool or "/" in found.message)
    return (slug(found.label) if found and is_named else "") or record.plain_name


def _free_key(catalog: Catalog, record: Record) -> tuple[str, Record | None]:
    """
    Return the key for the text of a record, and the record that has it already, if one has.

    A record whose text became another one since it was made keeps its key; a new record of the first text gets that key
    with ``.2`` behind it, for the two are not the same.
    """
    from graphmem.core.records.dedup import same_memory  # noqa: PLC0415 - as above

    key, number = record.text_key, 1
    while catalog.has(row_id(f"{record.kind}/{key}")):
        holder = catalog.stored(row_id(f"{record.kind}/{key}"))
        texts = {holder.identity_text, *(collapsed(other.text) for other in holder.alternates)}
        if record.identity_text in texts or same_memory(holder.identity_text, record.identity_text):
            return key, holder
        number += 1
        key = f"{record.text_key}.{number}"
    return key, None


def holder_of(catalog: Catalog, record_type: str, name: str) -> Record | None:
    """Return the record that has a key, a name or an alias; None where none has."""
    number = catalog.lookup(record_type, name) if name else None
    return catalog.stored(number) if number is not None else None


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
        given = record.refs_in(field)
        known = catalog.known({ref for ref in given if ref not in handles})
        keys = {ref: catalog.stored(number).key_ref for ref, number in known.items()} | dict(handles)
        missing = [ref for ref in given if ref not in keys]
        if missing and record.refers[field].is_required:
            kind = record.refers[field].kind or "record"
            raise BadInput(
                f"{missing[0]!r} is not an {kind} of this memory", hint=f"see: {command('graphmem', 'list', kind)}"
            )
        changes[field] = as_set(keys.get(ref, ref) for ref in given)
    if all(getattr(made, field) == value for field, value in changes.items()):
        return made
    return made.model_copy(update=changes)


def refuse_taken(catalog: Catalog, record_type: str, name: str, *, but: int | None = None) -> None:
    """Raise ``Conflict`` where a name is taken, as key, name or alias."""
    number = catalog.lookup(record_type, name)
    if number is not None and number != but:
        raise taken(catalog, number, name)


def refuse_untold(catalog: Catalog, record: Record) -> None:
    """Raise ``Conflict`` in the place of an error about a record that no answer may name."""
    if not catalog.may_tell(record.record_type):
        raise Conflict(
            f"a {record.record_type} that this caller may not read is in the way", hint="give another name and text"
        )


def taken(catalog: Catalog, number: int, name: str, *, may_replace: bool = False) -> Conflict:
    """Return the error for a name that another record has, with what that record says."""
    ref, record = catalog.refs([number])[number], catalog.stored(number)
    refuse_untold(catalog, record)
    text = collapsed(getattr(record, record.named_from)) if record.named_from else ""
    shown = f": {text[:SHOWN]!r}" if text else ""
    hint = "give another name"
    if record.is_archived:
        hint += f", or bring that record back with: {command('graphmem', 'restore', ref)}"
    elif may_replace and isinstance(record, MemoryRecord):
        change = command("graphmem", "edit", ref)
        hint += f", change that record with {change}, or put this text in its place with --replace"
    return Conflict(f"the name {record.record_type}/{name} is taken by {ref}{shown}", hint=hint, details={"ref": ref})


def refuse_archived(catalog: Catalog, number: int) -> None:
    """Raise ``Refused`` for a record that is archived."""
    record = catalog.stored(number)
    if not record.is_archived:
        return
    refuse_untold(catalog, record)
    ref, (shown,) = catalog.refs([number])[number], catalog.named([record])
    message, hint = f"{ref} is archived", f"bring it back with: {command('graphmem', 'restore', ref)}"
    if shown.superseded_by:
        message, hint = f"{message}: superseded by {shown.superseded_by}", f"see that one, or {hint}"
    raise Refused(message, hint=hint, details={"ref": ref})


def refuse_pinned(catalog: Catalog, number: int) -> None:
    """Raise ``Refused`` for a record that is to be archived and is pinned."""
    if catalog.stored(number).is_pinned:
        ref = catalog.refs([number])[number]
        unpin = command("graphmem", "unpin", ref)
        raise Refused(f"{ref} is pinned, so nothing archives it", hint=f"first: {unpin}", details={"ref": ref})


def undeclared(type_name: str) -> str | None:
    """Return a hint on how to declare an entity type, where one can be called so."""
    declare = declaration("entity", type_name)
    return f"declare it with: {declare}" if declare else None


def known_type(vocabulary: Vocabulary, type_name: str) -> None:
    """Raise ``BadInput`` for an entity type that nothing declares."""
    known = vocabulary.entities
    if type_name in {*vocabulary.drifted, *vocabulary.renamed}:
        raise drifted(type_name, vocabulary)
    if type_name not in known:
        hint = did_you_mean(type_name, known) or undeclared(type_name)
        raise BadInput(f"entity type {type_name!r} is not declared", hint=hint, details={"type": type_name})


def changed(record: Kept, changes: Mapping[str, Any], now: datetime) -> Kept:
    """
    Return a record with some values changed and the time of each noted in ``edited``; itself where nothing changes.

    Args:
        changes: values by their names in a row; None takes a value away. Who wrote it follows from who writes.
        now: the time of the change; a field's time always grows, also when the clock went back.
    """
    changes = {alias: value for alias, value in changes.items() if alias not in SIGNATURE}
    refuse_blank(type(record), changes)
    candidate = _rebuilt(record, changes)
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
    after = _rebuilt(candidate, {"edited": edited})
    _refuse_unreadable(after)
    return after


def _rebuilt(record: Kept, changes: Mapping[str, Any]) -> Kept:
    """Return a checked copy, or raise an error that names which value it refuses."""
    try:
        return record.replaced(changes)
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"{record.kind}: {message}", hint=expected, details={"field": _first_field(error)}) from None


def united(record: Record, given: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the changes that adding a key again makes.

    Given fields replace, absent ones stay, sets are united, a cost or a saving only grows.
    """
    names = {alias: name for name, alias, _ in row_fields(type(record))}
    changes: dict[str, Any] = {}
    for alias, value in given.items():
        if alias in ("kind", "key", "name", "created_at", "edited", "type") or value is None:
            continue
        old = getattr(record, names[alias]) if alias in UNITED and alias in names else None
        changes[alias] = value if old is None else both(old, value)
    changes |= larger_amounts(record, given)
    if isinstance(record, Entity) or "type" not in given:
        return changes
    return {**changes, "type": given["type"]}


def both(old: Any, new: Any) -> Any:
    """Return the union of two sets, or of two maps of versions."""
    return by_name(pairs(old) | pairs(new)) if isinstance(old, dict) else sorted({*old, *new})


def larger_amounts(record: Record, given: Mapping[str, Any]) -> dict[str, float]:
    """Return the cost or the saving of a record that is added again: the larger one."""
    return {
        name: max(given[name], getattr(record, name) or 0)
        for name in AMOUNTS
        if given.get(name) is not None and hasattr(record, name)
    }
