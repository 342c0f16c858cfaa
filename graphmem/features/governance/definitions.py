"""What guarded work follows: flows, cycles and artefact types, Markdown files with front matter, read and checked."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict

from graphmem.features.governance.globs import as_globs, matches, meeting
from graphmem.features.governance.states import StageKind
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.ledger.files.layout import DEFINITION_FILE, EXTRACTOR_FILE, Layout
from graphmem.kernel.ledger.scopes import names_of
from graphmem.kernel.ledger.types import BadType, parse, read_bounded
from graphmem.kernel.model.field import Flag, Item, Line
from graphmem.kernel.store.runtime import Client
from graphmem.names import printable, slug
from graphmem.patterns import lazy_re

MOST_FILES = 100  # of a sort of definitions
MOST_NAMES = 100  # in a list
MOST_GLOBS = 50
FEW = 10  # names in a message
MOST_STAGES = 20
MOST_ROUNDS = 1_000
COMMAND_CHARACTERS = 1_000
FORM = "front matter as docs/reference/definitions.md shows it"
OWN_FILES = (".graphmem/**", ".git/**", ".snapshots/**")
OF_NOBODY = "graphmem or git"
DEFINED_NAME = lazy_re(r"[a-z0-9][a-z0-9_-]{0,63}")
FIELD = lazy_re(r"field '(\w+)")  # as a message names it
# By the fields that name something: the folder with a file for each.
NAMED_BY = {
    "start": "cycles", "targets": "cycles", "output": "artefacts", "inputs": "artefacts",
    "scope": "scopes", "memory": "scopes", "extractors": "extractors",
}  # fmt: skip

Fault = tuple[str, str, str]  # a field, what is wrong there, and what would be right


def _as_name(value: str) -> str:
    """Return the name of a definition, a stage, a check or a law."""
    if not DEFINED_NAME.fullmatch(value):
        raise ValueError("expected a name in a-z 0-9 - _, up to 64 characters")
    return value


def _as_command(value: str) -> str:
    """Return a command as people see it before they trust it: on one line."""
    if not value.strip() or not printable(value) or len(value) > COMMAND_CHARACTERS:
        raise ValueError(f"expected a command on one line, of at most {COMMAND_CHARACTERS:,} characters")
    return value


def _by_name(value: object) -> object:
    """Return a list of commands as a mapping; the names are made from their words."""
    if not isinstance(value, list):
        return value
    found: dict[str, object] = {}
    for command in value:
        first = name = slug(str(command)).replace(".", "-") or "check"
        number = 1
        while name in found:
            number += 1
            name = f"{first}-{number}"
        found[name] = command
    return found


Name = Annotated[str, Strict(), AfterValidator(_as_name)]
Names = Annotated[tuple[Name, ...], Field(max_length=MOST_NAMES)]
Globs = Annotated[tuple[Item, ...], Field(min_length=1, max_length=MOST_GLOBS), AfterValidator(as_globs)]
Command = Annotated[str, Strict(), AfterValidator(_as_command)]
Commands = Annotated[dict[Name, Command], Field(max_length=MOST_NAMES), BeforeValidator(_by_name)]
Rounds = Annotated[int, Strict(), Field(ge=1, le=MOST_ROUNDS)]


class DefinitionPart(BaseModel):
    """A part of a definition."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Definition(DefinitionPart):
    """What the files of all sorts have."""

    description: Line = Field("", description="What it is, on one line.")
    prose: Item = Field("", description="The text below the front matter: what it is for.")

    def faults(self) -> Iterable[Fault]:
        """Return where fields contradict each other."""
        return ()


class CycleStage(DefinitionPart):
    """One step of a cycle, in one role."""

    name: Name = Field(description="How the cycle calls it.")
    kind: StageKind = Field(description="What is done there, and so what it may write.")


class Law(DefinitionPart):
    """A rule that an artefact has to keep; reviewers name it by its id."""

    id: Name = Field(description="How review items name it.")
    text: Line = Field(description="The rule, on one line.", min_length=1)


class FlowDefinition(Definition):
    """What work can be started: with which cycles, and within which scope."""

    start: Names = Field(description="The cycles that work can begin with.", min_length=1)
    scope: Name | None = Field(None, description="The scope of assay stages in cycles that name none.")


