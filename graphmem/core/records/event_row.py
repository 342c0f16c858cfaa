"""Facts on their way into the ledger: a new one, or what one that is there comes to."""

from collections.abc import Container
from typing import NamedTuple

from graphmem.core.records.record_contract import Action
from graphmem.errors import Conflict
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import MODELS, Frozen
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.merge import merged_fact
from graphmem.names import row_title


class Put(NamedTuple):
    """The row of a fact, and what writing it does."""

    entry: Entry
    action: Action


def put_fact(catalog: Catalog, fact: Frozen, symmetric: Container[str]) -> Put:
    """Return the row of a fact; a run that is there is united with it, of any other fact the new one is kept."""
    made = entry(fact, symmetric)
    existing = catalog.fact(made.id)
    if existing is None:
        return Put(made, "created")
    refuse_other_kind(existing, fact.kind)
    if fact.kind == "run":
        fact = MODELS["run"].model_validate(merged_fact(existing.to_row(), fact.to_row()))
        made = entry(fact, symmetric)
    return Put(made, "unchanged" if existing == fact else "updated")


def refuse_other_kind(existing: Frozen | None, kind: str) -> None:
    """Raise ``Conflict`` where a fact of another kind is identified by the same text: they could not be told apart."""
    if existing is not None and existing.kind != kind:
        name = row_title(existing.to_row())
        raise Conflict(f"what identifies this {kind} identifies {name} already", hint="take another id")


def task_key(catalog: Catalog, task: str | None) -> str | None:
    """Return a task as reports name it: by key where it is there, under whatever name it was given."""
    if task and (found := catalog.known({task, f"task/{task}"})):
        return catalog.stored(min(found.values())).key_ref
    return task
