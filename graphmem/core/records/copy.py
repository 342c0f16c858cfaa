"""Copies of records between the store of a project and the user's own (docs/guides/user-store.md)."""

from typing import Any, cast

from graphmem.core.records.change import add_record
from graphmem.core.records.record_contract import AddRequest, Changed, CopyRequest
from graphmem.errors import GraphmemError, NotFound, Refused, Unavailable, Usage
from graphmem.kernel.answer import Store, address
from graphmem.kernel.model import Entity, Record
from graphmem.kernel.registry import OPERATIONS, Taken, operation
from graphmem.kernel.settings.folders import user_store
from graphmem.kernel.store.attempt import attempt
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.user import OF_USER
from graphmem.names import for_user, mark

# The operations that add what can be copied, by its kind.
COPIED = {"failure": "failures.add", "pattern": "patterns.add", "lesson": "lessons.add", "entity": "entities.add"}
# What a copy does not take along: code and files of the project, and how a record is added.
LEFT = frozenset("cites files supersedes dedup dry_run verbatim replace versions_from type_name".split())
NAMED = 60  # characters of a project's name that a source holds


@operation("user.promote", writes=True, at_home=True, not_over_http="the user's own store is not used over HTTP")
def promote(client: Client, request: CopyRequest) -> Changed:
    """
    Copy a record into the user's own store, with where it came from; again it changes nothing.

    Raises:
        Unavailable: there is no such store, or the settings turn it off.
        Refused: the record is archived, or belongs to its project, such as a task.
    """
    user, root = _of_user(client), client.root
    record = _found(client, request.ref)
    origin = f"project:{root.name[:NAMED]}-{mark(str(root.resolve()))}/{record.key_ref}"
    try:
        made = attempt(user, lambda: _copied(user, record, origin, [*getattr(record, "sources", ()), origin]))
    except GraphmemError as error:
        error.hint = error.hint and for_user(error.hint)
        raise
    for text in made.notices:
        client.notify_once(f"of the user's own store: {for_user(text)}")
    return _reported(client, made, "user")


@operation(
    "user.adopt",
    writes=True,
    at_home=True,
    not_over_http="the user's own store is not used over HTTP",
    example="graphmem adopt pattern/pin-build-tools",
    takes={"ref": Taken("REF")},  # of the other store, so that nothing completes it
)
def adopt(client: Client, request: CopyRequest) -> Changed:
    """Copy a record of the user's own store into this one; again it changes nothing."""
    user = _of_user(client)
    try:
        record = attempt(user, lambda: _found(user, request.ref.removeprefix(OF_USER)))
    except NotFound as error:
        raise NotFound(f"{error.message} in the user's own store", hint="see: graphmem --user list") from None
    origin = f"user:{record.key_ref}"
    return _reported(client, _copied(client, record, origin, [origin]), "project")


def _reported(client: Client, made: Changed, store: Store) -> Changed:
    """Return what became of a copy; of one that is archived it is reported, for nothing finds it."""
    if made.record.is_archived:
        client.notify_once(f"{address(made.ref, store)} is archived; restore brings it back")
    return made


def _of_user(client: Client) -> Client:
    """Return the user's own store beside that of a project."""
    if client.of_user is not None:
        return client.of_user
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
