"""How what speaks against records reads on a terminal."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from graphmem.core.evidence.citation_contract import Cited
from graphmem.core.evidence.doubt import cited
from graphmem.core.evidence.doubt_contract import Doubt, StaleRecords
from graphmem.kernel.registry import Printout, Taken, asks, reads
from graphmem.kernel.text import count, one_line

ADVICE = 240  # characters of what is to be done
ASIDE = "\n    "  # a line below another


@asks("stale")
def _ask_stale(
    prove: Annotated[bool, Taken(flag="--prove", meaning="Run again what was proven of records, instead")] = False,
) -> Mapping[str, object]:
    return {"operation": "candidates.check_proofs"} if prove else {}


@reads(StaleRecords)
def _stale_text(answer: StaleRecords) -> Printout:
    lines = [ASIDE.join([found.ref, *against(found.doubts, found.cites)]) for found in answer.results]
    of = count(answer.checked, "record")
    return Printout("\n".join(lines), f"{len(answer.results):,} of {of} with cites, versions or a date")


def against(doubts: Sequence[Doubt], cites: Sequence[Cited] = ()) -> list[str]:
    """Return what to say before the text of a record: its marks of doubt, and which code moved."""
    moved = [f"cites {cited(found)}" for found in cites if found.state == "moved"]
    return [*(f"! {one_line(doubt.text, ADVICE)}" for doubt in doubts if doubt.is_mark), *moved]
