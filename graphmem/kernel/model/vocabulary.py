"""The types of a project: what an entity can be, what a relation can be and which kinds it may connect."""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphmem.kernel.model import MODELS, Entity, Record
from graphmem.kernel.model.field import Flag, Item, StringSet
from graphmem.kernel.model.relation import Weight
from graphmem.names import TYPE_NAME, label, relation_label, split_ref

ANY = "any"
# What can be an end beside the entity types: the kinds of which records are nodes.
KINDS = tuple(kind for kind, model in MODELS.items() if issubclass(model, Record) and model is not Entity)
# Names no entity type of a project may take (docs/concepts/vocabulary.md).
RESERVED_KINDS = frozenset({*KINDS, "entity", "relation", "feedback", "memory"})


class TypeName(BaseModel):
    """What entity types and relation types share."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    type: Item
    description: Item = ""
    aliases: StringSet = ()  # names that the type had before
    prose: Item = ""

    @model_validator(mode="after")
    def validate_type(self) -> Self:
        """Refuse a name that neither a file nor the graph could carry."""
        for name in (self.type, *self.aliases):
            if not TYPE_NAME.fullmatch(name):
                raise ValueError(f"type {name!r} is not a lower-case letter, then up to 63 of a-z 0-9 _")
        return self


class EntityType(TypeName):
    """A kind of thing; ``search: false`` keeps its entities out of search."""

    search: Flag = True

    @property
    def label(self) -> str:
        return label(self.type)

    def is_of(self, types: Collection[str]) -> bool:
        """Return whether the type is one of these."""
        return self.type in types


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

    def is_of(self, types: Iterable[str]) -> bool:
        """Return whether an end of its edges can be of one of these kinds and entity types."""
        return any(fits(one, (*self.sources, *self.targets)) for one in types)

    def with_ends(self, names: Mapping[str, str | None]) -> Self:
        """Return the type with other names for its ends, by the name that they have; None for one that goes."""
        if names.keys().isdisjoint((*self.sources, *self.targets)):
            return self
        found = {
            side: tuple(dict.fromkeys(new for end in getattr(self, side) if (new := names.get(end, end)) is not None))
            for side in ("sources", "targets")
        }
        return self.model_copy(update=found)


def fits(record_type: str, ends: Iterable[str]) -> bool:
    """Return whether a kind or entity type is among the ends of a relation type."""
    return any(end in (record_type, ANY) for end in ends)


def _built_in(
    name: str, sources: str, targets: str, weight: float, description: str, *, symmetric: bool = False
) -> RelationType:
    """Return a relation type of graphmem's own; its name is reserved, so it is made without the check of names."""
    return RelationType.model_construct(
        type=name,
        description=description,
        prose="",
        sources=tuple(sources.split()),
        targets=tuple(targets.split()),
        weight=weight,
        symmetric=symmetric,
    )


# Weights and meaning: docs/concepts/graph.md.
BUILT_IN_RELATIONS: Mapping[str, RelationType] = {
    relation.type: relation
    for relation in (
        _built_in("solves", "pattern", "failure", 1.5, "the pattern fixes the failure"),
        _built_in("causes", ANY, ANY, 1.0, "A leads to B"),
        _built_in("prerequisite", ANY, ANY, 1.0, "A must be understood before B"),
        _built_in("co_occurs", ANY, ANY, 0.8, "seen together; correlation, not causation", symmetric=True),
        _built_in("variant", ANY, ANY, 0.7, "similar but different", symmetric=True),
    )
}

# Edges that are fields of rows; they are never linked by hand. To have been used or seen says less than the others:
# one such step is above the cut of a walk, two are below.
OWNED_RELATIONS: Mapping[str, RelationType] = {
    relation.type: relation
    for relation in (
        _built_in("part_of", "task item", "campaign work", 1.0, "the task is of the campaign, the item of the work"),
        _built_in("depends_on", "task", "task", 1.0, "the task needs the other one complete"),
        _built_in("blocked_by", "task", ANY, 1.0, "the failure or the task that stops the task"),
        _built_in("handed_out", "task", ANY, 0.25, "the task got it when it began; whether it helped, `used` says"),
        _built_in("used", ANY, ANY, 0.5, "the task or session used it; of a report: whether it helped"),
        _built_in("derived_from", "insight", "experience", 1.0, "the insight was seen in the experience"),
        _built_in("seen_in", "lesson", "run", 0.5, "the run saw the lesson"),
        _built_in("about", "event item", ANY, 0.5, "what the event happened to, or the item was raised for"),
        _built_in("supersedes", ANY, ANY, 1.0, "it took the place of the other, which is archived and in no graph"),
    )
}

