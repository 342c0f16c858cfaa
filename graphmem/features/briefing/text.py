"""How the briefing and the context of a task read on a terminal."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from graphmem.features.briefing.context_contract import ContextBlock
from graphmem.features.briefing.prime import Briefing
from graphmem.kernel.registry import Printout, Taken, asks, reads


@reads(Briefing)
def _prime_text(answer: Briefing) -> str:
    return answer.text


@asks("context")
def _ask_context(
    tags: Sequence[str] | None,
    role: Annotated[str | None, Taken("ROLE", flag="--role", meaning="Of the agent: a tag more")] = None,
) -> Mapping[str, object]:
    return {"tags": [*(tags or ()), role]} if role else {}


@reads(ContextBlock)
def _context_text(answer: ContextBlock, explain: bool) -> Printout:
    left = [f"left out ({out.reason}, similarity {out.similarity:.2f}): {out.ref}" for out in answer.left_out]
    size = f"{answer.tokens:,} of {answer.budget:,} tokens; {len(left)} left out"
    return Printout(answer.text.rstrip("\n"), answer.note or "", *([size, *left] if explain else []))
