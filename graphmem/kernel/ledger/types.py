"""The project's vocabulary: Markdown files with front matter, read, checked and written."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from graphmem.constants import REPAIR_COMMAND
from graphmem.errors import Refused
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.ledger.codec import complaint
from graphmem.kernel.ledger.files.layout import TYPE_FILE, Layout
from graphmem.kernel.ledger.parts import holds
from graphmem.kernel.model.vocabulary import (
    ANY,
    KINDS,
    RESERVED,
    RESERVED_KINDS,
    RESERVED_RELATIONS,
    EntityType,
    RelationType,
    TypeName,
    Vocabulary,
)
from graphmem.kernel.ndjson import document
from graphmem.kernel.system import foreign, safe_files
from graphmem.kernel.system.shell import command
from graphmem.names import TYPE_NAME, label, relation_label

FRONT_MATTER = "front matter as graphmem type add writes it"
NO_PROSE = "Say here what belongs in it."  # what the file of a new type says below its front matter
TYPE_BYTES = 64 * 1024  # bytes of the file of a type
Described = TypeVar("Described", bound=BaseModel)
MODELS: Mapping[str, type[TypeName]] = {"entities": EntityType, "relations": RelationType}
Made = TypeVar("Made", bound=TypeName)
Types = Mapping[str, bytes | None]  # new texts of type files, by path below the store; None for one that goes
NO_TYPES: Types = {}


def type_files(layout: Layout) -> list[Path]:
    """Return the files of the vocabulary, in name order."""
    return [layout.store / file for file in layout.look(layout.types).type_files]


def read_vocabulary(layout: Layout) -> tuple[Vocabulary, list[Finding]]:
    """Return the project's types, and what is wrong with the files that give none."""
    entities: dict[str, EntityType] = {}
    relations: dict[str, RelationType] = {}
    findings: list[Finding] = []
    labels = _taken_labels()
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
            findings.append(_fault(file, error))
    vocabulary = Vocabulary(entities=entities, project_relations=relations)
    drifted = drifted_types(layout, vocabulary)
    entities |= {made.type: made for made in drifted.values() if isinstance(made, EntityType)}
    relations |= {made.type: made for made in drifted.values() if isinstance(made, RelationType)}
    names = frozenset(made.type for made in drifted.values())
    vocabulary = Vocabulary(entities=entities, project_relations=relations, drifted=names)
    findings += [_drift(file, made) for file, made in drifted.items()]
    return vocabulary, findings + _unknown_ends(layout, vocabulary)


def drifted_types(layout: Layout, vocabulary: Vocabulary) -> dict[str, EntityType | RelationType]:
    """
    Return the types that rows are of and no file declares, each by the first data file that holds some.

    A branch brought the rows, or a person took the file away. A name that cannot be a type's gives none, nor one that
    a type had before: its rows are read as rows of that.
    """
    known = {*vocabulary.declared, *vocabulary.linkable.keys() - vocabulary.drifted, *vocabulary.renamed}
    labels = labels_of(vocabulary)
    found: dict[str, EntityType | RelationType] = {}
    for file in layout.data_files():
        kind, name = holds(file)
        stat = safe_files.stat_of(layout.store / file)
        if name is None or name in known or not (stat and stat.st_size) or has_file(layout, group_of(kind), name):
            continue
        ends = {} if kind == "entity" else {"sources": [ANY], "targets": [ANY]}
        try:
            made = MODELS[group_of(kind)].model_validate({"type": name, **ends})
            claim(labels, made)
        except ValueError:
            continue
        known.add(name)
        if isinstance(made, EntityType | RelationType):
            found[file] = made
    return found


def group_of(kind: str) -> str:
    """Return the folder of the types of entities, or of relations."""
    return "entities" if kind == "entity" else "relations"


