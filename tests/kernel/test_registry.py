"""A feature is a folder: what it registers is there while the folder is, and nothing else knows it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem import Refused, features
from graphmem.doors.cli.app import run
from graphmem.doors.cli.commands import PASSED
from graphmem.doors.cli.verbs import MADE, VERBS
from graphmem.kernel import registry
from tests.sample import open_memory

INIT = """
from graphmem.kernel.registry import Feature

POINTS = "batch call check edit formats page purge run_state section write".split()
FEATURE = Feature(
    nouns={"samples": "Samples of anything."},
    operations={"operations": "samples.say"},
    verbs={"sample": "samples.say"},
    text="operations",
    extends={point: f"operations.{point}_seen" for point in POINTS},
)
"""
OPERATIONS = """
from typing import Annotated

from graphmem.core.briefing.sections import entry_of
from graphmem.errors import Refused
from graphmem.kernel.answer import Answer
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.registry import Taken, asks, operation, reads
from graphmem.kernel.request import Request
from graphmem.kernel.store.snapshot import Snapshot

CALLS, BATCHES, EDITS, IMPORTED, PAGES, PURGED = [], [], [], [], [], []


class SayRequest(Request):
    text: str


class Said(Answer):
    said: str


@operation("samples.say", example="graphmem sample say hello")
def say(snapshot: Snapshot, request: SayRequest) -> Said:
    \"\"\"Return what was given.\"\"\"
    return Said(said=request.text)


@asks("samples.say")
def ask_say(text: str, loudly: Annotated[bool, Taken(flag="--loudly", meaning="In capitals")] = False):
    return {"text": text.upper()} if loudly else {}


@reads(Said)
def said_text(answer: Said) -> str:
    return f"said: {answer.said}"


@reads(Said, to="model")
def said_reply(answer: Said, view) -> str:
    return f"said to a model: {answer.said}"


def batch_seen(catalog, batches):
    BATCHES.append([entry.kind for batch in batches for entry in batch.entries])


def call_seen(called):
    CALLS.append((called.name, called.error))


def check_seen(client):
    yield Finding.of("sample", Code.NOT_CANONICAL, "a sample", "none")


def edit_seen(client, files):
    EDITS.extend(files)


def formats_seen(layout):
    return [], [Finding.of("formats/sample.toml", Code.BAD_FORMAT, "a sample of a format", "none")]


def run_state_seen(client, run, counts, skip, *, is_real):
    IMPORTED.append((dict(run), is_real))


def page_seen(client):
    PAGES.append(client)
    return {"left_out": 7}


def purge_seen(store, traces):
    PURGED.append(len(traces.hashes))


def section_seen(snapshot, request, picks):
    yield from (entry_of("Entities", pick.hit.record, [("sample", request.objective)]) for pick in picks)


def write_seen(client, rows, files):
    if any("forbidden" in str(row) for row in rows):
        raise Refused("a sample forbids it")
"""


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A feature that lies elsewhere; its module."""
    folder = tmp_path / "more" / "sample"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(INIT)
    (folder / "operations.py").write_text(OPERATIONS)
    monkeypatch.setattr(features, "__path__", [*features.__path__, str(folder.parent)])
    monkeypatch.setitem(VERBS, "sample", (MADE, "sample", "Say samples."))
    forget()
    from graphmem.features.sample import operations  # type: ignore[import-untyped, unused-ignore, import-not-found]

    yield operations
    monkeypatch.undo()
    forget()
    del registry._loaded["samples.say"]
    PASSED.discard("samples.say")
    for name in [name for name in sys.modules if name.startswith("graphmem.features.sample")]:
        del sys.modules[name]


def forget() -> None:
    """Have the folders looked at again."""
    for found in (registry.features, registry.nouns, registry.methods, registry._places, registry.extensions):
        found.cache_clear()


