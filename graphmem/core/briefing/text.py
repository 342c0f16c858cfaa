"""How the briefing reads on a terminal."""

from graphmem.core.briefing.prime import Briefing
from graphmem.kernel.registry import reads


@reads(Briefing)
def _prime_text(answer: Briefing) -> str:
    return answer.text
