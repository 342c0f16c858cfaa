"""The types of a project: list, show and declare them."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import ValidationError

from graphmem.core.records.screening import screened
from graphmem.core.records.validation import undeclared
from graphmem.core.vocabulary.contract import AddEntityTypeRequest, AddRelationTypeRequest, ShowTypeRequest, TypeList
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.kernel.ledger.codec import complaint
from graphmem.kernel.ledger.types import (
    NO_TYPES,
    Types,
    claim,
    group_of,
    has_file,
    labels_of,
    noun_of,
    path_of,
    type_text,
)
from graphmem.kernel.model.vocabulary import ANY, KEPT_FREE, EntityType, RelationType, Vocabulary
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.suggest import did_you_mean
from graphmem.names import DEVICE, TYPE_NAME


@operation("types.list", scoped=True, from_files=True, example="graphmem type list")
def type_list(snapshot: Snapshot) -> TypeList:
    """Return the project's types, and graphmem's own relations."""
    vocabulary = snapshot.catalog.vocabulary.with_types({})
    relations = sorted(vocabulary.relations.values(), key=lambda made: made.type)
    return TypeList(entities=sorted(vocabulary.entities.values(), key=lambda made: made.type), relations=relations)


@operation(
    "types.show",
    scoped=True,
    from_files=True,
    example="graphmem type show solves",
    takes={"name": Taken("NAME", "type")},
)
def type_show(snapshot: Snapshot, request: ShowTypeRequest) -> EntityType | RelationType:
    """Return one type."""
    vocabulary = snapshot.catalog.vocabulary.with_types({})
    name = vocabulary.renamed.get(request.name, request.name)
    known: Mapping[str, EntityType | RelationType] = {**vocabulary.relations, **vocabulary.entities}
    if name not in known:
        raise NotFound(f"no type {name!r}", hint=did_you_mean(name, known) or "see: graphmem type list")
    return known[name]


Made = TypeVar("Made", EntityType, RelationType)


@operation(
    "types.add_entity",
    writes=True,
    command="type add entity",
    example='graphmem type add entity class --description "A class of the code."',
    arguments=1,
    takes={"search": Taken(meaning="Keep its entities out of query")},
)
def add_entity_type(snapshot: Writing, request: AddEntityTypeRequest) -> EntityType:
    """Declare an entity type."""
    request = screened(snapshot, request, "type")
    made = _type_add(snapshot, _new_type(EntityType, request))
    assert isinstance(made, EntityType)
    return made


@operation(
    "types.add_relation",
    writes=True,
    positional=1,
    command="type add relation",
    example="graphmem type add relation calls --from function --to function --weight 0.9",
    arguments=1,
    takes={
        "sources": Taken("T,…", "kind", "--from", reads="names"),
        "targets": Taken("T,…", "kind", "--to", reads="names"),
    },
)
def add_relation_type(snapshot: Writing, request: AddRelationTypeRequest) -> RelationType:
    """Declare a relation type, and the kinds that it may connect."""
    request = screened(snapshot, request, "type")
    made = _type_add(snapshot, _new_type(RelationType, request))
    assert isinstance(made, RelationType)
    return made


def refuse_form(what: str, name: str) -> None:
    """Refuse a name that no file of a type or scope can have."""
    if not TYPE_NAME.fullmatch(name):
        hint = "a lower-case letter, then up to 63 of a-z 0-9 _"
        raise BadInput(f"{what} name {name!r} is not allowed", hint=hint)


def _new_type(model: type[Made], request: Request) -> Made:
    """Return the type that a request declares."""
    fields = request.model_dump()
    name = fields.pop("name")
    refuse_form("type", name)
    try:
        return model.model_validate({"type": name, **fields})
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"type {name!r}: {message}", hint=expected) from None


def _type_add(snapshot: Writing, made: EntityType | RelationType) -> EntityType | RelationType:
    """Declare a type of the project: its Markdown file, and the vocabulary that follows from it."""
    vocabulary = snapshot.catalog.vocabulary
    existing = vocabulary.declared.get(made.type)
    if existing is not None:
        kept = {"prose": made.prose or existing.prose, "aliases": existing.aliases}
        if made.model_copy(update=kept) == existing:
            return existing
        raise Refused(f"type {made.type!r} is there already", hint=f"edit .graphmem/types/…/{made.type}.md")
    declare(snapshot, [made])
    return made


def declare(snapshot: Writing, types: Sequence[EntityType | RelationType], also: Types = NO_TYPES) -> None:
    """
    Write the files of new types, and what follows from them, all or none; it can be taken back.

    Args:
        also: files of extractors that are written with them, by path below the store.
    """
    vocabulary = snapshot.catalog.vocabulary
    for made in types:
        refuse_type(snapshot, vocabulary, made)
        vocabulary = vocabulary.with_types({made.type: made})
    snapshot.commit([], types={**{path_of(made): type_text(made) for made in types}, **also})


def refuse_type(snapshot: Snapshot, vocabulary: Vocabulary, made: EntityType | RelationType) -> None:
    """Raise ``Refused`` for a type that cannot be added to a vocabulary."""
    group = group_of(noun_of(made))
    if has_file(snapshot.layout, group, made.type):
        raise Refused(
            f"types/{group}/{made.type}.md is there already and cannot be read",
            hint="correct it, see: graphmem validate; or remove it first",
        )
    refuse_name(vocabulary, made)
    if isinstance(made, RelationType):
        for end in (*made.sources, *made.targets):
            if end != ANY and end not in vocabulary.record_types:
                hint = did_you_mean(end, (*vocabulary.record_types, ANY)) or undeclared(end)
                raise Refused(f"{end!r} is neither a kind nor an entity type", hint=hint)


def refuse_name(vocabulary: Vocabulary, made: EntityType | RelationType) -> None:
    """Raise ``Refused`` for a new type whose name or label is taken, or was that of a type that has another one now."""
    now = vocabulary.renamed.get(made.type)
    if now is not None and now not in made.aliases:
        hint = f"take another name, or take {made.type!r} out of the aliases in the file of {now!r}"
        raise Refused(f"type {made.type!r} is a name that {now!r} had before", hint=hint)
    if made.type in KEPT_FREE:
        raise Refused(f"type {made.type!r} is kept free for graphmem's own use", hint="take another name")
    if DEVICE.fullmatch(made.type):
        raise Refused(f"on Windows no file can be called {made.type!r}", hint="take another name")
    try:
        claim(labels_of(vocabulary), made)
    except ValueError as error:
        raise Refused(str(error), hint="take another name") from None
