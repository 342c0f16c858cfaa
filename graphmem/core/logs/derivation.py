"""
A match expression from the report of an error: what changes from run to run is generalised, all else stays.

What changes are times, ids, numbers and the folders of paths. Names and
other quoted values stay: an expression that hits other values answers other errors (decision 28).
"""

import re

from graphmem.core.logs.diagnosis import statement
from graphmem.core.logs.general import PLAIN
from graphmem.kernel.model.field import MATCH_CHARACTERS
from graphmem.patterns import lazy_re

LINE_CHARACTERS = 300  # of the line that an expression is made from
TELLING_WORDS = 2  # words that an expression has to hold as they are
NUMBER = (  # with the word before it by which it is a status
    r"(\b(?:errno|status|code|http|signal|exited with|error)[ :=#]{1,3})?(?<![\w.])\d+(?:([.,])\d+)*(?![\w.])"
)
VOLATILE = lazy_re(
    r"(?P<time>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b)"
    r"|(?P<uuid>\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b)"
    r"|(?P<hex>\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-fA-F]*\d)(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{8,}\b)"
    r"|(?P<path>(?<![\w.])(?:~|[A-Za-z]:(?=\\))?(?:[/\\][\w.+@~$-]+)*[/\\](?=[\w.+@~$-]))"
    rf"|(?P<number>{NUMBER})",
    re.IGNORECASE,
)
GENERAL = {
    "time": r"[\d:., TZ+-]+",
    "uuid": r"[0-9a-fA-F-]{36}",
    "hex": r"(?:0x)?[0-9a-fA-F]+",
    "path": r"(?:\S*[/\\])?",
    "number": r"\d[\d.,]*",
}
TRACEBACK = lazy_re(r"Traceback \(most recent call last\):|File \"[^\"]+\", line \d+")  # says nothing of the error
WORD = lazy_re(r"[^\W\d_]{2,}")


def expression_of(reason: str) -> str | None:
    """Return an expression that finds an error again in a log; None where too little of it would tell it apart."""
    told = next((one.text for one in statement(reason) if one.is_read), None) if reason.strip() else None
    said = (one for one in map(str.strip, reason.splitlines()) if one and not TRACEBACK.match(one))
    line = told or next(said, "")
    line = line.strip()[:LINE_CHARACTERS]
    made, kept, at = "", "", 0
    for found in VOLATILE.finditer(line):
        sort = str(found.lastgroup) if found.lastgroup in GENERAL else "number"
        if sort == "number" and (found[0][0] not in "0123456789" or found[0].count(".") > 1):
            continue  # a status, or a version: with another one it is another error
        plain = line[at : found.start()]
        made, kept, at = made + _literal(plain) + GENERAL[sort], kept + plain + " ", found.end()
    made, kept = made + _literal(line[at:]), kept + line[at:]
    return made if _is_telling(kept) and len(made) <= MATCH_CHARACTERS else None


def _is_telling(kept: str) -> bool:
    """Return whether a text says what went wrong with what: "permission denied" alone is what many errors end in."""
    return len(WORD.findall(kept)) >= TELLING_WORDS and WORD.search(PLAIN.sub(" ", kept)) is not None


def _literal(text: str) -> str:
    """Return an expression for a text as it is, but for the amount of white space."""
    return r"\s+".join(re.escape(part) for part in re.split(r"\s+", text))
