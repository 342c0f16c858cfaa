"""The measures of a block are what their names say."""

from tests.bench.context import Piece, case, measured, table

GOLD, KINDS = {"a", "b"}, {"failure"}


def test_a_block_is_measured_by_its_records_and_by_its_tokens() -> None:
    pieces = [Piece({"x"}, "failure", 30), Piece({"a"}, "failure", 60), Piece({"y", "b"}, "pattern", 10)]
    found = measured([case("set", "answerable", "context", pieces, GOLD, KINDS)])
    assert (found["recall"], found["gold first"], found["records"], found["tokens"]) == (1, 0, 3, 100)
    assert (found["gold of records"], found["gold of tokens"], found["kind of records"]) == (2 / 3, 0.7, 2 / 3)


def test_what_is_given_without_an_answer_is_measured_apart() -> None:
    cases = [
        case("set", sort, way, pieces, set(), set())
        for way, pieces in (("context", [Piece({"x"}, "failure", 30)]), ("context", []), ("query", []))
        for sort in ("taken out", "other field")
    ]  # fmt: skip
    found = measured([one for one in cases if one.way == "context"])
    assert [found[f"tokens, {sort}"] for sort in ("taken out", "other field")] == [15, 15]
    assert [found[f"empty, {sort}"] for sort in ("taken out", "other field")] == [0.5, 0.5]
    assert "| mean | context |" in table(cases) and "| set | query |" in table(cases)
