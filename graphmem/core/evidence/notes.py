"""What a record says, in texts with a word for what each is: its model says which fields these are."""

from collections.abc import Iterable, Iterator

from graphmem.core.evidence.citation_contract import VariantFix
from graphmem.core.evidence.fixes import fixes
from graphmem.kernel.answer import Store, address
from graphmem.kernel.model import Failure, Record

Note = tuple[str, str]  # a word, and the text that it is for


def notes_of(record: Record) -> list[Note]:
    """Return what a record says, what it advises, and what more there is to quote."""
    said = noted(record, [(record.says, record.word)])
    return [*said, *advice(record), *noted(record, record.parts)]


def advice(record: Record) -> list[Note]:
    """Return what a record says to do, or why; of a failure every fix, the first to try first."""
    if isinstance(record, Failure):
        # A disputed one is called so, and is not tried before the others.
        return [("fix, disputed" if fix.disputed else "fix", fix.text) for fix in fixes(record)]
    return list(noted(record, record.advises))


def of_variant(found: VariantFix | None, store: Store = "project") -> list[Note]:
    """Return the fix of a variant, with a word that says whose it is."""
    return [(f"fix of {address(found.ref, store)}, a variant", found.text)] if found else []


def noted(record: Record, fields: Iterable[tuple[str, str]]) -> Iterator[Note]:
    """Yield the texts of fields, each item of a list by itself; ``fields`` has their names and words."""
    for field, word in fields:
        value = getattr(record, field, None)
        yield from ((word, text) for text in (value if isinstance(value, tuple) else (value,)) if text)