def _drift(file: str, made: EntityType | RelationType) -> Finding:
    """Report rows of a type that no file declares."""
    message = f"{noun_of(made)} type {made.type!r} is not declared; its rows are read, and none is written"
    return Finding.of(file, Code.DRIFT, message, f"a file {path_of(made)}", REPAIR_COMMAND, line=1)


def drifted(name: str, vocabulary: Vocabulary) -> Refused:
    """Return the error for a write to a type that has rows and no file, or had this name before."""
    now = vocabulary.renamed.get(name)
    what = f"was renamed to {now!r}" if now else "has no file"
    hint = REPAIR_COMMAND if name in vocabulary.drifted else f"it is {now!r} now"
    return Refused(f"type {name!r} {what}", hint=hint, details={"type": name})


def noun_of(made: EntityType | RelationType) -> str:
    """Return what a type is a type of."""
    return "entity" if isinstance(made, EntityType) else "relation"


def read_bounded(path: Path) -> bytes:
    """Return the content of a type's file, or raise ``ValueError`` where it is too large to be one."""
    with safe_files.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > TYPE_BYTES:
            raise ValueError(f"the file is {size:,} bytes; at most {TYPE_BYTES:,} are read")
        return file.read()


def labels_of(vocabulary: Vocabulary) -> dict[str, str]:
    """Return the labels that graphmem and the types of the project have, folded, each with the name it belongs to."""
    labels = _taken_labels()
    for known in vocabulary.declared.values():
        if known.type not in vocabulary.shadowing:
            claim(labels, known)
    return labels


def _taken_labels() -> dict[str, str]:
    """Return the labels of graphmem's own, folded, each with the name it belongs to."""
    kinds = {label(kind).casefold(): kind for kind in RESERVED_KINDS}
    return kinds | {relation_label(name).casefold(): name for name in RESERVED_RELATIONS}


def claim(labels: dict[str, str], made: EntityType | RelationType | TypeName) -> None:
    """Note the label of a new type, or raise ``ValueError`` where another type has it, in any case."""
    if made.type in RESERVED:
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


def _fault(file: str, error: Exception) -> Finding:
    """Report what is wrong with a type's file, at the line the parser names."""
    bad = error if isinstance(error, BadType) else BadType(str(error), FRONT_MATTER)
    made = Finding.of(file, Code.BAD_TYPE, str(bad), bad.expected, line=bad.line)
    return made.model_copy(update={"column": bad.column})


def _unknown_ends(layout: Layout, vocabulary: Vocabulary) -> list[Finding]:
    """Report which relation types name ends that nothing declares."""
    known = {ANY, *vocabulary.record_types, *vocabulary.renamed}
    return [
        _unknown_end(layout, vocabulary, f"types/relations/{name}.md", end)
        for name, relation in vocabulary.project_relations.items()
        for end in dict.fromkeys((*relation.sources, *relation.targets))
        if end not in known
    ]


def _unknown_end(layout: Layout, vocabulary: Vocabulary, file: str, end: str) -> Finding:
    """Report an end of a relation type that nothing declares."""
    fix = None if has_file(layout, "entities", end) else declaration("entity", end)
    known = ", ".join(sorted({ANY, *vocabulary.record_types}))
    return Finding.of(file, Code.UNKNOWN_TYPE, f"{end!r} is neither a kind nor an entity type", known, fix, line=1)


def declaration(noun: str, name: str) -> str | None:
    """Return the command that declares a type, ``noun`` entity or relation; None for what no type can be called."""
    return command("graphmem", "type", "add", noun, name) if TYPE_NAME.fullmatch(name) else None


def has_file(layout: Layout, group: str, name: str) -> bool:
    """Return whether there is a file for a type, readable or not; ``group`` is entities or relations."""
    return safe_files.is_file(layout.types / group / f"{name}.md")


def path_of(made: EntityType | RelationType) -> str:
    """Return the file of a type, as a path below the store."""
    return f"types/{group_of(noun_of(made))}/{made.type}.md"


