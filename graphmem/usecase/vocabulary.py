"""The types of a project: list, show and declare them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from graphmem.contract.request import Request
from graphmem.contract.vocabulary import AddEntityTypeRequest, AddRelationTypeRequest, ShowTypeRequest, TypeList
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.ledger import undo
from graphmem.ledger.codec import complaint
from graphmem.ledger.journal import replace_files
from graphmem.ledger.types import claim, has_file, taken_labels, type_file, vocabulary_json
from graphmem.model.vocabulary import ANY, EntityType, RelationType, Vocabulary
from graphmem.rules.suggest import did_you_mean
from graphmem.store.snapshot import Snapshot, Writing
from graphmem.usecase.writing.screening import screened
from graphmem.usecase.writing.validation import undeclared

NOTHING: Mapping[Path, bytes] = {}


def type_list(snapshot: Snapshot) -> TypeList:
    """Return the project's types, and graphmem's own relations."""
    vocabulary = snapshot.catalog.vocabulary
    relations = sorted(vocabulary.relations.values(), key=lambda made: made.type)
    return TypeList(entities=sorted(vocabulary.entities.values(), key=lambda made: made.type), relations=relations)


def type_show(snapshot: Snapshot, request: ShowTypeRequest) -> EntityType | RelationType:
    """Return one type."""
    name = request.name
    known: Mapping[str, EntityType | RelationType] = {
        **snapshot.catalog.vocabulary.relations,
        **snapshot.catalog.vocabulary.entities,
    }
    if name not in known:
        raise NotFound(f"no type {name!r}", hint=did_you_mean(name, known) or "see: graphmem type list")
    return known[name]


Made = TypeVar("Made", EntityType, RelationType)


def add_entity_type(snapshot: Writing, request: AddEntityTypeRequest) -> EntityType:
    """Declare an entity type."""
    request = screened(snapshot, request, "type")
    made = type_add(snapshot, new_type(EntityType, request))
    assert isinstance(made, EntityType)
    return made


def add_relation_type(snapshot: Writing, request: AddRelationTypeRequest) -> RelationType:
    """Declare a relation type, and the kinds that it may connect."""
    request = screened(snapshot, request, "type")
    made = type_add(snapshot, new_type(RelationType, request))
    assert isinstance(made, RelationType)
    return made


def new_type(model: type[Made], request: Request) -> Made:
    """Return the type that a request declares."""
    fields = request.model_dump()
    name = fields.pop("name")
    try:
        return model.model_validate({"type": name, **fields})
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"type {name!r}: {message}", hint=expected) from None


def type_add(snapshot: Writing, made: EntityType | RelationType) -> EntityType | RelationType:
    """Declare a type of the project: its Markdown file, and the vocabulary that follows from it."""
    vocabulary = snapshot.catalog.vocabulary
    existing = {**vocabulary.entities, **vocabulary.project_relations}.get(made.type)
    if existing is not None:
        if made.model_copy(update={"prose": made.prose or existing.prose}) == existing:
            return existing
        raise Refused(f"type {made.type!r} is there already", hint=f"edit .graphmem/types/…/{made.type}.md")
    declare(snapshot, [made], f"{noun_of(made)} type {made.type}")
    return made


def declare(
    snapshot: Writing, types: Sequence[EntityType | RelationType], title: str, also: Mapping[Path, bytes] = NOTHING
) -> None:
    """
    Write the files of new types, and what follows from them, all or none; it can be taken back.

    Args:
        title: of the write, for people. also: files of extractors that are written with them, by their paths.
    """
    vocabulary, files = snapshot.catalog.vocabulary, dict(also)
    for made in types:
        refuse_type(snapshot, vocabulary, made)
        entities = {made.type: made} if isinstance(made, EntityType) else {}
        relations = {made.type: made} if isinstance(made, RelationType) else {}
        vocabulary = Vocabulary(
            entities=vocabulary.entities | entities, project_relations=vocabulary.project_relations | relations
        )
        files |= type_file(snapshot.layout, made)
    note = undo.note_types(snapshot.layout, snapshot.ledger.command, files, title)
    schema = {snapshot.layout.vocabulary: vocabulary_json(vocabulary)}
    replace_files(files | schema, snapshot.layout)
    undo.confirm(note)
    snapshot.ledger.sync_written()


def refuse_type(snapshot: Writing, vocabulary: Vocabulary, made: EntityType | RelationType) -> None:
    """Raise ``Refused`` for a type that cannot be added to a vocabulary."""
    group = "entities" if isinstance(made, EntityType) else "relations"
    if has_file(snapshot.layout, group, made.type):
        raise Refused(
            f"types/{group}/{made.type}.md is there already and cannot be read",
            hint="correct it, see: graphmem validate; or remove it first",
        )
    labels = taken_labels()
    for known in (*vocabulary.entities.values(), *vocabulary.project_relations.values()):
        if known.type not in vocabulary.shadowing:
            claim(labels, known)
    try:
        claim(labels, made)
    except ValueError as error:
        raise Refused(str(error), hint="take another name") from None
    if isinstance(made, RelationType):
        for end in (*made.sources, *made.targets):
            if end != ANY and end not in vocabulary.record_types:
                known_end(vocabulary.record_types, end)


def noun_of(made: EntityType | RelationType) -> str:
    """Return what a type is a type of."""
    return "entity" if isinstance(made, EntityType) else "relation"


def known_end(record_types: tuple[str, ...], end: str) -> None:
    """Report that an end of a relation type is neither a kind nor an entity type."""
    hint = did_you_mean(end, (*record_types, ANY)) or undeclared(end)
    raise Refused(f"{end!r} is neither a kind nor an entity type", hint=hint)
