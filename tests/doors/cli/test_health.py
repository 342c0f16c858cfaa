"""What ``stats`` and ``verify-loop`` print, and what they draw."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run
from tests.sample import open_memory

TITLES = ("Importance", "Feedback over time", "Coverage of failures by solutions", "Estimate against actual")


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A store with two failures, of which one is solved and helped, and an experience; commands run in its folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    with open_memory(tmp_path) as memory:
        memory.failures.add("ImportError: yaml", name="no-yaml")
        memory.failures.add("a door is open", name="door", cost=40)
        memory.patterns.add("a module is missing", "install it", name="lock")
        memory.relations.link("lock", "solves", "no-yaml")
        memory.feedback("lock", helped=True)
        memory.experiences.add("bug", "t", approach="a", outcome="success", lessons=["l"], complexity_estimated="low",
                               complexity_actual="high")  # fmt: skip
        return memory


def test_stats_says_each_figure_on_a_line(known: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stats", "--objective", "ImportError: yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["records", "number"]
    figures = lines[lines.index("", lines.index("") + 1) + 1 :]
    assert [line for line in figures if not line.startswith("worth")] == [
        "failures      2 of 500",
        "patterns      1 of 200",
        "experiences   1 of 200",
        "tiers         critical 2, productive 0, exploration 0, background 1",
        "connectivity  edges per node 0.25, isolated 50.0%, components 3: 1 of 2, 2 of 1",
        "solutions     solved by a pattern 1, by a fix only 0, unsolved 1",
        "unsolved      failure/door",
        "estimates     bug: +2.00 steps, equal 0% of 1 experience",
        "cold start    fewer than 10 experiences: new ones get low confidence",
        "search        lexical",
    ]
    (worth,) = [line for line in figures if line.startswith("worth")]
    assert worth.startswith("worth         mean importance ") and worth.endswith("stale 0.0%, untested 66.7%")


def test_stats_says_when_pruning_is_due(known: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(tmp_path) as memory:
        row = '{"kind": "pattern", "name": "old", "trigger": "t", "insight": "i", "created_at": "2020-01-01T00:00:00Z"}'
        memory.add_rows([row.encode()])
    assert run(["stats"]) == 0
    assert "patterns      2 of 200; pruning is due, 1 would go: graphmem prune\n" in capsys.readouterr().out


def test_the_loop_is_a_table_for_people_and_a_document_for_programs(
    known: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify-loop"]) == 0
    assert capsys.readouterr().out == (
        "stage     failures  which\n"
        "captured  2         failure/door, failure/no-yaml\n"
        "injected  1         failure/no-yaml\n"
        "used      1         failure/no-yaml\n"
        "helped    1         failure/no-yaml\n"
        "\n"
        "from the beginning: 0 campaigns, 0 runs, 0 tasks, 1 report\n"
        "captured 2, injected 1, used 1, helped 1: learning happens\n"
    )
    assert run(["verify-loop", "--last", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["is_learning"], found["broken"], found["stages"][3]) == (
        True, None, {"stage": "helped", "number": 1, "refs": ["failure/no-yaml"]},
    )  # fmt: skip
    assert run(["verify-loop", "--last", "0"]) == 2


@pytest.mark.long
def test_a_plot_is_a_picture_of_four_panels_the_same_every_time(
    known: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    for name in ("one.svg", "two.svg", "three.png"):
        assert run(["stats", "--plot", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["records"]["failure"] == 2
    picture = ElementTree.parse(tmp_path / "one.svg")
    texts = [found.text for found in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert picture.getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert [text for text in texts if text in TITLES] == [*TITLES]
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "three.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_an_empty_store_can_be_drawn_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    open_memory(tmp_path).close()
    monkeypatch.chdir(tmp_path)
    assert run(["stats", "--plot", "empty.svg", "--quiet"]) == 0
    assert all(title in (tmp_path / "empty.svg").read_text() for title in TITLES)


@pytest.mark.long
def test_what_cannot_be_drawn_is_refused_in_words(
    known: Memory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["stats", "--plot", "health.gif"]) == 2
    assert ".svg or .png" in capsys.readouterr().err
    assert run(["stats", "--plot", "nowhere/health.svg"]) == 4
    assert "'nowhere/health.svg' cannot be written" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["stats", "--plot", "health.svg"]) == 4
    done = capsys.readouterr()
    assert "graphmem[plots]" in done.err and done.out == ""