def _fields_of(made: EntityType | RelationType) -> dict[str, Any]:
    """Return what the front matter of a type's file says; what is as usual is left out."""
    fields: dict[str, Any] = {"type": made.type}
    fields |= {"description": made.description} if made.description else {}
    fields |= {"aliases": list(made.aliases)} if made.aliases else {}
    if isinstance(made, RelationType):
        fields |= {"sources": list(made.sources), "targets": list(made.targets), "weight": made.weight}
        fields |= {"symmetric": True} if made.symmetric else {}
    else:
        fields |= {} if made.search else {"search": False}
    return fields | (made.__pydantic_extra__ or {})


def type_text(made: EntityType | RelationType) -> bytes:
    """Return the Markdown file of a type."""
    prose = made.prose or made.description or NO_PROSE
    return with_front_matter(_fields_of(made), prose)


def with_front_matter(fields: Mapping[str, Any], prose: str) -> bytes:
    """Return a Markdown file: the fields as front matter, then the prose."""
    return f"---\n{front_matter(fields)}---\n\n{prose}\n".encode()


def front_matter(fields: Mapping[str, Any]) -> str:
    """Return fields as lines of YAML."""
    import yaml  # noqa: PLC0415 - as above

    text: str = yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True, default_flow_style=False)
    return text


def changed_text(text: bytes, made: EntityType | RelationType) -> bytes:
    """
    Return the file of a type that says something else now.

    Only the lines of fields that change are replaced, so that comments and the prose stay as they are; where that would
    not say what is meant, the whole front matter is.
    """
    whole = text.decode("utf-8-sig").replace("\r\n", "\n")
    head, *lines = whole.split("\n")
    end = [line.strip() for line in lines].index("---")
    front = "".join(f"{line}\n" for line in lines[:end])
    before, after = _fields_of(parse(whole, type(made))), _fields_of(made)
    for name in (*before, *(name for name in after if name not in before)):
        if before.get(name) != after.get(name):
            new = front_matter({name: after[name]}) if name in after else ""
            field = re.compile(rf"^{name}[ \t]*:.*\n(?:[ \t-].*\n)*", re.MULTILINE)
            front, found = field.subn(new.replace("\\", r"\\"), front)
            front += "" if found else new
    changed = "\n".join([head, front + lines[end], *lines[end + 1 :]])
    try:
        is_right = parse(changed, type(made)) == made
    except ValueError:
        is_right = False
    return changed.encode() if is_right else type_text(made)


def read_types(types: Types) -> dict[str, EntityType | RelationType | None]:
    """Return the types that new texts of type files declare, by name; None for one that goes."""
    found: dict[str, EntityType | RelationType | None] = {}
    for file, text in types.items():
        if not TYPE_FILE.fullmatch(file):
            continue
        path = PurePath(file)
        made = parse(text.decode("utf-8-sig"), MODELS[path.parent.name]) if text is not None else None
        found[path.stem] = made if isinstance(made, EntityType | RelationType) else None
    return found


def vocabulary_json(vocabulary: Vocabulary) -> bytes:
    """Return ``schema.json``: the declared types for other tools, every key sorted, one final newline."""
    return f"{document(_vocabulary_document(vocabulary))}\n".encode()


def is_vocabulary(data: bytes, vocabulary: Vocabulary, *, is_merged: bool = False) -> bool:
    """
    Return whether a text says what ``schema.json`` has to; formatters may have written it in their own way.

    Args:
        is_merged: it may name types as they were called before, as where two branches were merged.
    """
    try:
        found = orjson.loads(data)
        for made in found["relations"].values() if is_merged else ():
            for side in ("sources", "targets"):
                made[side] = list(dict.fromkeys(vocabulary.renamed.get(end, end) for end in made[side]))
        return bool(found == _vocabulary_document(vocabulary))
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _vocabulary_document(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return what ``schema.json`` says."""
    vocabulary = vocabulary.with_types({})
    relations: Iterable[RelationType] = vocabulary.relations.values()
    return {
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
