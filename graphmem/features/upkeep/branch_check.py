"""Check a branch: what it does to the memory, and to the code that records cite (docs/guides/ci.md)."""

import os
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from graphmem.constants import CITED_FILE_BYTES, FILE_BYTES, GIT_S
from graphmem.core.evidence.citation_contract import Cited, Freshness
from graphmem.core.evidence.citations import CitedTree, passage
from graphmem.core.evidence.fixes import fixes
from graphmem.core.evidence.text import ADVICE
from graphmem.core.history.contract import DiffRequest, RowChange
from graphmem.core.history.operations import diff
from graphmem.core.history.text import gist_of
from graphmem.core.records.secrets import without_secrets
from graphmem.core.search.traversal import solving
from graphmem.errors import NotFound, Unavailable
from graphmem.features.upkeep.validate import checked, validate
from graphmem.kernel.answer import Part
from graphmem.kernel.finding import Checked, Code, Finding
from graphmem.kernel.git import commands
from graphmem.kernel.ledger.files.layout import FOLDER
from graphmem.kernel.markdown import bounded, code
from graphmem.kernel.model import Failure
from graphmem.kernel.model.cite import Cite, digest
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.registry import Form, Printout, Taken, operation, reads
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command
from graphmem.kernel.text import one_line

MARKER = "<!-- graphmem check -->"  # by which a comment is found that is to be replaced
WORDS = {"created": "added"}  # of what became of a row; others are their own


class CheckRequest(Request):
    """Since which branch to look at what changed."""

    base: str | None = Field(
        None, description="Branch or commit that this one goes into; the default branch of the remote if not given"
    )


class DoubtfulCite(Part):
    """A record that cites code which the branch changed or took away, and the cite."""

    ref: str
    cite: str
    state: Freshness


class OpenFailure(Part):
    """A failure, known before the branch, without a fix, with those of its files that the branch changed."""

    ref: str
    files: list[str]


class BranchChecked(Checked):
    """
    What a branch does to the memory, compared with the files as they are now, and what speaks against merging it.

    ``base`` is what it is compared with, ``since`` the commit at which the two parted. ``added``, ``changed`` and
    ``removed`` are references, of records and of edges; ``changes`` has all rows, field by field. ``findings`` are
    those of ``validate``; a credential that the branch brought is an error among them, and redacted in ``changes``.
    """

    base: str
    since: str
    summary: str
    added: list[str]
    changed: list[str]
    removed: list[str]
    changes: list[RowChange]
    doubtful: list[DoubtfulCite]
    known_failures: list[OpenFailure]


@operation(
    "check",
    takes={"base": Taken("REF")},
    is_report=True,
    example="graphmem check --base origin/main",
    help="""
    Check what a branch does to the memory: records that changed, cited code that changed, credentials, validity.

    Errors exit 1. With --format markdown it is a comment on a forge, to be replaced: its first line is always the same.
    """,
)
def check(client: Client, request: CheckRequest) -> BranchChecked:
    """
    Return what a branch does to the memory since it left another one, and what speaks against merging it.

    Git is asked, which may take long, while no moment is open.
    """
    if client.ledger.place.history is not None:
        raise Unavailable("no branch changes a memory in a server", hint="what was written since: graphmem diff DATE")
    folder = client.root
    base = request.base or commands.default_branch(folder)
    since = _parting(folder, base)
    difference = diff(client, DiffRequest(revisions=since))
    files = changed_files(folder, since)
    found = checked(_by_branch(client, since, validate(client).findings))
    changes = [change for change in difference.changes if change.kind not in FACTS]
    if any(finding.code is Code.SECRET for finding in found.findings):  # the answer may become a public comment
        changes = [RowChange.model_validate(without_secrets(change.model_dump())) for change in changes]
    with client.reading() as snapshot:
        own = {change.ref for change in changes}
        doubtful = list(_broken_cites(snapshot, since, files, own))
        added = _refs(changes, ("created",))
        unsolved = [one for one in _open_failures(snapshot, files) if one.ref not in added]  # known before the branch
    return BranchChecked(
        ok=found.ok,
        findings=found.findings,
        base=base,
        since=since,
        summary=difference.summary,
        added=added,
        changed=_refs(changes, ("changed", "renamed", "archived", "superseded", "restored")),
        removed=_refs(changes, ("removed",)),
        changes=changes,
        doubtful=doubtful,
        known_failures=unsolved,
    )


def _parting(folder: Path, base: str) -> str:
    """Return the commit at which the current one left another branch."""
    try:
        return commands.merge_base(folder, commands.find_commit(folder, base), commands.find_commit(folder, "HEAD"))
    except NotFound as error:
        hint = (
            error.hint
            if commands.commit_of(folder, base)
            else f"fetch it first, such as: {command('git', 'fetch', 'origin', base.removeprefix('origin/'))}"
        )
        raise NotFound(f"nothing can be compared with {base!r}: {error.message}", hint=hint) from None


