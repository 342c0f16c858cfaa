"""How answers about a store and its upkeep read on a terminal."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from graphmem.errors import Usage
from graphmem.features.upkeep.config import ConfigShown
from graphmem.features.upkeep.embedding import EmbeddingStatus, ModelChanged
from graphmem.features.upkeep.schema import SchemaShown, one_a_line
from graphmem.features.upkeep.store_contract import (
    Exported,
    Rebuilt,
    Reset,
    Resolved,
    Split,
    SplitRequest,
    Trust,
    Vacuumed,
)
from graphmem.features.upkeep.trust import allowing, lines_of
from graphmem.kernel import terminal
from graphmem.kernel.finding import Checked, Doctored
from graphmem.kernel.registry import Printout, Taken, asks, reads
from graphmem.kernel.text import count


@reads(ConfigShown)
def _config_text(answer: ConfigShown) -> str:
    rows = [[one.name, json.dumps(one.value, ensure_ascii=False), one.origin] for one in answer.settings]
    return terminal.table(["setting", "value", "from"], rows)


@reads(SchemaShown)
def _schema_text(answer: SchemaShown) -> str:
    return one_a_line(answer.document).decode().rstrip()


@reads(EmbeddingStatus)
def _embed_status_text(answer: EmbeddingStatus) -> str:
    if answer.fingerprint is None:
        lines = [f"model: {answer.model}; search is by words alone"]
    else:
        at = f" at {answer.endpoint}" if answer.endpoint else ""
        lines = [f"model: {answer.model}{at}, {answer.dimensions:,} dimensions, fingerprint {answer.fingerprint}"]
        about = f", about {answer.estimate_s:,.1f} s to make" if answer.missing and answer.estimate_s else ""
        lines.append(f"vectors: {answer.texts - answer.missing:,} of {count(answer.texts, 'text')}{about}")
    lines += [f"kept of another model: {count(n, 'vector')}, {found}" for found, n in answer.others.items()]
    return "\n".join(lines)


@reads(ModelChanged)
def _embed_change_text(answer: ModelChanged) -> Printout:
    at = f" at {answer.endpoint}" if answer.endpoint else ""
    return Printout(
        f"{answer.before} -> {answer.model}{at}: {count(answer.made, 'vector')} made, {answer.kept:,} kept,"
        f" in {answer.seconds:.1f} s",
        f"the model is named in {answer.config}",
    )


@reads(Rebuilt)
def _rebuild_text(answer: Rebuilt) -> str:
    rate = (answer.records + answer.relations) / answer.seconds if answer.seconds else 0.0
    rows = f"{count(answer.records, 'record')}, {count(answer.relations, 'relation')}"
    return f"{rows}, {count(answer.embedded, 'text')} embedded in {answer.seconds:.2f} s ({rate:,.0f} rows/s)"


@reads(Checked)
def _validate_text(answer: Checked) -> Printout:
    return Printout(findings(answer, "well"), status=1 if not answer.ok else 0)


@reads(Resolved)
def _resolve_text(answer: Resolved) -> Printout:
    lines = [f"resolved: {file}" for file in answer.files] + [f"{found.severity}: {found}" for found in answer.findings]
    return Printout(
        "\n".join(lines) or "no file is left to merge",
        "now: git add .graphmem, then git commit (or git rebase --continue)"
        if answer.files and (not answer.findings)
        else "",
    )


@reads(Vacuumed)
def _vacuum_text(answer: Vacuumed) -> Printout:
    verb = "removed" if answer.done else "would remove"
    lines = [f"{verb} {found.what}: {found.bytes:,} bytes" for found in answer.freed]
    size = f"{answer.before:,} bytes, {answer.after:,} afterwards" if answer.done else f"{answer.before:,} bytes"
    return Printout("\n".join(lines), f"{('' if answer.freed else 'nothing to remove; ')}what is derived has {size}")


@reads(Reset)
def _reset_text(answer: Reset) -> Printout:
    verb = "removed" if answer.done else "would remove"
    lines = [f"{verb} {count(number, 'row')} of {file}" for file, number in answer.rows.items()]
    return Printout(
        "\n".join(lines),
        "the memory is empty"
        if not answer.rows
        else "nothing was changed; do it with --yes"
        if not answer.done
        else "",
    )


@reads(Trust)
def _trust_text(answer: Trust) -> Printout:
    state = "trusted" if answer.trusted else "not trusted"
    asked = lines_of(answer.settings, answer.commands, answer.proofs, answer.extractors)
    return Printout(
        "\n".join(f"{state}: {one}" for one in asked),
        "nothing needs trust: no setting, no verify command, no proof, no extractor"
        if not asked
        else f"it does not count; allow it with: {allowing(answer.digest)}"
        if not answer.trusted
        else "",
    )


@asks("export")
def _ask_export(
    to: Path | None,
    check: Annotated[
        bool, Taken(flag="--check", meaning="Write nothing; exit 1 where a file is not canonical")
    ] = False,
) -> Mapping[str, object]:
    if check and to is not None:
        raise Usage("--check writes nothing, --to writes a copy", hint="give one of them")
    return {"operation": "export_check"} if check else {}


@reads(Exported)
def _export_text(answer: Exported) -> Printout:
    lines = [
        f"{file}  {count(found.rows, 'row')}  {found.sha256[:12]}{'  changed' if found.changed else ''}"
        for file, found in answer.files.items()
    ]
    return Printout("\n".join(lines), "no rows yet" if not lines else "")


@reads("export_check")
def _export_check_text(answer: Checked) -> Printout:
    return Printout(findings(answer, "canonical"), status=1 if not answer.ok else 0)


@asks("split")
def _ask_split(
    files: Annotated[
        int, Taken("N", flag="--files", meaning="How many files its rows are to be in. One of: 1, 16, 256")
    ] = SplitRequest.model_fields["files"].default,
) -> Mapping[str, object]:
    return {"files": files}


@reads(Split)
def _split_text(answer: Split) -> Printout:
    where = "one file" if answer.files == 1 else f"{answer.files} files"
    state = "now in" if answer.changed else "already in"
    return Printout(
        f"{answer.kind}: {count(answer.rows, 'row')} {state} {where}",
        "now: git add .graphmem, then git commit" if answer.changed else "",
    )


@reads(Doctored)
def _doctor_text(answer: Doctored, fix: bool, yes: bool) -> Printout:
    lines = [f"fixed: {found}" for found in answer.mended]
    if answer.findings or not lines:
        lines.append(findings(answer, "well"))
    is_left = fix and not yes and answer.findings
    return Printout(
        "\n".join(lines),
        "nothing was changed; do it with: graphmem doctor --fix --yes" if is_left else "",
        status=1 if not answer.ok else 0,
    )


def findings(answer: Checked, well: str) -> str:
    """Return what was found, one a line, or that all is well."""
    lines = [f"{found.severity}: {found.with_fix('fix')}" for found in answer.findings]
    return "\n".join(lines) or f"all files are {well}"
