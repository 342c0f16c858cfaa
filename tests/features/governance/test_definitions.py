"""Flows, cycles and artefact types are read from the files of a project, and what contradicts is reported."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run as cli
from graphmem.features.governance.definitions import MOST_FILES, CycleStage, Definitions, Law, read_definitions
from graphmem.kernel.finding import Finding
from tests.sample import open_memory

FLOW = """---
start: [write]
scope: writers
---

How a feature is made.
"""
WRITE = """---
output: code
inputs:
  - guide
targets: [explain]
stages:
  - {name: forge, kind: forge}
  - {name: tests, kind: quench}
  - {name: review, kind: appraise}
  - {name: owner, kind: human-appraise}
  - {name: learn, kind: assay}
human_appraise: true
memory: writers
extractors: [modules]
models:
  review: small
---
"""
EXPLAIN = """---
output: guide
stages:
  - {name: forge, kind: forge}
---
"""
CODE = """---
files: ["src/**", "tests/**/*.py"]
laws:
  - {id: no-print, text: nothing is printed}
validation:
  unit: pytest -q
  types: mypy src
---
"""
GUIDE = """---
files:
  - "docs/*.md"
validation: [vale docs, "vale docs/", vale.docs]
---
"""
GOOD = {
    "flows/feature.md": FLOW,
    "cycles/write.md": WRITE,
    "cycles/explain.md": EXPLAIN,
    "artefacts/code.md": CODE,
    "artefacts/guide.md": GUIDE,
    "extractors/modules.md": "---\ncommand: [tools/modules]\nwrites: [causes]\n---\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Memory]:
    """A store with definitions that are well."""
    with open_memory(tmp_path) as memory:
        memory.store.scopes.add("writers", read=["failure"], write=["failure"])
        for file, text in GOOD.items():
            put(memory, file, text)
        yield memory


def put(memory: Memory, file: str, text: str | bytes) -> None:
    path = memory.store.client.layout.store / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def change(memory: Memory, file: str, before: str, after: str) -> None:
    """Change one place of a file."""
    assert GOOD[file].count(before) == 1
    put(memory, file, GOOD[file].replace(before, after))


def definitions(memory: Memory) -> Definitions:
    return read_definitions(memory.store.client.layout)


def only_finding(memory: Memory) -> Finding:
    """Return what is wrong, of which there is one thing."""
    [found] = memory.store.validate().findings
    return found


def test_definitions_say_what_their_files_do(project: Memory) -> None:
    found = definitions(project)
    assert project.store.validate().findings == found.findings == []
    assert found.flows["feature"].start == ("write",)
    assert found.flows["feature"].prose == "How a feature is made."
    write = found.cycles["write"]
    assert (write.output, write.inputs, write.targets) == ("code", ("guide",), ("explain",))
    assert write.stages[1] == CycleStage(name="tests", kind="quench")
    assert (write.max_iterations, write.deadlock_iterations, write.deadlock_appraise) == (8, 5, True)
    assert write.models == {"review": "small"}
    assert found.artefacts["code"].laws == (Law(id="no-print", text="nothing is printed"),)
    assert found.artefacts["code"].validation == {"unit": "pytest -q", "types": "mypy src"}


def test_commands_without_names_get_one_from_their_words(project: Memory) -> None:
    checks = {"vale-docs": "vale docs", "vale-docs-2": "vale docs/", "vale-docs-3": "vale.docs"}
    assert definitions(project).artefacts["guide"].validation == checks


def test_a_project_without_definitions_has_none(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        assert definitions(memory) == Definitions({}, {}, {}, [])
        assert memory.store.validate().findings == []


@pytest.mark.parametrize(
    ("file", "before", "after", "line", "message", "right"),
    [
        ("flows/feature.md", "start: [write]", "start: []", 2, "start", ""),
        ("flows/feature.md", "scope: writers", "scop: writers", 3, "scop", ""),
        ("flows/feature.md", "[write]", "write", 2, "start", "a list"),
        ("flows/feature.md", "[write]", '["../write"]', 2, "../write", "a name in a-z 0-9 - _"),
        ("flows/feature.md", "[write]", "[write", 3, "expected ',' or ']'", "front matter as"),
        ("flows/feature.md", FLOW, "start: [write]\n", 1, "no front matter", "front matter as"),
        ("cycles/explain.md", "output: guide\n", "", 1, "'output' is missing", "a value for"),
        ("cycles/explain.md", "kind: forge}", "kind: appraise}", 3, "no stage makes anything", "kind: forge}"),
        ("cycles/explain.md", "kind: forge}", "kind: forging}", 3, "forging", "'forge', 'quench'"),
        ("cycles/write.md", "name: tests", "name: forge", 6, "two stages have one name", "each name once"),
        ("cycles/write.md", "  - guide", "  - code", 3, "'code' is an input too", "only reads"),
        ("cycles/write.md", "human_appraise: true", "human_appraise: 1", 12, "human_appraise", "true or false"),
        ("cycles/write.md", "kind: human-appraise", "kind: appraise", 12, "no stage asks a person", "or false"),
        ("cycles/write.md", "extractors: [modules]\n", "", 6, "nothing to run", "in extractors"),
        ("cycles/write.md", "  review: small", "  reviews: small", 15, "'reviews' is not the name", "review"),
        ("cycles/write.md", "memory: writers", "max_iterations: 0", 13, "max_iterations", "at least 1"),
        ("artefacts/code.md", '"src/**"', '"/src/**"', 2, "right is a path from the project's root", ""),
        ("artefacts/code.md", '"src/**"', '"src/**", "[!a"', 2, "a [ without a ]", ""),
        ("artefacts/code.md", "pytest -q", '"pytest\\n-q"', 5, "validation", "a command on one line"),
        ("artefacts/code.md", "  unit:", "  Unit:", 5, "validation", "a name in a-z"),
        ("artefacts/code.md", "is printed}", "is printed}\n  - {id: no-print, text: b}", 3, "two laws", "each id"),
    ],
)
def test_a_definition_that_is_wrong_is_reported_and_left_out(
    project: Memory, file: str, before: str, after: str, line: int, message: str, right: str
) -> None:
    change(project, file, before, after)
    found = only_finding(project)
    assert (found.file, found.line, found.code, found.severity) == (file, line, "bad_definition", "error")
    assert message in found.message
    assert right in found.expected
    left = definitions(project)
    folder, name = file.removesuffix(".md").split("/")
    assert name not in getattr(left, folder)
    assert sum(map(len, (left.flows, left.cycles, left.artefacts))) == 4


@pytest.mark.parametrize(
    ("file", "before", "after", "line", "message", "right"),
    [
        ("flows/feature.md", "[write]", "[write, wright]", 2, "start names 'wright', and cycles/", "explain, write"),
        ("flows/feature.md", "writers", "readers", 3, "scope names 'readers', and scopes/", "writers"),
        ("cycles/write.md", "[explain]", "[explain, code]", 5, "targets names 'code'", "explain, write"),
        ("cycles/write.md", "  - guide", "  - guide\n  - plan", 5, "inputs names 'plan'", "code, guide"),
        ("cycles/write.md", "output: code", "output: cod", 2, "output names 'cod', and artefacts/", "code, guide"),
        ("cycles/write.md", "memory: writers", "memory: all", 13, "memory names 'all', and scopes/", "writers"),
        ("cycles/write.md", "[modules]", "[files]", 14, "extractors names 'files', and extractors/", "modules"),
    ],
)
def test_a_name_that_has_no_file_is_reported(
    project: Memory, file: str, before: str, after: str, line: int, message: str, right: str
) -> None:
    change(project, file, before, after)
    found = only_finding(project)
    assert (found.file, found.line, found.code, found.severity) == (file, line, "undefined", "error")
    assert message in found.message
    assert found.expected == right


def test_a_name_whose_file_cannot_be_read_is_not_reported_twice(project: Memory) -> None:
    put(project, "artefacts/guide.md", "---\nfiles: [\n---\n")
    put(project, "cycles/explain.md", "---\n---\n")
    codes = [(found.file, found.code) for found in project.store.validate().findings]
    assert codes == [("artefacts/guide.md", "bad_definition"), ("cycles/explain.md", "bad_definition")]


def test_of_two_artefact_types_with_a_path_in_common_the_second_is_left_out(project: Memory) -> None:
    put(project, "artefacts/notes.md", '---\nfiles:\n  - "notes/**"\n  - "{docs,src}/[h-z]*.md"\n---\n')
    found = only_finding(project)
    assert (found.file, found.line, found.code) == ("artefacts/notes.md", 4, "shared_files")
    assert "'{docs,src}/[h-z]*.md' matches 'src/h.md'" in found.message
    assert "the artefact type 'code'" in found.message
    assert [*definitions(project).artefacts] == ["code", "guide"]
    put(project, "artefacts/notes.md", '---\nfiles: ["notes/**", "docs/*/*.md", "src"]\n---\n')
    assert project.store.validate().findings == []
    assert [*definitions(project).artefacts] == ["code", "guide", "notes"]


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("**/*.md", ".git/.md"),
        (".graphmem/queries/*", ".graphmem/queries/a"),
        (".s*/README.md", ".snapshots/README.md"),
        ("**", ".git/a"),
    ],
)
def test_no_artefact_may_have_files_of_graphmem_or_git(project: Memory, glob: str, path: str) -> None:
    put(project, "artefacts/a.md", f'---\nfiles: ["{glob}"]\n---\n')
    found = only_finding(project)
    assert found.code == "shared_files"
    assert repr(glob) in found.message
    assert "a file of graphmem or git" in found.message
    assert path.split("/", maxsplit=1)[0] in found.message
    assert "a" not in definitions(project).artefacts


def test_globs_that_would_take_too_long_to_compare_are_left_out(project: Memory) -> None:
    put(project, "artefacts/x.md", "---\nfiles:\n" + "".join(f"  - x{n}/{'*x' * 120}\n" for n in range(15)) + "---\n")
    assert project.store.validate().findings == []
    put(project, "artefacts/y.md", f"---\nfiles: ['x*/{'*y' * 120}']\n---\n")
    found = only_finding(project)
    assert (found.file, found.code) == ("artefacts/y.md", "shared_files")
    assert "too many or too long" in found.message
    assert "y" not in definitions(project).artefacts


def test_a_cycle_that_no_flow_reaches_is_a_warning(project: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    change(project, "cycles/write.md", "targets: [explain]\n", "targets: [write]\n")
    found = only_finding(project)
    assert (found.file, found.line, found.code, found.severity) == ("cycles/explain.md", 2, "unreached", "warning")
    assert "explain" in definitions(project).cycles
    assert cli(["--dir", str(project.store.client.root), "validate"]) == 0
    assert "cycles/explain.md:2" in "".join(capsys.readouterr())


def test_the_commands_show_what_is_wrong_and_where(project: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    change(project, "flows/feature.md", "[write]", "[wrote]")
    for verb in ("validate", "doctor"):
        assert cli(["--dir", str(project.store.client.root), verb]) == 1
        said = "".join(capsys.readouterr())
        assert "flows/feature.md:2:1: start names 'wrote'" in said
        assert "expected explain, write" in said


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("flows/No Way.md", FLOW, "it is not flows/NAME.md"),
        ("flows/deep/feature.md", FLOW, "it is not flows/NAME.md"),
        (f"flows/{'a' * 65}.md", FLOW, "up to 64 characters"),
        ("flows/latin.md", b"---\nstart: [write]\ndescription: \xe4\n---\n", "utf-8"),
        ("flows/large.md", FLOW + "x" * 70_000, "at most 65,536 are read"),
    ],
)
def test_a_file_that_no_definition_can_have_is_reported(
    project: Memory, file: str, text: str | bytes, message: str
) -> None:
    put(project, file, text)
    found = only_finding(project)
    assert (found.file, found.code) == (file, "bad_definition")
    assert message in found.message
    assert [*definitions(project).flows] == ["feature"]


def test_a_link_is_not_followed(project: Memory, tmp_path: Path) -> None:
    elsewhere = tmp_path / "other.md"
    elsewhere.write_text(FLOW)
    (project.store.client.layout.store / "flows/other.md").symlink_to(elsewhere)
    assert [*definitions(project).flows] == ["feature"]
    assert only_finding(project).code == "link"


def test_more_files_than_a_project_needs_are_not_read(project: Memory) -> None:
    for number in range(MOST_FILES):
        put(project, f"flows/z{number:03}.md", FLOW)
    found = only_finding(project)
    assert (found.file, found.message) == ("flows", "101 files; the first 100 are read")
    assert len(definitions(project).flows) == MOST_FILES
