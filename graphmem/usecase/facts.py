"""Facts on their way into the ledger: a new one, or what one that is there comes to."""

from collections.abc import Container
from typing import NamedTuple

from graphmem.catalog.catalog import Catalog
from graphmem.catalog.entry import Entry
from graphmem.ledger.row import entry
from graphmem.model import MODELS, Frozen
from graphmem.model.result import Action
from graphmem.rules.merge import merged_fact


class Put(NamedTuple):
    """The row of a fact, and what writing it does."""

    entry: Entry
    action: Action


def put_fact(catalog: Catalog, fact: Frozen, symmetric: Container[str]) -> Put:
    """Return the row of a fact; a run that is there is united with it, of any other fact the new one stands."""
    made = entry(fact, symmetric)
    existing = catalog.fact(made.id)
    if existing is None:
        return Put(made, "created")
    if fact.kind == "run":
        fact = MODELS["run"].model_validate(merged_fact(existing.to_row(), fact.to_row()))
        made = entry(fact, symmetric)
    return Put(made, "unchanged" if existing == fact else "updated")
