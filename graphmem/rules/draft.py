"""Drafts: what a fix pair says, as the records that a person may accept (docs/concepts/harvest.md)."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

from graphmem.model.candidate import (
    EDIT_CHARACTERS,
    FAILED_BYTES,
    MOST_EDITS,
    Candidate,
    CandidateEdit,
    Fields,
    Occasion,
    candidate_id,
    digest,
)
from graphmem.model.transcript import FileEdit, RanCommand
from graphmem.rules.fix_pairs import FixPair, OpenProblem
from graphmem.rules.problem import RunProblem, problem_in
from graphmem.rules.worth import OF_SORT, worth_of

SENTENCE = 300  # characters of the sentence of an agent that becomes an insight
SHORTEST = 20  # characters of one that says anything
LINES = 3  # changed lines of an edit that an insight shows
LINE = 120  # characters of such a line
SUBJECT = re.compile(
    r"git commit\b[^\n]*?-m\s*(?:\"\$\(cat <<'?EOF'?\s*\n(?P<doc>[^\n]+)|\"(?P<double>[^\"\n]+)|'(?P<single>[^'\n]+))"
)
ENDS = re.compile(r"(?<=[.!?:])\s+|\n+")
WORD = re.compile(r"[A-Za-z_][\w.]{3,}")
COMMON = frozenset(
    "that this with from have been will should would could there their then than when what which these those"
    " into also only"
    " just need needs needed make makes sure error errors fail fails failed failing test tests line lines file"
    " files code"
    " function return returns value values type types call calls called using used update updated change"
    " changed fixed".split()
)
PLANS = re.compile(
    r"^(?:let me|now|i'll|i will|i need to|next|first|good|great|perfect|excellent|ok|done|all )\b", re.IGNORECASE
)
SAYS_WHY = re.compile(
    r"\b(?:because|since|so that|was|were|wasn't|isn't|doesn't|didn't|must|should|needs?|requires?|expects?"
    r"|instead|missing"
    r"|the (?:issue|problem|cause|error|bug|fix|linter|test|reason)|can't|cannot|not|never|only|already)\b",
    re.IGNORECASE,
)
IMPORT = re.compile(r"^\s*(?:import|from|use|using|#include|require|package|\"[\w./-]+\"|[)(}{]|//)")
MOST_FILES = 8  # that a failure names
OPEN_IN = 3  # sessions that left a problem without a pass, from which it is a candidate without a fix
FLAKY_IN = 2  # passes that needed nothing, from which a failure is a candidate that comes and goes
FLAKY_WORTH = 0.3
SEEN_WORTH = 0.35  # of what was seen as it happened: somebody was there who knows what fixed it


def drafted(pair: FixPair, *, source: str, session: str, root: str) -> Candidate:
    """
    Return the candidate that a fix pair is.

    Args:
        source: the client of the session.
        root: the folder that the session worked in: paths are below it.
    """
    problem = pair.problem
    edits = [evidence_edit(edit, root) for edit in pair.edits]
    evidence = Occasion(
        source=source,
        at=pair.failed.at,
        session=session,
        before=pair.before or None,
        folder=below(pair.failed.folder, root),
        command=pair.failed.command[:500],
        failed=excerpt(pair.failed.output, problem),
        edits=tuple(within(edits)),
        passed=pair.passed.at,
    )
    origin = f"{source}:{session}#{pair.failed.number}"
    files = [edit.file for edit in edits if is_below(edit.file)]
    failure = failure_fields(problem, origin, files)
    insight = insight_of(pair, root)
    pattern: Fields | None = {"trigger": problem.text, "insight": insight, "sources": [origin]} if insight else None
    return Candidate(
        id=candidate_id(problem.key),
        keys=keys_of(problem),
        base=worth_of(pair),
        is_slip=problem.sort == "compiler",
        failure=failure,
        pattern=pattern,
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(session,),
    )


def left_open(one: OpenProblem, *, source: str, session: str) -> Candidate:
    """Return the candidate that a problem is which no pass ended: it has no fix."""
    failed = one.failed
    evidence = Occasion(
        source=source,
        at=failed.at,
        session=session,
        command=failed.command[:500],
        failed=excerpt(failed.output, one.problem),
    )
    return Candidate(
        id=candidate_id(one.problem.key),
        keys=keys_of(one.problem),
        is_slip=one.problem.sort == "compiler",
        needs=OPEN_IN,
        failure=failure_fields(one.problem, f"{source}:{session}#{failed.number}", []),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(session,),
    )


def flaky(pair: FixPair, *, source: str, session: str) -> Candidate:
    """Return the candidate that a pass is which needed nothing: its failure may come and go."""
    problem, failed = pair.problem, pair.failed
    evidence = Occasion(
        source=source, at=failed.at, session=session, command=failed.command[:500], passed=pair.passed.at
    )
    fields = failure_fields(problem, f"{source}:{session}#{failed.number}", [])
    return Candidate(
        id=flaky_id(candidate_id(problem.key)),
        keys=keys_of(problem),
        base=FLAKY_WORTH,
        is_slip=problem.sort != "test",
        needs=FLAKY_IN,
        failure={**fields, "flaky": True},
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(evidence.mark,),
    )


def flaky_id(failure: str) -> str:
    """Return the id of the candidate that says of another one, by its id, that it comes and goes."""
    return candidate_id(f"flaky {failure}")


def seen_in_run(
    text: str, source: str, *, command: str, session: str | None, at: str, passed: str, files: Sequence[str]
) -> Candidate:
    """
    Return the candidate that an error is after which the same command passed, with something changed in between.

    Args:
        text: the error, as a trigger.
        at: when the command failed, and ``passed`` when it passed.
        files: what was changed in between, below the project's root.
    """
    problem = problem_in(text)
    edits = tuple(CandidateEdit(file=file) for file in files[:MOST_EDITS])
    evidence = Occasion(
        source=source, at=at, session=session, command=command[:500], failed=text, edits=edits, passed=passed
    )
    return Candidate(
        id=candidate_id(problem.key),
        keys=keys_of(problem),
        base=max(SEEN_WORTH, OF_SORT[problem.sort]),
        is_slip=problem.sort == "compiler",
        failure=failure_fields(problem, source, files),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(session or evidence.mark,),
    )


def failure_fields(problem: RunProblem, origin: str, files: Sequence[str]) -> Fields:
    """Return the fields of the failure that a problem is."""
    return {"trigger": problem.text, "sources": [origin], "files": list(dict.fromkeys(files))[:MOST_FILES] or None}


def keys_of(problem: RunProblem) -> tuple[str, ...]:
    """Return what finds a problem again; as a digest, for an error may hold a credential."""
    return (digest(problem.found_by),)


def excerpt(output: str, problem: RunProblem) -> str:
    """Return what a command printed around a problem, at most ``FAILED_BYTES`` characters."""
    if len(output) <= FAILED_BYTES:
        return output
    place = output.find(problem.text[:80])
    if place < 0:
        place = max(0, output.find(problem.file) if problem.file else len(output) - FAILED_BYTES // 2)
    start = max(0, min(place - FAILED_BYTES // 3, len(output) - FAILED_BYTES))
    return output[start : start + FAILED_BYTES]


def relative(path: str, root: str) -> str:
    """Return a path below a folder, or as it is."""
    path = path.replace("\\", "/")
    return path.removeprefix(f"{root.rstrip('/')}/") if root else path


def below(folder: str, root: str) -> str | None:
    """Return a folder by its path below the project's root; None for the root itself and for any other."""
    path = relative(folder, root)
    return path if folder != root and is_below(path) else None


