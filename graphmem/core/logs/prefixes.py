"""
What carries a message and is not of it: colours, what a carriage return overwrote, times, marks of runners and loggers.
"""

from collections.abc import Iterator

from graphmem.core.logs.line import ESCAPES, HEADER, LEVELS, LOGGER, STAMP, TIME
from graphmem.patterns import lazy_re

MORE_ESCAPES = lazy_re(rf"{ESCAPES.pattern}|\x1b[()][A-Z0-9]|\x1b[=>78]")
TO_START = lazy_re(r"\x1b\[[01]?G|\x1b\[2K")
MOST = 8  # prefixes of one line
PREFIX = lazy_re(
    rf"(?P<stamp>\[?{STAMP}\]?(?: ?[-:|])?\s+|\[?{TIME}\]?(?: ?[-:|])?\s+)"
    r"|\[gw\d+\]\s(?:\[ ?\d+%\] )?|E {2,}|##\[\w+\] ?|::(?:error|warning|notice)[^:]*:: ?"
    r"|npm (?:ERR!|error|WARN|warn) (?:code |)|(?:yarn|pnpm) (?:error|ERR!)\s+|[\w.-]+[-_]\d+\s+\| "
    r"|[a-z\d][a-z\d_.-]* +\| "
    r"|#\d+ (?:\d+\.\d+ )?|==\d+== ?|\[(?=[a-f-]*\d)[0-9a-f-]{8,36}\] |[|>+│┃●•❯➜→➤╰╭┌└├─┬┼»▲△]+\ufe0f? +"
    r"|section_\w+:\d+:\w+(?:\[[^\]]*\])?\s*|make(?:\[\d+\])?: (?=\*\*\*)|> Task \S+ |"
    r"\[\w+-cli\] |\[(?:stdout|stderr|app|web|server|client|build|dev|vite|webpack|plugin [\w:@/-]+)\] "
    rf"|(?P<level>\[(?:{LEVELS})\]:?\s+(?:- )?|(?:{LEVELS}):{LOGGER}: ?|(?:{LEVELS})\s+(?={LOGGER})"
    rf"|{LOGGER} +(?:{LEVELS}):? )"
    r"|(?:Caused by|Cause|Uncaught(?: \(in promise\))?|\[cause\]|Unhandled(?: \w+)?"
    r"|Exception in thread \"[^\"]*\"|Error in \S+):? (?=\S)"
    r"|[A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d \S+ [^\s:]+: |[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\] "
    r"|(?:not ok \d+ -? ?)|[\w@/.-]+:[\w-]+: (?=\S+[:( ])|\d+ \| "
)


def without_escapes(line: str) -> str:
    """Return a line as a terminal shows it."""
    text = MORE_ESCAPES.sub("", TO_START.sub("\r", line)) if "\x1b" in line else line
    return text.rstrip("\r").rpartition("\r")[2] if "\r" in text else text


def forms(line: str) -> Iterator[str]:
    """Yield a line as it is, without white space around it, and what is left after each prefix that it has."""
    yield line
    text = line.strip()
    if text != line:
        yield text
    is_header = False
    for _ in range(MOST):
        found = PREFIX.match(text) or (HEADER.match(text) if is_header else None)
        if found is None or found.end() == 0 or not text[found.end() :].strip():
            return
        is_header = is_header or (found.re.pattern == PREFIX.pattern and bool(found["stamp"] or found["level"]))
        text = text[found.end() :].strip()
        yield text
