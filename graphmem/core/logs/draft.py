"""Drafts: what a fix pair says, as the records that a person may accept (docs/concepts/harvest.md)."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from graphmem.core.logs.check import checks
from graphmem.core.logs.diagnosis import statement
from graphmem.core.logs.fix_pairs import FixPair, OpenProblem, is_file
from graphmem.core.logs.output_problem import OutputProblem, problem_in
from graphmem.core.logs.worth import ENVIRONMENT, OF_SORT, is_prose, worth_of
from graphmem.kernel.model.candidate import (
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
from graphmem.kernel.model.transcript import FileEdit, RanCommand
from graphmem.patterns import lazy_re

SENTENCE = 300  # characters of the sentence of an agent that becomes an insight
SHORTEST = 20  # characters of one that says anything
LINES = 3  # changed lines of an edit that an insight shows
LINE = 120  # characters of such a line
SUBJECT = lazy_re(
    r"git commit\b[^\n]*?-m\s*(?:\"\$\(cat <<'?EOF'?\s*\n(?P<doc>[^\n]+)|\"(?P<double>[^\"\n]+)|'(?P<single>[^'\n]+))"
)
ENDS = lazy_re(r"(?<=[.!?:])\s+|\n+")
OF_TOOL = lazy_re(r"[\[(]([\w/-]+)[\])]$")  # the rule or tool that a linter puts behind what it says
QUOTED = lazy_re(r"['\"`]([\w-]+)['\"`]")
LACKS = lazy_re(  # something that is installed, started or set
    r"\b(?:not (?:be )?(?:found|installed|set|running)|no such|no module|can(?:no|')t (?:find|resolve|connect)"
    r"|can(?:not)? find|could not (?:find|resolve|connect)|unable to (?:find|resolve|connect)|does not exist"
    r"|missing|needed|unresolved|undefined|refused|unreachable|outdated|out of date)\b",
    re.IGNORECASE,
)
CALLED = lazy_re(r"[\w./-]+")
WORD = lazy_re(r"\w")
TOKENS = lazy_re(r"\w+|[^\w\s]")
LITERAL = lazy_re(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|\b\d[\d._]*\b")
OF_CODE = ("rule", "compiler")  # sorts of problems that name the line they are about
SHORTEST_CODE = 8  # characters of a line of code by which an edit is found
SHORTEST_NAME = 3  # letters of a name by which an edit is found
PLANS = lazy_re(
    r"^(?:let me|now|i'll|i will|i need to|next|first|good|great|perfect|excellent|ok|done|all )\b", re.IGNORECASE
)
SAYS_WHY = lazy_re(
    r"\b(?:because|since|so that|instead of|requires?|expects?|must|needs? to be|has to|used to"
    r"|the (?:issue|problem|cause|bug) (?:is|was))\b"
    r"|^(?:I(?:'ve| have)? )?(?:added|replaced|renamed|removed|moved|fixed|changed|switched|set|used|wrapped|pinned"
    r"|bumped|upgraded|downgraded|installed|updated|made|converted|extracted|dropped|split|inlined|passed|marked"
    r"|imported|declared|returned)\b",
    re.IGNORECASE,
)
LEFT = lazy_re(
    r"\b(?:pre-?existing|unrelated|ignore|skip|can(?:no|['’])t|left as|not (?:my|our)|already (?:there|failing))\b",
    re.IGNORECASE,
)
LISTS = lazy_re(r"[;,]|\band\b|\s[+&]\s", re.IGNORECASE)  # in the subject of a commit
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
    edits = [_evidence_edit(edit, root) for edit in pair.edits]
    failed, passed = pair.failed.command, pair.passed.command
    is_call = pair.problem.sort == "usage" or (pair.problem.sort == "error" and _is_other_way(failed, passed))
    call = f"call it so: {' '.join(passed.split())[:SENTENCE]}" if is_call and _is_same_call(failed, passed) else ""
    edit = None if call or problem.sort == "usage" else _edit_of(pair, root)
    change = edit_text(edit) if edit else call or _act_text(pair.acts, problem) or _subject_of(pair)
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
        change=change_key(problem, change, edit),
    )
    origin = f"{source}:{session}#{pair.failed.number}"
    files = [edit.file for edit in edits if is_below(edit.file)]
    failure = failure_fields(problem, origin, files)
    insight = f"{change}; {reason}" if change and (reason := _reason_of(pair)) else change
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


def failure_fields(problem: OutputProblem, origin: str, files: Sequence[str]) -> Fields:
    """Return the fields of the failure that a problem is."""
    return {"trigger": problem.text, "sources": [origin], "files": list(dict.fromkeys(files))[:MOST_FILES] or None}


def keys_of(problem: OutputProblem) -> tuple[str, ...]:
    """Return what finds a problem again; as a digest, for an error may hold a credential."""
    return (digest(problem.found_by),)


def excerpt(output: str, problem: OutputProblem) -> str:
    """Return what a command printed around a problem, at most ``FAILED_BYTES`` characters."""
    if len(output) <= FAILED_BYTES:
        return output
    place = output.find(problem.text[:80])
    if place < 0:
        place = max(0, output.find(problem.file) if problem.file else len(output) - FAILED_BYTES // 2)
    start = max(0, min(place - FAILED_BYTES // 3, len(output) - FAILED_BYTES))
    return output[start : start + FAILED_BYTES]


def _relative(path: str, root: str) -> str:
    """Return a path below a folder, or as it is."""
    path = path.replace("\\", "/")
    return path.removeprefix(f"{root.rstrip('/')}/") if root else path


def below(folder: str, root: str) -> str | None:
    """Return a folder by its path below the project's root; None for the root itself and for any other."""
    path = _relative(folder, root)
    return path if folder != root and is_below(path) else None


