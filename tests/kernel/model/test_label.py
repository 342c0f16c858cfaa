"""By which words of an objective records are found, whatever their texts say."""

from datetime import UTC, datetime

import pytest

from graphmem.kernel.model import Campaign, Failure
from graphmem.kernel.model.label import folded, labels_of, paths, words


@pytest.mark.parametrize(
    ("tag", "expected"), [("v0.19", "0.19"), (" V2 ", "2"), ("vendor", "vendor"), ("Auth", "auth"), ("0.19", "0.19")]
)
def test_neither_case_nor_the_v_of_a_release_tells_tags_apart(tag: str, expected: str) -> None:
    assert folded(tag) == expected


def test_words_are_without_what_a_sentence_puts_around_them() -> None:
    assert words("Why is (v2.3), `auth` and .env broken?! See 0.19.") == {
        "Why", "is", "v2.3", "auth", "and", ".env", "broken", "See", "0.19",
    }  # fmt: skip
    assert words("... ! ::") == set()


def test_paths_are_from_the_root_and_without_lines_and_symbols() -> None:
    text = "./src/a.py:12 src/b.py::test /home/me/shop/src/c.py /etc/passwd ../up https://x.org/y docs/ #3"
    assert paths(text, "/home/me/shop") == {"src/a.py", "src/b.py", "src/c.py", "https", "docs/"}


def test_labels_of_a_memory_are_its_tags_and_the_files_that_it_lists_or_cites() -> None:
    fields = {"tags": ["V2"], "files": ["./src/a.py"], "cites": ["src/b.py:f", "../no.py"]}
    row = {"kind": "failure", "name": "a", "trigger": "boom", "created_at": datetime(2026, 11, 1, tzinfo=UTC)}
    record = Failure.model_validate({**row, **fields})
    assert set(labels_of(record)) == {("tag", "2"), ("file", "src/a.py"), ("cite", "src/b.py")}
    assert list(labels_of(Failure.model_validate({**row, "framework": "FastHTML"}))) == [("framework", "fasthtml")]
    assert ("pin", "pinned") in labels_of(Failure.model_validate({**row, "pinned": True}))
    plan = {**row, "kind": "campaign", "objective": "move", "tags": ["V2"]}
    del plan["trigger"]
    assert list(labels_of(Campaign.model_validate(plan))) == []  # a block shows it for its objective alone
