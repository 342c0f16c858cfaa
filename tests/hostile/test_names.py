"""Names of files, types and records are anything that a branch makes them: no shell runs them, no command stops."""

import ast
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Memory
from graphmem.doors.cli.app import run
from graphmem.doors.cli.verbs import VERBS
from graphmem.kernel.system.shell import command
from tests.repository import Repository
from tests.sample import data, edge, failure, line, open_memory, write
from tests.source import MODULES, nodes

# Names of files, as bytes; none is one that is read.
NAMES = [b"$(touch PWN)", b"a';touch PWN;'", b"`touch PWN`", b"a b", b"\xff\xfe", b"a\nb", b"\x1b[2J", "é".encode(),
         "a\u200bb".encode(), b'"', b"a|b", b"~", b"a\\", b"*"]  # fmt: skip
EVIL = ["$(touch PWN)", "a';touch PWN;'", "`touch PWN`", "x;touch PWN", "a b", "-rf", "a\tb"]
COMMAND = re.compile(r"(?:graphmem|git|python3|cd) .*?(?=, which would| destroys|, or put|$)")


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")


def hostile_files(folder: Path) -> int:
    """Put files of hostile names where data and types are; return how many."""
    store = os.fsencode(folder / ".graphmem")
    places = [
        (store + b"/data/failure", b".ndjson", failure("hidden")),
        (store + b"/data/entities", b".ndjson", line(kind="entity", type="x", name="x")),
        (store + b"/data/relations", b".ndjson", edge("failure/imp", "x", "failure/imp")),
        (store + b"/types/entities", b".md", b"---\ntype: x\n---\n"),
        (store + b"/types/relations", b".md", b"---\ntype: x\nsources: [failure]\ntargets: [failure]\n---\n"),
        (store + b"/data/failure/a b", b".ndjson", failure("hidden")),
    ]
    for place, end, content in places:
        os.makedirs(place, exist_ok=True)
        for name in NAMES:
            with open(place + b"/" + name + end, "wb") as file:
                file.write(content)
    return len(places) * len(NAMES)


EVERY = (
    "list", "get failure/imp", "query broke", "context broke", "match log", "stats", "validate", "doctor", "export",
    "export --check", "rebuild", "undo --list", "diff", "history failure/imp", "get failure/imp --at HEAD", "type list",
    "add failure --trigger another", "edit failure/imp --fix x", "purge failure/imp", "export --to copy", "resolve",
    "cypher 'MATCH (f:Failure) RETURN f.name'", "init", "session", "prune", "doctor --fix --yes",
)  # fmt: skip


@pytest.mark.long
def test_files_whose_names_are_not_plain_are_named_not_read_and_stop_no_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(tmp_path)
    open_memory(tmp_path).close()
    write(data(tmp_path, "failure"), failure("imp", "it broke"))
    number = hostile_files(tmp_path)
    (tmp_path / "log").write_text("it broke\n")
    repository.commit("hostile")
    monkeypatch.chdir(tmp_path)
    for words in EVERY:
        status = run([*shlex.split(words), "--json"])
        shown = capsys.readouterr()
        assert status == (1 if words.split()[0] in ("validate", "doctor") else 0), (words, shown)
        document = json.loads(shown.out)
        assert shown.out.isprintable() or shown.out.rstrip("\n").isprintable()
        if words in ("validate", "doctor", "doctor --fix --yes"):
            named = [found for found in document["findings"] if found["code"] == "bad_name"]
            assert len(named) == number and {found["severity"] for found in named} == {"error"}
            assert all(found["file"].isprintable() for found in named)
            assert r"data/failure/\xff\xfe.ndjson" in [found["file"] for found in named]
    with Memory(tmp_path) as memory:
        assert memory.list("failure").total == 2


