"""What Kingfisher finds beside graphmem's own rules, where the extra ``graphmem[secrets]`` is installed."""

from pathlib import Path
from typing import Any

import pytest

from graphmem import BadInput
from graphmem.core.records import kingfisher
from graphmem.core.records.secrets import redacted, secrets_in
from tests.sample import data, failure, open_memory
from tests.secret_samples import LOWER_HEX, Maker

pytest.importorskip("kingfisher_sdk", reason="pip install 'graphmem[secrets]'")

SECRET = f"{'rubygems'}_{Maker(1).text(LOWER_HEX, 48)}"  # which graphmem's own rules do not know
PHRASE = f"gem push fails für {SECRET}"


def test_a_secret_that_only_kingfisher_knows_is_refused_in_bulk_by_its_line(tmp_path: Path) -> None:
    assert secrets_in(PHRASE) == []
    with open_memory(tmp_path) as memory:
        with pytest.raises(BadInput) as refused:
            memory.add_rows([failure("fine"), failure("b", fix=PHRASE)])
        found: Any = refused.value.details["findings"]
        assert [(one["line"], one["code"]) for one in found] == [(2, "secret")]
        assert SECRET not in refused.value.message


def test_validate_reports_what_kingfisher_knows(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("the push fails", fix=PHRASE)
        assert [(found.code, found.line) for found in memory.store.validate().findings] == [("secret", 1)]
        assert SECRET in data(tmp_path, "failure").read_text()


def test_what_kingfisher_finds_is_redacted_and_its_placeholders_are_not() -> None:
    assert redacted(PHRASE, kingfisher.find).startswith("gem push fails für [redacted:")
    assert kingfisher.find("clone https://foo:foobar@example.org/x") == []
