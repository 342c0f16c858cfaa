"""A caller who may see some kinds only: no read of the catalog returns anything of the others."""

import json
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.core.search.query_contract import Hit
from graphmem.kernel import dispatch
from graphmem.kernel.catalog import vectors
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.words import LexicalIndex
from graphmem.kernel.dispatch import Caller
from graphmem.kernel.embed.model import Embedder
from graphmem.names import row_id
from tests.sample import open_memory

SECRET = "hunter2"


@pytest.fixture
def filled(tmp_path: Path) -> Memory:
    """A store with failures that nobody but their owner may see, and patterns that all may see."""
    with open_memory(tmp_path) as memory:
        memory.failures.add(f"login failed with {SECRET}", name="secret", match=f"{SECRET}.*", tags=["auth"],
                            files=["src/login.py"])  # fmt: skip
        memory.failures.add(f"timeout after {SECRET}", name="other")
        memory.patterns.add("login", f"never print {SECRET[:4]}", name="open")
        memory.patterns.add("timeouts", "retry twice", name="retry")
        memory.relations.link("pattern/open", "solves", "failure/secret")
        memory.relations.link("pattern/open", "solves", "failure/other")
        memory.relations.link("pattern/open", "variant", "pattern/retry")
        memory.feedback("failure/secret", helped=True)
        memory.feedback("pattern/open", helped=True)
        memory.query("login")
    return memory


def reads(catalog: Catalog) -> dict[str, object]:
    """Return what the reads of a catalog answer, asked for everything by name and by number."""
    keys = [key for _, key in catalog_keys(catalog.path)]
    numbers = [row_id(ref) for ref in keys]
    return {
        "lookup": [catalog.lookup(*ref.split("/")) for ref in [*keys, "failure/secret", "pattern/open"]],
        "anywhere": [catalog.anywhere(name) for name in ("secret", "open")],
        "known": catalog.known(keys), "live": catalog.live(keys), "refs": catalog.refs(numbers),
        "record_types": catalog.record_types(), "names": catalog.names(100),
        "completions": catalog.completions("", 100),
        "records": {n: record.ref for n, record in catalog.records([n for n in numbers if catalog.has(n)]).items()},
        "rows": {record_type: list(catalog.live_rows(record_type)) for record_type in ("failure", "pattern")},
        "listed": catalog.listed(["failure", "pattern"], is_live=True), "all_live": catalog.all_live(),
        "labelled": list(catalog.labelled("tag", ["auth", "other"])),
        "below": list(catalog.labelled_below("file", "src")), "with_field": catalog.with_field("tags"),
        "counts": [catalog.counts_by_type(), catalog.edge_counts(), catalog.live_counts(), catalog.report_count()],
        "edges": list(catalog.live_edges()), "steps": list(catalog.steps(numbers, None, "both")),
        "ends": catalog.live_ends(), "solved": catalog.solved(), "reports": catalog.reports(numbers),
        "by_day": catalog.reports_by_day(), "since": catalog.reports_since(""), "expressions": catalog.expressions(),
        "heads": catalog.heads(), "lines": [*catalog.all_lines()], "rows_of": [*catalog.rows_of(numbers)],
        "lexical": LexicalIndex(catalog).search(f"login {SECRET} timeout", None, 10),
    }  # fmt: skip


def catalog_keys(path: Path) -> list[tuple[str, str]]:
    """Return kind and reference by key of every record in the files."""
    found = []
    for kind in ("failure", "pattern"):
        for line in (path.parent.parent / f"data/{kind}.ndjson").read_text().splitlines():
            row = json.loads(line)
            found.append((kind, f"{kind}/{row.get('key') or row['name']}"))
    return found


def test_a_caller_who_may_see_all_sees_all(filled: Memory, tmp_path: Path) -> None:
    """So that the next test can fail."""
    catalog = Catalog(tmp_path / ".graphmem/local/catalog.sqlite")
    found = reads(catalog)
    assert SECRET in repr(found)
    assert all(found.values())
    catalog.close()