def test_what_a_file_of_a_bad_name_may_hold_does_not_count_as_missing(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        write(data(tmp_path, "failure"), failure("imp"))
        write(data(tmp_path, "pattern/a b"), line(kind="pattern", name="p", trigger="t", insight="i"))
        write(data(tmp_path, "relations/solves"), edge("pattern/p", "solves", "failure/imp"))
        memory.store.doctor(fix=True)
        assert b"pattern/p" in data(tmp_path, "relations/solves").read_bytes()


def hostile_records(folder: Path) -> None:
    """Make a store whose entities, types and rows have names that a shell would run."""
    with open_memory(folder) as memory:
        memory.types.add_entity("thing")
        memory.types.add_relation("uses", sources=["thing"], targets=["thing"])
    archived = {"archived_at": "2026-11-01T09:30:00.000Z"}
    refs = [f"thing/{name}" for name in EVIL[:-1]]
    rows = [line(kind="entity", type="thing", name=name) for name in EVIL[:-1]]
    rows += [line(kind="entity", type="thing", name=f"{name} old", **archived) for name in EVIL[:-1]]
    rows += [line(kind="entity", type="thing", name=f"{name} lost", superseded_by=f"{ref} gone", **archived)
             for name, ref in zip(EVIL, refs, strict=False)]  # fmt: skip
    rows += [line(kind="entity", type="thing", name=name, key=f"{name} twin") for name in EVIL[:-1]]
    write(data(folder, "entities/thing"), *rows)
    write(data(folder, "failure"), failure("imp"))
    wrong = [edge(ref, "solves", "failure/imp") for ref in refs]
    write(data(folder, "relations/solves"), *wrong)
    write(data(folder, "relations/uses"), *(edge(ref, "uses", f"{ref} old") for ref in refs))
    for number, name in enumerate(EVIL):
        kind = f"evil{number}"
        write(data(folder, f"relations/{kind}"), edge("failure/imp", kind, "failure/imp"))
        text = f"---\ntype: {kind}\nsources: [{json.dumps(name)}]\ntargets: [failure]\n---\n"
        (folder / f".graphmem/types/relations/{kind}.md").write_text(text)
    write(data(folder, "entities/undeclared"), line(kind="entity", type="undeclared", name="x"))


def printed(value: object) -> Iterator[str]:
    """Yield every command in a document."""
    match value:
        case dict():
            for inner in value.values():
                yield from printed(inner)
        case list():
            for inner in value:
                yield from printed(inner)
        case str():
            yield from COMMAND.findall(value)


@pytest.mark.long
def test_no_printed_command_runs_anything_of_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile_records(tmp_path)
    monkeypatch.chdir(tmp_path)
    found: set[str] = set()
    calls = [["validate"], ["doctor"], ["list", "thing"], ["purge", "failure/imp", "--history-script", "$(touch PWN)"]]
    for name in EVIL:
        calls += [
            ["add", "entity", "thing", f"{name} old"], ["edit", f"thing/{name} old", "--value", "x"],
            ["add", "entity", name, "x"], ["type", "add", "relation", "r", "--from", name, "--to", "failure"],
            ["link", f"thing/{name} old", "solves", "failure/imp"], ["forget", f"thing/{name}"],
            ["get", f"thing/{name}x"],
        ]  # fmt: skip
    for words in calls:
        run([*words, "--json"])
        shown = capsys.readouterr()
        for text in (shown.out, shown.err):
            found.update(printed(json.loads(text)) if text.startswith("{") else COMMAND.findall(text))
        run(words)
        shown = capsys.readouterr()
        found.update(COMMAND.findall(shown.out.replace(")\n", "\n")), COMMAND.findall(shown.err))
    assert len([one for one in found if "touch" in one]) > 12
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    for name in ("graphmem", "git", "python3"):
        (stubs / name).write_text("#!/bin/sh\n")
        (stubs / name).chmod(0o755)
    for text in found:
        done = subprocess.run(["bash", "-c", text], cwd=stubs, env={"PATH": f"{stubs}:/usr/bin:/bin"}, check=False,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0 and sorted(os.listdir(stubs)) == ["git", "graphmem", "python3"], (text, done.stderr)


def test_a_command_is_the_words_that_it_was_made_of() -> None:
    words = ["graphmem", "get", *EVIL, "a\nb", "'", '"', "", "é"]
    assert shlex.split(command(*words)) == words


# Git's settings, names that are ours, and a program of its own.
OTHERS = ("kernel/store/git_setup.py", "doors/cli/demo_store.py", "kernel/git/history_filter.py")


def test_commands_are_printed_by_one_function() -> None:
    """No f-string puts a value behind the name of a command of ours, or of git's."""
    verbs = "|".join(
        {*(verb.split()[0] for verb in VERBS), "--dir", "show", "commit", "config", "clone", "checkout", "fetch"}
    )
    begins = re.compile(rf"\b((graphmem|git) ({verbs}) [^.;,:]*|(python3|cd) )$")
    for file in MODULES:
        if file in OTHERS:
            continue
        for node in nodes(file):
            if not isinstance(node, ast.JoinedStr):
                continue
            for text, value in pairwise(node.values):
                if isinstance(text, ast.Constant) and isinstance(value, ast.FormattedValue):
                    is_prose = ast.unparse(value.value) in ("FOLDER", "FORMAT")
                    assert is_prose or not begins.search(str(text.value)), f"{file}:{node.lineno} {text.value!r}"


@given(st.lists(st.text(st.sampled_from("'\"$`\\! \n*ab;&|~#é")), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_shell_takes_each_word_of_a_command_as_it_is(words: list[str]) -> None:
    printed = command("printf", "%s\\0", *words)
    done = subprocess.run(["/bin/sh", "-c", printed], capture_output=True, check=True, text=True)
    assert done.stdout.split("\0")[:-1] == words
    assert shlex.split(printed)[2:] == words


def test_an_error_with_quotes_in_it_can_be_read_in_a_command() -> None:
    assert command("add", "AttributeError: 'NoneType' object") == "add \"AttributeError: 'NoneType' object\""
