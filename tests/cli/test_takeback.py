"""What ``supersede``, ``purge`` and ``undo`` print."""

import json

from tests.cli.test_answers import Done, Graphmem, graphmem, known

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
    assert "git filter-repo --invert-paths --path-glob '*.graphmem/data/failure.ndjson'" in done.out
    assert known("purge", "--archived", "--yes") == Done(0, "", "graphmem: nothing to purge\n")
    assert known("purge").status == 2


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
    assert known("list") == Done(0, "", "graphmem: no records yet\n")
    assert known("undo", "--list") == Done(0, "", "graphmem: nothing to undo\n")