def is_below(path: str) -> bool:
    """Return whether a path is one below the project's root."""
    return bool(path) and not path.startswith(("/", "~", "..")) and ":" not in path


def evidence_edit(edit: FileEdit, root: str) -> CandidateEdit:
    """Return an edit with the lines that it changed."""
    removed, added = changed_lines(edit)
    return CandidateEdit(file=relative(edit.file, root)[:500], removed=removed, added=added)


def changed_lines(edit: FileEdit) -> tuple[str, str]:
    """Return the lines that an edit takes out and puts in, without those on both sides."""
    before, after = edit.removed.splitlines(), edit.added.splitlines()
    if not before:
        return "", edit.added[:EDIT_CHARACTERS]
    removed, added = list[str](), list[str]()
    for tag, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += before[i:j]
            added += after[k:m]
    return "\n".join(removed)[:EDIT_CHARACTERS], "\n".join(added)[:EDIT_CHARACTERS]


def within(edits: Iterable[CandidateEdit]) -> Iterator[CandidateEdit]:
    """Yield edits until their texts are ``EDIT_CHARACTERS`` long."""
    room = EDIT_CHARACTERS
    for number, edit in enumerate(edits):
        if number >= MOST_EDITS or room <= 0:
            return
        kept = edit.model_copy(update={"removed": edit.removed[: room // 2], "added": edit.added[: room // 2]})
        room -= len(kept.removed) + len(kept.added)
        yield kept


def insight_of(pair: FixPair, root: str) -> str:
    """
    Return what fixed a problem, in words: of the commit or of the agent where they name it, else the edit itself.

    Empty where nothing was edited and no command says what was done.
    """
    if pair.problem.sort == "usage":
        return f"call it so: {' '.join(pair.passed.command.split())[:SENTENCE]}"
    telling = telling_words(pair)
    if (subject := subject_of(pair.acts)) and names(subject, telling):
        return subject
    for text in reversed(pair.said):
        for sentence in reversed(ENDS.split(text)):
            plain = " ".join(sentence.split()).strip("*# `-")
            if SHORTEST <= len(plain) <= SENTENCE and is_reason(plain) and names(plain, telling):
                return plain
    about = words_of(pair.problem.text) | words_of(code_below(pair))
    return edit_text([evidence_edit(edit, root) for edit in pair.edits], about) or act_text(pair.acts)


def is_reason(sentence: str) -> bool:
    """Return whether a sentence says what was wrong, not what comes next."""
    return SAYS_WHY.search(sentence) is not None and not PLANS.match(sentence) and not sentence.endswith(":")


def telling_words(pair: FixPair) -> frozenset[str]:
    """Return the words of a problem and its edits that other texts lack."""
    texts = [pair.problem.text, pair.problem.rule, pair.problem.tool]
    for edit in pair.edits[:MOST_EDITS]:
        texts += changed_lines(edit)
    return frozenset().union(*map(words_of, texts))


def names(sentence: str, telling: frozenset[str]) -> bool:
    """Return whether a sentence names something of a problem or of its edit."""
    return not telling.isdisjoint(word.casefold() for word in WORD.findall(sentence))


def subject_of(acts: Iterable[RanCommand]) -> str:
    """Return the subject of the commit that took edits in; empty if none did."""
    for act in acts:
        if act.commit and (found := SUBJECT.search(act.command)):
            return (found["doc"] or found["double"] or found["single"] or "").strip()[:SENTENCE]
    return ""


def edit_text(edits: Iterable[CandidateEdit], about: frozenset[str]) -> str:
    """
    Return the edit that is most about a problem, in words; empty without any.

    Args:
        about: the words of the problem.
    """
    sides = sorted(
        edits,
        key=lambda one: (
            is_only_imports(one.removed, one.added),
            -len(about & words_of(one.removed)),
            len(one.removed) + len(one.added),
        ),
    )
    for edit in sides:
        before, after = shown(edit.removed), shown(edit.added)
        if before and after:
            return f"in {edit.file}: {before} → {after}"
        if before or after:
            return f"in {edit.file}: {after} is added" if after else f"in {edit.file}: {before} is taken out"
    return ""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that tell it from others."""
    return frozenset(word.casefold() for word in WORD.findall(text[:EDIT_CHARACTERS])) - COMMON


def code_below(pair: FixPair) -> str:
    """Return the line of code that an output shows below a diagnostic."""
    _, found, rest = pair.failed.output.partition(pair.problem.text[:LINE])
    return "\n".join(rest.splitlines()[1:2]) if found else ""


def is_only_imports(removed: str, added: str) -> bool:
    """Return whether an edit changes what a file imports, and nothing else."""
    return all(IMPORT.match(line) for line in [*removed.splitlines(), *added.splitlines()] if line.strip())


def shown(text: str) -> str:
    """Return the first lines of a side of an edit between backticks."""
    lines = [" ".join(line.split())[:LINE] for line in text.splitlines() if line.strip()][:LINES]
    return f"`{' / '.join(lines)}`" if lines else ""


def act_text(acts: Sequence[RanCommand]) -> str:
    """Return the last command that changed something, in words; empty without any."""
    return f"run: {' '.join(acts[-1].command.split())[:SENTENCE]}" if acts else ""
