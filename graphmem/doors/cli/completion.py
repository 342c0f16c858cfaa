"""What the shell completes: references, kinds and names of the store that the line means."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import typer

import graphmem
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.service.caller import COMPLETING
from graphmem.errors import Usage
from graphmem.kernel.system.user import store_of
from graphmem.patterns import lazy_re

if TYPE_CHECKING:
    from graphmem.api import Memory
    from graphmem.kernel.model.vocabulary import Vocabulary

Complete = Callable[[typer.Context, str], Sequence[str]]
# What no shell takes for more than a word: bash puts a completion into the line as it is, zsh evaluates it.
PLAIN = lazy_re(r"(?!-)[\w./@:+-]+")


def completing(names: "Callable[[Memory, str], Iterable[str]]") -> Complete:
    """Return what completes one of the names that a memory has; ``names`` gets what was typed too."""

    def complete(ctx: typer.Context, incomplete: str) -> Sequence[str]:
        try:
            asked = ctx.find_root().obj
            with graphmem.Memory(getattr(asked, "folder", None), scope=getattr(asked, "scope", None)) as memory:
                found = names(memory, incomplete)
                return _offered([name for name in found if PLAIN.fullmatch(name)], incomplete)
        except Exception:  # the shell's boundary: no completion is better than a traceback in the prompt
            return []

    return complete


class HeldName(str):
    """A completion that holds what was typed; Typer drops one that says that it does not begin with it."""

    def startswith(self, *_: object) -> bool:
        """Say yes."""
        return True


def _offered(names: list[str], typed: str) -> Sequence[str]:
    """
    Return the names that begin with what was typed; where none does, those that hold it.

    A bash puts what several completions begin with in the place of the word that was typed, so there a blank is among
    those that hold it: then they are listed, and the word stays.
    """
    found = [name for name in names if name.startswith(typed)]
    if found:
        return found
    found = [HeldName(name) for name in names if typed in name]
    return [*found, HeldName(" ")] if len(found) > 1 and os.environ.get(COMPLETING) == "complete_bash" else found


def for_zsh(text: str) -> str:
    """Return what Typer prints for a zsh to evaluate, so that it takes completions that hold what was typed too."""
    return text.replace("_arguments '*", "_arguments -M 'l:|=* r:|=*' '*", 1)


def complete_ref(ctx: typer.Context, incomplete: str) -> Sequence[str]:
    """
    Return references for the shell to complete; names alone where no reference begins like that.

    Where no name does either, the references with what was typed in their name. What begins as a reference of another
    store is completed from there.
    """
    store, typed = store_of(incomplete)
    if store == "project":
        return completing(_names_for)(ctx, incomplete)
    try:
        ctx.find_root().obj = invocation = Invocation()
        invocation.use_store(store)
    except Usage:
        return []
    found = completing(lambda memory, typed: memory.store.names(typed))(ctx, typed)
    return [type(ref)(ref if ref == " " else f"{store}:{ref}") for ref in found]


def _names_for(memory: "Memory", typed: str) -> list[str]:
    """Return the references that begin with what was typed; else bare names that do, and references that hold it."""
    found = [*memory.store.names(typed)]
    return found if any(ref.startswith(typed) for ref in found) else [*_bare_names(memory, typed), *found]


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


def _candidates(memory: "Memory", _: str) -> Iterable[str]:
    """Return the ids and the names of the candidates that wait."""
    from graphmem.core.records.candidates import names_of, waiting  # noqa: PLC0415 - loads what reads outputs

    client = memory.store.client
    return [text for pair in names_of(client, waiting(client).waiting()).items() for text in pair]


COMPLETERS: dict[str, Complete] = {
    "campaign": _of_kind("campaign"),
    "candidate": completing(_candidates),
    "entity type": _of_vocabulary(lambda types: types.entities),
    "kind": _of_vocabulary(lambda types: types.record_types),
    "query": completing(lambda memory, _: [query.name for query in memory.store.queries().results]),
    "ref": complete_ref,
    "relation": _of_vocabulary(lambda types: types.relations),
    "task": _of_kind("task"),
    "type": _of_vocabulary(lambda types: [*types.entities, *types.relations]),
}
