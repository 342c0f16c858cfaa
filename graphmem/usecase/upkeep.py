"""Upkeep: prepare a project, export, rebuild, validate, declare types, ask Cypher."""

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from graphmem import beneath
from graphmem.catalog.catalog import transaction
from graphmem.config import needs_trust, untrusted
from graphmem.config import trust as trust_settings
from graphmem.constants import FORMAT
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.garbage import uncollected
from graphmem.ledger import undo
from graphmem.ledger.codec import complaint
from graphmem.ledger.journal import replace_files
from graphmem.ledger.layout import FOLDER, PART, Layout, not_linked
from graphmem.ledger.row import canonical_line
from graphmem.ledger.types import claim, has_file, taken_labels, type_file, vocabulary_json
from graphmem.model.result import (
    Checked,
    Exported,
    ExportedFile,
    Finding,
    Initialised,
    Rebuilt,
    Trust,
    TypeList,
)
from graphmem.model.vocabulary import ANY, EntityType, RelationType, Vocabulary
from graphmem.rules.suggest import did_you_mean
from graphmem.search.vectors import forget_damaged
from graphmem.store import Store, open_store
from graphmem.usecase.clone import register
from graphmem.usecase.intake import undeclared

IGNORED = "local/\nstate/\n*.tmp\n"
ATTRIBUTES = (
    "*.ndjson text eol=lf merge=graphmem diff=graphmem\n*.md text eol=lf\n"
    "schema.json text eol=lf merge=graphmem\nconfig.toml text eol=lf\n"
)


def init(folder: Path) -> Initialised:
    """Prepare a project, or complete what is missing; run again it changes nothing."""
    layout = not_linked(Layout(folder.absolute()))
    is_new = not layout.store.is_dir()
    beneath.refuse_links(layout.store)
    registered = []
    for path in folders(layout):
        with beneath.folder(path, make=True):
            pass
    if not beneath.is_file(layout.config):
        beneath.write(layout.config, f"format = {FORMAT}\n".encode())
        registered.append(f"{FOLDER}/config.toml")
    for path, missing in missing_entries(layout).items():
        lines = beneath.read(path).splitlines() if beneath.is_file(path) else []
        data = b"\n".join([*lines, *map(str.encode, missing), b""])
        replace_files({path: data})
        registered.append(f"{FOLDER}/{path.name}")
    store = open_store(folder)
    try:
        with store.writing():
            replace_files(store.ledger.stale_vocabulary_file(), store.layout)
    finally:
        store.close()
    return Initialised(path=str(layout.store), created=is_new, registered=registered + register(layout))


def trust(store: Store, *, yes: bool) -> Trust:
    """Return the project's settings that need trust; with ``yes`` trust them in this clone."""
    config = store.layout.config
    asked = needs_trust(config)
    if asked and yes:
        trust_settings(config, asked)
    reason = untrusted(config, asked) if asked else None
    return Trust(settings=dict(asked), trusted=reason is None, reason=reason)


def folders(layout: Layout) -> tuple[Path, ...]:
    """Return the folders that every store has."""
    return layout.types / "entities", layout.types / "relations", layout.data, layout.local, layout.state


def missing_entries(layout: Layout) -> dict[Path, list[str]]:
    """Return the lines that git's files in the store lack, by file."""
    found = {}
    for name, text in ((".gitignore", IGNORED), (".gitattributes", ATTRIBUTES)):
        path = layout.store / name
        lines = beneath.read(path).splitlines() if beneath.is_file(path) else []
        found[path] = [line for line in text.splitlines() if line.encode() not in lines]
    return {path: missing for path, missing in found.items() if missing}


# --- the files -----------------------------------------------------------------------------------------------------


def canonical(store: Store, file: str) -> bytes:
    """Return the canonical bytes of a data file whose lines are all well."""
    lines = {number: line for line, number in store.catalog.lines(file).items()}
    symmetric = store.ledger.symmetric
    return b"".join(canonical_line(line, symmetric) + b"\n" for _, line in sorted(lines.items()))