def is_below(path: str) -> bool:
    """Return whether a path is one below the project's root."""
    return bool(path) and not path.startswith(("/", "~", "..")) and ":" not in path


def _evidence_edit(edit: FileEdit, root: str) -> CandidateEdit:
    """Return an edit with the lines that it changed."""
    removed, added = _changed_lines(edit)
    return CandidateEdit(file=_relative(edit.file, root)[:500], removed=removed, added=added)


def _changed_lines(edit: FileEdit) -> tuple[str, str]:
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


def _is_other_way(failed: str, passed: str) -> bool:
    """Return whether a command that is one check passed with other options."""
    before = checks(failed)
    return len(before) == 1 and not any(
        one.options == before[0].options for one in checks(passed) if one.name == before[0].name
    )


def _is_same_call(failed: str, passed: str) -> bool:
    """Return whether a command that passed is one that failed, corrected: half of its words were there."""
    before, after = (frozenset(CALLED.findall(command)) for command in (failed, passed))
    return 2 * len(before & after) >= len(after)


def change_key(problem: OutputProblem, change: str, edit: CandidateEdit | None = None) -> str | None:
    """
    Return a digest of a problem and what fixed it; None where nothing says what did.

    Of an edit only that counts which is not on both sides, whatever it does to which literals: a rule is followed in
    the same way at other places.
    """
    if not change:
        return None
    turned = list[list[str]]()
    if edit is not None:
        before, after = (Counter(TOKENS.findall(LITERAL.sub("", side))) for side in (edit.removed, edit.added))
        turned = [sorted((before - after).elements()), sorted((after - before).elements())]
    return digest(f"{problem.found_by}\0{turned if any(turned) else change}")


def _edit_of(pair: FixPair, root: str) -> CandidateEdit | None:
    """Return the edit that fixed the problem of a pair; None where nothing says which did."""
    there = [edit for edit in pair.edits if is_file(edit.file, pair.problem.file)]
    edits = [(_evidence_edit(edit, root), edit.removed) for edit in there or pair.edits]
    is_alone = len(there) == 1 and pair.problem.sort in OF_CODE
    is_alone |= pair.is_one_edit and not is_prose(edits[0][0].file)
    return fitting(edits, pair.problem, _code_below(pair), is_alone=is_alone)


def fitting(
    edits: Sequence[tuple[CandidateEdit, str]], problem: OutputProblem, line: str, *, is_alone: bool
) -> CandidateEdit | None:
    """
    Return the edit that fixed a problem; None where nothing says which did.

    It is at the line of code that the output shows, or names the rule, or a name of the message.

    Args:
        edits: each with the text that was there, also what it leaves as it is.
        line: of code, as the output shows it; empty without one.
        is_alone: there is one edit at the file that the problem is about, or nothing else came before the pass.
    """
    wanted, fits = _names_of(problem), []
    for place, (edit, before) in enumerate(edits):
        changed = f"{edit.removed}\n{edit.added}"
        is_at_line = bool(line) and line in " ".join(before.split())
        is_named = _is_rule_in(problem, changed), any(_is_word(name, changed) for name in wanted)
        if problem.sort == "test" and not WORD.search(edit.added):
            continue  # a check that is gone fixes nothing
        is_small = bool(before) or edit.added.count("\n") < LINES  # else it is a new file
        if changed.strip() and (is_at_line or any(is_named) or (is_alone and is_small)):
            fits.append((is_at_line, *is_named, -len(changed), -place))
    return edits[-max(fits)[-1]][0] if fits else None


