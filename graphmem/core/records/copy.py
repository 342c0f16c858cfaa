"""Copies of records between the store of a project and those beside it (docs/guides/user-store.md)."""

from typing import Any, cast

from graphmem.core.records.change import add_record
from graphmem.core.records.record_contract import AddRequest, Changed, CopyOutRequest, CopyRequest
from graphmem.errors import GraphmemError, NotFound, Refused, Unavailable, Usage
from graphmem.kernel.answer import Store, address, of_store
from graphmem.kernel.model import Entity, Record
from graphmem.kernel.registry import OPERATIONS, Taken, operation
from graphmem.kernel.settings.folders import user_store
from graphmem.kernel.store.attempt import attempt
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.user import STORES, store_of
from graphmem.names import for_user, mark

# The operations that add what can be copied, by its kind.
COPIED = {"failure": "failures.add", "pattern": "patterns.add", "lesson": "lessons.add", "entity": "entities.add"}
# What a copy does not take along: code and files of the project, and how a record is added.
LEFT = frozenset("cites files supersedes dedup dry_run verbatim replace versions_from type_name".split())
NAMED = 60  # characters of a project's name that a source holds


@operation(
    "user.promote",
    writes=True,
    at_home=True,
    not_over_http="the user's own store is not used over HTTP",
    example="graphmem promote pattern/pin-build-tools --to user",
)
def promote(client: Client, request: CopyOutRequest) -> Changed:
    """
    Copy a record into the user's own store, or the organisation's, with where it came from; again it changes nothing.

    Raises:
        Unavailable: there is no such store, or the settings turn it off.
        Refused: the record is archived, or belongs to its project, such as a task.
    """
    other, root = _other(client, request.to), client.root
    record = _found(client, request.ref)
    origin = f"project:{root.name[:NAMED]}-{mark(str(root.resolve()))}/{record.key_ref}"
    try:
        made = attempt(other, lambda: _copied(other, record, origin, [*getattr(record, "sources", ()), origin]))
    except GraphmemError as error:
        error.hint = error.hint and (for_user(error.hint) if request.to == "user" else f"there: {error.hint}")
        raise
    for text in made.notices:
        client.notify_once(of_store(request.to, text))
    return _reported(client, made, request.to)


@operation(
    "user.adopt",
    writes=True,
    at_home=True,
    not_over_http="the user's own store is not used over HTTP",
    example="graphmem adopt pattern/pin-build-tools",
    takes={"ref": Taken("REF")},  # of the other store, so that nothing completes it
)
def adopt(client: Client, request: CopyRequest) -> Changed:
    """Copy a record of the user's own store, or of the organisation's, into this one; again it changes nothing."""
    marked, ref = store_of(request.ref)
    store: Store = "organisation" if marked == "organisation" else "user"
    other = _other(client, store)
    try:
        record = attempt(other, lambda: _found(other, ref))
    except NotFound as error:
        raise NotFound(
            f"{error.message} in {STORES[store]}", hint="see: graphmem --user list" if store == "user" else None
        ) from None
    origin = address(record.key_ref, store)
    return _reported(client, _copied(client, record, origin, [origin]), "project")


def _reported(client: Client, made: Changed, store: Store) -> Changed:
    """Return what became of a copy; of one that is archived it is reported, for nothing finds it."""
    if made.record.is_archived:
        client.notify_once(f"{address(made.ref, store)} is archived; restore brings it back")
    return made


def _other(client: Client, store: Store) -> Client:
    """Return a store beside that of a project."""
    if (other := client.beside(store)) is not None:
        return other
    if store == "organisation":
        raise Unavailable(
            "no organisation's store is beside this one",
            hint="stores.organisation in your own config file names it",
        )
    folder = user_store()
    if folder is not None and client.layout.root.resolve() == folder.resolve():
        raise Usage("this is the user's own store", hint="run the command in a project")
    if folder is None or not client.settings.user_store:
        raise Unavailable(
            "the user's own store is turned off", hint="see GRAPHMEM_USER_STORE and the setting user_store"
        )
    raise Unavailable(f"the user's own store is missing: {str(folder)!r}", hint="make it with: graphmem init --user")


def _found(client: Client, ref: str) -> Record:
    """Return a record that may be copied; one that is archived would be a live one there."""
    with client.reading() as snapshot:
        number = snapshot.resolve(ref)
        record = snapshot.catalog.records([number])[number]
    if _kind_of(record) not in COPIED:
        raise Refused(f"{record.ref} belongs to its project", hint=f"what can be copied: {', '.join(sorted(COPIED))}")
    if record.is_archived:
        raise Refused(f"{record.ref} is archived", hint="what is archived is not copied; restore brings it back")
    return record


def _kind_of(record: Record) -> str:
    """Return the kind of a record, whatever type it is of."""
    return "entity" if isinstance(record, Entity) else record.record_type


def _copied(client: Client, record: Record, origin: str, sources: list[str]) -> Changed:
    """Add a record to a store, unless it was copied there before; the name that it has there may be another one."""
    with client.reading() as snapshot:
        known = snapshot.catalog.origins(origin.partition(":")[0]).get((record.record_type, origin))
        if known is not None:
            there = snapshot.catalog.records([known])[known]
            return Changed(ref=there.ref, action="unchanged", record=there)
        taken = snapshot.catalog.lookup(record.record_type, record.name)
        other = None if taken is None else snapshot.catalog.records([taken])[taken]
    request, row = cast(type[AddRequest], OPERATIONS[COPIED[_kind_of(record)]].request), record.to_row()
    fields: dict[str, Any] = {
        name: value for name, value in row.items() if name in request.model_fields.keys() - LEFT and value is not None
    }
    fields |= {"sources": sources} | ({"versions_from": "none"} if "versions_from" in request.model_fields else {})
    if isinstance(record, Entity):
        if isinstance(other, Entity) and "" not in (other.value, record.value) and other.value != record.value:
            raise Refused(f"{other.ref} is there with another value", hint="edit it there, or rename this one first")
        return add_record(client, request(**fields | {"type_name": record.record_type, "name": record.name}))
    return add_record(client, request(**fields | {"name": None if other else record.name}))
