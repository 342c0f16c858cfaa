"""The page in a browser: a graph that says something, and lists of any length."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.core.page.render import page_of
from tests.npm import in_chromium
from tests.sample import open_memory

HERE = Path(__file__)
BROWSER = HERE.parents[2] / "doors/cli/browser.mjs"
LOOSE = ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")  # between them weights by chance


def looked_at(script: str, memory: Memory, folder: Path, *arguments: str) -> Any:
    """Return what a script finds that looks at a page of a memory, with what went wrong left out: there was nothing."""
    page = folder / "page.html"
    page.write_text(page_of(memory.store.view()), "utf-8")
    found = in_chromium(HERE.with_name(script), str(page), *arguments, beside=[BROWSER])
    assert (found["errors"], found["violations"]) == ([], [])
    return found


@pytest.mark.npm
def test_the_graph_labels_what_has_most_edges_and_says_how_two_records_hang_together(tmp_path: Path) -> None:
    chance = random.Random(4)
    with open_memory(tmp_path) as memory:
        memory.patterns.add("all of them", "mend it", name="hub")
        memory.failures.add("the root is rotten", name="root", cost=90)
        for number in range(60):
            memory.failures.add(f"leaf {number} fell", name=f"leaf-{number}", dedup=False)
            memory.relations.link(f"failure/leaf-{number}", "causes", "failure/root", weight=0.5)
        memory.relations.link("pattern/hub", "solves", "failure/leaf-7")
        for number in range(8, 40):
            memory.relations.link("pattern/hub", "solves", f"failure/leaf-{number}", weight=0.4)
        for number in range(3):
            memory.failures.add(f"nothing with {number}", name=f"alone-{number}", dedup=False)
        for name in LOOSE:
            memory.failures.add(f"loose part {name}", name=name, dedup=False)
        pairs = [(one, other) for one in LOOSE for other in LOOSE if one != other]
        for one, other in chance.sample(pairs, 22):
            weight = chance.choice((0.3, 0.5, 0.8, 1.0, 1.0, 1.5, 1.9))
            memory.relations.link(f"failure/{one}", "causes", f"failure/{other}", weight=weight)
        refs = [f"failure/{name}" for name in (*LOOSE, "root", "alone-0")]
        found = looked_at("graph.mjs", memory, tmp_path, *refs)
        expected = {
            f"{one} {other}": [
                [step.source, step.type, step.weight, step.target] for step in memory.path(one, other).path
            ]
            for one in refs
            for other in refs
            if one < other
        }
    assert set(found["labels"].pop("first")) == {"failure/root", "pattern/hub"}
    assert found["labels"] == {"some": True, "overlaps": 0, "twice": 0, "more": True, "alone": 0}
    assert found["summary"] == "3 of these 75 records have no edge to another of them, and are not in the picture"
    assert found["alone"] == ["failure/alone-0", "failure/alone-1", "failure/alone-2"]
    assert found["opened"] == "failure/alone-0"
    assert found["searched"] == [[], 0, True]  # of one record alone there is no picture either
    assert (found["one"], found["two"]) == (
        "",
        "pattern/hub solves failure/leaf-7, which causes failure/root (strength 1.5 × 0.5 = 0.75) Hide the path",
    )
    assert found["marked"] == ["failure/leaf-7", "failure/root", "pattern/hub"]
    assert found["hidden"] == ["", "drawing"]
    assert found["paths"] == expected
    assert len([path for path in expected.values() if len(path) > 2]) > 10


@pytest.mark.npm
def test_long_lists_come_by_pages_and_the_page_opens_at_its_top(tmp_path: Path) -> None:
    rows = [{"kind": "failure", "name": f"f{n:03}", "trigger": f"step{n} broke"} for n in range(250)]
    with open_memory(tmp_path) as memory:
        memory.add_rows([f"{json.dumps(row)}\n" for row in rows])
        memory.events.add("deploy")
        found = looked_at("long.mjs", memory, tmp_path)
    assert found["top"] == [0, 0, 0]
    assert found["nodes"] < 1_200
    assert found["rows"] == [
        [100, "Show 100 more of 150"], [200, "failure/f100step100", "Show 50 more"], [250, "failure/f200step200"],
    ]  # fmt: skip
    assert found["searched"] == [100, "Show 100 more of 150"]
    assert found["tree"] == [[101, "Show 100 more of 150"], [201, "Show 50 more", "failure/f100", "101"]]