def edit_text(edit: CandidateEdit) -> str:
    """Return an edit in words."""
    removed, added = _shown(edit.removed), _shown(edit.added)
    if removed and added:
        return f"in {edit.file}: {removed} → {added}"
    return f"in {edit.file}: {added} is added" if added else f"in {edit.file}: {removed} is taken out"


def _names_of(problem: OutputProblem) -> frozenset[str]:
    """Return the names that the message of a problem tells, without folders and modules, and that of its test."""
    said = [
        word
        for one in statement(problem.text)
        for piece in one.said.pieces
        if piece.is_name
        for word in {piece.text, *piece.text.split()}
        if word.strip(":,.").casefold() not in one.said.template.split()
    ]
    names = {
        word.strip("`'\"():,").replace("\\", "/").rpartition("/")[2] for word in (*said, problem.test.partition("/")[0])
    }
    parts = {name.rpartition(".")[2] for name in names}
    quoted = frozenset(QUOTED.findall(problem.text))
    is_sure = problem.sort == "compiler"  # what it names is a name, also a plain word
    return frozenset(
        name
        for name in names | {part for part in parts if not part.islower()}
        if len(name) >= SHORTEST_NAME and (is_sure or name in quoted or not (name.isalpha() and name.islower()))
    )


def _is_rule_in(problem: OutputProblem, text: str) -> bool:
    """Return whether a text names the rule of a problem, or the tool that has it."""
    of_tool = OF_TOOL.search(problem.text)
    rules = (problem.rule, problem.tool, of_tool[1] if of_tool else "")
    return problem.sort == "rule" and any(_is_word(name, text) for name in rules if name)


def _is_word(name: str, text: str) -> bool:
    """Return whether a text has a name as a whole."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _reason_of(pair: FixPair) -> str:
    """
    Return the sentence of the agent that says what was done about a problem, or why; empty without one.

    It names the rule or a name of the message, and no other problem of the same run, which it may be about as well.
    """
    wanted = _names_of(pair.problem)
    others = frozenset[str]().union(*map(_names_of, pair.beside)) - wanted
    for text in reversed(pair.said):
        for sentence in reversed(ENDS.split(text)):
            plain = " ".join(sentence.split()).strip("*# `-")
            is_about = _is_rule_in(pair.problem, plain) or any(_is_word(name, plain) for name in wanted)
            is_of_other = any(_is_rule_in(one, plain) for one in pair.beside) or any(
                _is_word(name, plain) for name in others
            )
            if SHORTEST <= len(plain) <= SENTENCE and is_about and not is_of_other and _is_reason(plain):
                return plain
    return ""


def _is_reason(sentence: str) -> bool:
    """Return whether a sentence says what was done or why, not what comes next or was left as it is."""
    is_left = PLANS.match(sentence) or LEFT.search(sentence) or sentence.endswith((":", "?"))
    return not is_left and SAYS_WHY.search(sentence) is not None


def _subject_of(pair: FixPair) -> str:
    """Return the subject of the commit that took edits in, where it names the problem and lists nothing else."""
    for act in pair.acts:
        if act.commit and (found := SUBJECT.search(act.command)):
            subject = (found["doc"] or found["double"] or found["single"] or "").strip()[:SENTENCE]
            is_about = _is_rule_in(pair.problem, subject) or any(
                _is_word(name, subject) for name in _names_of(pair.problem)
            )
            return subject if is_about and not LISTS.search(subject) else ""
    return ""


def _code_below(pair: FixPair) -> str:
    """Return the line of code that an output shows below a diagnostic, its blanks as one; empty without one."""
    if pair.problem.sort not in OF_CODE:
        return ""
    _, found, rest = pair.failed.output.partition(pair.problem.text[:LINE])
    line = " ".join("\n".join(rest.splitlines()[1:2]).split()) if found else ""
    return line if len(line) >= SHORTEST_CODE else ""


def _shown(text: str) -> str:
    """Return the first lines of a side of an edit between backticks."""
    lines = [" ".join(line.split())[:LINE] for line in text.splitlines() if line.strip()][:LINES]
    return f"`{' / '.join(lines)}`" if lines else ""


def _act_text(acts: Sequence[RanCommand], problem: OutputProblem) -> str:
    """
    Return the last command that installed or set something, in words; empty without any.

    It is about the problem: something is not there, or the command has a name of the message.
    """
    names = [name.casefold() for name in _names_of(problem)]
    found = [
        act
        for act in acts
        if ENVIRONMENT.search(act.command)
        and (LACKS.search(problem.text) or any(name in act.command.casefold() for name in names))
    ]
    return f"run: {' '.join(found[-1].command.split())[:SENTENCE]}" if found else ""
