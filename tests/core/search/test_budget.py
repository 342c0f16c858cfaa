"""The context block: within its budget, the most valuable first, and no text of the store outside of its quote."""

from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.search.budget import PREFACE, BlockEntry, block, entry_text, fitting, tokens, track_record

ENTRIES = st.lists(
    st.builds(
        BlockEntry,
        section=st.sampled_from(["Failures", "Patterns"]),
        text=st.integers(1, 400).map(lambda size: "x" * size),
        worth=st.tuples(st.integers(0, 4).map(float), st.floats(0, 1)),
    ),
    max_size=8,
).map(lambda entries: sorted(entries, key=lambda entry: entry.section))


@given(ENTRIES, st.integers(1, 600))
def test_a_block_is_within_its_budget_and_leaves_out_only_what_did_not_fit(
    entries: list[BlockEntry], budget: int
) -> None:
    kept = fitting(entries, budget)
    text = block([entries[place] for place in sorted(kept)], budget)
    assert tokens(text) <= budget or text == ""
    for place, entry in enumerate(entries):
        assert (entry.text in text) or place not in kept
        if place not in kept:  # with all that is worth more there was no room for it
            better = [n for n in kept if entries[n].worth >= entry.worth]
            room = block([entries[n] for n in sorted([*better, place])], budget)
            assert tokens(room) + len(entries) + 2 > budget


@given(st.text(), st.text(), st.text())
def test_no_text_of_the_store_stands_outside_of_its_quote(name: str, trigger: str, fix: str) -> None:
    text = entry_text(f"service/{name}", ["critical"], [("when", trigger), ("fix", fix)])
    first, *rest = text.split("\n") if "\n" not in name else [text.split("\n  > ")[0], *text.split("\n")[-1:]]
    assert first.startswith("- `service/")
    assert all(line.startswith("  > ") for line in rest)
    assert all(char.isprintable() or char == "\n" or char > "\x9f" for char in text)


def test_nothing_gives_an_empty_block() -> None:
    assert block([], 100) == ""
    assert fitting([], 100) == set()
    assert PREFACE.startswith("# ")


def test_a_track_record_is_one_clause() -> None:
    assert [track_record(*reports) for reports in ((3, 1), (0, 2), (0, 0))] == [
        "helped 3 of 4", "helped 0 of 2", "never reported on",
    ]  # fmt: skip