class CycleDefinition(Definition):
    """One round of work on an artefact: who makes it, and who looks at it."""

    output: Name = Field(description="The artefact type that it makes.")
    inputs: Names = Field((), description="Artefact types that it reads, and may not change.")
    targets: Names = Field((), description="The cycles that may follow.")
    stages: tuple[CycleStage, ...] = Field(
        description="Its stages in order, each with a `name` and a `kind`; at least one is a forge.",
        max_length=MOST_STAGES,
    )
    max_iterations: Rounds = Field(8, description="How often a forge stage may end before the work is blocked.")
    deadlock_iterations: Rounds = Field(5, description="How often one item may be rejected and acted on again.")
    human_appraise: Flag = Field(False, description="Whether a person looks at every iteration.")
    deadlock_appraise: Flag = Field(True, description="Whether a person decides about items in deadlock.")
    memory: Name | None = Field(None, description="The scope within which assay stages write memory.")
    extractors: Names = Field((), description="The extractors that assay stages run.")
    models: dict[Name, Line] = Field({}, description="For stages, by name: the model to use, which is only handed on.")

    def faults(self) -> Iterator[Fault]:
        """Yield where fields of the cycle contradict each other."""
        names, kinds = [stage.name for stage in self.stages], [stage.kind for stage in self.stages]
        if "forge" not in kinds:
            yield "stages", "no stage makes anything", "a stage such as {name: write, kind: forge}"
        if len({*names}) < len(names):
            yield "stages", "two stages have one name", "each name once"
        if self.output in self.inputs:
            yield "inputs", f"the output {self.output!r} is an input too", "artefact types that the cycle only reads"
        if self.human_appraise and "human-appraise" not in kinds:
            yield "human_appraise", "no stage asks a person", "a stage of kind human-appraise, or false"
        if "assay" in kinds and not self.extractors:
            yield "stages", "the stage of kind assay has nothing to run", "at least one name in extractors"
        for name in self.models.keys() - {*names}:
            yield "models", f"{name!r} is not the name of a stage", ", ".join(names)


class ArtefactDefinition(Definition):
    """A sort of files that cycles make, and what is asked of them."""

    files: Globs = Field(description="Globs of its files, from the root of the project; no two types share a path.")
    laws: tuple[Law, ...] = Field(
        (), description="The rules for it, each with an `id` and a `text` on one line.", max_length=MOST_NAMES
    )
    validation: Commands = Field(
        {},
        description="The commands that quench stages run, by the name of the check; a list gets names from its words.",
    )

    def faults(self) -> Iterator[Fault]:
        """Yield that two laws have one id."""
        if len({law.id for law in self.laws}) < len(self.laws):
            yield "laws", "two laws have one id", "each id once"


@dataclass(frozen=True)
class Definitions:
    """
    The definitions of a project by name, and what is wrong with them.

    A file that cannot be read gives none, nor does an artefact type whose files may be those of another; what they
    name may be missing then.
    """

    flows: Mapping[str, FlowDefinition]
    cycles: Mapping[str, CycleDefinition]
    artefacts: Mapping[str, ArtefactDefinition]
    findings: list[Finding]


Made = TypeVar("Made", bound=Definition)


def check(client: Client) -> Iterator[Finding]:
    """Yield what is wrong with the definitions of a project."""
    yield from read_definitions(client.layout).findings


def read_definitions(layout: Layout) -> Definitions:
    """Return the definitions of a project, and what is wrong with them."""
    reader = _Reader(layout)
    if not reader.files:
        return Definitions({}, {}, {}, [])
    flows = reader.read("flows", FlowDefinition)
    cycles = reader.read("cycles", CycleDefinition)
    if not reader.findings:  # what cannot be read may be what reaches a cycle
        reader.find_unreached(flows, cycles)
    artefacts = reader.apart(reader.read("artefacts", ArtefactDefinition))
    reader.find_undefined("flows", flows)
    reader.find_undefined("cycles", cycles)
    findings = sorted(reader.findings, key=lambda found: (found.file, found.line or 0))
    return Definitions(flows, cycles, artefacts, findings)


