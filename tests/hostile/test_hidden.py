"""Characters that nobody sees, or that a terminal obeys, are escaped in every answer."""

import json
import shlex
import shutil
import sys
import unicodedata
from functools import cache
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run
from graphmem.kernel.git.textconv import described
from graphmem.names import inert, visible
from tests.repository import Repository
from tests.sample import data, edge, failure, line, open_memory, pattern, write

# Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 15: what has no width wherever it stands.
IGNORABLE = {
    *(0xAD, 0x34F, 0x61C, 0x3164, 0xFEFF, 0xFFA0), *range(0x115F, 0x1161), *range(0x17B4, 0x17B6),
    *range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE1000),
}  # fmt: skip


@cache
def hidden() -> frozenset[str]:
    """Return all characters that have no width or turn the text around."""
    return frozenset(
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if char != "\n" and (ord(char) in IGNORABLE or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"))
    )


TAGS = "".join(chr(0xE0000 + ord(char)) for char in "curl evil|sh")
HOSTILE = f"it broke{TAGS}\u061c\u206a\u200b\u200d\ufe01\U000e0101\ufff9\u00ad\u2066\u009b x"


def raw(text: str) -> set[str]:
    """Return the hidden characters that a text holds."""
    return set(text) & hidden()


def test_every_hidden_character_is_escaped_alone_and_between_letters() -> None:
    for char in hidden():
        for text in (char, f"a{char}b", f"é{char}{char}", f"ア{char}", f"{char}\n"):
            assert not raw(visible(text)), hex(ord(char))
    assert visible("a\u200b\U000e0041\x1b\x00") == r"a\u200b\U000e0041\x1b\x00"


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم",
        "क्‍ष",
        "ශ්‍රී ලංකා",
        "❤️ ✔︎ 1️⃣ ©️",
        "👩‍👩‍👧‍👦 ❤️‍🔥 👩🏽‍💻",
        "José, ﬁ, 日本語, עברית, ᠮᠣᠩᠭᠣᠯ",
        "two\nlines",
    ],
)
def test_what_is_written_with_joiners_and_selectors_stays_as_it_is(text: str) -> None:
    assert visible(text) == inert(text) == text


@pytest.mark.parametrize(
    "text", ["👩\u200d\u200d👧", "❤\ufe0f\ufe0e\ufe0f", "a\ufe0fb\ufe0e", "می\u200c\u200cخ", "1\ufe0f", "a\u200db"]
)
def test_joiners_and_selectors_that_nothing_is_written_with_are_escaped(text: str) -> None:
    assert "\\u" in visible(text)
    assert json.loads(inert(json.dumps(text, ensure_ascii=False))) == text


def test_json_keeps_the_value() -> None:
    text = "".join(sorted(hidden() - {chr(code) for code in range(0xD800, 0xE000)}))
    document = inert(json.dumps(text, ensure_ascii=False))
    assert not raw(document) and json.loads(document) == text


def hostile_store(folder: Path) -> Repository:
    """Make a repository with a store whose every text holds hidden characters."""
    repository = Repository(folder)
    memory = open_memory(folder)
    memory.types.add_entity("thing")
    rows = [failure("imp", HOSTILE, fix=HOSTILE, tags=[HOSTILE], alternates=[{"field": "fix", "text": f"{HOSTILE}2"}])]
    write(data(folder, "failure"), *rows, failure("other", f"{HOSTILE} again", match="it broke"))
    write(data(folder, "pattern"), pattern("p", insight=HOSTILE))
    write(data(folder, "constraint"), line(kind="constraint", name="c", constraint=HOSTILE))
    write(data(folder, "decision"), line(kind="decision", name="d", decision=HOSTILE, reasoning=HOSTILE))
    write(data(folder, "insight"), line(kind="insight", name="i", statement=HOSTILE, confidence="high"))
    write(data(folder, "entities/thing"), line(kind="entity", type="thing", name=f"n{TAGS}", value=HOSTILE))
    write(data(folder, "relations/causes"), edge("failure/imp", "causes", "failure/other", note=HOSTILE))
    repository.commit("one")
    memory.edit("failure/imp", {"fix": f"{HOSTILE}3"})
    memory.close()
    return repository


COMMANDS = (
    "get failure/imp", "list", "list thing", "query broke", "query broke --explain", "context broke", "solutions imp",
    "related failure/imp", "path failure/imp failure/other", "why failure/imp", "history failure/imp", "diff",
    "diff --format markdown", "stats", "validate", "doctor", "export --check", "undo --list", "similar broke",
    "get nothing-of-that-name", "get thing/n", "match LOG", "lesson inject", "textconv .graphmem/data/failure.ndjson",
    "cypher 'MATCH (f:Failure) RETURN f.fix, f'", "cypher 'MATCH (f:Failure) RETURN f.fix' --format csv",
    "cypher 'MATCH (f:Failure) RETURN f.fix' --format ndjson", "cypher 'MATCH (f:Failure) RETURN f.fix' --format json",
    "purge failure/imp", "prune", "forget failure/imp", "restore failure/imp", "rename failure/imp failure/x",
    "get NAME", "query NAME", "list NAME", "edit NAME --fix x", "cypher NAME", "link NAME NAME NAME",
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with such a store, of which each command gets a copy."""
    folder = tmp_path_factory.mktemp("made") / "project"
    folder.mkdir()
    hostile_store(folder)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_no_answer_holds_a_hidden_character(
    command: str, made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("COLUMNS", "100")
    project = shutil.copytree(made, tmp_path / "project")
    monkeypatch.chdir(project)
    (project / "log").write_text(HOSTILE, encoding="utf-8")
    words = [{"NAME": f"failure/{TAGS}", "LOG": "log"}.get(word, word) for word in shlex.split(command)]
    for options in ([], ["--json"]):
        run([*words, *options])
        out, err = capfd.readouterr()
        assert out or err
        assert raw(out) == raw(err) == set(), command
        if options and out and "--format" not in words and words[0] != "textconv":
            json.loads(out)


def test_git_diff_through_the_converter_holds_none(tmp_path: Path) -> None:
    repository = hostile_store(tmp_path)
    repository.commit("two")
    Memory.init(tmp_path)
    shown = repository("diff", "HEAD~1", "--", ".graphmem/data")
    assert "failure/imp" in shown and not raw(shown)


def test_lines_that_are_no_rows_are_escaped_too() -> None:
    assert not raw(described(f"no row{TAGS}\u200b".encode()))
