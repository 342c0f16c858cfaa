"""Which literal a match expression needs, so that most expressions are ruled out without being run."""

import re._constants as op
import re._parser as parser
from typing import Any


def needed_literals(expression: str) -> tuple[str, ...]:
    """
    Return lower-case literals of which every text that ``expression`` finds holds at least one.

    An empty literal is in every text: nothing is known of such an expression but that it has to be run.
    """
    return tuple(sorted({literal.lower() for literal in of_sequence(parser.parse(expression))}))


def of_sequence(parsed: Any) -> list[str]:
    """Return the best choice among what the items of a sequence need: the one whose shortest literal is longest."""
    best: list[str] = [""]
    run = ""
    for code, value in [*parsed, (None, None)]:
        if code is op.LITERAL:
            run += chr(value)
            continue
        options = [[run]]
        run = ""
        if code is op.SUBPATTERN:
            options.append(of_sequence(value[3]))
        elif code is op.BRANCH:
            options.append([literal for branch in value[1] for literal in of_sequence(branch)])
        elif code in (op.MAX_REPEAT, op.MIN_REPEAT) and value[0] > 0:
            options.append(of_sequence(value[2]))
        for literals in options:
            if min(map(len, literals)) > min(map(len, best)):
                best = literals
    return best
