"""
What goes into texts that are committed: no secret, and no path of this machine.

A secret is refused in a text that a caller saves, and redacted in one that graphmem keeps by itself.

``store.secrets`` is the setting; ``secrets`` in this room says what looks like one. Every operation that writes
calls ``screened`` first, and before a write the ledger looks again. What the files hold already is reported
by ``validate``.
"""

import os
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar

import orjson

from graphmem.core.records.places import Places, shortened_fields
from graphmem.core.records.secrets import Finder, exposed, may_hold, new_secrets, refusal, secrets_in, without_secrets
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger import undo
from graphmem.kernel.model.entry import Batch
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot

# Parameters of requests that name what is there, or say what is taken out: a record that holds a secret can be named.
NAMED = frozenset({"ref", "source", "target", "old", "new", "supersedes", "untag", "unset", "asked", "token"})
SHOWN = 3  # kinds of secrets that a notice names
Screened = TypeVar("Screened", bound=Request)


def screened(store: Client | Snapshot, request: Screened, what: str) -> Screened:
    """
    Return a request without secrets in its texts.

    Args:
        what: what the request writes, for messages.

    Raises:
        Refused: there is one, and the setting is ``refuse``.
    """
    given = {name: value for name, value in request if name not in NAMED and value}
    kept = screened_fields(store, what, portable(store, what, given))
    return request if kept is given else request.model_copy(update=kept)


def portable(store: Client | Snapshot, what: str, fields: dict[str, Any], *, advice: str = "") -> dict[str, Any]:
    """
    Return the fields of a row with what is a path of this machine shortened in its texts; report it.

    Paths below the project's root become relative, a home ``~``; the same object where there is none. ``advice`` ends
    the report.
    """
    kept: dict[str, Any] = shortened_fields(fields, places(store))
    if kept is not fields:
        changed = sorted(name for name, value in fields.items() if kept[name] is not value)
        store.notify(f"{what}: shortened paths of this machine in {', '.join(changed)}{advice}")
    return kept


def places(store: Client | Snapshot) -> Places:
    """Return what counts as a path of this machine."""
    return _places_of(str(store.layout.root), os.path.expanduser("~"))


@lru_cache(maxsize=8)  # its expressions are made once for a project
def _places_of(root: str, home: str) -> Places:
    """Return what counts as a path of a machine, for a project and a user."""
    return Places({root, os.path.realpath(root)}, home)


def screened_fields(
    store: Client | Snapshot, what: str, fields: dict[str, Any], find: Finder = secrets_in
) -> dict[str, Any]:
    """Return the fields of a row without secrets; the same object without any. It raises as ``screened`` does."""
    if store.settings.store.secrets == "refuse":
        for found in exposed(fields, find=find):
            raise refusal(what, found._replace(field=found.field.removeprefix("fields.")))
        return fields
    kept: dict[str, Any] = unexposed(store, what, fields, find)
    return kept


def unexposed(store: Client | Snapshot, what: str, value: Any, find: Finder = secrets_in) -> Any:
    """Return a value with ``[redacted:RULE]`` in the place of secrets, unless the setting is ``allow``; report it."""
    if store.settings.store.secrets == "allow":
        return value
    rules = dict.fromkeys(found.rule for found in exposed(value, find=find))
    if not rules:
        return value
    more = f" and {len(rules) - SHOWN} more" if len(rules) > SHOWN else ""
    store.notify(f"{what}: redacted what looks like a secret: {', '.join(list(rules)[:SHOWN])}{more}")
    return without_secrets(value, find=find)


def refuse_secrets(catalog: Catalog, batches: Iterable[Batch]) -> None:
    """
    Raise ``Refused`` for a row with a secret that is not in the row in whose place it comes.

    The last look before a write, so that no way in is without one; what was refused or redacted where it came in
    never gets here. ``SyncedLedger.write`` does not look: it takes back, and takes out.
    """
    for batch in batches:
        suspects = [entry for entry in batch.entries if not entry.is_plain_edge and may_hold(entry.line)]
        lines = catalog.lines_of([entry.id for entry in suspects], batch.file) if suspects else {}
        for entry in suspects:
            before = orjson.loads(lines.get(entry.id, b"{}"))
            for found in new_secrets(entry.row, before):
                raise refusal(undo.title(before) if before else entry.kind, found)
