"""Command lines of a shell as agents type them: what stays the same when only the form of the output changes."""

import re

BEFORE = re.compile(
    r"(?:cd\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)|[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s'\"]*)\s)\s*"
)
PIPED = re.compile(r"\s*\|&?\s*(?:tail|head|tee|cat|less|more)(?:\s[^|;&'\"]*)?$")
AFTER = re.compile(r"\s*(?:[12&]?>>?\s*(?:&[12]|[^\s;&|]+)|\|\|\s*true|;\s*echo\s[^;&|]*|;|&)$")
MOST_CHARS = 2_000  # of a command line that is looked at; a longer one is a script


def normalised(command: str) -> tuple[str, bool]:
    """
    Return a command without what only moves or shows its output, and whether its exit status is that of a pipe's end.

    ``cd api && CI=1 pytest -q 2>&1 | tail -20`` is ``pytest -q``. The text is compared, never run.
    """
    text, is_piped = " ".join(command[:MOST_CHARS].split()), False
    while found := BEFORE.match(text):
        text = text[found.end() :]
    while True:
        piped = PIPED.search(text)
        found = piped or AFTER.search(text)
        if not found:
            return text, is_piped
        is_piped = is_piped or piped is not None or found[0].lstrip().startswith(("||", ";"))
        text = text[: found.start()]


def mentions(text: str, command: str) -> bool:
    """Return whether a text names this very command: in backticks, after a prompt, or as a line of its own."""
    if len(command.split()) < 2:
        return False  # `make`, `ls`: everybody types them all the time
    named = re.escape(command)
    return re.search(rf"(?m)(?:`|^\s*(?:[$#%>] )?){named}(?:`|\s*$)", text) is not None
