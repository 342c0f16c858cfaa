"""The schemas that the program prints, which need no store."""

import json
from pathlib import Path

import pytest

from graphmem.doors.cli.app import run
from graphmem.kernel.registry import OPERATIONS


@pytest.mark.parametrize(("of", "name"), [("records", "failure"), ("requests", "failures.add"), ("answers", "query")])
def test_schema_prints_an_entry_for_each_kind_or_operation_where_no_store_is(
    of: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["schema", of]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert name in printed["$defs"]
    assert run(["schema", of, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"document": printed}
    assert list(tmp_path.iterdir()) == []


def test_the_schema_of_answers_has_every_operation_and_resolves_every_name() -> None:
    document = OPERATIONS["schema"].function(OPERATIONS["schema"].request.model_validate({"of": "answers"})).document
    assert OPERATIONS.keys() <= document["$defs"].keys()
    named = {part.partition('"')[0] for part in json.dumps(document).split('"#/$defs/')[1:]}
    assert named <= document["$defs"].keys()