def test_a_caller_who_may_see_patterns_gets_nothing_of_failures_from_any_read(filled: Memory, tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / ".graphmem/local/catalog.sqlite", visible={"pattern"})
    found = reads(catalog)
    hidden = {row_id(ref) for kind, ref in catalog_keys(catalog.path) if kind == "failure"}
    assert [name for name, value in found.items() if SECRET in repr(value)] == []
    assert "failure" not in repr({name: value for name, value in found.items() if name != "rows"})
    assert not any(str(number) in repr(found) for number in hidden)
    assert set(found["records"].values()) == {"pattern/open", "pattern/retry"}  # type: ignore[attr-defined]
    assert found["counts"] == [{"pattern": 2}, {"variant": 1}, (2, 1), 1]
    catalog.close()


def hide(memory: Memory, text: str) -> None:
    """Add records that a caller who may see patterns may not see, most of them with a text, and reports on them."""
    texts = [text] * 40 + [f"nothing of note {number} " * number for number in range(1, 40)]
    rows = [{"kind": "failure", "name": f"hidden-{number}", "trigger": one} for number, one in enumerate(texts)]
    memory.add_rows([json.dumps(row).encode() for row in rows], dedup=False)
    for number, question in enumerate(("retries the payment", "the payment is retried", "zorblatt vexwick")):
        memory.feedback(f"failure/hidden-{number}", helped=True, question=question)


def rounded(hit: Hit) -> tuple[object, ...]:
    """Return the scores of a hit; what a model makes of a text differs a little with those that it is embedded with."""
    return round(hit.score, 4), *(
        round(value, 4) for value in hit.factors.model_dump(exclude={"reranked", "moved"}).values()
    )


INSIGHTS = ("zorblatt ipsum", "vexwick ipsum", "retries the payment", "zorblatt " * 9)


@pytest.mark.parametrize("by_meaning", [False, True])
@pytest.mark.parametrize(
    "hidden", ["zorblatt", "zorblatt retries the payment", "retries a zorblattPayment of zorblatt"]
)
def test_no_score_follows_from_the_words_of_what_a_caller_may_not_see(
    tmp_path: Path, hidden: str, by_meaning: bool, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By how many have a word or a pair, how often, how long they are; alone and beside other words."""
    monkeypatch.setattr(vectors, "SKETCH_ROWS", 20)  # as if there were many
    reader = Caller(sees=frozenset({"pattern"}), writes=frozenset())
    answers = []
    for folder in ("without", "with"):
        with open_memory(tmp_path / folder, embedder=embedder if by_meaning else None) as memory:
            for number, insight in enumerate(
                ("zorblatt ipsum", "vexwick ipsum", "retries the payment", "zorblatt " * 9)
            ):
                memory.patterns.add(f"ipsum {number}", insight + " and more" * number, name=f"p{number}", dedup=False)
            for number in range(8):
                memory.patterns.add(f"another payment {number}", f"calm {number}", name=f"q{number}", dedup=False)
            for question, helps in (("why is the payment retried", "p2"), ("how are payments retried", "p2")):
                memory.feedback(f"pattern/{helps}", helped=True, question=question)
            if folder == "with":
                hide(memory, hidden)
            texts = ("zorblatt vexwick", "vexwick zorblatt ipsum", "zorblatt retries", "retries the payment", "payment",
                     f"Zorblatt is the title\n{'the payment of vexwick ' * 10}")  # fmt: skip
            asked = [{"text": text, "limit": limit, **more}
                     for text in texts for limit in (1, 5) for more in ({}, {"kinds": ["pattern"]})]  # fmt: skip
            found = [dispatch.call(memory.store.runtime, reader, "query", one) for one in asked]
            answers.append([[(hit.ref, *rounded(hit)) for hit in one.results] for one in found])
    assert answers[0] == answers[1]
    assert all(answers[0])
