"""What a pasted log is about: the lines that report errors, then those whose words the log has least."""

import math
from collections import Counter

from graphmem.constants import LOG_LINES, QUESTION_BYTES, RARE_SHARE, TELLING_CHARS
from graphmem.patterns import lazy_re

WORD = lazy_re(r"[^\W\d_]{2,}")


def telling(text: str) -> str:
    """Return the telling lines of a log, no more than an embedding holds, in their order; a shorter text as it is."""
    lines = text.split("\n")  # as ``diagnose`` numbers them
    if len(lines) <= LOG_LINES:
        return text
    from graphmem.core.logs.diagnosis import diagnose  # noqa: PLC0415 - 100 ms that few questions need

    words = [frozenset(WORD.findall(line[:TELLING_CHARS].casefold())) for line in lines]
    counts = Counter(word for found in words for word in found)
    rarity = [_mean_rarity([counts[word] for word in found], len(lines)) for found in words]
    is_error = {number - 1 for problem in diagnose(text).problems for number in problem.numbers}
    bound = RARE_SHARE * max(rarity)
    rare = {place for place, found in enumerate(rarity) if found >= bound}
    kept, room = list[int](), TELLING_CHARS
    for place in sorted(is_error | rare, key=lambda place: (place not in is_error, -rarity[place], place)):
        room -= len(lines[place]) + 1
        if room < 0 and kept:
            break
        kept.append(place)
    return "\n".join(lines[place][:TELLING_CHARS] for place in sorted(kept))


def kept_question(gist: str) -> str:
    """Return what a report keeps of a question, from its telling lines: at most ``QUESTION_BYTES``."""
    return gist.encode("utf-8", "replace")[:QUESTION_BYTES].decode(errors="ignore").strip()


def _mean_rarity(counts: list[int], total: int) -> float:
    """Return how rare the words of a line are among all lines, from the number of lines that have each."""
    return sum(math.log(total / count) for count in counts) / len(counts) if counts else 0.0