# Names no relation type of a project may take; `cites` is kept for later.
RESERVED_RELATIONS = frozenset({*BUILT_IN_RELATIONS, *OWNED_RELATIONS, "cites"})


RESERVED = frozenset({*RESERVED_KINDS, *RESERVED_RELATIONS, ANY})
KEPT_FREE = frozenset({"purge"})  # no new type gets one; a project that has such a type keeps it


def _beside(made: RelationType, own: RelationType | None) -> RelationType:
    """
    Return a relation type of a project, where graphmem has one of that name too.

    The project's is used; it may also connect what graphmem itself connects, and has a direction where either has one.
    """
    if own is None:
        return made
    ends = {name: tuple(dict.fromkeys((*getattr(made, name), *getattr(own, name)))) for name in ("sources", "targets")}
    return made.model_copy(update={**ends, "symmetric": made.symmetric and own.symmetric})


class Vocabulary(BaseModel):
    """All types that a store knows: graphmem's own, the project's, and those that rows are of without a file."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    entities: Annotated[dict[str, EntityType], Field(default_factory=dict)]
    project_relations: Annotated[dict[str, RelationType], Field(default_factory=dict)]
    drifted: frozenset[str] = frozenset()  # types that rows are of and no file declares: they are only read

    @property
    def declared(self) -> dict[str, EntityType | RelationType]:
        """The types of the project that have a file."""
        found: dict[str, EntityType | RelationType] = {**self.entities, **self.project_relations}
        return {name: made for name, made in found.items() if name not in self.drifted}

    @cached_property
    def renamed(self) -> dict[str, str]:
        """What types are called now, by the names that they had before and that no other type has."""
        found: dict[str, str] = {}
        declared = self.declared
        for name, made in sorted(declared.items()):
            for alias in made.aliases:
                if alias not in declared and alias not in RESERVED:
                    found.setdefault(alias, name)
        return found

    @cached_property
    def symmetric(self) -> frozenset[str]:
        """The names of the symmetric relation types."""
        return frozenset(name for name, made in self.relations.items() if made.symmetric)

    def is_searched(self, record_type: str) -> bool:
        """Return whether `query` finds records of a record type by words and by meaning."""
        made = self.entities.get(record_type)
        return made.search if made else True

    def current(self, ref: str) -> str | None:
        """Return a reference by the current name of its type; None where the type had no other name."""
        record_type, name = split_ref(ref)
        return f"{self.renamed[record_type]}/{name}" if record_type in self.renamed else None

    def refs(self, ref: str) -> tuple[str, ...]:
        """Return a reference under each name that its type has or had, as it is given first."""
        record_type, name = split_ref(ref)
        now = self.renamed.get(record_type, record_type)
        former = [alias for alias, current in self.renamed.items() if current == now]
        return tuple(dict.fromkeys((ref, *(f"{other}/{name}" for other in (now, *former) if former))))

    def with_types(self, types: Mapping[str, EntityType | RelationType | None]) -> "Vocabulary":
        """Return the vocabulary with other types, by name; None for one that goes. None of them is drifted then."""
        kept = {name: made for name, made in self.declared.items() if name not in types}
        kept |= {name: made for name, made in types.items() if made is not None}
        entities = {name: made for name, made in kept.items() if isinstance(made, EntityType)}
        relations = {name: made for name, made in kept.items() if isinstance(made, RelationType)}
        return Vocabulary(entities=entities, project_relations=relations)

    def narrowed(self, visible: Collection[str]) -> "Vocabulary":
        """
        Return the types that a caller may know who sees some kinds and entity types only.

        A relation type is known by one end that may be seen: of the other end its edges show the type.
        """
        entities = {name: made for name, made in self.entities.items() if name in visible}
        relations = {name: made for name, made in self.project_relations.items() if made.is_of(visible)}
        return Vocabulary(entities=entities, project_relations=relations, drifted=self.drifted)

    @cached_property
    def relations(self) -> dict[str, RelationType]:
        """Every relation type, also those that only fields of rows make."""
        own = {**BUILT_IN_RELATIONS, **OWNED_RELATIONS}
        found = {name: _beside(made, own.get(name)) for name, made in self.project_relations.items()}
        return own | {name: made.with_ends(self.renamed) for name, made in found.items()}

    def allows(self, relation: str, source: str, target: str) -> bool:
        """Return whether an edge may go from one record type to another, under whatever name these are known."""
        return self.relations[relation].allows(self.renamed.get(source, source), self.renamed.get(target, target))

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