def export(store: Store, *, to: Path | None) -> Exported:
    """Bring every data file into canonical form, or write the canonical files to another folder."""
    with store.writing():
        refuse_findings(store)
        files: dict[str, ExportedFile] = {}
        writes: dict[Path, bytes] = {}
        for file in store.ledger.data_files():
            data = canonical(store, file)
            is_changed = beneath.read(store.layout.store / file) != data
            digest = hashlib.sha256(data).hexdigest()
            files[file] = ExportedFile(rows=data.count(b"\n"), sha256=digest, changed=is_changed)
            if to is not None:
                writes[to / file] = data
            elif is_changed:
                writes[store.layout.store / file] = data
        if to is None:
            writes |= store.ledger.stale_vocabulary_file()
        else:
            writes[to / "schema.json"] = vocabulary_json(store.catalog.vocabulary)
            writes |= {to / path.relative_to(store.layout.store): beneath.read(path) for path in other_files(store)}
        changed = [file for file, found in files.items() if found.changed] if to is None else []
        read = store.ledger.as_read(changed)
        replace_files(writes, store.layout if to is None else None, lambda fresh: store.ledger.refuse_changed(read))
        store.ledger.sync_written()
    return Exported(files=files)


def other_files(store: Store) -> list[Path]:
    """Return the committed files that are not derived, but for the data that this version knows."""
    layout, known = store.layout, set(store.ledger.data_files())
    unknown = [layout.store / file for file in layout.data_files() if file not in known]
    types = [path for folder in beneath.folders(layout.types) for path in beneath.files(folder)]
    named = [path for path in types if path.suffix == ".md" and PART.fullmatch(path.name)]
    return [path for path in (layout.config, *named, *unknown) if beneath.is_file(path)]


def refuse_findings(store: Store) -> None:
    """Raise ``BadInput`` where a file has bad lines: they would be lost."""
    findings = store.ledger.findings()
    if findings:
        raise BadInput(
            f"{len(findings)} bad lines, nothing was written; the first: {findings[0]}",
            hint="see: graphmem validate",
            details={"findings": [finding.model_dump() for finding in findings]},
        )


def export_check(store: Store) -> Checked:
    """Say where a file is not canonical or does not check out; nothing is written."""
    with store.reading():
        findings = store.ledger.findings()
        unwell = {finding.file for finding in findings}
        for file in store.ledger.data_files():
            if file not in unwell:
                findings += uncanonical(file, beneath.read(store.layout.store / file), canonical(store, file))
        findings += stale_vocabulary(store)
    return Checked(ok=not findings, findings=findings)


def uncanonical(file: str, data: bytes, wanted: bytes) -> list[Finding]:
    """Say at which line a file leaves its canonical form, if it does."""
    if data == wanted:
        return []
    found, expected = data.split(b"\n"), wanted.split(b"\n")
    line = next(
        (n for n, (a, b) in enumerate(zip(found, expected, strict=False), 1) if a != b), min(len(found), len(expected))
    )
    return [
        Finding(
            file=file, line=line, column=1, code="not_canonical", severity="error",
            message="not in canonical form from here on", expected="what graphmem export writes",
            fix="graphmem export",
        )
    ]  # fmt: skip


def stale_vocabulary(store: Store) -> list[Finding]:
    """Say when ``schema.json`` is not what the types say."""
    path = store.layout.vocabulary
    if beneath.is_file(path) and beneath.read(path) == vocabulary_json(store.catalog.vocabulary):
        return []
    return [
        Finding(file="schema.json", line=1, column=1, code="stale_schema", severity="error",
                message="schema.json is stale", expected="the vocabulary of types/", fix="graphmem export")
    ]  # fmt: skip


