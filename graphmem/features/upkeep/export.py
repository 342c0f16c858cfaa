"""Export: bring the files into canonical form, check it, or write a canonical copy."""

import hashlib
from pathlib import Path

from graphmem.errors import BadInput
from graphmem.features.upkeep.store_contract import Exported, ExportedFile, ExportRequest
from graphmem.kernel.finding import Checked, Code, Finding
from graphmem.kernel.ledger.files.journal import replace_files
from graphmem.kernel.ledger.files.layout import is_plain
from graphmem.kernel.ledger.row import canonical_line
from graphmem.kernel.ledger.types import is_vocabulary, vocabulary_json
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.surroundings import current_folder


def _canonical(snapshot: Snapshot, file: str) -> bytes:
    """Return the canonical bytes of a data file whose lines are all well."""
    lines = {number: line for line, number in snapshot.catalog.lines(file).items()}
    symmetric = snapshot.symmetric
    return b"".join(canonical_line(line, symmetric) + b"\n" for _, line in sorted(lines.items()))


@operation(
    "export",
    writes=True,
    at_home=True,
    without={"to": "writes to any folder"},
    takes={"to": Taken("DIR")},
    help="Bring every file into canonical form, or check that it is.",
    example="graphmem export --check",
)
def export(snapshot: Writing, request: ExportRequest) -> Exported:
    """Bring every file into canonical form, or write a canonical copy to another folder."""
    to = None if request.to is None else current_folder() / request.to
    _refuse_findings(snapshot)
    is_in_files = snapshot.ledger.is_in_files
    files: dict[str, ExportedFile] = {}
    contents: dict[str, bytes | None] = {}
    for file in snapshot.ledger.place.parts():
        data = _canonical(snapshot, file)
        is_changed = is_in_files and safe_files.read(snapshot.layout.store / file) != data
        digest = hashlib.sha256(data).hexdigest()
        files[file] = ExportedFile(rows=data.count(b"\n"), sha256=digest, changed=is_changed)
        if to is not None or is_changed:
            contents[file] = data
    if to is None:
        snapshot.ledger.files.replace(contents, with_vocabulary=True)
    else:
        contents["schema.json"] = vocabulary_json(snapshot.catalog.vocabulary)
        for path in _other_files(snapshot):
            contents[path.relative_to(snapshot.layout.store).as_posix()] = safe_files.read(path)
        for file in () if is_in_files else snapshot.ledger.place.all_parts():
            if not file.startswith("data/"):
                contents[file] = snapshot.ledger.place.text(file)
        replace_files({to / file: data for file, data in contents.items()})
    snapshot.ledger.sync_written()
    return Exported(files=files)


def _other_files(snapshot: Snapshot) -> list[Path]:
    """Return the committed files that are not derived, but for the data that this version knows."""
    layout, known = snapshot.layout, set(snapshot.ledger.place.parts())
    unknown = [layout.store / file for file in layout.data_files() if file not in known]
    types = [path for folder in safe_files.folders(layout.types) for path in safe_files.files(folder)]
    named = [path for path in types if path.suffix == ".md" and is_plain(path.name)]
    return [path for path in (layout.config, *named, *unknown) if safe_files.is_file(path)]


def _refuse_findings(snapshot: Snapshot) -> None:
    """Raise ``BadInput`` where a file has bad lines: they would be lost."""
    findings = [finding for finding in snapshot.ledger.findings() if finding.code != Code.DRIFT]
    if findings:
        raise BadInput(
            f"{len(findings)} bad lines, nothing was written; the first: {findings[0]}",
            hint="see: graphmem validate",
            details={"findings": [finding.model_dump() for finding in findings]},
        )


@operation("export_check")
def export_check(snapshot: Snapshot) -> Checked:
    """Report where a file is not canonical or does not check out; nothing is written."""
    findings = snapshot.ledger.findings()
    unwell = {finding.file for finding in findings}
    for file in snapshot.ledger.place.parts():
        if file not in unwell:
            findings += _uncanonical(file, safe_files.read(snapshot.layout.store / file), _canonical(snapshot, file))
    findings += [found.model_copy(update={"severity": "error"}) for found in stale_vocabulary(snapshot)]
    return Checked(ok=not findings, findings=findings)


def _uncanonical(file: str, data: bytes, wanted: bytes) -> list[Finding]:
    """Say at which line a file leaves its canonical form, if it does."""
    if data == wanted:
        return []
    found, expected = data.split(b"\n"), wanted.split(b"\n")
    line = next(
        (n for n, (a, b) in enumerate(zip(found, expected, strict=False), 1) if a != b), min(len(found), len(expected))
    )
    return [
        Finding.of(
            file,
            Code.NOT_CANONICAL,
            "not in canonical form from here on",
            "what graphmem export writes",
            "graphmem export",
            line=line,
        )
    ]


def stale_vocabulary(snapshot: Snapshot) -> list[Finding]:
    """Report when ``schema.json`` is not what the types say."""
    path = snapshot.layout.vocabulary
    found = safe_files.read(path) if safe_files.is_file(path) else b""
    if not snapshot.ledger.is_in_files or is_vocabulary(found, snapshot.catalog.vocabulary, is_merged=True):
        return []
    what, right = "schema.json is stale", "the vocabulary of types/"
    return [Finding.of("schema.json", Code.STALE_SCHEMA, what, right, "graphmem export", line=1)]
