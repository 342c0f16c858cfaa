"""
What people said on a forge: which commits close an issue, and what an issue or a thread of a review teaches.

An issue teaches the error that it shows, read as in the messages of commits; a thread what its reviewer asked for. What
is decided by form: who wrote it, whether it was resolved, whether each sentence is a question.
"""

import re

from graphmem.core.foreign.forge import Issue, ReviewThread
from graphmem.core.logs.draft import edit_text, excerpt, failure_fields, is_below, keys_of, within
from graphmem.core.logs.output_problem import OutputProblem, problems
from graphmem.features.harvest.correction import rule_in, stated
from graphmem.features.harvest.history_rules import REASON, SHORTEST, quoted_fix, quoted_in, shown_lines
from graphmem.kernel.model.candidate import OF_FORGE, Candidate, CandidateEdit, Fields, Occasion, candidate_id
from graphmem.kernel.model.commit import CommitMessage
from graphmem.patterns import lazy_re

WORTH = 0.3  # of what nobody has shown to be fixed, or was asked for at one place
QUOTED = 200  # lines of a quotation that are read; of a longer one, the whole output
COMMENT = 8_000  # characters of a comment that are read
# What git is to look for, and what GitHub takes as closing an issue, as docs.github.com says: a keyword, one issue.
WANTED = (
    r"(close[sd]?|fix(es|ed)?|resolve[sd]?):?[[:blank:]]+([^[:space:]]*#|gh-|https?://)",
    r"\(#[0-9]+\)",
    "revert",
)
CLOSES = lazy_re(
    r"(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+"
    r"(?:(?:(?P<named>[\w.-]+/[\w.-]+)?#|GH-)|https?://[^/\s]+/(?P<linked>[\w.-]+/[\w.-]+)/issues/)"
    r"(?P<number>[0-9]{1,9})(?!\w)",
    re.IGNORECASE,
)
PULL = lazy_re(r"\(#([0-9]{1,9})\)$")  # at the end of the subject of a squashed pull request
SUGGESTION = lazy_re(r"^ {0,3}(```+|~~~+)suggestion\b[^\n]*\n(.*?)^ {0,3}\1[ \t]*$", re.MULTILINE | re.DOTALL)
ASIDE = lazy_re(r"<!--.*?-->|^ {0,3}>[^\n]*|!\[[^\]\n]*\]\([^)\n]*\)", re.MULTILINE | re.DOTALL)
ENDS = lazy_re(r"(?<=[.!?])\s+|\n+")
PRAISE = lazy_re(r"(?:lgtm|looks good|nice|great|perfect|love|thanks|thank you)\b[^.!?\n]{0,50}[.!]*", re.IGNORECASE)
LETTER = lazy_re(r"[^\W\d_]")
Reference = tuple[str, int]  # a repository, empty for that of the commit, and a number


def closed_by(message: str) -> set[Reference]:
    """Return the issues that a message says to close."""
    return {
        ((found["named"] or found["linked"] or "").lower(), int(found["number"])) for found in CLOSES.finditer(message)
    }


def pull_of(commit: CommitMessage) -> int:
    """Return the pull request that a commit is the whole of; 0 for none."""
    found = PULL.search(commit.subject)
    return int(found[1]) if found else 0


def problem_of(issue: Issue) -> tuple[OutputProblem, str] | None:
    """Return the first error that an issue shows, with the text that it is in; None for none."""
    for title, text in ((issue.title, next(iter(issue.texts), "")), *(("", text) for text in issue.texts[1:])):
        found = quoted_in(title, text)
        if found is None and text.count("\n") > QUOTED:
            found = next(iter(problems("\n".join(shown_lines(text)))), None)
        if found is not None:
            return found, text
    return None


def reported(issue: Issue, problem: OutputProblem, text: str) -> Candidate:
    """Return the candidate that the error of an issue is."""
    run = f"{issue.repository}#{issue.number}"
    evidence = Occasion(source=OF_FORGE, at=issue.at, run=run, failed=excerpt(text, problem))
    return Candidate(
        id=candidate_id(problem.key),
        keys=keys_of(problem),
        base=WORTH,
        failure=failure_fields(problem, issue.source, []),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(evidence.source,),
    )


def with_fix(one: Candidate, commit: CommitMessage, problem: OutputProblem, edits: list[CandidateEdit]) -> Candidate:
    """Return the candidate that the error of an issue is, with the commit that closed the issue as its fix."""
    made = quoted_fix(commit, problem, edits)
    origins = [*_sources(one.failure), *_sources(made.failure)]
    changes: dict[str, object] = {"evidence": (*made.evidence, *one.evidence), "marks": (*made.marks, *one.marks)}
    changes |= {
        name: {**fields, "sources": origins}
        for name, fields in (("failure", made.failure), ("pattern", made.pattern))
        if fields is not None
    }
    return made.model_copy(update=changes)


def _sources(fields: Fields | None) -> list[str]:
    """Return the sources in the fields of a record."""
    found = (fields or {}).get("sources")
    return found if isinstance(found, list) else []


def why_passed_over(thread: ReviewThread) -> str:
    """Return why a thread asks for nothing; empty where it asks for a change."""
    said, suggested = _said_in(thread)
    if thread.is_bot:
        return "a program wrote it"
    if suggested is not None:
        return ""
    if len("".join(LETTER.findall(said)).encode()) < SHORTEST or PRAISE.fullmatch(said):
        return "it asks for nothing"
    return "it is a question" if all(one.endswith("?") for one in ENDS.split(said)) else ""


def _said_in(thread: ReviewThread) -> tuple[str, str | None]:
    """Return what a reviewer said, without what is quoted, and the code that was suggested; None for none."""
    text = thread.text[:COMMENT]
    suggested = SUGGESTION.search(text)
    said = ASIDE.sub("", SUGGESTION.sub("", text)).strip()
    return said, suggested[2].rstrip("\n") if suggested and (suggested[2].strip() or thread.line) else None


def taught(thread: ReviewThread, edit: CandidateEdit | None) -> Candidate:
    """
    Return the candidate that a thread is: a constraint where it states a rule, else a lesson.

    Args:
        edit: of the commit that changed the place, as evidence; None where none is known.
    """
    (said, suggested), change = _said_in(thread), ""
    if suggested is not None:
        edit = CandidateEdit(file=thread.path, removed=thread.line, added=suggested)
        change = edit_text(edit)
    evidence = Occasion(
        source=OF_FORGE, at=thread.at, run=thread.run or None, edits=tuple(within([edit] if edit else []))
    )
    if rule := rule_in(said):
        return stated(rule, thread.source, evidence, OF_FORGE)
    text = f"{said[:REASON]} ({change})" if said and change else said[:REASON] or change
    fields: Fields = {
        "kind": "lesson",
        "description": text,
        "sources": [thread.source],
        "files": [thread.path] if is_below(thread.path) else None,
    }
    return Candidate(
        id=candidate_id(f"lesson {thread.path}\n{said or change}".casefold()),
        base=WORTH,
        other=(fields,),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(evidence.source,),
    )
