"""The project's vocabulary: Markdown files with front matter, read, checked and written."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from graphmem.contract.findings import Code, Finding
from graphmem.ledger.codec import complaint
from graphmem.ledger.layout import Layout
from graphmem.model.vocabulary import (
    ANY,
    KINDS,
    RESERVED_KINDS,
    RESERVED_RELATIONS,
    EntityType,
    RelationType,
    TypeName,
    Vocabulary,
)
from graphmem.names import TYPE_NAME, label, relation_label
from graphmem.system import foreign, safe_files
from graphmem.system.shell import command

FRONT_MATTER = "front matter as graphmem type add writes it"
TYPE_BYTES = 64 * 1024  # bytes of the file of a type
Described = TypeVar("Described", bound=BaseModel)
MODELS: Mapping[str, type[TypeName]] = {"entities": EntityType, "relations": RelationType}


def type_files(layout: Layout) -> list[Path]:
    """Return the files of the vocabulary, in name order."""
    return [layout.store / file for file in layout.look(layout.types).type_files]


def read_vocabulary(layout: Layout) -> tuple[Vocabulary, list[Finding]]:
    """Return the project's types, and what is wrong with the files that give none."""
    entities: dict[str, EntityType] = {}
    relations: dict[str, RelationType] = {}
    findings: list[Finding] = []
    labels = taken_labels()
    for path in type_files(layout):
        group, file = path.parent.name, path.relative_to(layout.store).as_posix()
        try:
            data = read_bounded(path)
            made = parse(data.decode("utf-8-sig"), MODELS[group])
            if made.type != path.stem:
                raise ValueError(f"type {made.type!r} is not in a file of its name, {made.type}.md")
            if made.type not in RESERVED_RELATIONS or not isinstance(made, RelationType):
                claim(labels, made)
            if isinstance(made, EntityType):
                entities[made.type] = made
            elif isinstance(made, RelationType):
                relations[made.type] = made
        except (ValueError, OSError) as error:
            findings.append(fault(file, error))
    vocabulary = Vocabulary(entities=entities, project_relations=relations)
    return vocabulary, findings + unknown_ends(layout, vocabulary)


def read_bounded(path: Path) -> bytes:
    """Return the content of a type's file, or raise ``ValueError`` where it is too large to be one."""
    with safe_files.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > TYPE_BYTES:
            raise ValueError(f"the file is {size:,} bytes; at most {TYPE_BYTES:,} are read")
        return file.read()


def taken_labels() -> dict[str, str]:
    """Return the labels of graphmem's own, folded, each with the name it belongs to."""
    kinds = {label(kind).casefold(): kind for kind in RESERVED_KINDS}
    return kinds | {relation_label(name).casefold(): name for name in RESERVED_RELATIONS}


def claim(labels: dict[str, str], made: EntityType | RelationType | TypeName) -> None:
    """Note the label of a new type, or raise ``ValueError`` where another type has it, in any case."""
    if made.type in RESERVED_KINDS or made.type in RESERVED_RELATIONS:
        raise ValueError(f"type {made.type!r} is a name of graphmem's own")
    name = relation_label(made.type) if isinstance(made, RelationType) else label(made.type)
    if name.casefold() in labels:
        raise ValueError(f"type {made.type!r} would have the label {name!r}, which {labels[name.casefold()]!r} has")
    labels[name.casefold()] = made.type


