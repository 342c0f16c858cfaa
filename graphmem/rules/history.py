"""
History: what the messages of commits say was tried and taken back, and which errors they quote that the commit fixes.

A revert without a reason, or of what was pushed by mistake, says nothing; nor does an error that is not fixed. How
often a candidate is right: docs/benchmarks.md, "Harvest".
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphmem.model.candidate import Candidate, CandidateEdit, Fields, Occasion, candidate_id
from graphmem.model.commit import CommitMessage
from graphmem.rules.diagnostic import diagnostic_of
from graphmem.rules.draft import MOST_FILES, edit_text, keys_of, within, words_of
from graphmem.rules.problem import RunProblem, problems
from graphmem.rules.signature import errors
from graphmem.rules.worth import SETTING, SETTINGS

MESSAGE = 20_000  # characters of a message that are read
REASON = 1_500  # characters of the reason of a revert
SHORTEST = 20  # characters of a reason
OF_REVERT, OF_ERROR, OF_TRAILER = 0.5, 0.45, 0.3  # worth of what a message says

# What git is to look for, so that most messages are never read here: extended regular expressions, without case.
WANTED = (
    "revert",
    "error|warning:|exception|fatal|assert|undefined|unresolved|traceback|panic|segfault|cannot|failed",
    r"^(fixes|closes|resolves):? ",
)
REVERTS = re.compile(
    (r"^(?:\[[^\]]{1,30}\] ?|[\w/.-]{1,30}: ?)?(?:partial(?:ly)? )?revert(?:ed|s" r"|ing)?\b[: ]*"), re.IGNORECASE
)
NAMES_COMMIT = re.compile(r"\b(?:this |partial(?:ly)? )*revert(?:s|ed)?\b[^.\n]{0,40}\b[0-9a-f]{7,40}\b", re.IGNORECASE)
QUOTED_SUBJECT = re.compile(r"[\"“](?P<said>.+)[\"”]")
BOILERPLATE = re.compile(
    r"(?:this )?(?:partial(?:ly)? )?reverts?(?: parts? of)?(?: the)?(?:"
    r" commits?)?:?\s+[0-9a-f]{7,40}\b(?:\s*\(.{0,200}?\))?"
    r"(?:,? (?:and|reversing)[^.\n]{0,60}\b[0-9a-f]{7,40}\b)?(?:\s+on\s+[\w./-]+)?[.,;:]?[ \t]*",
    re.IGNORECASE,
)
HASHES = re.compile(r"^[\s,and]*[0-9a-f]{7,40}[,.]?\s*$")
TRAILER = re.compile(r"^[A-Z][A-Za-z-]{2,30}(?:-by|-to|-[Ii]d)?: \S")
FIXES = re.compile(r"^(?:fixes|closes|resolves):?\s+\S", re.IGNORECASE | re.MULTILINE)
CONFLICTS = re.compile(r"^#?\s*Conflicts:\s*$(?:\n#?[ \t]+\S.*)*", re.MULTILINE)
ONLY_LINK = re.compile(r"^<?https?://\S+>?\.?$")
MISTAKE = re.compile(
    r"\b(?:accident(?:al(?:ly)?)?|mistaken(?:ly)?|by mistake|unintend\w*|unintentional\w*|inadvertent\w*|didn't mean"
    r"|sorry|apolog\w+|wrong branch|not ready|too early|prematurely|outstanding changes)\b",
    re.IGNORECASE,
)
FIRST_SENTENCES = 160  # characters of a reason in which a mistake is confessed
FENCE = re.compile(r"^\s*(?:```|~~~)")
MARKED = re.compile(r"^\s*[>|] ?")
BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s")
INLINE = re.compile(r"\"([^\"\n]{8,300})\"|“([^”\n]{8,300})”|``?([^`\n]{8,300})``?|'([^'\n]{12,300})'")
BARE = re.compile(
    (r"^(?:[\w.]{0,60}(?:Error|Exception)|error|fatal|warning|panic" r"|assertion\b.{0,80})\s?: \S"), re.IGNORECASE
)
IN_SUBJECT = re.compile(r"\b[A-Z]\w{2,40}(?:Error|Exception): \S.*$")
FIXING = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|avoid\w*|prevent\w*|handle[sd]?|work(?:ing)? ?around|workaround|resolv\w+"
    r"|silence\w*|address\w*"
    r"|correct\w*|no longer|solve[sd]?|suppress\w*|repair\w*|allow\w*|instead of|missing|don't|do not|must"
    r"|need(?:s|ed)?|quiet\w*|ensure\w*|guard\w*|bail\w*)\b",
    re.IGNORECASE,
)
NO_FIX = re.compile(
    (r"^(?:merge\b|release\b|bump\b|(?:docs?|tests?|changelog|style)(?:\([^)]*\))?:|version\b" r"|prepare\b)"),
    re.IGNORECASE,
)


UNFINISHED = re.compile(  # the end of a line that was broken to fit the width of a message
    r"(?:[,:(]|\b(?:an?|the|of|to|in|at|for|from|with|by|be|is|are|and|or|not|no|cannot|has|have|used|may"
    r"|enumeration value|return"
    r"|returning|argument|between|allocate|loop|call|incompatible|possibly|infinite|uninitialized|implicit))$"
)
MOST_BROKEN = 3  # lines that one error is broken into
SYMPTOM = 400  # characters of a symptom
SAYS_WRONG = re.compile(  # what a person or a program observes, not what is wrong in the code
    r"\b(?:crash\w*|segfault\w*|hangs?|deadlocks?|memory leaks?|leaks (?:memory|the)|corrupt\w*|exception\w*"
    r"|regression\w*"
    r"|lockups?|infinite(?:ly)? loops?|use[- ]after[- ]free|(?:build|test|command|import|compilation"
    r"|autogen\S*) .{0,30}(?:fails?|breaks?)"
    r"|fails to|unable to|aborts?|random noise|error message|refuses to|no longer works?)\b",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


class Revert(NamedTuple):
    """What a commit took back, and why."""

    what: str
    reason: str


def revert_of(commit: CommitMessage) -> Revert | None:
    """Return what a commit takes back; None where it takes nothing back, or gives no reason."""
    subject = commit.subject
    found = REVERTS.match(subject)
    if found is None or not (NAMES_COMMIT.search(commit.message[:MESSAGE]) or QUOTED_SUBJECT.search(subject)):
        return None
    quoted = QUOTED_SUBJECT.search(subject)
    what = (quoted["said"] if quoted else subject[found.end() :]).strip()
    if REVERTS.match(what) or HASHES.match(what):
        return None  # it is back, so that what was tried is there now; or nobody can tell what it was
    paragraphs = list(reasons(body_of(commit)))
    reason = "\n".join(paragraphs)
    is_mistake = MISTAKE.search(f"{subject}\n{reason[:FIRST_SENTENCES]}") is not None
    is_reason = len(reason) >= SHORTEST and not all(map(ONLY_LINK.match, paragraphs))
    return Revert(what, reason[:REASON]) if is_reason and not is_mistake else None


def body_of(commit: CommitMessage) -> str:
    """Return what a message says below its first line, without the list of conflicts."""
    return CONFLICTS.sub("", commit.body[:MESSAGE])


def reasons(body: str) -> Iterator[str]:
    """Yield the paragraphs of a message that say why, each in one line."""
    for paragraph in re.split(r"\n\s*\n", BOILERPLATE.sub("", body)):
        lines = [line.strip() for line in paragraph.splitlines()]
        kept = [line for line in lines if not (TRAILER.match(line) or HASHES.match(line))]
        text = " ".join(" ".join(kept).split())
        if re.search(r"\w{2}", text):
            yield text


def quoted_problem(commit: CommitMessage) -> RunProblem | None:
    """Return the error that a message quotes and the commit fixes, as an output reports it; None for none."""
    if is_no_fix(commit):
        return None
    body = body_of(commit)
    said = f"{commit.subject}\n{body}"
    if not (FIXING.search(said) or FIXES.search(said)):
        return None
    for lines in (list(shown_lines(body)), list(inline(said))):
        found = [one for one in problems("\n".join(lines)) if one.sort != "usage" and not one.key.startswith("hint:")]
        if found:
            return found[0]
    return None


def shown_lines(body: str) -> Iterator[str]:
    """Yield the lines of a message that were printed by a program, those that were broken to fit joined again."""
    kept, number = "", 0
    for line in printed(body):
        is_new = not kept or number == MOST_BROKEN or not is_unfinished(kept) or is_error(line)
        if is_new and kept:
            yield kept
        kept, number = (line, 1) if is_new else (f"{kept} {line.strip()}", number + 1)
    if kept:
        yield kept


def printed(body: str) -> Iterator[str]:
    """Yield the lines that are indented, fenced or marked, or errors by their form, and what goes on below these."""
    is_fenced = is_shown = False
    for line in body.splitlines():
        if FENCE.match(line):
            is_fenced = not is_fenced
            continue
        was_error = is_shown and bool(line.strip())
        is_shown = is_error(line)
        if is_fenced:
            yield line
        elif MARKED.match(line):
            yield MARKED.sub("", line)
        elif TRAILER.match(line) and not is_shown:
            continue
        elif (line.startswith(("  ", "\t")) and not BULLET.match(line)) or is_shown or was_error:
            yield line if line.startswith("    ") else line.strip()


def is_error(line: str) -> bool:
    """Return whether a line has the form of an error, wherever it is."""
    return BARE.match(line.strip()) is not None or diagnostic_of(line.strip()) is not None


def is_unfinished(line: str) -> bool:
    """Return whether a line that reports an error was broken before its end."""
    quotes = line.count('"') + line.count("`") + len(re.findall(r"(?<!\w)'|'(?!\w)", line))
    is_open = line.count("‘") != line.count("’") or line.count("(") > line.count(")") or quotes % 2 == 1
    return is_error(line) and (is_open or UNFINISHED.search(line.rstrip()) is not None)


def inline(said: str) -> Iterator[str]:
    """Yield the errors that a text has between quotation marks or backticks, or at the end of its first line."""
    if found := IN_SUBJECT.search(said.partition("\n")[0]):
        yield found[0]
    for found in INLINE.finditer(" ".join(said.split())):
        text = next(part for part in found.groups() if part)
        if any(error.is_telling for error in errors([text])):
            yield text


def taken_back(commit: CommitMessage, revert: Revert, edits: Sequence[CandidateEdit]) -> Candidate:
    """Return the candidate that a revert is: a decision not to do what was tried."""
    fields: Fields = {
        "kind": "decision",
        "decision": f"Reverted: {revert.what}",
        "reasoning": revert.reason,
        "sources": [f"git:{commit.hash[:12]}"],
    }
    evidence = occasion_of(commit, edits)
    return Candidate(
        id=candidate_id(f"revert {revert.what}".casefold()),
        base=OF_REVERT,
        other=(fields,),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(evidence.mark,),
    )


def symptom_of(commit: CommitMessage) -> str:
    """Return what was observed before a commit that names the issue that it fixes; empty where it does not say so."""
    if is_no_fix(commit) or not FIXES.search(body_of(commit)):
        return ""
    said = (sentence for text in reasons(body_of(commit)) for sentence in SENTENCE.split(text))
    found = (one for one in said if SAYS_WRONG.search(one) and not FIXES.match(one))
    return next((one for one in found if SHORTEST <= len(one) <= SYMPTOM), "")


def is_no_fix(commit: CommitMessage) -> bool:
    """Return whether a commit is a merge, a revert, or about tests, texts and versions only."""
    subject = commit.subject
    return len(commit.parents) > 1 or NO_FIX.match(subject) is not None or REVERTS.match(subject) is not None


def quoted_fix(commit: CommitMessage, problem: RunProblem, edits: Sequence[CandidateEdit]) -> Candidate:
    """Return the candidate that a commit is which quotes an error and fixes it."""
    made = fixed(commit, problem.text, edits)
    return made.model_copy(
        update={
            "id": candidate_id(problem.key),
            "keys": keys_of(problem),
            "base": OF_ERROR + (SETTINGS if any(SETTING.search(edit.file) for edit in edits) else 0),
        }
    )


def fixed(commit: CommitMessage, trigger: str, edits: Sequence[CandidateEdit]) -> Candidate:
    """Return the candidate that a commit is which fixes something: its subject, and what it changed."""
    origin, files = f"git:{commit.hash[:12]}", list(dict.fromkeys(edit.file for edit in edits))
    change = edit_text(edits, words_of(trigger))
    evidence = occasion_of(commit, edits)
    return Candidate(
        id=candidate_id(f"fix {trigger}".casefold()),
        base=OF_TRAILER,
        failure={"trigger": trigger, "sources": [origin], "files": files[:MOST_FILES] or None},
        pattern={
            "trigger": trigger,
            "insight": f"{commit.subject} ({change})" if change else commit.subject,
            "sources": [origin],
        },
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(evidence.mark,),
    )


def occasion_of(commit: CommitMessage, edits: Sequence[CandidateEdit]) -> Occasion:
    """Return a commit as evidence."""
    return Occasion(
        source="git",
        at=commit.at,
        commit=commit.hash,
        before=commit.parents[0] if commit.parents else None,
        edits=tuple(within(edits)),
    )