def test_a_feature_registers_what_it_has(
    sample: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_memory(tmp_path, said=(said := list[str]())) as memory:
        (tmp_path / ".graphmem" / "formats").mkdir()
        (tmp_path / ".graphmem" / "config.toml").write_text("format = 1\n[hooks]\nnote_edits = true\n")
        assert memory.store.call("samples.say", text="hello").said == "hello"
        assert registry.nouns()["samples"] == "Samples of anything."
        with pytest.raises(Refused, match="a sample forbids it"):
            memory.failures.add("forbidden: it is")
        memory.failures.add("boom: it is")
        assert [call for call, error in sample.CALLS if error] == ["failures.add"]
        done = [call for call, error in sample.CALLS if not error and call != "init"]
        assert done == ["samples.say", "failures.add"]
        assert ["failure"] in sample.BATCHES
        assert memory.match("boom\n") and any("a sample of a format" in one for one in said)
        assert "a sample" in [found.message for found in memory.store.validate().findings]
        assert memory.store.view().left_out == 7 and len(sample.PAGES) == 1
        assert "> sample: boom" in memory.context("boom").text
        event = {
            "hook_event_name": "PostToolUse",
            "session_id": "s",
            "tool_name": "Write",
            "tool_input": {"path": "a.py"},
        }
        memory.store.hook("claude-code", json.dumps(event))
        assert sample.EDITS == ["a.py"]
        (tmp_path / ".fctry").mkdir()
        (tmp_path / ".fctry" / "state.json").write_text('{"specVersion": "1.2"}')
        memory.imports.file(tmp_path)
        assert sample.IMPORTED == [({"spec_version": "1.2"}, True)]
        memory.store.purge(["failure/boom-it-is"], yes=True)
        assert sample.PURGED == [1]
    monkeypatch.chdir(tmp_path)
    assert run(["sample", "say", "hello"]) == 0
    assert run(["sample", "say", "hello", "--loudly"]) == 0
    assert capsys.readouterr().out == "said: hello\nsaid: HELLO\n"
    row, answer = registry.OPERATIONS["samples.say"], sample.Said(said="hello")
    assert registry.printout("samples.say", answer).text == "said: hello"
    assert registry.text_of(row, answer, to="model")(answer, None) == "said to a model: hello"


# What nothing else imports, the verbs of theirs that have commands by hand, and commands that go on without.
GONE = ("cypher", "explore", "extractors", "governance", "harvest", "hooks", "inbox", "learning", "runs", "work")
BY_HAND = ('"extract": ', '"review": ')
STAY = (
    ("status",), ("prime",), ("context", "boom"), ("view", "--out", "page.html"), ("validate",), ("doctor",),
    ("rebuild",), ("session",), ("ran", "--", "true"),
)  # fmt: skip


@pytest.mark.process
@pytest.mark.long
def test_the_program_runs_without_features_whose_folders_are_gone(tmp_path: Path) -> None:
    """Nothing else of the program has to change but the line of a verb that has commands by hand."""
    package = tmp_path / "lib" / "graphmem"
    shutil.copytree(Path(graphmem.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for feature in GONE:
        shutil.rmtree(package / "features" / feature)
    verbs = package / "doors" / "cli" / "verbs.py"
    lines = verbs.read_text(encoding="utf-8").splitlines(keepends=True)
    verbs.write_text("".join(line for line in lines if not line.strip().startswith(BY_HAND)), encoding="utf-8")
    for data in ("schema", "queries"):
        if (folder := Path(graphmem.__file__).parents[1] / data).is_dir():  # not of a wheel, which has them inside
            shutil.copytree(folder, package.parent / data)
    (project := tmp_path / "project").mkdir()

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "graphmem", *words], cwd=project, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(package.parent), "GRAPHMEM_EMBEDDING_MODEL": "none"},
        )  # fmt: skip

    assert typed("init").returncode == 0
    assert typed("add", "failure", "--trigger", "boom: it is", "--fix", "wait").returncode == 0
    assert "wait" in typed("query", "boom: it is").stdout
    for words in STAY:
        assert "fault" not in (ended := typed(*words)).stderr and ended.returncode in (0, 1), ended.stderr
    verbs_gone = {"build", "cypher", "explore", "extract", "inbox", "lesson", "review", "stage", "task", "work"}
    assert not verbs_gone & {line.strip().partition(" ")[0] for line in typed("--help").stdout.splitlines()}
    for verb in verbs_gone:
        refused = typed(verb, "list")
        assert refused.returncode == 2 and f"no command {verb!r}" in refused.stderr
