"""The types of a project: what an entity can be, what a relation can be and which kinds it may connect."""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphmem.model import MODELS, Entity, Record
from graphmem.model.field import Flag, Item
from graphmem.model.relation import Weight
from graphmem.names import TYPE_NAME, label, relation_label

ANY = "any"
# What can be an end beside the entity types: the kinds of which records are nodes.
KINDS = tuple(kind for kind, model in MODELS.items() if issubclass(model, Record) and model is not Entity)
# Names no entity type of a project may take (docs/concepts/vocabulary.md).
RESERVED_KINDS = frozenset({*KINDS, "entity", "relation", "feedback", "memory", "item"})


class TypeName(BaseModel):
    """What entity types and relation types share."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    type: Item
    description: Item = ""
    prose: Item = ""

    @model_validator(mode="after")
    def check_type(self) -> Self:
        """Refuse a name that neither a file nor the graph could carry."""
        if not TYPE_NAME.fullmatch(self.type):
            raise ValueError(f"type {self.type!r} is not a lower-case letter, then up to 63 of a-z 0-9 _")
        return self


class EntityType(TypeName):
    """A kind of thing; ``search: false`` keeps its entities out of search."""

    search: Flag = True

    @property
    def label(self) -> str:
        return label(self.type)


class RelationType(TypeName):
    """A kind of edge, and what it may connect: kinds, entity types, or ``any``."""

    sources: tuple[Item, ...]
    targets: tuple[Item, ...]
    weight: Weight = 1.0
    symmetric: Flag = False

    @property
    def label(self) -> str:
        return relation_label(self.type)

    def allows(self, source: str, target: str) -> bool:
        """Return whether an edge may go from a record of record type ``source`` to one of record type ``target``."""
        ways = ((source, target), (target, source)) if self.symmetric else ((source, target),)
        return any(fits(start, self.sources) and fits(end, self.targets) for start, end in ways)


def fits(record_type: str, ends: Iterable[str]) -> bool:
    """Return whether a kind or entity type is among the ends of a relation type."""
    return any(end in (record_type, ANY) for end in ends)


def built_in(
    name: str, sources: str, targets: str, weight: float, description: str, *, symmetric: bool = False
) -> RelationType:
    """Return a relation type of graphmem's own; its name is reserved, so it is made without the check of names."""
    return RelationType.model_construct(
        type=name,
        description=description,
        prose="",
        sources=(sources,),
        targets=(targets,),
        weight=weight,
        symmetric=symmetric,
    )


# Weights and meaning: docs/concepts/graph.md.
BUILT_IN_RELATIONS: Mapping[str, RelationType] = {
    relation.type: relation
    for relation in (
        built_in("solves", "pattern", "failure", 1.5, "the pattern fixes the failure"),
        built_in("causes", ANY, ANY, 1.0, "A leads to B"),
        built_in("prerequisite", ANY, ANY, 1.0, "A must be understood before B"),
        built_in("co_occurs", ANY, ANY, 0.8, "seen together; correlation, not causation", symmetric=True),
        built_in("variant", ANY, ANY, 0.7, "similar but different", symmetric=True),
    )
}

# Edges that are fields of rows; they are never linked by hand. To have been used or seen says less than the others:
# one such step is above the cut of a walk, two are below.
OWNED_RELATIONS: Mapping[str, RelationType] = {
    relation.type: relation
    for relation in (
        built_in("part_of", "task", "campaign", 1.0, "the task belongs to the campaign"),
        built_in("depends_on", "task", "task", 1.0, "the task needs the other one complete"),
        built_in("blocked_by", "task", ANY, 1.0, "the failure or the task that stops the task"),
        built_in("handed_out", "task", ANY, 0.25, "the task got it when it began; whether it helped, `used` says"),
        built_in("used", ANY, ANY, 0.5, "the task or session used it; of a report: whether it helped"),
        built_in("derived_from", "insight", "experience", 1.0, "the insight was seen in the experience"),
        built_in("seen_in", "lesson", "run", 0.5, "the run saw the lesson"),
        built_in("about", "event", ANY, 0.5, "what the event happened to"),
        built_in("supersedes", ANY, ANY, 1.0, "it took the place of the other, which is archived and in no graph"),
    )
}

# Names no relation type of a project may take; `cites` is kept for later.
RESERVED_RELATIONS = frozenset({*BUILT_IN_RELATIONS, *OWNED_RELATIONS, "cites"})


def beside(made: RelationType, own: RelationType | None) -> RelationType:
    """
    Return a relation type of a project, where graphmem has one of that name too.

    The project's is used; it may also connect what graphmem itself connects, and has a direction where either has one.
    """
    if own is None:
        return made
    ends = {name: tuple(dict.fromkeys((*getattr(made, name), *getattr(own, name)))) for name in ("sources", "targets")}
    return made.model_copy(update={**ends, "symmetric": made.symmetric and own.symmetric})


class Vocabulary(BaseModel):
    """All types that a store knows: graphmem's own and the project's."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    entities: Annotated[dict[str, EntityType], Field(default_factory=dict)]
    project_relations: Annotated[dict[str, RelationType], Field(default_factory=dict)]

    def narrowed(self, visible: Collection[str]) -> "Vocabulary":
        """Return the types that a caller may know who sees some kinds and entity types only."""
        entities = {name: made for name, made in self.entities.items() if name in visible}
        relations = {
            name: made
            for name, made in self.project_relations.items()
            if any(made.allows(source, target) for source in visible for target in visible)
        }
        return Vocabulary(entities=entities, project_relations=relations)

    @cached_property
    def relations(self) -> dict[str, RelationType]:
        """Every relation type, also those that only fields of rows make."""
        own = {**BUILT_IN_RELATIONS, **OWNED_RELATIONS}
        return {**own, **{name: beside(made, own.get(name)) for name, made in self.project_relations.items()}}

    @cached_property
    def shadowing(self) -> tuple[str, ...]:
        """The relation types of the project that a later version of graphmem has too; the project's are used."""
        return tuple(sorted(self.project_relations.keys() & RESERVED_RELATIONS))

    @cached_property
    def linkable(self) -> dict[str, RelationType]:
        """The relation types that ``link`` takes."""
        names = {**BUILT_IN_RELATIONS, **self.project_relations}
        return {name: self.relations[name] for name in names}

    @cached_property
    def record_types(self) -> tuple[str, ...]:
        """Every kind and entity type: what the first part of a reference can be."""
        return (*KINDS, *sorted(self.entities))