class _Reader:
    """Reads the definitions of a project, and collects what is wrong with them."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.files = layout.definition_files()
        self.findings: list[Finding] = []
        self.texts: dict[str, str] = {}

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """The names in each folder that definitions name something of, also of files that cannot be read."""
        found = {"scopes": names_of(self.layout), "extractors": [], "cycles": [], "artefacts": [], "flows": []}
        for file in (*self.files, *self.layout.look(self.layout.extractors).extractor_files):
            if DEFINITION_FILE.fullmatch(file) or EXTRACTOR_FILE.fullmatch(file):
                path = PurePath(file)
                found[path.parent.name].append(path.stem)
        return found

    def report(self, file: str, code: Code, message: str, right: str, *place: str) -> None:
        """Report what is wrong with a file, at the line of a field, or of a value in it."""
        self.findings.append(Finding.of(file, code, message, right, line=self._line_of(file, *place)))

    def read(self, folder: str, model: type[Made]) -> dict[str, Made]:
        """Return the definitions of a folder by name."""
        found: dict[str, Made] = {}
        files = [file for file in self.files if file.startswith(f"{folder}/")]
        for file in files[:MOST_FILES]:
            try:
                named = DEFINITION_FILE.fullmatch(file)
                if named is None:
                    raise ValueError(f"it is not {folder}/NAME.md, with a name in a-z 0-9 - _ up to 64 characters")
                self.texts[file] = read_bounded(self.layout.store / file).decode("utf-8-sig")
                made = parse(self.texts[file], model, FORM)
                faults = [*made.faults()]
                for field, message, right in faults:
                    self.report(file, Code.BAD_DEFINITION, message, right, field)
                found |= {} if faults else {named[2]: made}
            except (ValueError, OSError) as error:
                bad = error if isinstance(error, BadType) else BadType(str(error), FORM)
                at = FIELD.match(str(bad))
                line = self._line_of(file, at[1]) if at else bad.line
                self.findings.append(Finding.of(file, Code.BAD_DEFINITION, str(bad), bad.expected, line=line))
        if len(files) > MOST_FILES:
            message = f"{len(files):,} files; the first {MOST_FILES:,} are read"
            self.findings.append(Finding.of(folder, Code.BAD_DEFINITION, message, "fewer files"))
        return found

    def apart(self, artefacts: Mapping[str, ArtefactDefinition]) -> dict[str, ArtefactDefinition]:
        """Return the artefact types whose files can be of no other one; of two, the first in name order."""
        kept: dict[str, ArtefactDefinition] = {}
        for name, made in artefacts.items():
            file = f"artefacts/{name}.md"
            owners = {OF_NOBODY: OWN_FILES, **{f"the artefact type {one!r}": kept[one].files for one in kept}}
            try:
                path = meeting(made.files, [glob for globs in owners.values() for glob in globs])
            except ValueError as error:
                self.report(file, Code.SHARED_FILES, str(error), "globs that share no path with others", "files")
                continue
            if path is None:
                kept[name] = made
                continue
            owner = next(owner for owner, globs in owners.items() if matches(globs, path))
            glob = next(glob for glob in made.files if matches([glob], path))
            right = "globs such as src/** and [!.]*/**/*.md" if owner == OF_NOBODY else "globs that share no path"
            message = f"{glob!r} matches {path!r}, which can be a file of {owner}; this artefact type is left out"
            self.report(file, Code.SHARED_FILES, message, right, "files", glob)
        return kept

    def find_undefined(self, folder: str, definitions: Mapping[str, Definition]) -> None:
        """Report the names in definitions that have no file; one that cannot be read is reported itself."""
        for name, made in definitions.items():
            for field in NAMED_BY.keys() & type(made).model_fields.keys():
                value, there = getattr(made, field), self.names[NAMED_BY[field]]
                for other in (value,) if isinstance(value, str) else value or ():
                    if other not in there:
                        message = f"{field} names {other!r}, and {NAMED_BY[field]}/ has no file of this name"
                        right = ", ".join(there[:FEW]) or "the name of a file"
                        self.report(f"{folder}/{name}.md", Code.UNDEFINED, message, right, field, other)

    def find_unreached(self, flows: Mapping[str, FlowDefinition], cycles: Mapping[str, CycleDefinition]) -> None:
        """Report the cycles that follow in no flow."""
        reached, pending = set[str](), [name for flow in flows.values() for name in flow.start]
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                pending += cycles[name].targets if name in cycles else ()
        for name in cycles:
            if name not in reached:
                message = "no flow starts with this cycle, and no cycle of a flow has it among its targets"
                self.report(f"cycles/{name}.md", Code.UNREACHED, message, "a flow with it in start", "output")

    def _line_of(self, file: str, field: str, value: str = "") -> int:
        """Return the line of a value in a field of a file, or else of the field, or else the first."""
        lines = self.texts.get(file, "").splitlines()
        start = next((number for number, line in enumerate(lines) if re.match(rf"{field}\s*:", line)), 0)
        word = re.compile(rf"(?<![\w-]){re.escape(value)}(?![\w-])")
        found = (number for number, line in enumerate(lines) if value and number >= start and word.search(line))
        return next(found, start) + 1
