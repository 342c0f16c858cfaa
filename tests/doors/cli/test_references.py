"""What an answer shows as a reference, each command takes."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from graphmem import Memory
from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture

PLAN = [{"seq": 1, "objective": "Write the parser"}, {"seq": 2, "objective": "Test completion", "depends": [1]}]
LISTS = [
    ("list",), ("list", "task"), ("campaign", "status", "groups"), ("campaign", "ready", "groups"), ("status",),
    ("query", "parser"), ("related", "groups/2"), ("path", "groups/1", "groups/2"), ("inbox", "list"),
    ("event", "list"), ("undo", "--list"), ("context", "write the parser"), ("prime",), ("stats",),
    ("solutions", "broken-parser"),
    ("session",), ("why", "broken-parser"), ("task", "show", "groups/002"), ("match", "log.txt"), ("similar", "groups"),
    ("task", "start", "groups/1"), ("task", "complete", "groups/1"), ("task", "start", "groups/002"),
    ("task", "block", "groups/2", "--reason", "ParserError: unexpected token"), ("campaign", "learn", "groups"),
]  # fmt: skip
TAKE = ["get", "related", "why", "history"]
REFERENCE = re.compile(
    r"\b(?:failure|pattern|lesson|task|campaign|session|event|decision|experience|insight|service)/[\w./:-]*\w"
)


@pytest.fixture
def filled(graphmem: Graphmem) -> Graphmem:  # noqa: F811
    """A project with records, a campaign, events and something in the inbox."""
    subprocess.run(["git", "init", "-q"], check=True)
    with Memory(Path()) as memory:
        memory.types.add_entity("service")
        memory.entities.add("service", "shop/checkout")
        memory.failures.add("ParserError: unexpected token in the groups", name="broken-parser", fix="quote the token")
        memory.failures.add("ParserError: unexpected end of input")
        memory.patterns.add("A parser meets a token that it does not know", "Quote it", name="quote-it")
        memory.relations.link("quote-it", "solves", "broken-parser")
        memory.lessons.add("Parse before you print")
        memory.campaigns.create("Group commands in the help", name="groups")
        memory.campaigns.add_tasks("groups", PLAN)
        memory.inbox.add("look at the lexer")
    Path("log.txt").write_text("ParserError: unexpected token in the groups\n")
    return graphmem


def test_each_reference_that_is_shown_is_taken_by_each_command(filled: Graphmem) -> None:
    shown = set[str]()
    for line in LISTS:
        done = filled(*line)
        assert done.status == 0, (line, done.err)
        shown |= set(REFERENCE.findall(done.out + done.err))
    assert {ref.partition("/")[0] for ref in shown} >= {"failure", "pattern", "task", "campaign", "event", "service"}
    for ref in sorted(shown):
        for command in TAKE:
            done = filled(command, ref)
            assert done.status == 0, (command, ref, done.err)


def test_what_a_person_says_of_a_task_or_an_event_is_taken_by_each_command(filled: Graphmem) -> None:
    task, event = "task/groups/002-test-completion", filled("inbox", "list").out.split()[0]
    filled("campaign", "create", "Another", "--name", "g2")
    for said in ("groups/2", "groups/002", "task/groups/2", "campaign/groups/2", "test-completion"):
        for command in TAKE:
            done = filled(command, said)
            assert done.status == 0, (command, said, done.err)
        assert filled("get", said).out.splitlines()[0] == task
    assert filled("get", event).out.startswith(f"event/{event}")
    assert filled("query", event).status == filled("context", event).status == 0  # what happened is no answer
    assert filled("rename", "campaign/groups", "help-groups").status == 0
    for said in ("groups/2", "help-groups/2"):
        assert filled("get", said).out.splitlines()[0] == "task/help-groups/002-test-completion"
    for said in ("groups/9", "nothing/2", "/2", "groups/", "groups/²", f"groups/{'2' * 5_000}", event[:4]):
        assert filled("get", said).status == 1, said


def test_a_number_that_two_tasks_have_since_a_merge_is_refused_with_both(filled: Graphmem) -> None:
    rows = [json.loads(line) for line in Path(".graphmem/data/task.ndjson").read_text().splitlines()]
    twin = {**next(row for row in rows if row["name"].endswith("002-test-completion"))}
    twin["name"], twin["key"] = twin["name"].replace("test", "try"), twin["key"].replace("test", "try")
    Path("twin.ndjson").write_text(json.dumps(twin) + "\n")
    assert filled("add", "--ndjson", "twin.ndjson").status == 0
    done = filled("get", "groups/2")
    assert (done.status, "ambiguous" in done.err) == (1, True)
    assert "002-test-completion" in done.err and "002-try-completion" in done.err
