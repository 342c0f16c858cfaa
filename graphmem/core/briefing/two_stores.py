"""The context of several stores: the project's, and those beside it."""

import re
from collections.abc import Sequence

from graphmem.core.briefing import context as contexts
from graphmem.core.briefing.context_contract import ContextBlock, ContextEntry, ContextRequest
from graphmem.core.search.budget import BlockEntry, block, preface, quoted_name, tokens
from graphmem.core.search.two_stores import CERTAINTIES, added, ask_others, others
from graphmem.kernel.answer import Store, address
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client

SHARE = 3  # parts of a context block, of which the other stores may take one
MARKS = 10  # parts of that third, of which one is kept for the marks of its references


@operation(
    "context",
    past=True,
    scoped=True,
    takes={"tiers": Taken("TIER"), "files": Taken("PATH", reads="path")},
    help="Show what the project remembers for an objective: a block for a prompt, nothing where nothing fits.",
    example='graphmem context "make the nightly build pass again" --file ci/build.yml --budget 1000',
)
def context(client: Client, request: ContextRequest) -> ContextBlock:
    """Return what the project remembers for an objective, as a block for a prompt, cut to a budget of tokens."""
    share = request.budget // SHARE // max(1, len(others(client)))
    room = max(share - share // MARKS, 1)
    own = request.model_copy(update={"budget": room, "session": None, "files": ()})
    theirs = dict(ask_others(client, lambda other: contexts.context(other, own)))
    entries = list[ContextEntry]()
    for store, answer in theirs.items():
        entries += added([marked(entry, store) for entry in answer.entries], entries, store)
    budget = request.budget - (_cost_of(entries) if entries else 0)
    found = contexts.context(client, request.model_copy(update={"budget": budget}))
    entries = [entry for entry in entries if added([entry], found.entries, entry.store)]
    if not entries:
        return found.model_copy(update={"budget": request.budget})
    every = sorted([*found.entries, *entries], key=lambda entry: contexts.SECTIONS.index(entry.section))
    shown = [BlockEntry(entry.section, entry.text, ()) for entry in every]
    text = block(shown, request.budget, found.asked, opening=preface(budget, found.asked))
    theirs_refs = [address(ref, entry.store) for entry in entries for ref in (entry.ref, *entry.solved_by)]
    surer = max(found, *theirs.values(), key=lambda one: CERTAINTIES.index(one.certainty))
    return found.model_copy(
        update={
            "text": text,
            "tokens": tokens(text),
            "budget": request.budget,
            "refs": list(dict.fromkeys([*found.refs, *theirs_refs])),
            "entries": every,
            "note": found.note if found.entries else None,
            "known": surer.known,
            "certainty": surer.certainty,
            "probability": surer.probability,
        }
    )


def marked(entry: ContextEntry, store: Store) -> ContextEntry:
    """Return an entry of another store as the block of a project shows it."""
    text = entry.text.replace(quoted_name(entry.ref), quoted_name(address(entry.ref, store)), 1)
    others = {*entry.solved_by, *entry.contradicts, *([entry.variant_fix.ref] if entry.variant_fix else [])}
    for ref in others:
        text = re.sub(rf"(?<![\w/:.-]){re.escape(ref)}(?![\w/-])", lambda found: address(found[0], store), text)
    return entry.model_copy(update={"text": text, "store": store})


def _cost_of(entries: Sequence[ContextEntry]) -> int:
    """Return how many tokens entries take in a block, with their headings."""
    shown = [BlockEntry(entry.section, entry.text, ()) for entry in entries]
    return tokens(block(shown, 0, opening=" "))