def parse(text: str, model: type[Described], form: str = FRONT_MATTER) -> Described:
    """
    Return what a Markdown file with front matter describes.

    Args:
        form: where its form is shown, for messages.

    Raises:
        ValueError: no front matter, or the model refuses it.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "---" or "---" not in [line.strip() for line in lines[1:]]:
        raise ValueError("no front matter between two lines of ---")
    end = [line.strip() for line in lines[1:]].index("---") + 1
    import yaml  # noqa: PLC0415 - 25 ms that only a changed vocabulary pays

    text = "\n".join(lines[1:end])
    try:
        front = foreign.yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 2, mark.column + 1) if mark else (1, 1)
        raise BadType(str(getattr(error, "problem", None) or error), form, line, column) from None
    if not isinstance(front, dict):
        raise ValueError("the front matter is not a list of `name: value` lines")
    try:
        return model.model_validate({**front, "prose": "\n".join(lines[end + 1 :]).strip()})
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadType(message, expected or form) from None


class BadType(ValueError):
    """The file of a type that gives none: what would be right, and where."""

    def __init__(self, message: str, expected: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.expected, self.line, self.column = expected, line, column


def fault(file: str, error: Exception) -> Finding:
    """Report what is wrong with a type's file, at the line the parser names."""
    bad = error if isinstance(error, BadType) else BadType(str(error), FRONT_MATTER)
    made = Finding.of(file, Code.BAD_TYPE, str(bad), bad.expected, line=bad.line)
    return made.model_copy(update={"column": bad.column})


def unknown_ends(layout: Layout, vocabulary: Vocabulary) -> list[Finding]:
    """Report which relation types name ends that nothing declares."""
    known = {ANY, *vocabulary.record_types}
    return [
        Finding.of(
            f"types/relations/{name}.md",
            Code.UNKNOWN_TYPE,
            f"{end!r} is neither a kind nor an entity type",
            ", ".join(sorted(known)),
            None if has_file(layout, "entities", end) else declaration("entity", end),
            line=1,
        )
        for name, relation in vocabulary.project_relations.items()
        for end in (*relation.sources, *relation.targets)
        if end not in known
    ]


def declaration(noun: str, name: str) -> str | None:
    """Return the command that declares a type, ``noun`` entity or relation; None for what no type can be called."""
    return command("graphmem", "type", "add", noun, name) if TYPE_NAME.fullmatch(name) else None


def has_file(layout: Layout, group: str, name: str) -> bool:
    """Return whether there is a file for a type, readable or not; ``group`` is entities or relations."""
    return safe_files.is_file(layout.types / group / f"{name}.md")


def type_file(layout: Layout, made: EntityType | RelationType) -> dict[Path, bytes]:
    """Return the Markdown file of a new type, by its path."""
    fields: dict[str, Any] = {"type": made.type}
    if made.description:
        fields["description"] = made.description
    if isinstance(made, RelationType):
        fields |= {"sources": list(made.sources), "targets": list(made.targets), "weight": made.weight}
        fields |= {"symmetric": True} if made.symmetric else {}
        folder = layout.types / "relations"
    else:
        fields |= {} if made.search else {"search": False}
        folder = layout.types / "entities"
    prose = made.prose or made.description or "Say here what belongs in it."
    return {folder / f"{made.type}.md": with_front_matter(fields, prose)}


def with_front_matter(fields: Mapping[str, Any], prose: str) -> bytes:
    """Return a Markdown file: the fields as front matter, then the prose."""
    import yaml  # noqa: PLC0415 - as above

    front = yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True, default_flow_style=False)
    return f"---\n{front}---\n\n{prose}\n".encode()


def vocabulary_json(vocabulary: Vocabulary) -> bytes:
    """Return ``schema.json``: the vocabulary for other tools, every key sorted, one final newline."""
    relations: Iterable[RelationType] = vocabulary.relations.values()
    document = {
        "format": 1,
        "kinds": sorted(KINDS),
        "entities": {
            name: {"description": made.description, "label": made.label, "search": made.search}
            for name, made in vocabulary.entities.items()
        },
        "relations": {
            made.type: {
                "built_in": made.type not in vocabulary.project_relations,
                "description": made.description,
                "label": made.label,
                "sources": list(made.sources),
                "symmetric": made.symmetric,
                "targets": list(made.targets),
                "weight": made.weight,
            }
            for made in relations
        },
    }
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
