"""How answers about a store and its upkeep read on a terminal."""

import json

from graphmem.features.upkeep.config import ConfigShown
from graphmem.features.upkeep.embedding import EmbeddingStatus, ModelChanged
from graphmem.features.upkeep.schema import SchemaShown
from graphmem.features.upkeep.store_contract import Rebuilt, Reset, Resolved, Trust, Vacuumed
from graphmem.features.upkeep.trust import allowing, lines_of
from graphmem.kernel import terminal
from graphmem.kernel.finding import Checked
from graphmem.kernel.model.schema import one_a_line
from graphmem.kernel.registry import Printout, reads
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


def findings(answer: Checked, well: str) -> str:
    """Return what was found, one a line, or that all is well."""
    lines = [f"{found.severity}: {found.with_fix('fix')}" for found in answer.findings]
    return "\n".join(lines) or f"all files are {well}"
