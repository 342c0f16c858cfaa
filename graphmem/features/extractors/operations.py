"""
Extractors: programs that print entities and edges of the project, which are written as theirs.

Source: docs/guides/extractors.md. A program runs before the store is locked, and only where this clone trusts it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from graphmem.constants import EXTRACT_BYTES, EXTRACT_FILE_BYTES, EXTRACT_LINES, EXTRACT_SAID_BYTES, EXTRACT_SAID_LINES
from graphmem.core.records.bulk_add import MANY_RECORDS
from graphmem.core.records.bulk_replace import Extraction, replace, row_of
from graphmem.core.records.kingfisher import finder, is_suspect
from graphmem.core.records.screening import unexposed
from graphmem.core.vocabulary.types import declare
from graphmem.errors import BadInput, GraphmemError, NotFound, Refused, Unavailable
from graphmem.features.extractors.contract import (
    AddExtractorRequest,
    Extracted,
    ExtractorAdded,
    ExtractorList,
    ExtractorShown,
    RunExtractorsRequest,
)
from graphmem.features.extractors.python_code import PythonCode, parsed
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.codec import finding
from graphmem.kernel.ledger.extractors import extractor_file, read_extractors, text_to_trust, undeclared_in
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.model.extractor import Extractor
from graphmem.kernel.model.vocabulary import EntityType, RelationType
from graphmem.kernel.ndjson import BadLine, decode, encode
from graphmem.kernel.registry import operation
from graphmem.kernel.settings.trust import ToTrust, are_trusted, trust, trust_lock
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing, refuse_unwritable
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system.capture import Capture, capture
from graphmem.kernel.system.lock import locked
from graphmem.kernel.system.programs import NAME, own_program, program
from graphmem.kernel.system.shell import command
from graphmem.kernel.system.source_files import source_files
from graphmem.kernel.system.surroundings import variables
from graphmem.kernel.system.user import for_a_child
from graphmem.names import one_line, row_title

GUIDE = "docs/guides/extractors.md"
# What comes with graphmem. Code is kept out of `query`: its thousands of names would push memories down.
PYTHON_TYPES: tuple[EntityType | RelationType, ...] = (
    EntityType(type="module", description="A module of Python code.", search=False),
    EntityType(type="class", description="A class of Python code.", search=False),
    EntityType(type="function", description="A function or a method of Python code.", search=False),
    RelationType(
        type="defines", sources=("module", "class"), targets=("class", "function"),
        description="The module or class contains the definition.",
    ),
    RelationType(
        type="imports", sources=("module",), targets=("module",), description="The module imports the other one."
    ),
    RelationType(
        type="calls", sources=("function",), targets=("function", "class"),
        description="The function calls the other one, or makes an object of the class.",
    ),
)  # fmt: skip
# A branch can bring compiled modules, which Python would load in the place of the sources that were looked at.
NO_PYCACHE = {"PYTHONPYCACHEPREFIX": os.devnull}
SHIPPED: Mapping[str, tuple[Extractor, Sequence[EntityType | RelationType]]] = {
    "python": (
        Extractor(
            command=(NAME, "extract", "python", "."),
            writes=tuple(one.type for one in PYTHON_TYPES),
            timeout=600.0,
            description="Modules, classes and functions of Python code.",
            prose="Reads the text of the code, and imports or runs nothing of it.",
        ),
        PYTHON_TYPES,
    )
}


def python_lines(folder: Path) -> Iterator[dict[str, str] | str]:
    """Yield what the Python code below a folder defines, imports and calls; in between, as a text, what is left out."""
    trees = {}
    for path, data in source_files(folder, ".py", EXTRACT_FILE_BYTES):
        if isinstance(data, str):
            yield f"{path}: {data}"
            continue
        try:
            trees[path] = parsed(data)
        except ValueError as error:
            yield f"{path}: {error}"
    yield from PythonCode(trees).lines()


@operation("extractors.list", example="graphmem extract list")
def listed(snapshot: Snapshot) -> ExtractorList:
    """Return the extractors of the project, and whether each may run in this clone."""
    found, findings = read_extractors(snapshot.layout)
    return ExtractorList(
        extractors=[shown(snapshot.layout, name, one) for name, one in found.items()], findings=findings
    )


def shown(layout: Layout, name: str, one: Extractor) -> ExtractorShown:
    """Return an extractor as answers show it."""
    return ExtractorShown(
        name=name,
        description=one.description,
        command=list(one.command),
        cwd=one.cwd,
        writes=list(one.writes),
        timeout_s=one.timeout,
        trusted=_is_trusted(layout, name, one),
    )


def _is_trusted(layout: Layout, name: str, extractor: Extractor) -> bool:
    """Return whether an extractor may run in this clone."""
    return are_trusted(layout.config, [text_to_trust(layout, name, extractor)], "extractors")


@operation(
    "extractors.add",
    writes=True,
    at_home=True,
    not_over_http="trusts a program on this machine",
    example="graphmem extract add python",
)
def add(snapshot: Writing, request: AddExtractorRequest) -> ExtractorAdded:
    """
    Set up an extractor that comes with graphmem: its file, the types that it writes, and trust in this clone.

    A type of the project that has one of these names is used as it is.
    """
    name, layout = request.name, snapshot.layout
    if name not in SHIPPED:
        raise NotFound(f"no extractor {name!r} comes with graphmem", hint=f"these do: {', '.join(SHIPPED)}")
    made, types = SHIPPED[name]
    found, findings = read_extractors(layout)
    is_there = name in found or any(one.file == f"extractors/{name}.md" for one in findings)
    if is_there and found.get(name) != made:
        raise Refused(f"extractor {name!r} is there already", hint=f"edit .graphmem/extractors/{name}.md")
    vocabulary = snapshot.catalog.vocabulary
    known: Mapping[str, EntityType | RelationType] = {**vocabulary.entities, **vocabulary.project_relations}
    for one in types:
        _refuse_narrower(known.get(one.type), one)
    fresh = [one for one in types if one.type not in known]
    if fresh or not is_there:
        declare(snapshot, fresh, {} if is_there else extractor_file(name, made))
    with locked(trust_lock(), timeout_s=snapshot.client.lock_timeout_s):
        trust(layout.config, ToTrust({}, {"extractors": [text_to_trust(layout, name, made)]}))
    return ExtractorAdded(extractor=shown(layout, name, made), types=[one.type for one in fresh])


def _refuse_narrower(own: EntityType | RelationType | None, made: EntityType | RelationType) -> None:
    """Raise ``Refused`` for a relation type of the project that does not connect what an extractor connects."""
    if not isinstance(own, RelationType) or not isinstance(made, RelationType):
        return
    if all(own.allows(source, target) for source in made.sources for target in made.targets):
        return
    raise Refused(
        f"relation type {own.type!r} of the project does not go from {' or '.join(made.sources)}"
        f" to {' or '.join(made.targets)}",
        hint=f"edit .graphmem/types/relations/{own.type}.md",
    )


@operation(
    "extractors.run",
    writes=True,
    positional=1,
    previews="dry_run",
    at_home=True,
    scoped=True,
    not_over_http="starts programs on this machine",
    raises={
        "Refused": "this clone does not trust the extractor, or it printed what the caller may not write",
        "Unavailable": "it failed, or took too long; nothing of it was written",
        "BadInput": "it printed what cannot be written; nothing of it was written",
    },
    example="graphmem extract run python",
    arguments=1,
    help="""
    Run extractors one after the other, and write what each finds.

    What an extractor wrote before and no longer finds is removed; rows of others stay as they are.
    """,
)
def run(client: Client, request: RunExtractorsRequest) -> Extracted:
    """
    Run extractors one after the other, each in one write; what it wrote before and no longer finds is removed.

    Raises:
        NotFound: there is no extractor of a name; none was run.
        Refused: this clone does not trust one; none was run. Or one printed a row that the caller may not write.
        Unavailable: one cannot be started, failed, or took too long; it changed nothing, and none after it was run.
        BadInput: one printed what cannot be written; likewise.
    """
    if not client.rights.is_writing and client.whole is not None:  # a preview, which decides as the run does
        client = client.runtime.client(client.rights._replace(is_writing=True))
    with client.reading() as snapshot:
        extractors = {name: _runnable(snapshot, name) for name in request.names}
    done: list[Extraction] = []
    for name, extractor in extractors.items():
        try:
            done.append(_run_one(client, name, extractor, is_dry=request.dry_run))
        except GraphmemError as error:
            if done and not request.dry_run:
                written = f"written before: {', '.join(one.name for one in done)}"
                error.hint = f"{error.hint}; {written}" if error.hint else written
            raise
    return Extracted(extractions=done)


def _runnable(snapshot: Snapshot, name: str) -> Extractor:
    """Return an extractor that may run: it is there, well, of declared types and trusted."""
    found, findings = read_extractors(snapshot.layout)
    bad = [one for one in findings if one.file == f"extractors/{name}.md"]
    if bad:
        raise BadInput(str(bad[0]), hint=f"see {GUIDE}", details={"findings": [one.model_dump() for one in bad]})
    if name not in found:
        raise NotFound(f"no extractor {name!r}", hint=did_you_mean(name, found) or "see: graphmem extract list")
    extractor = found[name]
    if undeclared := undeclared_in(extractor, snapshot.client.everything.vocabulary):
        raise Refused(
            f"extractor {name!r} writes {undeclared[0]!r}, which is not a declared type",
            hint="declare it with: graphmem type add entity or graphmem type add relation",
        )
    if not _is_trusted(snapshot.layout, name, extractor):
        raise Refused(
            f"extractor {name!r} comes with the branch and runs a program: {command(*extractor.command)}",
            hint="look at it, and allow it with: graphmem trust",
        )
    return extractor


def _run_one(client: Client, name: str, extractor: Extractor, *, is_dry: bool) -> Extraction:
    """Run one extractor, and write what it found unless it is only a look."""
    label, source = f"extractor {name}", f"extractor/{name}"
    client.show_once(f"{label} runs: {command(*extractor.command)}")
    folder = _folder_of(client.root, extractor.cwd)
    try:
        end = capture(
            started(folder, extractor.command), folder, for_a_child(variables()) | NO_PYCACHE,
            seconds=extractor.timeout, most_bytes=EXTRACT_BYTES, kept_bytes=EXTRACT_SAID_BYTES,
        )  # fmt: skip
    except OSError as error:
        raise Unavailable(f"{label} cannot be started in {str(folder)!r}: {error.strerror}") from None
    said = [one_line(line) for line in _said_by(client, label, end)]
    _refuse_failure(label, extractor, end, said)
    lines, vocabulary = end.output.split(b"\n"), client.everything.vocabulary
    if len(lines) > EXTRACT_LINES:
        raise Refused(f"{label} printed {len(lines):,} lines; at most {EXTRACT_LINES:,} are read")
    rows = []
    for place, line in enumerate(lines, 1):
        try:
            row = row_of(line, source, extractor.writes, vocabulary) if line.strip() else b""
            rows.append(_redacted(client, label, row))
        except BadLine as bad:
            raise _refused_line(finding(bad, label, place), said) from None
    _refuse_unwritable_row(client, label, rows)
    with client.deciding(is_real=not is_dry) as snapshot:
        intake, done = replace(snapshot, label, source, rows)
        is_searched = any(map(snapshot.vocabulary.is_searched, snapshot.vocabulary.entities.keys() & extractor.writes))
    if intake.findings:
        raise _refused_line(intake.findings[0], said)
    if done.created > MANY_RECORDS and is_searched and not is_dry:
        client.embed_later()
    return done.model_copy(update={"name": name, "said": said})


def _refuse_unwritable_row(client: Client, label: str, rows: Sequence[bytes]) -> None:
    """Raise ``Refused`` for the first row that an extractor printed and the caller may not write."""
    for place, row in enumerate(rows if client.rights.writes is not None else (), 1):
        try:
            if row:
                refuse_unwritable(decode(row), client.rights.writes or ())
        except Refused as error:
            message = f"{label}:{place}: {row_title(decode(row))}: {error.message}; nothing of it was written"
            raise Refused(one_line(message), hint=error.hint) from None


def _redacted(client: Client, label: str, row: bytes) -> bytes:
    """Return a row without secrets: the program found them in a text that was not written to be saved here."""
    return encode(unexposed(client, label, decode(row), finder())) if is_suspect(row) else row


def _folder_of(root: Path, cwd: str) -> Path:
    """Return the folder that an extractor is started in; a link that leads out of the project is refused."""
    folder = (root / cwd).resolve()
    if not folder.is_relative_to(root.resolve()) or not folder.is_dir():
        raise Refused(f"{cwd!r} is not a folder of the project", hint="correct `cwd` in the file of the extractor")
    return folder


def started(folder: Path, words: Sequence[str]) -> list[str]:
    """Return a command with the absolute path of its program; ``graphmem`` is this installation."""
    first, *rest = words
    if first == NAME:
        return [*own_program(), *rest]
    found = os.path.join(folder, first) if "/" in first else program(first)
    if found is None:
        raise Unavailable(f"no program {first!r} is installed", hint="install it, or name it by its path")
    return [found, *rest]


def _said_by(client: Client, label: str, end: Capture) -> list[str]:
    """Return the last lines of an extractor's standard error, without secrets."""
    text: str = unexposed(client, label, end.errors.decode("utf-8", "replace"))
    return text.splitlines()[-EXTRACT_SAID_LINES:]


def _refuse_failure(label: str, extractor: Extractor, end: Capture, said: Sequence[str]) -> None:
    """Raise an error for an extractor that failed, took too long or printed too much."""
    if end.status == 0:
        return
    if end.is_timed_out:
        what, hint = f"was not done after {extractor.timeout:g} s, and was ended", "`timeout` in its file gives it more"
    elif end.status is None:
        what, hint = f"printed more than {EXTRACT_BYTES:,} bytes, and was ended", "let it print less"
    else:
        what, hint = f"ended with status {end.status}", None
    raise Unavailable(_with_said(f"{label} {what}; nothing of it was written", said), hint=hint)


def _refused_line(bad: Finding, said: Sequence[str]) -> BadInput:
    """Return the error for a line that an extractor printed."""
    message = f"{bad.with_fix('hint')}; nothing of it was written"
    return BadInput(_with_said(message, said), details={"findings": [bad.model_dump()]})


def _with_said(message: str, said: Sequence[str]) -> str:
    """Return a message with the end of what an extractor said, a line each."""
    return "\n".join([message, *(f"  {line}" for line in said)])
