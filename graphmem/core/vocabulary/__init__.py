"""The vocabulary of a project: entity types, relation types, and who may see what."""
