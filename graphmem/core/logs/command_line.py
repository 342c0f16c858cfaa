"""Command lines of a shell as agents type them: what stays the same when only the form of the output changes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphmem.patterns import lazy_re

WORD = r"(?:\"[^\"]*\"|'[^']*'|[^\s;&|'\"]+)"
FOLDER = lazy_re(rf"cd\s+({WORD})\s*(?:&&|;)\s*")
ASSIGNMENT = lazy_re(rf"([A-Za-z_]\w*={WORD}?)\s+")
SHOWING = lazy_re(r"\s*\|&?\s*(?:tail|head|tee|cat|less|more)(?:\s[^|;&'\"]*)?$")
FILTERING = lazy_re(rf"\s*\|&?\s*(?:grep|egrep|rg|sed|awk|sort|uniq|cut|wc)(?:\s+{WORD})*\s*$")
MASKING = lazy_re(rf"\s*(?:\|\|\s*(?:true|:|echo(?:\s+{WORD})*)|;\s*(?:echo|true|exit)\b[^;&|]*|(?<![>&])&)$")
MOVING = lazy_re(r"\s*(?:[12&]?>>?\s*(?:&[12]|[^\s;&|<>]+)|;)$")
MOST_CHARS = 2_000  # of a command line that is looked at; a longer one is a script
WRAPPERS = frozenset("command env exec nice nohup sudo time".split())
READERS = frozenset(
    "awk bat cat diff echo egrep fgrep find grep head jq journalctl less ls man more nl printf rg sed stat strings tail"
    " tree type wc which xargs zcat zgrep".split()
)  # commands that show texts: an error in them is not one that happened
OF_GIT = frozenset("blame cat-file diff grep log reflog show status".split())  # which git commands do
SETTLED = frozenset(
    ": [ cd date df do done du else false fi graphmem history hostname id if printenv ps pwd sleep test then true uname"
    " wait while whoami".split()
)  # commands and words of a shell that change nothing
CHECKERS = frozenset(
    "ctest eslint flake8 jest mocha mypy nox phpunit py.test pylint pyright pytest rspec ruff shellcheck tox tsc"
    " unittest vitest".split()
)  # commands that only check: what they write beside is of no matter
RUNNERS = frozenset(
    "bun bundle cargo composer deno dotnet go gradle gradlew hatch just make mvn node npm npx pdm perl pnpm poetry"
    " python python3 rake ruby sbt task uv uvx yarn".split()
)  # commands that run others, by the next words
CHECKS = CHECKERS | frozenset("check clippy lint typecheck verify vet -c -e".split())
INSTALLS = frozenset("add ci get i install remove sync uninstall update upgrade".split())
MOST_WORDS = 5  # after the name of a command that say what it does
PARTS = lazy_re(r"&&|\|\|?&?|;|&(?!\d)")


def typed_in(given: Mapping[str, Any]) -> str:
    """Return the command line that a shell tool is given: a text, or words, the last of ``bash -lc TEXT``."""
    for name in ("command", "cmd", "CommandLine", "script"):
        value = given.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            is_shell = len(value) == 3 and value[1] in ("-c", "-lc")
            return str(value[2]) if is_shell else " ".join(value)
    return ""


@dataclass(frozen=True)
class CommandLine:
    """
    A command line without what only moves or shows its output.

    Attributes:
        text: the command.
        folder: where it changes to first, as typed; empty if it does not.
        variables: the assignments before it, as typed.
        is_sure: whether the exit status of the line is that of the command: no pipe, ``||``, ``;`` or ``&`` hides it.
        is_filtered: whether only lines that another command chose are shown.
    """

    text: str
    folder: str
    variables: tuple[str, ...]
    is_sure: bool
    is_filtered: bool = False

    @property
    def is_reader(self) -> bool:
        """Return whether it shows texts, or does nothing."""
        name, *words = _words_of(self.text)
        return name in ("", "for", *READERS) or (name == "git" and words[:1] != [] and words[0] in OF_GIT)

    @property
    def is_act(self) -> bool:
        """Return whether it may change what other commands need; what only shows, waits or checks does not."""
        return any(is_act(part) for part in PARTS.split(self.text))

    @property
    def is_cause(self) -> bool:
        """Return whether it may be why something passes: it may change what other commands need, and keeps no work."""
        return any(is_act(part) and not _keeps(part) for part in PARTS.split(self.text))


def _keeps(part: str) -> bool:
    """Return whether one command keeps the work with git and leaves the files as they are."""
    name, *words = _words_of(part)
    return name == "git" and next((word for word in words if not word.startswith("-")), "") in KEEPING


def parsed_line(command: str) -> CommandLine:
    """
    Return the parts of a command line; the text is compared, never run.

    ``cd api && CI=1 pytest -q 2>&1 | tail -20`` is ``pytest -q`` in ``api`` with ``CI=1``.
    """
    text, folder, variables, is_sure = " ".join(command[:MOST_CHARS].split()), "", [], True
    is_filtered = False
    while found := FOLDER.match(text) or ASSIGNMENT.match(text):
        if found.re.pattern == FOLDER.pattern:
            named = found[1].strip("'\"")
            folder = named if named.startswith("/") or not folder else f"{folder}/{named}"
        else:
            variables.append(found[1])
        text = text[found.end() :]
    while found := next(filter(None, (part.search(text) for part in (SHOWING, FILTERING, MASKING, MOVING))), None):
        is_sure, is_filtered = (
            is_sure and found.re.pattern == MOVING.pattern,
            is_filtered or found.re.pattern == FILTERING.pattern,
        )
        text = text[: found.start()]
    return CommandLine(text, folder, tuple(variables), is_sure, is_filtered)


def _words_of(text: str) -> list[str]:
    """Return the words of a command, the name of its program first, without what only wraps it."""
    words = text.lstrip("({ ").split()
    while words and (words[0] in WRAPPERS or ASSIGNMENT.fullmatch(f"{words[0]} ")):
        words = words[1:]
    return [words[0].rpartition("/")[2], *words[1:]] if words else [""]


KEEPING = frozenset("add commit push tag notes fetch remote status".split())  # of git: the files stay as they are


def is_act(part: str) -> bool:
    """Return whether one command may change what others need."""
    name, *words = _words_of(part)
    if name in ("do", "then", "else"):
        return is_act(" ".join(words))
    if CommandLine(part, "", (), True).is_reader or name in SETTLED or name in CHECKERS:
        return False
    if name not in RUNNERS:
        return True
    said = words[:MOST_WORDS]
    is_check = any(word in CHECKS or word.startswith("test") for word in said)
    return not is_check or not INSTALLS.isdisjoint(said)


def mentions(text: str, command: str) -> bool:
    """Return whether a text names this very command: in backticks, after a prompt, or as a line of its own."""
    if len(command.split()) < 2:
        return False  # `make`, `ls`: everybody types them all the time
    named = re.escape(command)
    return re.search(rf"(?m)(?:`|^\s*(?:[$#%>] )?){named}(?:`|\s*$)", text) is not None
