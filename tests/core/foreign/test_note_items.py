"""What notes for agents say: rules, decisions with their reasons, what to do when; and what says nothing."""

import json
from pathlib import Path

import pytest

from graphmem.core.foreign.note_items import MOST_ITEMS, NoteItem, adr_of, items_of, memory_of, noted
from graphmem.kernel.settings.instructions import INSTRUCTIONS, MARKDOWN_MARKS, RULES_MARKS


def said(text: str) -> list[tuple[str, str, str]]:
    return [(item.kind, item.text, item.more) for item in items_of(text)]


@pytest.mark.parametrize(
    ("line", "kind", "text", "more"),
    [
        ("- **Never** commit to `main`, for it is released from", "constraint",
         "Never commit to `main`, for it is released from", ""),
        ("1. Use [tabs](style.md), not spaces, in Makefiles", "constraint", "Use tabs, not spaces, in Makefiles", ""),
        ("* Naming: use nouns for modules and verbs for functions", "constraint",
         "Naming: use nouns for modules and verbs for functions", ""),
        ("- `src/old/`: do not touch what is in it", "constraint", "`src/old/`: do not touch what is in it", ""),
        ("- When a migration fails, run `make reset-db` first", "pattern",
         "When a migration fails", "run `make reset-db` first"),
        ("- To run one test: `pytest -k name`", "pattern", "To run one test", "`pytest -k name`"),
        ("- We chose SQLite because it needs no server", "decision", "We chose SQLite", "it needs no server"),
        ("- It was decided to keep one queue for all", "decision", "It was decided to keep one queue for all", ""),
        ("The cache is shared. Never write to it from a test! It is slow.", "constraint",
         "Never write to it from a test!", ""),
    ],
)  # fmt: skip
def test_a_note_says_one_thing(line: str, kind: str, text: str, more: str) -> None:
    assert said(line) == [(kind, text, more)]


@pytest.mark.parametrize(
    "line",
    [
        "# Never do this", "- [Style guide](style.md) for all", "- `src/app/`: the application and its settings",
        "- See CONTRIBUTING.md, which you must read", "- [ ] Run all of the tests", "- Do you always run tests?",
        "- Rules that must be kept:", "- Python 3.11", "The project has a server and a client.", "| never | do this |",
        "- For local servers, `Manager`, `Queue` and the cache", "- For tools (for example a, b), a list of names",
        "```\n- never run this\n```", "<!-- never -->\n<!--\n- never run this\n-->", "@AGENTS.md",
        "---\nx: never do it\n---",
        "Must it always be so?",
    ],
)  # fmt: skip
def test_what_is_no_rule_says_nothing(line: str) -> None:
    assert said(line) == []


def test_a_short_rule_is_read_with_its_heading_and_items_below_one_with_its_beginning() -> None:
    text = (
        "# Guide\n## Tests\n- Use fixtures, not mocks\n## Style\n- Names. Long ones:\n  - Avoid them in loops\n\nNo.\n"
    )
    found = list(items_of(text))
    assert [(item.heading, item.text, item.line) for item in found] == [
        ("Tests", "Tests: Use fixtures, not mocks", 3),
        ("Style / Names", "Names: Avoid them in loops", 6),
    ]


def test_below_a_heading_of_troubles_an_item_says_what_to_do_about_one() -> None:
    text = "## Common pitfalls\n- Port 5432 in use: another database is running\n  on this machine\n\n> not a rule\n"
    assert said(text) == [("pattern", "Port 5432 in use", "another database is running on this machine")]


@pytest.mark.parametrize(("begin", "end"), [MARKDOWN_MARKS, RULES_MARKS])
def test_what_graphmem_wrote_is_left_out(begin: str, end: str) -> None:
    assert said(f"{begin}\n{INSTRUCTIONS}\n{end}\n- Never use pip") == [("constraint", "Never use pip", "")]


def test_no_more_than_so_many_items_are_read() -> None:
    assert len(said("- Never use pip here\n" * (MOST_ITEMS + 9))) == MOST_ITEMS


def test_a_line_made_to_be_long_is_cut() -> None:
    (item,) = said("- Never use " + "x" * 50_000 + "\n")
    assert len(item[1]) <= 600


def test_a_later_version_of_an_item_is_the_same_candidate() -> None:
    first = noted(NoteItem("Tests", 3, "constraint", "Never run more than one test at a time"), "AGENTS.md")
    later = noted(NoteItem("Tests", 9, "constraint", "Never run more than one test on CI, for it is slow"), "AGENTS.md")
    other = noted(NoteItem("Tests", 3, "constraint", "Never run more than one test at a time"), "CLAUDE.md")
    assert first.id == later.id != other.id
    assert later.other[0]["sources"] == ["notes:AGENTS.md:9"]
    pattern = noted(NoteItem("", 1, "pattern", "when", "do", files=("a.py",)), "x.md")
    assert pattern.other[0]["files"] == ["a.py"]


ADR = "# ADR 7: Use SQLite\n\n{status}\n\n## Context\n\nA server is too much.\n\n## Decision\n\nOne **file**.\n"


@pytest.mark.parametrize("status", ["Status: accepted", "## Status\n\nAccepted", ""])
def test_a_decision_record_is_a_decision_with_its_reasons(status: str) -> None:
    item = adr_of(ADR.format(status=status), {})
    assert item is not None
    assert (item.kind, item.text, item.more) == ("decision", "Use SQLite", "One file.\n\nA server is too much.")


@pytest.mark.parametrize("status", ["* Status: superseded by 9", "## Status\n\nRejected", "**Status:** proposed"])
def test_a_decision_that_is_not_followed_is_left_out(status: str) -> None:
    assert adr_of(ADR.format(status=status), {}) is None


def test_a_decision_record_has_its_title_and_status_in_front_matter_too() -> None:
    text = "# \n## Decision Outcome\n\nOne file."
    found = adr_of(text, {"title": "12. Use SQLite"})
    assert found is not None
    assert found.text == "Use SQLite"
    assert adr_of(text, {"title": "Use SQLite", "status": "deprecated"}) is None
    assert adr_of(text, {}) is None
    assert adr_of("# Use SQLite\n\nIt is there.", {}) is None


def test_a_memory_of_claude_is_a_constraint_or_a_decision_by_its_type() -> None:
    text = "---\nname: x\n---\n# Title\n\nUse real databases in tests.\n\n**Why:** mocks hid a bug.\n"
    rule = memory_of(text, {"type": "feedback"})
    assert rule == NoteItem("", 6, "constraint", "Use real databases in tests.", "Why: mocks hid a bug.")
    fact = memory_of(text, {"metadata": {"type": "project"}})
    assert fact is not None
    assert fact.fields == {
        "kind": "decision", "decision": "Use real databases in tests.", "reasoning": "Why: mocks hid a bug.",
    }  # fmt: skip
    assert memory_of(text, {"type": "user"}) is None
    assert memory_of("# Title\n", {"type": "feedback"}) is None


def test_an_indented_paragraph_is_read_too() -> None:
    assert said("\n\n  Never write to the cache from a test") == [
        ("constraint", "Never write to the cache from a test", "")
    ]


def test_of_100_items_of_public_projects_96_are_right() -> None:
    folder = Path(__file__).parents[2] / "data/notes"
    labels = json.loads((folder / "labels.json").read_text("utf-8"))
    found = [(name, item.line) for name in labels for item in items_of((folder / name).read_text("utf-8"))]
    wrong = [(name, line) for name, line in found if line in labels[name]]
    assert (len(found), len(wrong)) == (100, 4)
