"""
History: what the messages of commits say was tried and taken back, and which errors they quote that the commit fixes.

A revert without a reason, or of what was pushed by mistake, says nothing; nor does an error that is not fixed. How
often a candidate is right: docs/benchmarks/learning.md, "Harvest".
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from textwrap import dedent
from typing import NamedTuple

from graphmem.core.logs.draft import MOST_FILES, change_key, edit_text, fitting, keys_of, within
from graphmem.core.logs.output_problem import OutputProblem, is_of_code, problem_in, quoted_problems
from graphmem.core.logs.worth import of_settings
from graphmem.kernel.model.candidate import OF_GIT, Candidate, CandidateEdit, Fields, Occasion, candidate_id, digest
from graphmem.kernel.model.commit import CommitMessage
from graphmem.patterns import lazy_re

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
REVERTS = lazy_re(
    (r"^(?:\[[^\]]{1,30}\] ?|[\w/.-]{1,30}: ?)?(?:partial(?:ly)? )?revert(?:ed|s" r"|ing)?\b[: ]*"), re.IGNORECASE
)
NAMES_COMMIT = lazy_re(r"\b(?:this |partial(?:ly)? )*revert(?:s|ed)?\b[^.\n]{0,40}\b[0-9a-f]{7,40}\b", re.IGNORECASE)
QUOTED_SUBJECT = lazy_re(r"[\"“](?P<said>.+)[\"”]")
OF_HASH = lazy_re(r"^This reverts commit ([0-9a-f]{40}|[0-9a-f]{64})\b", re.MULTILINE)
SQUASHED = lazy_re(r"\((?:pull request )?#\d+\)$|^Merged PR \d+")
BOILERPLATE = lazy_re(
    r"(?:this )?(?:partial(?:ly)? )?reverts?(?: parts? of)?(?: the)?(?:"
    r" commits?)?:?\s+[0-9a-f]{7,40}\b(?:\s*\(.{0,200}?\))?"
    r"(?:,? (?:and|reversing)[^.]{0,60}?\b[0-9a-f]{7,40}\b)?(?:\s+on\s+[\w./-]+)?[.,;:]?[ \t]*",
    re.IGNORECASE,
)
HASHES = lazy_re(r"^[\s,and]*[0-9a-f]{7,40}[,.]?\s*$")
TRAILER = lazy_re(r"^[A-Z][A-Za-z-]{2,30}(?:-by|-to|-[Ii]d)?: \S")
FIXES = lazy_re(r"^(?:fixes|closes|resolves):?\s+\S", re.IGNORECASE | re.MULTILINE)
CONFLICTS = lazy_re(r"^#?[ \t]*+Conflicts:[ \t]*+$(?:\n#?[ \t]+\S.*)*", re.MULTILINE)
ONLY_LINK = lazy_re(r"^(?:<?https?://\S+>?|reverts? [\w./-]*#\d+)\.?$", re.IGNORECASE)
MISTAKE = lazy_re(
    r"\b(?:accident(?:al(?:ly)?)?|mistaken(?:ly)?|by mistake|unintend\w*|unintentional\w*|inadvertent\w*|didn't mean"
    r"|sorry|apolog\w+|wrong branch|not ready|too early|prematurely|outstanding changes)\b",
    re.IGNORECASE,
)
REPLACED = lazy_re(  # what was taken back came again in another form
    r"\b(?:proper|better|different|another|alternate|alternative|correct|real|cleaner) "
    r"(?:fix|solution|approach|patch|version|way|implementation)\b",
    re.IGNORECASE,
)
SHORT_REASON = 100  # characters of a reason that says nothing but that
FIRST_SENTENCES = 160  # characters of a reason in which a mistake is confessed
FENCE = lazy_re(r"^\s*(?:```|~~~)")
MARKED = lazy_re(r"^\s*[>|] ?")
BULLET = lazy_re(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s")
INLINE = lazy_re(r"\"([^\"\n]{8,300})\"|“([^”\n]{8,300})”|``?([^`\n]{8,300})``?|'([^'\n]{12,300})'")
BARE = lazy_re(
    (r"^(?:[\w.]{0,60}(?:Error|Exception)|error|fatal|warning|panic" r"|assertion\b.{0,80})\s?: \S"), re.IGNORECASE
)
IN_SUBJECT = lazy_re(r"\b[A-Z]\w{2,40}(?:Error|Exception): \S.*$")
FIXING = lazy_re(
    r"\b(?:fix(?:e[sd]|ing)?|avoid\w*|prevent\w*|handle[sd]?|work(?:ing)? ?around|workaround|resolv\w+"
    r"|silence\w*|address\w*"
    r"|correct\w*|no longer|solve[sd]?|suppress\w*|repair\w*|allow\w*|instead of|missing|don't|do not|must"
    r"|need(?:s|ed)?|quiet\w*|ensure\w*|guard\w*|bail\w*)\b",
    re.IGNORECASE,
)
NO_FIX = lazy_re(
    (r"^(?:merge\b|release\b|bump\b|(?:docs?|tests?|changelog|style)(?:\([^)]*\))?:|version\b" r"|prepare\b)"),
    re.IGNORECASE,
)


MOST_BROKEN = 3  # lines that one error is broken into
WIDTHS = 64, 80  # characters: a message is broken somewhere between
GOES_ON = lazy_re(r"[a-z'\"‘(`\[]")  # the beginning of a line that can end the one before
SYMPTOM = 400  # characters of a symptom
SAYS_WRONG = lazy_re(  # what a person or a program observes, not what is wrong in the code
    r"\b(?:crash\w*|segfault\w*|hangs?|deadlocks?|memory leaks?|leaks (?:memory|the)|corrupt\w*|exception\w*"
    r"|regression\w*"
    r"|lockups?|infinite(?:ly)? loops?|use[- ]after[- ]free|(?:build|test|command|import|compilation"
    r"|autogen\S*) .{0,30}(?:fails?|breaks?)"
    r"|fails to|unable to|aborts?|random noise|error message|refuses to|no longer works?)\b",
    re.IGNORECASE,
)
NO_SYMPTOM = lazy_re(
    r"(?:by|only|(?:many )?thanks|with|if|so|because|fixes|closes|resolves|[0-9a-f]{7,40})\b", re.IGNORECASE
)
SENTENCE = lazy_re(r"(?<=[.!?])\s+(?=[A-Z])")


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
    paragraphs = list(_reasons(_body_of(commit)))
    reason = "\n".join(paragraphs)
    is_mistake = MISTAKE.search(f"{subject}\n{reason[:FIRST_SENTENCES]}") is not None
    is_replaced = len(reason) <= SHORT_REASON and REPLACED.search(reason) is not None
    is_reason = len(reason) >= SHORTEST and not all(map(ONLY_LINK.match, paragraphs))
    return Revert(what, reason[:REASON]) if is_reason and not (is_mistake or is_replaced) else None


def reverts_in(commits: Sequence[CommitMessage]) -> dict[str, str]:
    """Return the commits that were taken back, and by which: named by their full hash, or by their subject here."""
    subjects = {one.subject: one.hash for one in commits}
    found: dict[str, str] = {}
    for one in commits:
        said = QUOTED_SUBJECT.search(one.subject) if REVERTS.match(one.subject) else None
        names = [named[1] for named in OF_HASH.finditer(one.body[:MESSAGE])]
        names += [subjects[said["said"]]] if said and not names and said["said"] in subjects else []
        found.update((name, one.hash) for name in names)
    return found


def _body_of(commit: CommitMessage) -> str:
    """Return what a message says below its first line, without the list of conflicts."""
    return CONFLICTS.sub("", commit.body[:MESSAGE])


def _reasons(body: str) -> Iterator[str]:
    """Yield the paragraphs of a message that say why, each in one line."""
    for paragraph in re.split(r"\n\s*\n", BOILERPLATE.sub("", body)):
        lines = [line.strip() for line in paragraph.splitlines()]
        kept = [line for line in lines if not (TRAILER.match(line) or HASHES.match(line))]
        text = " ".join(" ".join(kept).split())
        if re.search(r"\w{2}", text):
            yield text


def quoted_problem(commit: CommitMessage) -> OutputProblem | None:
    """Return the error that a message quotes and the commit fixes, as an output reports it; None for none."""
    if is_no_fix(commit):
        return None
    body = _body_of(commit)
    said = f"{commit.subject}\n{body}"
    return quoted_in(commit.subject, body) if FIXING.search(said) or FIXES.search(said) else None


def quoted_in(title: str, body: str) -> OutputProblem | None:
    """Return the first error that a text shows, or quotes, as an output reports it; None for none."""
    said = f"{title}\n{body}"
    for lines in (list(shown_lines(body)), list(_inline(said))):
        if found := quoted_problems("\n".join(lines)):
            return found[0]
    return None


def shown_lines(body: str) -> Iterator[str]:
    """Yield the lines of a message that were printed by a program, those that were broken to fit joined again."""
    kept, last, number = "", "", 0
    for line in chain.from_iterable(dedent(block).split("\n") for block in "\n".join(_printed(body)).split("\n\n")):
        is_more = _is_error(kept) and number < MOST_BROKEN and _is_broken(last, line)
        if kept and not is_more:
            yield kept
        kept, number = (f"{kept} {line.strip()}", number + 1) if is_more else (line, 1)
        last = line
    yield kept


def _is_broken(line: str, following: str) -> bool:
    """Return whether a line ends where it does because the next word did not fit."""
    words = following.split()
    if not words or line.endswith((".", "]")) or _is_error(following) or not GOES_ON.match(words[0]):
        return False
    return len(line) <= WIDTHS[1] and len(line) + 1 + len(words[0]) > WIDTHS[0]


def _printed(body: str) -> Iterator[str]:
    """Yield the lines that are indented, fenced or marked, an error by their form or below one, and empty lines."""
    is_fenced = is_below = False
    for line in body.splitlines():
        if FENCE.match(line):
            is_fenced = not is_fenced
            continue
        is_below = _is_error(line) or (is_below and bool(line.strip()))
        is_indented = line.startswith(("  ", "\t")) and not BULLET.match(line)
        if is_fenced or not line.strip():
            yield line.rstrip()
        elif MARKED.match(line):
            yield MARKED.sub("", line)
        elif is_below or is_indented:
            yield line


def _is_error(line: str) -> bool:
    """Return whether a line has the form of an error, wherever it is."""
    return BARE.match(line.strip()) is not None or is_of_code(line.strip())


def _inline(said: str) -> Iterator[str]:
    """Yield what a text has between quotation marks or backticks, and an error at the end of its first line."""
    if found := IN_SUBJECT.search(said.partition("\n")[0]):
        yield found[0]
    for found in INLINE.finditer(" ".join(said.split())):
        yield next(part for part in found.groups() if part)


def taken_back(commit: CommitMessage, revert: Revert, edits: Sequence[CandidateEdit]) -> Candidate:
    """Return the candidate that a revert is: a decision not to do what was tried."""
    fields: Fields = {
        "kind": "decision",
        "decision": f"Reverted: {revert.what}",
        "reasoning": revert.reason,
        "sources": [f"git:{commit.hash[:12]}"],
    }
    evidence = _occasion_of(commit, edits)
    return Candidate(
        id=candidate_id(f"revert {revert.what}".casefold()),
        base=OF_REVERT,
        other=(fields,),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(evidence.source,),
    )


def symptom_of(commit: CommitMessage) -> str:
    """Return the symptom that a commit gives with the issue it fixes; empty if it gives none."""
    if is_no_fix(commit) or is_squashed(commit) or not FIXES.search(_body_of(commit)):
        return ""
    said = (sentence for text in _reasons(_body_of(commit)) for sentence in SENTENCE.split(text))
    found = (one for one in said if SAYS_WRONG.search(one) and not NO_SYMPTOM.match(one))
    return next((one for one in found if SHORTEST <= len(one) <= SYMPTOM), "")


def is_no_fix(commit: CommitMessage) -> bool:
    """Return whether a commit is a merge, a revert, or about tests, texts and versions only."""
    subject = commit.subject
    return len(commit.parents) > 1 or NO_FIX.match(subject) is not None or REVERTS.match(subject) is not None


def is_squashed(commit: CommitMessage) -> bool:
    """Return whether a commit is a whole pull request, whose message lists what each of its commits did."""
    return SQUASHED.search(commit.subject) is not None or "See merge request" in commit.body[:MESSAGE]


def quoted_fix(commit: CommitMessage, problem: OutputProblem, edits: Sequence[CandidateEdit]) -> Candidate:
    """Return the candidate that a commit is which quotes an error and fixes it."""
    made = fixed(commit, problem.text, edits)
    return made.model_copy(
        update={
            "id": candidate_id(problem.key),
            "keys": keys_of(problem),
            "base": OF_ERROR + of_settings(edit.file for edit in edits),
        }
    )


def fixed(commit: CommitMessage, trigger: str, edits: Sequence[CandidateEdit]) -> Candidate:
    """Return the candidate that a commit is which fixes something: its subject, and what it changed."""
    origin, files = f"git:{commit.hash[:12]}", list(dict.fromkeys(edit.file for edit in edits))
    problem = problem_in(trigger)
    edit = fitting([(edit, edit.removed) for edit in edits], problem, "", is_alone=len(edits) == 1)
    change = edit_text(edit) if edit else ""
    evidence = _occasion_of(commit, edits, change_key(problem, change, edit))
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
        sessions=(evidence.source,),
    )


def _occasion_of(commit: CommitMessage, edits: Sequence[CandidateEdit], change: str | None = None) -> Occasion:
    """Return a commit as evidence; ``change`` is a digest of what it fixed, and how."""
    return Occasion(
        source=OF_GIT,
        at=commit.at,
        commit=commit.hash,
        author=digest(commit.author) if commit.author else None,
        before=commit.parents[0] if commit.parents else None,
        edits=tuple(within(edits)),
        change=change,
    )
