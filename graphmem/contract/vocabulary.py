"""What operations on types return."""

from graphmem.contract.answer import Answer
from graphmem.model.vocabulary import EntityType, RelationType


class TypeList(Answer):
    """The types of a project, and graphmem's own relations."""

    entities: list[EntityType]
    relations: list[RelationType]
