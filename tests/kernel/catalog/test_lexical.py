"""Words, identifiers and their parts are found; what very many records hold does not make a query slow."""

import pytest

from graphmem import Memory
from graphmem.kernel.catalog import words
from graphmem.kernel.catalog.words import affordable, analyse, integers, signs, title_of


def test_the_parts_of_identifiers_are_found() -> None:
    assert analyse("UniqueViolation in utf8 of HTTPServer, Plain WORD a") == (
        ["uniqueviolation", "in", "utf8", "of", "httpserver", "plain", "word", "a"],
        [],
        ["unique", "violation", "utf", "8", "http", "server"],
    )
    assert analyse("a" * 70 + "B")[2] == ["a" * 70, "b"]


def test_operators_and_quoted_keywords_are_tokens() -> None:
    assert signs("def f(a, **kw, /): x*y, a&b && c; i%2==0 -> d => 'and', `Or` \"is\" 'word'") == [
        *"** / * & && % == -> =>".split(),
        *("`and`", "`or`", "`is`"),
    ]
    assert signs("a well-known --flag of src/a.py - a bullet! -, and don't\n------\n=====-") == []


BODY = "\nI did what the page says, on two machines, and again after a restart.\n" * 5


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"\nSetting is ignored{BODY}", "Setting is ignored"),
        ("Setting is ignored\non two machines", ""),  # short
        (BODY.replace("\n", " "), ""),  # one line
        (f"{BODY.replace(chr(10), ' ')}{BODY}", ""),  # the first line is a paragraph
        (f"Traceback (most recent call last):{BODY}", ""),
        (f"$ make install{BODY}", ""),
        (f"2026-11-23 09:00:00 worker started{BODY}", ""),
        (" " * 300, ""),
    ],
)
def test_the_first_line_of_a_long_text_is_its_title_unless_it_introduces_or_is_a_command(text: str, title: str) -> None:
    assert title_of(text) == title


def test_of_very_common_words_the_rarest_are_looked_up(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(30):
        memory.failures.add(f"the worker failed in stage {n}", name=f"f{n}", dedup=False)
    memory.failures.add("the zebra failed", name="zebra")
    index = memory.store.client.lexical
    assert len(memory.query("zebra worker failed", limit=50).results) == 31
    monkeypatch.setattr(words, "LEXICAL_POSTINGS", 5)
    assert len(memory.query("zebra worker failed", limit=50).results) == 31  # a small store: nothing is left out
    monkeypatch.setattr(words, "LARGE_INDEX", 31)
    assert [hit.ref for hit in memory.query("zebra worker failed").results] == ["failure/zebra"]
    assert len(memory.query("worker failed", limit=50).results) == 30  # the rarest is looked up whatever it costs
    assert affordable({"zebra": 1, "worker": 30, "failed": 31}, ["worker failed"], index.total) == ["zebra"]


def test_a_word_that_half_of_the_records_hold_changes_no_order_and_finds_where_nothing_rarer_does(
    memory: Memory,
) -> None:
    for n in range(12):
        memory.failures.add(f"the worker failed in stage {n}" + " of zebra" * (n < 3), name=f"f{n}", dedup=False)
    with_common = memory.query("worker failed zebra", limit=12).results
    assert [hit.ref for hit in with_common[:3]] == [hit.ref for hit in memory.query("zebra", limit=3).results]
    assert len(with_common) == 12  # those that hold the common words only follow
    index = memory.store.client.lexical
    assert len(index.search("worker failed zebra", None, 3)) == 3
    assert len(index.search("worker failed zebra", None, 4)) == 4
    assert len(index.search("worker failed", None, 12)) == 12


def test_an_archived_record_is_not_found(memory: Memory) -> None:
    memory.failures.add("the zebra failed", name="zebra")
    assert memory.query("zebra").results
    memory.forget("failure/zebra")
    assert not memory.query("zebra").results
    assert not memory.query("failure/zebra").results
    memory.restore("failure/zebra")
    assert memory.query("zebra").results


def test_what_is_found_in_a_long_text_counts_for_less(memory: Memory) -> None:
    """A long answer holds most words of any question about its subject; the short message that says it is meant."""
    memory.failures.add("Alexis and I agreed on a dining budget of 200 dollars", name="said")
    advice = "Write it down, and see where the rest went. " * 60
    memory.failures.add(
        f"A dining budget starts with what you spent each month. {advice} Alexis may agree.", name="advice"
    )
    for n in range(8):
        log = f"the worker failed in stage {n}. " + "Look at its log, and start it again. " * 80
        memory.failures.add(log, name=f"f{n}", dedup=False)
    found = memory.query("Which dining budget did Alexis agree on for each month?").results
    assert [hit.ref for hit in found] == ["failure/said", "failure/advice"]


@pytest.mark.parametrize("count", [1, 127, 128, 300, 8_000])
def test_the_index_knows_how_many_words_a_record_has(memory: Memory, count: int) -> None:
    memory.failures.add("w " * count, name="counted")
    index = memory.store.client.lexical
    index.catch_up()
    (number,) = index.search("w", None, 1)
    assert index.lengths([number]) == {number: count}
    assert integers(b"\x81\x80\x00\x05") == [2**14, 5]  # more than one record may hold
