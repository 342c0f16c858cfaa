"""What people read: what a record says comes first, whole words, no zeros, the error of a traceback."""

import re
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run
from graphmem.kernel import text
from graphmem.kernel.model import Failure
from tests.repository import Repository
from tests.sample import START

PYTHON = """Traceback (most recent call last):
  File "/home/ann/shop/cart.py", line 3, in total
    return sum(prices)
KeyError: 'no price'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/ann/shop/app.py", line 9, in main
    total()
ShopClosed: come back tomorrow
"""
NODE = "/srv/app.js:3\n  x.y\n    ^\n\nTypeError: Cannot read properties of undefined\n    at main (/srv/app.js:3:5)\n"


@pytest.fixture(autouse=True)
def _a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    Memory.init(tmp_path)


@pytest.mark.parametrize(
    ("trigger", "headline"),
    [
        (PYTHON, "ShopClosed: come back tomorrow"),
        (NODE, "TypeError: Cannot read properties of undefined"),
        ("disk full\nno space left", "disk full"),
        ("one line", "one line"),
        ("Traceback (most recent call last):\n  File x", "Traceback (most recent call last):"),
    ],
)
def test_the_headline_of_a_trigger_is_its_error(trigger: str, headline: str) -> None:
    made = Failure.model_validate({"kind": "failure", "name": "a", "created_at": START, "trigger": trigger})
    assert made.headline == headline


def test_a_pasted_traceback_is_named_and_listed_by_its_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(PYTHON.encode())))
    assert run(["add", "failure", "--trigger", "-", "--fix", "wait"]) == 0
    assert "failure/shopclosed-come-back-tomorrow" in capsys.readouterr().out
    assert run(["list", "failure"]) == 0
    assert capsys.readouterr().out == "failure/shopclosed-come-back-tomorrow  ShopClosed: come back tomorrow\n"


def test_get_begins_with_what_the_record_says(capsys: pytest.CaptureFixture[str]) -> None:
    run(["add", "failure", "--name", "a", "--trigger", "boom", "--fix", "duck", "--tag", "x", "--source", "run 7"])
    capsys.readouterr()
    assert run(["get", "a"]) == 0
    names = re.findall(r"^  (\w+):", capsys.readouterr().out, re.MULTILINE)
    assert names[:3] == ["trigger", "fix", "tags"]
    assert names[-3:] == ["sources", "created_at", "updated_at"]


def test_on_a_terminal_no_word_and_no_reference_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    name, words = "a-long-name" * 5, " ".join(f"word{number}" for number in range(30))
    run(["add", "failure", "--name", name, "--trigger", words, "--fix", "duck under the table"])
    run(["add", "pattern", "--name", name, "--trigger", words, "--insight", "duck"])
    run(["link", f"pattern/{name}", "solves", f"failure/{name}"])
    capsys.readouterr()
    assert run(["get", f"failure/{name}"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert re.findall(r"word\d+", out) == words.split()
    assert run(["list", "failure"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out.splitlines()[0] == f"failure/{name}"
    assert out.splitlines()[-1] == "    fix: duck under the table"
    assert set(re.findall(r"word\w+", out)) <= {*words.split()}
    assert run(["cypher", f"RETURN '{name}' AS a, '{words}' AS b"]) == 0
    cells = re.findall(r"│ (.*?) +│ .*? +│", capsys.readouterr().out)
    assert "".join(cells) == name
    for command in (["why", f"failure/{name}"], ["undo", "--list"]):
        assert run(command) == 0
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= 80
        assert {f"failure/{name}", f"pattern/{name}"} <= set(re.split(r"[\s,]+", shown))


def test_on_a_terminal_a_difference_can_be_copied(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["install", "codex", "--dry-run"]) == 0
    elsewhere = capsys.readouterr().out
    assert max(map(len, elsewhere.splitlines())) > 80
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(["install", "codex", "--dry-run"]) == 0
    assert capsys.readouterr().out == elsewhere


def test_a_line_is_cut_between_words() -> None:
    assert text.one_line("one two three four", 12) == "one two…"
    assert text.one_line("one two three", 13) == "one two three"
    assert text.one_line("a" * 30, 10) == "a" * 9 + "…"


def test_stats_leaves_zeros_out(capsys: pytest.CaptureFixture[str]) -> None:
    run(["add", "failure", "--trigger", "boom"])
    capsys.readouterr()
    assert run(["stats"]) == 0
    head, _, _ = capsys.readouterr().out.partition("\n\n")
    assert head.splitlines()[1:] == ["failure  1"]


def test_an_event_in_a_difference_says_what_happened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Repository(tmp_path).commit("store")
    with Memory(tmp_path) as memory:
        memory.failures.add("boom", name="boom")
        memory.events.add("review.verdict", subject="failure/boom")
    assert run(["diff"]) == 0
    assert re.search(r"\+ event/\w+  review\.verdict failure/boom-", capsys.readouterr().out)


def test_a_text_that_was_set_aside_is_in_a_difference_without_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository(tmp_path)
    with Memory(tmp_path) as memory:
        memory.failures.add("boom", name="boom", fix="press it")
        repository.commit("store")
        memory.failures.add("boom", fix="hold it")
    assert run(["diff"]) == 0
    assert "    alternates: +fix: press it\n" in capsys.readouterr().out
