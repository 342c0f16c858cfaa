"""
The same line: what is left of a line of a log when its colours and the prefixes of runners and loggers are taken off.

A stored trigger is compared with the lines of a log in this form; docs/concepts/retrieval.md, "Matching a log".
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from graphmem.names import row_id
from graphmem.rules.signature import TRIGGER_LINES

COLOUR = re.compile(r"\x1b\[[0-9;:]*[mK]")
PREFIXES = 8  # that are taken off one line at most
PREFIX = 500  # characters in which one is searched: no line, however it was made, takes long
SHORT = 8  # characters: below that, what is left without a prefix says too little to represent a trigger
LEVELS = "ERROR|WARN|WARNING|INFO|DEBUG|TRACE|CRITICAL|FATAL|SEVERE|NOTICE"
TIME = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"

# What runners and loggers put before a message; it says nothing of the error. White space is one blank already.
NOISE = re.compile(
    r"\[gw\d+\] (?:\[ ?\d+%\] )?"  # pytest-xdist
    r"|E (?=\S)"  # pytest
    r"|AssertionError: (?=assert\b)"  # pytest leaves it out
    r"|##\[\w+\] ?|::(?:error|warning|notice)[^:]*:: ?"  # GitHub Actions, Azure Pipelines
    r"|npm (?:ERR!|error|WARN|warn) "
    r"|[\w.-]+[-_]\d+ \| "  # docker compose
    r"|[|>+] "  # the frame that a runner draws
    rf"|\[?\d{{4}}-\d\d-\d\d[T ]{TIME} ?(?:Z|[+-]\d\d:?\d\d)?\]?(?: [-:])? |\[?{TIME}\]?(?: [-:])? "
    r"|[A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d \S+ [^\s:]+: "  # syslog
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+\] "  # glog
    rf"|\[(?:{LEVELS})\]:? (?:- )?|(?:{LEVELS})(?:: | - | : )|(?:{LEVELS}):[\w.]+:"
)
# What else may be before a message in a log. It says where it happened, so a trigger that has it keeps it.
PLACE = re.compile(
    r"(?:FAILED|ERROR) [^\s:]+::.*? - "  # pytest's summary
    r"|(?:[A-Za-z]:)?[^\s:()]+\.\w{1,5}(?::\d+){1,2}: |[^\s()]+\.\w{1,5}\(\d+,\d+\): "  # compilers, Go's tests
    r"|(?:/\S*/)?(?:ba|da|z|k)?sh: (?:line )?(?:\d+: )?"
    r"|Caused by: |Exception in thread \"[^\"]*\" |Uncaught (?:\(in promise\) )?|\[cause\]: "
    r"|(?:error|fatal|fatal error): "
    r"|(?:[A-Za-z_$][\w$]*(?:\.|::))+(?=[A-Z]\w*(?:: |$))"  # the package of an exception class
)
MAKE = re.compile(r"^make\[\d+\]: ")
VERBOSE = re.compile(r"^([^\s:]+::.*) FAILED(?: \[ ?\d+%\])?$")  # pytest -v


def plain(line: str) -> str:
    """Return a line without colours, its white space as single blanks."""
    line = " ".join(COLOUR.sub("", line).split())
    return VERBOSE.sub(r"FAILED \1", MAKE.sub("make: ", line))


def bare(line: str) -> str:
    """Return a line of a trigger without what runners and loggers put before it; as it is where little is left."""
    text = plain(line)
    for _ in range(PREFIXES):
        found = NOISE.match(text, 0, PREFIX)
        if not found or len(text) - found.end() < SHORT:
            break
        text = text[found.end() :]
    return text


def forms(line: str) -> Iterator[str]:
    """Yield a line of a log as it is, and what is left after each prefix that it may have."""
    text = plain(line)
    yield text
    for _ in range(PREFIXES):
        found = NOISE.match(text, 0, PREFIX) or PLACE.match(text, 0, PREFIX)
        if not found or found.end() == len(text):
            break
        text = text[found.end() :]
        yield text


def trigger_lines(trigger: str) -> list[str]:
    """Return the lines of a trigger as they are compared, those without a word left out."""
    return [line for line in map(bare, islice(trigger.splitlines(), TRIGGER_LINES)) if line]


@lru_cache(512)  # the lines of a log recur; each may have 16 KiB
def numbers(line: str) -> tuple[int, ...]:
    """Return the numbers that represent what a line of a log may be."""
    return tuple(map(row_id, dict.fromkeys(form for form in forms(line) if form)))
