"""The vocabulary of a project: entity types, relation types, and who may see what."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "types": "The vocabulary of the project.",
        "scopes": "What a caller may read and write that does not get all.",
    },
    operations={
        "types": "types.list types.show types.add_entity types.add_relation",
        "change": "types.rename types.drop",
        "brief": "types.brief",
        "scopes": "scopes.list scopes.show scopes.add",
    },
    on_store="scopes",
    verbs={
        "scope": "scopes.add scopes.list scopes.show",
        "type add": "types.add_entity types.add_relation",
        "type": "types.list types.show types.rename types.drop types.brief",
    },
    text="text",
)