def rebuild(store: Store, *, embed: bool) -> Rebuilt:
    """Make everything derived anew from the files: catalog, index, graph, and the vectors that are missing."""
    store.refuse_unusable()
    start = time.monotonic()
    with uncollected():
        with store.ledger.writing():
            with transaction(store.catalog.connection):
                store.catalog.clear()
            store.ledger.sync_locked()
            forget_damaged(store.catalog.connection, store.local / "vectors")
            store.catalog.compact()
        store.report()
        embedded = 0
        if embed:
            store.add_clues()
            store.lexical.catch_up()
            embedded = store.embed_missing(seconds=None)
        records, edges = store.graph.rebuild()
    return Rebuilt(records=records, relations=edges, embedded=embedded, seconds=time.monotonic() - start)


# --- types ---------------------------------------------------------------------------------------------------------


def type_list(store: Store) -> TypeList:
    """Return the project's types, and graphmem's own relations."""
    with store.reading() as catalog:
        vocabulary = catalog.vocabulary
        relations = sorted(vocabulary.relations.values(), key=lambda made: made.type)
        return TypeList(entities=sorted(vocabulary.entities.values(), key=lambda made: made.type), relations=relations)


def type_show(store: Store, name: str) -> EntityType | RelationType:
    """Return one type."""
    with store.reading() as catalog:
        known: Mapping[str, EntityType | RelationType] = {**catalog.vocabulary.relations, **catalog.vocabulary.entities}
        if name not in known:
            raise NotFound(f"no type {name!r}", hint=did_you_mean(name, known) or "see: graphmem type list")
        return known[name]


Made = TypeVar("Made", EntityType, RelationType)


def new_type(model: type[Made], **fields: object) -> Made:
    """Return a new type from what somebody gave."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"type {fields.get('type')!r}: {message}", hint=expected) from None


def type_add(store: Store, made: EntityType | RelationType) -> EntityType | RelationType:
    """Declare a type of the project: its Markdown file, and the vocabulary that follows from it."""
    with store.writing() as catalog:
        vocabulary = catalog.vocabulary
        existing = {**vocabulary.entities, **vocabulary.project_relations}.get(made.type)
        if existing is not None:
            if made.model_copy(update={"prose": made.prose or existing.prose}) == existing:
                return existing
            raise Refused(f"type {made.type!r} is there already", hint=f"edit .graphmem/types/…/{made.type}.md")
        group = "entities" if isinstance(made, EntityType) else "relations"
        if has_file(store.layout, group, made.type):
            raise Refused(
                f"types/{group}/{made.type}.md is there already and cannot be read",
                hint="correct it, see: graphmem validate; or remove it first",
            )
        labels = taken_labels()
        for known in (*vocabulary.entities.values(), *vocabulary.project_relations.values()):
            claim(labels, known)
        try:
            claim(labels, made)
        except ValueError as error:
            raise Refused(str(error), hint="take another name") from None
        if isinstance(made, RelationType):
            for end in (*made.sources, *made.targets):
                if end != ANY and end not in vocabulary.scopes:
                    known_end(vocabulary.scopes, end)
        entities, relations = dict(vocabulary.entities), dict(vocabulary.project_relations)
        if isinstance(made, EntityType):
            entities[made.type] = made
        else:
            relations[made.type] = made
        after = vocabulary_json(Vocabulary(entities=entities, project_relations=relations))
        schema = {store.layout.vocabulary: after}
        ((path, text),) = type_file(store.layout, made).items()
        below = path.relative_to(store.layout.store).as_posix()
        note = undo.note_type(store.layout, store.ledger.command, below, text, f"{noun_of(made)} type {made.type}")
        replace_files({path: text} | schema, store.layout)
        undo.confirm(note)
        store.ledger.sync_written()
    return made


def noun_of(made: EntityType | RelationType) -> str:
    """Return what a type is a type of."""
    return "entity" if isinstance(made, EntityType) else "relation"


def known_end(scopes: tuple[str, ...], end: str) -> None:
    """Say that an end of a relation type is no kind and no entity type."""
    hint = did_you_mean(end, (*scopes, ANY)) or undeclared(end)
    raise Refused(f"{end!r} is no kind and no entity type", hint=hint)
