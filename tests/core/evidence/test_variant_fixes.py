"""A failure that nothing solves shows the fix of its variant, and says whose it is."""

from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.core.replies.reply import View
from graphmem.doors.cli.app import run
from graphmem.doors.mcp.tools import replied

SOLVED, OPEN = "Error: worker pool exhausted while the queue was drained", "Error: worker pool exhausted on the replica"


@pytest.fixture
def variants(memory: Memory) -> Memory:
    memory.failures.add(SOLVED, name="solved", fix="raise pool.max_workers", dedup=False)
    memory.failures.add(OPEN, name="open", dedup=False)
    memory.relations.link("failure/solved", "variant", "failure/open")
    return memory


def answers(memory: Memory) -> list[str | None]:
    """Whose fix is shown for the open failure by each command."""
    hits: list[Any] = [
        memory.get("failure/open"),
        next(hit for hit in memory.query(OPEN).results if hit.ref == "failure/open"),
        next(hit for hit in memory.match(OPEN).results if hit.ref == "failure/open"),
        next(entry for entry in memory.context(OPEN).entries if entry.ref == "failure/open"),
    ]
    return [hit.variant_fix and hit.variant_fix.ref for hit in hits]


def test_a_failure_without_a_fix_shows_that_of_its_variant(variants: Memory) -> None:
    assert answers(variants) == ["failure/solved"] * 4
    assert variants.get("failure/open").fixes == []
    assert variants.get("failure/solved").variant_fix is None


def test_what_is_solved_or_disputed_is_not_helped_out(variants: Memory) -> None:
    variants.feedback("failure/solved", helped=False, wrong=True)
    assert answers(variants) == [None] * 4
    variants.edit("failure/solved", fix="drain the queue first")
    assert answers(variants) == ["failure/solved"] * 4
    variants.patterns.add("the pool is exhausted", "size it by the replica", name="size")
    variants.relations.link("pattern/size", "solves", "failure/open")
    assert answers(variants) == [None] * 4


def test_the_nearest_variant_comes_first(variants: Memory) -> None:
    variants.failures.add("Error: no workers in the pool", name="nearer", fix="restart the pool", dedup=False)
    variants.relations.link("failure/nearer", "variant", "failure/open", weight=1.0)
    assert answers(variants) == ["failure/nearer"] * 4


def test_people_and_models_read_whose_fix_it_is(
    variants: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log.txt").write_text(f"{OPEN}\n", encoding="utf-8")
    for command in (["get", "failure/open"], ["query", OPEN], ["match", str(tmp_path / "log.txt")]):
        assert run(["--dir", str(tmp_path), *command]) == 0
        assert "fix of failure/solved, a variant: raise pool.max_workers" in capsys.readouterr().out
    text = variants.context(OPEN).text
    assert "fix of a variant: failure/solved" in text
    assert text.count("raise pool.max_workers") == 1
    whole, word = View(), "fix of failure/solved, a variant"
    replies = [
        replied("get", variants.get("failure/open"), whole),
        replied("query", variants.query(OPEN), whole),
        replied("match", variants.match(OPEN), whole),
        replied("context", variants.context(OPEN), whole),
    ]
    for reply in replies:
        shown = next(hit for hit in reply.hits or () if hit["ref"] == "failure/open")
        assert shown[word] == "raise pool.max_workers"
