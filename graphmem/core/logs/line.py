"""
The same line: what is left of a line of a log when its colours and the prefixes of runners and loggers are taken off.

A stored trigger is compared with the lines of a log in this form; docs/concepts/retrieval.md, "Matching a log".
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from graphmem.names import row_id
from graphmem.patterns import lazy_re

COLOUR = lazy_re(r"\x1b\[[0-9;:]*[mK]")
# Colours, links, and the other sequences that steer a terminal.
ESCAPES = lazy_re(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]_P^X][^\x07\x1b]*(?:\x07|\x1b\\))")
TRIGGER_LINES = 1_000  # of a trigger that are read
FORMS = 24  # of one line that are compared at most
BLANK = row_id("")  # represents a line without a word
PREFIX = 500  # characters in which one is searched: no line, however it was made, takes long
SHORT = 8  # characters: below that, what is left without a prefix says too little to represent a trigger
LEVELS = "ERROR|WARN|WARNING|INFO|DEBUG|TRACE|CRITICAL|FATAL|SEVERE|NOTICE"
TIME = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
DATE = rf"(?:\d{{4}}[-/]\d\d[-/]\d\d|\d\d?[-/.]\d\d?[-/.](?:\d{{4}}|\d\d)|\d\d?[-/ ]{MONTH}[-/ ]\d{{4}}|{MONTH} \d\d?)"
STAMP = rf"{DATE}(?:,? |[T:]){TIME}(?: [AP]M)? ?(?:Z|UTC|[+-]\d\d:?\d\d)?"

LOGGER = r"[a-z_]\w*(?:\.[a-z_]\w*)+"

# All sorts of quotes are one, with or without a backslash before it: JSON, a shell and a terminal each have their own.
QUOTES = "\"'`", "´‘’“”"  # of ASCII, and others
IN_ONE_SORT = str.maketrans(dict.fromkeys(QUOTES[1], "'"))
MARKS = f"{QUOTES[0]}\\".encode()
ESCAPED_QUOTE = lazy_re(r"\\+(?=')")

# What runners and loggers put before a message; it says nothing of the error. White space is one blank already, quotes
# are of one sort. After what is a group, the rest of what a logger puts there may follow.
NOISE = lazy_re(
    r"\[gw\d+\] (?:\[ ?\d+%\] )?"  # pytest-xdist
    r"|E "  # pytest
    r"|AssertionError: (?=assert\b)"  # pytest leaves it out
    r"|##\[\w+\] ?|::(?:error|warning|notice)[^:]*:: ?"  # GitHub Actions, Azure Pipelines
    r"|npm (?:ERR!|error|WARN|warn) "
    r"|[\w.-]+[-_]\d+ \| "  # docker compose
    r"|#\d+ \d+\.\d+ "  # docker build
    r"|==\d+== ?"  # valgrind
    r"|\[(?=[a-f-]*\d)[0-9a-f-]{8,36}\] "  # the id of a request
    r"|[|>+│┃●•✕✖✗✘×❌❯➜→➤⨯]\ufe0f? "  # the frames and marks that runners draw
    r"|[A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d \S+ [^\s:]+: "  # syslog
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+\] "  # glog
    rf"|\[(?:{LEVELS})(?::[\w./]+\(\d+\))?\]:? (?:- )?|(?:{LEVELS}) {LOGGER}: |{LOGGER} (?:{LEVELS}):? "
    rf"|(?:{LEVELS})(?:: | - | : )|(?:{LEVELS}):[\w.]+:"
    rf"|(\[?{STAMP}\]?(?: [-:])? |\[?{TIME}\]?(?: [-:])? )"
)
# What else may be before a message in a log. It says where it happened, so a trigger that has it keeps it.
PLACE = lazy_re(
    rf"(\[{STAMP}[^\[\]]*\] |(?:{LEVELS}) (?!\S+(?:::.*?|\.py) - ))"
    r"|(?:FAILED|ERROR) [^\s:]+::.*? - |(?:FAILED|ERROR) \S+\.py - "  # pytest's summary
    r"|(?:file://)?(?:[A-Za-z]:)?[^\s:()]+\.\w{1,5}(?:(?::\d+){1,2}:?|:\[\d+,\d+\]|\(\d+(?:,\d+)?\) ?:) "  # compilers
    r"|[\w$.]+\.[\w$]+:\d+(?:->\S+)? "  # Surefire
    r"|(?:/\S*/)?(?:ba|da|z|k)?sh: (?:line )?(?:\d+: )?"
    r"|Caused by: |Exception in thread '[^']*' |Uncaught (?:\(in promise\) )?|\[cause\]: "
    r"|(?i:error|fatal|fatal error|warning|panic)(?:\[\w+\]| [A-Z]{1,4}\d{2,6})?: |[ewi]: |YN\d{4}: "
    r"|(?:[\w$]+\.)*Assertion(?:Failed)?(?:Error|Exception): "
    r"|(?:[A-Za-z_$][\w$]*(?:\.|::))+(?=[A-Z]\w*(?:: |$))"  # the package of an exception class
    r"|make: \*\*\* (?:\[[^\s\[\]]+:\d+: [^\[\]]*\] )?|not ok \d+ (?:- )?|nox > |py\d+[\w-]*: "  # make, TAP, nox, tox
    r"|[\w@/.-]+:[\w-]+: "  # Turborepo
    r"|[-#*] "  # marks of runners
    rf"|[DIWEF], \[{STAMP} ?#\d+\] +[A-Z]+ -- [\w:]*: "  # Ruby
    rf"|<\d+>\d {STAMP} \S+ \S+ \S+ \S+ (?:-|\[[^\]]*\]) "  # RFC 5424
    rf"|\d\d-\d\d {TIME} \d+ \d+ [VDIWEF] [^\s:]+: "  # Android
    r"|[a-z\d][a-z\d_.-]* \| |\[ ?(?!\w+://)[^\s\[\]|]+ ?\] "
)
# What a logger puts after a time or a level: a thread, a process, a level, where it was logged, a sign between two.
HEADER = lazy_re(
    rf"\[[^\[\]]*\]:? |\d+ (?=-|\[|(?:{LEVELS})\b)|\d+#\d+: |\*\d+ |(?:-{{1,3}}|[|:]) "
    rf"|(?:stdout|stderr) [FP] |\d\d[OE]\+? |(?:{LEVELS})[:|]? |(?i:{LEVELS}) (?=\S+:\d)|\([\w$.-]+:[\w$-]+\) "
    r"|(?:[\w.-]+ )?[\w./-]+\[[\w.]+\]: "
    r"|[\w$.<>/-]+(?::[\w$.<>/-]+)*:\d+:? "
    rf"|[\w$.:-]+ (?:[-:|] |(?=[\[(]|(?:{LEVELS})\b))"
    r"|((?![\w.]*(?:Error|Exception): )[\w$.:/-]+: )"
)
MAKE = lazy_re(r"^make\[\d+\]: ")
PROGRESS = lazy_re(r" +\[ *\d+%\]$")
MORE = lazy_re(r" (?:See|Check|Read|Run) [^.]* for (?:more )?(?:details|information|help)\.?$")  # after an error
VERBOSE = lazy_re(r"^([^\s:]+::.*) FAILED$")  # pytest -v

# What a runner or a logger ends with before a message: a sign, a level, a time.
MARKED = lazy_re(rf"(?:[:|>\])}}»–—-]|\b(?:{LEVELS}|INF|ERR|WRN|DBG|TRC|FTL)|\d(?:Z|AM|PM)?)$")
WORD_START = lazy_re(r" ")
LEAST_END = 20  # characters of a line that may have anything before it
WRAPPED = "\\"  # at the end of a line that goes on in the next
# A value in JSON or logfmt, behind its key; and the keys of messages.
STRING = r"\"([^\"\\]*(?:\\.[^\"\\]*)*)\""
PAIR = lazy_re(rf"\"([\w.@-]{{1,60}})\" ?: ?{STRING}|(?<![\w.])([\w.]{{1,60}})=(?:{STRING}|([^\s\"]+))")
MESSAGES = frozenset(
    "msg message log error err errmsg error_message errormessage exception exc_info stack stack_trace stacktrace trace"
    " traceback event detail details description reason output text".split()
)
ESCAPE = lazy_re(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
CHARACTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def plain(line: str) -> str:
    """Return a line without colours, its white space as single blanks, its quotes of one sort."""
    text = " ".join((ESCAPES.sub("", line) if "\x1b" in line else line).split()).replace('"', "'").replace("`", "'")
    if not text.isascii():
        text = text.translate(IN_ONE_SORT)
    if "\\'" in text:
        text = ESCAPED_QUOTE.sub("", text)
    if text.startswith("make["):
        return MAKE.sub("make: ", text)
    if text.endswith("%]"):
        text = PROGRESS.sub("", text)
    if " for " in text:
        text = MORE.sub("", text)
    return VERBOSE.sub(r"FAILED \1", text) if " FAILED" in text else text


def unmarked(text: bytes) -> bytes:
    """Return a text without quotes and backslashes, which one log has and another has not."""
    text = text.translate(None, MARKS)
    if not text.isascii():
        for quote in QUOTES[1]:
            text = text.replace(quote.encode(), b"")
    return text


def last_word(line: str) -> str:
    """Return the last word of a line without marks: empty where it has none."""
    return unmarked(line.encode()).decode().rstrip().rpartition(" ")[2]


def bare(line: str, least: int = SHORT) -> str:
    """Return a line of a trigger without what runners and loggers put before it; as it is where little is left."""
    text = plain(line)
    for _ in range(FORMS):
        found = NOISE.match(text, 0, PREFIX)
        if not found or len(text) - found.end() < least:
            break
        text = text[found.end() :]
    return text


def forms(line: str) -> Iterator[str]:
    """Yield a line of a log as it is, and what is left after each prefix, and in the quotes, that it may have."""
    found = {plain(line): False}  # and whether a time or a level is before it
    todo = list(found)
    for text in todo:  # grows
        yield text
        start = f"{text[:PREFIX]} "  # a line may end with its prefix
        rests = {text[1:-1].strip(): False} if len(text) > 1 and text[0] == text[-1] == "'" else {}
        for prefix in (NOISE, PLACE, HEADER)[: 2 + found[text]]:
            if hit := prefix.match(start):
                rests[text[hit.end() :]] = (hit.lastindex is None) == (prefix is HEADER)
        for rest, is_header in rests.items():
            if rest not in found and len(found) < FORMS:
                found[rest] = is_header
                todo.append(rest)


def trigger_lines(trigger: str) -> list[str]:
    """Return the lines of a trigger as they are compared, those without a word left out."""
    return [line for line in map(bare, islice(trigger.splitlines(), TRIGGER_LINES)) if line]


@lru_cache(2_048)  # the lines of a log recur; each may have 16 KiB
def numbers(line: str) -> tuple[int, ...]:
    """Return the numbers that represent what a line of a log may be; BLANK where it may be no more than a prefix."""
    return tuple(map(row_id, forms(line)))


@lru_cache(2_048)
def ends(line: str) -> tuple[int, ...]:
    """Return the numbers of what may be left of a line where an unknown runner put something before it."""
    text = plain(line)
    starts = [found.end() for found in WORD_START.finditer(text, 0, PREFIX) if MARKED.search(text[: found.start()])]
    return tuple(row_id(text[start:]) for start in starts if len(text) - start >= LEAST_END)


def messages(line: str) -> Iterator[str]:
    """Yield the messages in a line of JSON or logfmt, and each of the texts that overwrote each other in a line."""
    if "\r" in line:
        yield from line.split("\r")
    for name, value, other_name, other_value, word in PAIR.findall(line):
        if (name or other_name).rpartition(".")[2].lstrip("@").casefold() in MESSAGES:
            yield _unescaped(value or other_value or word)


def _unescaped(text: str) -> str:
    """Return what a quoted string holds."""
    if "\\" in text:
        text = ESCAPE.sub(_character, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return ESCAPES.sub("", text)


def _character(escape: re.Match[str]) -> str:
    """Return the character that is written as an escape."""
    return CHARACTERS.get(escape[3], escape[3]) if escape[3] else chr(int(escape[1] or escape[2], 16))


def continued(lines: Sequence[str]) -> tuple[str, str]:
    """Return the line that some make of which each but the last ends with a backslash; also without their prefixes."""
    first, *others = (line.rstrip().removesuffix(WRAPPED) for line in lines)
    return " ".join([first, *others]), " ".join([first, *(bare(line, 1) for line in others)])
