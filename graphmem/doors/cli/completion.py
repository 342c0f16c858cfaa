"""What the shell completes: references, kinds and names of the store that the line means."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

import graphmem
from graphmem.doors.cli.caller import Invocation
from graphmem.errors import Usage
from graphmem.kernel.system.user import store_of
from graphmem.patterns import lazy_re

if TYPE_CHECKING:
    from graphmem.api import Memory
    from graphmem.kernel.model.vocabulary import Vocabulary

Complete = Callable[[typer.Context, str], list[str]]
# What no shell takes for more than a word: bash puts a completion into the line as it is, zsh evaluates it.
PLAIN = lazy_re(r"(?!-)[\w./@:+-]+")


def completing(names: "Callable[[Memory, str], Iterable[str]]") -> Complete:
    """Return what completes one of the names that a memory has; ``names`` gets what was typed too."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            asked = ctx.find_root().obj
            with graphmem.Memory(getattr(asked, "folder", None), scope=getattr(asked, "scope", None)) as memory:
                found = names(memory, incomplete)
                return [name for name in found if name.startswith(incomplete) and PLAIN.fullmatch(name)]
        except Exception:  # the shell's boundary: no completion is better than a traceback in the prompt
            return []

    return complete


def complete_ref(ctx: typer.Context, incomplete: str) -> list[str]:
    """
    Return references for the shell to complete; names alone where no reference begins like that.

    What begins as a reference of another store is completed from there.
    """
    store, typed = store_of(incomplete)
    if store == "project":
        return completing(lambda memory, typed: memory.store.names(typed) or _bare_names(memory, typed))(
            ctx, incomplete
        )
    try:
        ctx.find_root().obj = invocation = Invocation()
        invocation.use_store(store)
    except Usage:
        return []
    return [f"{store}:{ref}" for ref in completing(lambda memory, typed: memory.store.names(typed))(ctx, typed)]


def _bare_names(memory: "Memory", typed: str) -> list[str]:
    """Return names without their kind; a bare name is accepted where it is unambiguous."""
    types = memory.store.client.catalog.vocabulary.record_types
    return sorted({name for record_type in types for name in _of_type(memory, record_type, typed)})


def _of_type(memory: "Memory", record_type: str, typed: str) -> list[str]:
    """Return the names of one kind or type that begin with what was typed."""
    return [ref.removeprefix(f"{record_type}/") for ref in memory.store.names(f"{record_type}/{typed}")]


def _of_kind(kind: str) -> Complete:
    return completing(lambda memory, typed: [*_of_type(memory, kind, typed), *memory.store.names(f"{kind}/")])


def _of_vocabulary(names: "Callable[[Vocabulary], Iterable[str]]") -> Complete:
    def synced(memory: "Memory", typed: str) -> Iterable[str]:
        with memory.store.client.reading() as catalog:  # as the files are now
            return names(catalog.vocabulary)

    return completing(synced)


COMPLETERS: dict[str, Complete] = {
    "campaign": _of_kind("campaign"),
    "entity type": _of_vocabulary(lambda types: types.entities),
    "kind": _of_vocabulary(lambda types: types.record_types),
    "query": completing(lambda memory, _: [query.name for query in memory.store.queries().results]),
    "ref": complete_ref,
    "relation": _of_vocabulary(lambda types: types.relations),
    "task": _of_kind("task"),
    "type": _of_vocabulary(lambda types: [*types.entities, *types.relations]),
}