def changed_files(folder: Path, since: str) -> set[str]:
    """Return the files of the project that differ from a commit, by their paths below it; without the memory's own."""
    top, _, found = commands.differing(folder, since, timeout_s=GIT_S)
    paths = (os.path.relpath(os.path.join(os.path.realpath(top), path), os.path.realpath(folder)) for path in found)
    return {path for path in paths if not path.startswith(("../", f"{FOLDER}/"))}


def _refs(changes: Sequence[RowChange], actions: Collection[str]) -> list[str]:
    """Return what became one of these, each once."""
    return list(dict.fromkeys(change.ref for change in changes if change.action in actions))


def _broken_cites(
    snapshot: Snapshot, since: str, files: Collection[str], own: Collection[str]
) -> Iterator[DoubtfulCite]:
    """
    Yield the cites of code that the branch changed: it is not as cited now, and it was before.

    Args:
        own: references of the records that the branch wrote: what they cite was no other before.
    """
    tree, folder = CitedTree(snapshot, is_thorough=True), snapshot.root

    @cache
    def before(path: str) -> bytes | None:
        return commands.content_at(folder, since, path, most=CITED_FILE_BYTES)

    def was_fresh(cited: Cited) -> bool:
        cite = Cite.parse(cited.cite)
        content = before(cite.path)
        text = None if content is None else passage(content, cite.path, cite.symbol)[0]
        return text is not None and digest(text) == cite.hash

    numbers = {number for _, number in snapshot.catalog.labelled("cite", files)}
    for record in sorted(snapshot.catalog.records(numbers).values(), key=lambda record: record.ref):
        for cited in tree.cites_of(record):
            is_broken = cited.path in files and cited.state in ("changed", "gone")
            if is_broken and (record.ref in own or was_fresh(cited)):
                yield DoubtfulCite(ref=record.ref, cite=cited.cite, state=cited.state)


def _open_failures(snapshot: Snapshot, files: Collection[str]) -> list[OpenFailure]:
    """Return the known failures that are about these files, by their fields or their cites, and that nothing fixes."""
    about: dict[int, set[str]] = {}
    for path, number in (found for sort in ("file", "cite") for found in snapshot.catalog.labelled(sort, files)):
        about.setdefault(number, set()).add(path)
    records = {
        number: record
        for number, record in snapshot.catalog.records(about).items()
        if isinstance(record, Failure) and not fixes(record)
    }
    solved = solving(snapshot.catalog, records)
    found = [OpenFailure(ref=records[n].ref, files=sorted(about[n])) for n in records if n not in solved]
    return sorted(found, key=lambda one: one.ref)


def _by_branch(client: Client, since: str, findings: list[Finding]) -> list[Finding]:
    """Return findings; of credentials those as errors whose lines the branch brought."""
    if not any(found.code is Code.SECRET for found in findings):
        return findings
    folder, layout = client.root, client.layout
    before: dict[str, set[bytes]] = {}
    errors = []
    for found in findings:
        if found.code is not Code.SECRET or found.line is None:
            errors.append(found)
            continue
        if found.file not in before:
            content = commands.content_at(folder, since, f"{FOLDER}/{found.file}", most=FILE_BYTES)
            before[found.file] = set((content or b"").split(b"\n"))
        line = safe_files.read(layout.store / found.file).split(b"\n")[found.line - 1 : found.line]
        is_old = before[found.file].issuperset(line)
        errors.append(found if is_old else found.model_copy(update={"severity": "error"}))
    return errors


# --- how it reads: here, since no other command of upkeep needs what this imports ------------------------------------


@reads(BranchChecked)
def _check_text(
    answer: BranchChecked,
    form: Form = "text",
    strict: Annotated[bool, Taken(flag="--strict", meaning="Exit 1 for a warning or a doubtful record too")] = False,
) -> Printout:
    is_bad = not answer.ok or (strict and bool(answer.doubtful or answer.findings))
    is_markdown = form == "markdown"
    if is_markdown:  # a comment; every text of the store is shown as code
        head = f"**Memory:** {answer.summary or 'no change'} since {code(answer.base)}"
        lines = [MARKER, head, "", *bounded(f"- {word}: {code(said)}" for word, said in _items(answer))]
    else:
        head = f"since {answer.base} ({answer.since[:10]}): {answer.summary or 'no change of the memory'}"
        lines = [head, *(f"{word}: {said}" for word, said in _items(answer))]
    return Printout("\n".join(lines).strip(), status=int(is_bad), is_file=is_markdown)


def _items(answer: BranchChecked) -> Iterator[tuple[str, str]]:
    """Yield what there is to know, each with a word for what it is, the most urgent first."""
    for finding in sorted(answer.findings, key=lambda one: one.severity):
        yield finding.severity, one_line(finding.with_fix("fix"), ADVICE)
    for one in answer.doubtful:
        yield "doubtful", f"{one.ref} cites {one.cite.partition('#')[0]}, which is {one.state}"
    for failure in answer.known_failures:
        yield "not fixed yet", f"{failure.ref}, about {one_line(', '.join(failure.files))}"
    for change in answer.changes:
        about = ", ".join(field.field for field in change.fields) or gist_of(change)
        yield WORDS.get(change.action, change.action), f"{change.ref}{f'  {one_line(about)}' if about else ''}"
