"""What commands print, exactly: standard output, standard error and exit status."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

import pytest

from graphmem.core.evidence.score import BANDS
from graphmem.core.records.text import NO_RECORDS
from graphmem.doors.cli.app import run


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    out: str
    err: str


Graphmem = Callable[..., Done]


@pytest.fixture
def graphmem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Graphmem:
    """The command line in a folder with a new store, without a model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")

    def call(*arguments: str) -> Done:
        status = run(arguments)
        out, err = capsys.readouterr()
        return Done(status, out, err)

    assert call("init").status == 0
    return call


@pytest.fixture
def known(graphmem: Graphmem) -> Graphmem:
    """The same with two failures and a pattern, linked."""
    graphmem(
        "add",
        "failure",
        "--name",
        "no-yaml",
        "--trigger",
        "ImportError: yaml",
        "--fix",
        "pip install pyyaml",
        "--cost",
        "3",
    )
    graphmem("add", "failure", "--name", "app-down", "--trigger", "The application does not start")
    graphmem("add", "pattern", "--name", "lock", "--trigger", "A dependency vanished", "--insight", "Lock it")
    graphmem("link", "lock", "solves", "no-yaml", "--note", "since May")
    graphmem("link", "no-yaml", "causes", "app-down")
    return graphmem


def test_add_says_what_it_did(graphmem: Graphmem) -> None:
    assert graphmem("add", "failure", "--trigger", "It hangs, line 3") == Done(
        0, "created failure/it-hangs-line-3\n", ""
    )
    assert (
        graphmem("add", "failure", "--trigger", "It hangs, line 7", "--name", "again").out
        == "merged into failure/it-hangs-line-3 (the same error signature)\n    trigger set aside: It hangs, line 7\n"
    )
    assert (
        graphmem("add", "failure", "--trigger", "Out of memory", "--dry-run").out
        == "would be created failure/out-of-memory\n"
    )
    assert graphmem("list").out == "failure/it-hangs-line-3  It hangs, line 3\n"


def test_get_shows_fields_with_a_value_and_edges(known: Graphmem) -> None:
    done = known("get", "no-yaml")
    lines = [line for line in done.out.splitlines() if "_at:" not in line]
    assert lines == [
        "failure/no-yaml",
        "  trigger:        ImportError: yaml",
        "  fix:            pip install pyyaml",
        "  cost:           3",
        "  failure/no-yaml -causes 1-> failure/app-down",
        "  pattern/lock -solves 1.5-> failure/no-yaml  # since May",
    ]


def test_related_is_a_tree_with_the_products_of_the_weights(known: Graphmem) -> None:
    assert known("related", "app-down").out == (
        "failure/app-down\n"
        "└── <-causes 1- failure/no-yaml  = 1  ImportError: yaml\n"
        "    └── <-solves 1.5- pattern/lock  = 1.5  A dependency vanished\n"
    )
    assert known("related", "app-down", "--direction", "out") == Done(
        0, "failure/app-down\n", "graphmem: nothing is within reach\n"
    )


def test_solutions_name_the_way_they_came_by(known: Graphmem) -> None:
    assert known("solutions", "no-yaml").out == (
        "fix: pip install pyyaml\npattern/lock  [0.750]\n    A dependency vanished\n    do: Lock it\n"
    )
    assert (
        known("solutions", "app-down").out.splitlines()[0]
        == "pattern/lock  [0.750]  by way of failure/no-yaml (causes)"
    )


def test_path_ends_with_status_1_where_there_is_none(known: Graphmem) -> None:
    assert known("path", "app-down", "lock").out == (
        "strength 1.5, 2 hops\n"
        "  failure/no-yaml -causes 1-> failure/app-down\n"
        "  pattern/lock -solves 1.5-> failure/no-yaml  # since May\n"
    )
    known("add", "failure", "--name", "alone", "--trigger", "Nothing to do with it")
    done = known("path", "app-down", "alone")
    assert done == Done(1, "", "graphmem: failure/app-down and failure/alone are not connected within 6 hops\n")
    assert json.loads(known("path", "app-down", "alone", "--json").out)["strength"] == 0


def test_an_empty_answer_is_no_output_and_no_error(graphmem: Graphmem) -> None:
    assert graphmem("list") == Done(
        0, "", "graphmem: no records yet; to begin with what the project knows: graphmem import --all\n"
    )
    assert graphmem("query", "anything") == Done(0, "", f"graphmem: {NO_RECORDS}\n")
    assert json.loads(graphmem("list", "--json").out) == {"results": [], "total": 0}


def test_a_query_says_first_whether_anything_is_known(known: Graphmem, monkeypatch: pytest.MonkeyPatch) -> None:
    assert known("query", "ImportError: yaml").out.startswith("failure/no-yaml\n")
    foreign = ("query", "is there yaml on one of the two moons of Mars", "--kind", "failure")
    shown = known(*foreign).out
    first, _, rest = shown.partition("\n")
    assert (first, rest[:15]) == ("nothing known for this; the nearest:", "failure/no-yaml")
    answer = json.loads(known(*foreign, "--json").out)
    assert (answer["known"], answer["certainty"], 0 < answer["probability"] < 0.08) == (False, "none", True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert known(*foreign).out == f"{first}\n\x1b[2m{rest.rstrip()}\x1b[0m\n"  # dimmed
    monkeypatch.setenv("GRAPHMEM_RETRIEVAL_UNSURE", "0")
    why = "they have little in common"
    assert known(*foreign).out == shown.replace(first, f"unsure whether this is known ({why}); the nearest:")


def test_an_answer_that_is_none_or_unsure_shows_three_unless_asked_for_more(graphmem: Graphmem) -> None:
    for number in range(5):
        said = f"The nightly build of service {number} stops without its own cache"
        graphmem("add", "failure", "--trigger", said, "--fix", "give it one", "--no-dedup")
    done = graphmem("query", "why does the nightly build stop on mondays")
    assert len([line for line in done.out.splitlines() if line.startswith("failure/")]) == 3
    more = 'graphmem query "why does the nightly build stop on mondays" --limit 5'
    assert done.err.replace("'", '"') == f"graphmem: 2 more: {more}\n"
    again = graphmem("query", "why does the nightly build stop on mondays", "--limit", "5")
    assert len([line for line in again.out.splitlines() if line.startswith("failure/")]) == 5
    assert len(json.loads(graphmem("query", "the nightly build", "--json").out)["results"]) == 5


@pytest.mark.long
def test_rows_of_cypher_come_clean_for_other_programs(known: Graphmem) -> None:
    query = "MATCH (f:Failure) RETURN f.name AS name, f.cost AS cost ORDER BY name"
    formulas = "UNWIND ['=1+1', '+1', '-x', '@x', 'a=b', \"'q\"] AS text RETURN text, -1.5 AS number"
    cells = known("cypher", formulas, "--format", "csv").out.splitlines()
    assert cells == ["text,number", "'=1+1,-1.5", "'+1,-1.5", "'-x,-1.5", "'@x,-1.5", "a=b,-1.5", "'q,-1.5"]
    assert known("cypher", query, "--format", "csv") == Done(0, "name,cost\napp-down,\nno-yaml,3.0\n", "")
    assert known("cypher", query, "--format", "ndjson", "--limit", "1") == Done(
        0, '{"name":"app-down","cost":null}\n', "graphmem: more rows than 1; raise --limit\n"
    )
    assert known("cypher", query).out == "name      cost\napp-down\nno-yaml   3.0\n"
    assert json.loads(known("cypher", query, "--format", "json").out)["rows"] == [["app-down", None], ["no-yaml", 3.0]]


def test_records_are_listed_as_rows_for_other_programs(known: Graphmem) -> None:
    assert known("add", "failure", "--name", "hidden", "--trigger", "=1|2 `x` \u202e", "--tag", "a").status == 0
    lines = known("list", "failure", "--format", "csv").out.splitlines()
    assert lines[0].startswith("ref,kind,created_at,") and "match" not in lines[0].split(",")
    assert len(lines) == 4 and "'=1|2 `x` \\u202e" in lines[2]
    rows = [json.loads(line) for line in known("list", "failure", "--format", "ndjson").out.splitlines()]
    assert [(row["ref"], row["cost"]) for row in rows] == [
        ("failure/app-down", None), ("failure/hidden", None), ("failure/no-yaml", 3.0)
    ]  # fmt: skip
    table = known("list", "failure", "--tag", "a", "--format", "markdown").out.splitlines()
    assert table[0].startswith("| ref | kind |") and table[1].startswith("| --- | --- |")
    assert "``=1\\|2 `x` \\u202e``" in table[2]
    assert known("list", "lesson", "--format", "csv").out == ""
    query = "MATCH (f:Failure {name: 'no-yaml'}) RETURN f.name AS name, f.cost AS cost"
    assert (
        known("cypher", query, "--format", "markdown").out == "| name | cost |\n| --- | --- |\n| `no-yaml` | `3.0` |\n"
    )


def test_control_characters_are_escaped_for_people_and_for_programs(graphmem: Graphmem) -> None:
    graphmem("add", "failure", "--name", "loud", "--trigger", "\x1b]0;red\x07 \u202e \x9b1m")
    assert graphmem("list").out == "failure/loud  \\x1b]0;red\\x07 \\u202e \\x9b1m\n"
    printed = graphmem("get", "loud", "--json").out
    assert not set(printed) & set("\x1b\x07\u202e\x9b")
    assert json.loads(printed)["record"]["trigger"] == "\x1b]0;red\x07 \u202e \x9b1m"
    assert "\\x1b" in graphmem("get", "\x1b[2J").err


def test_options_of_all_stand_before_or_after_the_verb(
    known: Graphmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    there = str(tmp_path)
    before, after = known("--dir", there, "--json", "list"), known("list", "--json", "--dir", there)
    assert before.out == after.out != ""
    assert known("--json", "--dir", there, "add", "failure", "--trigger", "x").status == 0
    assert json.loads(known("add", "--dir", there, "failure", "--trigger", "y", "--json").out)["action"] == "created"


def test_a_plan_is_read_from_a_file_and_a_cycle_is_told(graphmem: Graphmem, tmp_path: Path) -> None:
    graphmem("campaign", "create", "Add SSO", "--name", "sso")
    plan = tmp_path / "plan.json"
    plan.write_text('[{"seq": 1, "objective": "A", "depends": [2]}, {"seq": 2, "objective": "B", "depends": [1]}]')
    done = graphmem("campaign", "add-tasks", "sso", "plan.json")
    assert (done.status, done.out) == (3, "")
    assert "001 → 002 → 001" in done.err
    plan.write_text('{"tasks": [{"seq": 1, "objective": "A"}, {"seq": 2, "objective": "B", "depends": [1]}]}')
    assert (
        graphmem("campaign", "add-tasks", "sso", "plan.json").out
        == "task/sso/001-a  [pending] A\ntask/sso/002-b  [pending] B\n"
    )
    assert graphmem("campaign", "ready", "sso").out == "task/sso/001-a  [pending] A\n"


def test_types_are_listed_and_shown(graphmem: Graphmem) -> None:
    graphmem("type", "add", "entity", "service", "--description", "A thing we run.")
    graphmem("type", "add", "relation", "calls", "--from", "service", "--to", "service", "--symmetric")
    done = graphmem("type", "list")
    assert (done.status, done.err) == (0, "")
    assert "entity service  A thing we run.\n" in done.out
    assert "relation calls  service -- service  weight 1\n" in done.out
    assert "relation solves  pattern -> failure  weight 1.5" in done.out
    assert graphmem("type", "show", "calls").out.startswith("relation calls  service -- service  weight 1\n")
    assert len(json.loads(graphmem("type", "list", "--json").out)["relations"]) == 15


@pytest.mark.long
def test_every_stored_query_can_be_run_by_name_with_the_parameters_it_lists(known: Graphmem) -> None:
    given = {
        "ref": "=no-yaml", "relation": "=causes", "target": "=app-down", "min_strength": ":=0.5",
        "hits": ':=[{"ref": "no-yaml", "similarity": 0.9}]', "now": "=2026-11-01T09:30:00.000Z",
        "half_life_days": ":=30.0",
    }  # fmt: skip
    for query in json.loads(known("cypher", "--list", "--json").out)["results"]:
        parameters = [part for name in query["parameters"] for part in ("-p", f"{name}{given[name]}")]
        done = known("cypher", "--named", query["name"], *parameters)
        assert done.status == 0, (query["name"], done.err)


def test_validate_and_export_check_end_with_status_1_where_they_find_an_error(known: Graphmem, tmp_path: Path) -> None:
    assert known("validate") == Done(0, "all files are well\n", "")
    assert known("export", "--check") == Done(0, "all files are canonical\n", "")
    file = tmp_path / ".graphmem" / "data" / "failure.ndjson"
    file.write_bytes(file.read_bytes() + b'{"kind":"fail\n')
    done = known("validate", "--json")
    assert done.status == 1
    found = json.loads(done.out)
    assert (found["ok"], found["findings"][0]["line"]) == (False, 3)
    assert known("export", "--check").status == 1
    assert known("export").status == 3


def test_match_shows_line_evidence_and_fix_also_in_a_pipe(
    graphmem: Graphmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphmem("add", "failure", "--name", "port", "--trigger", "port taken", "--match", "EADDRINUSE", "--fix", "free it")
    graphmem("add", "failure", "--name", "price", "--trigger", "KeyError: no price for a cart")
    log = tmp_path / "log"
    log.write_text("start\nEADDRINUSE :80\nEADDRINUSE :81\nKeyError: no price for a cart\n")
    shown = """\
failure/price  line 4  [the same line]
    > KeyError: no price for a cart
failure/port  line 2 and 1 more  [its expression]
    > EADDRINUSE :80
    fix: free it
"""
    assert graphmem("match", str(log)) == Done(0, shown, "")
    with open(log, "rb") as file:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(file))
        assert graphmem("match").out == shown
    log.write_text("all is well\n")
    assert graphmem("match", str(log)) == Done(0, "", "graphmem: no known failure\n")
    assert graphmem("match", "missing").status == 1


def test_results_are_printed_in_the_order_of_what_is_shown_of_them(graphmem: Graphmem) -> None:
    for number, trigger in enumerate(("the build fails on windows", "the build is slow", "a build of the house")):
        graphmem(
            "add", "failure", "--name", f"n{number}", "--trigger", trigger, "--cost", str(10**number), "--no-dedup"
        )
    shown = re.findall(r"\[(\w+), score ([\d.e-]+)\]", graphmem("query", "the build fails on windows", "--explain").out)
    order = [(BANDS.index(band), -float(score)) for band, score in shown]
    assert len(order) == 3 and order == sorted(order)
    graphmem("add", "failure", "--name", "far", "--trigger", "nothing but a house")
    assert "background" in graphmem("stats", "--objective", "windows").out


def test_an_empty_block_says_why_in_one_line(graphmem: Graphmem) -> None:
    assert graphmem("context", "plumbing") == Done(0, "", "graphmem: empty: nothing is recorded yet\n")
    graphmem("add", "failure", "--name", "eggs", "--trigger", "eggs were boiled too long")
    assert graphmem("context", "plumbing") == Done(0, "", "graphmem: empty: nothing known for this\n")
    far = graphmem("context", "too many drains, pipes and plumbers in the house")
    assert (far.status, far.out) == (0, "")
    assert re.fullmatch(
        r"graphmem: empty: nothing known for this, nearest failure/eggs has probability 0\.0\d\n", far.err
    )
    small = graphmem("context", "eggs were boiled too long", "--budget", "5")
    assert small == Done(0, "", "graphmem: empty: 1 over the budget of 5 tokens\n")


def test_the_json_of_an_empty_block_says_why(graphmem: Graphmem) -> None:
    found = json.loads(graphmem("context", "plumbing", "--json").out)
    assert (found["text"], found["entries"], found["note"]) == ("", [], "empty: nothing is recorded yet")
    assert (found["known"], found["certainty"], found["probability"]) == (False, "none", 0)


def test_context_shows_by_which_tag_or_folder_a_record_was_found(graphmem: Graphmem) -> None:
    graphmem("add", "failure", "--name", "eggs", "--trigger", "eggs were boiled too long", "--file", "k/pot.py",
             "--missing-ok", "--tag", "0.19")  # fmt: skip
    for arguments, because in (
        (("plumbing", "--file", "k"), "lists a file below k"),
        (("plumbing of 0.19",), "tagged 0.19"),
        (("plumbing", "--role", "V0.19"), "tagged V0.19"),
        (("plumbing of k/pot.py:3",), "lists k/pot.py"),
    ):
        (entry,) = json.loads(graphmem("context", *arguments, "--json").out)["entries"]
        assert (entry["ref"], entry["because"]) == ("failure/eggs", because)
        assert (
            f"`failure/eggs` ({because}; unsolved; never reported on; recorded " in graphmem("context", *arguments).out
        )


def test_a_list_goes_on_where_it_ended(graphmem: Graphmem) -> None:
    for name in ("one", "three", "two"):
        graphmem("add", "failure", "--trigger", f"error {name}", "--name", name, "--no-dedup")
    first = graphmem("list", "--limit", "2")
    assert first.out.split()[::3] == ["failure/one", "failure/three"]
    assert first.err.startswith("graphmem: 2 of 3; the next ones: --cursor ")
    rest = graphmem("list", "--limit", "2", "--cursor", first.err.split()[-1])
    assert (rest.out.split()[0], rest.err) == ("failure/two", "")
    assert graphmem("list", "--limit", "0").err == "graphmem: 0 of 3; raise --limit\n"
    wrong = graphmem("list", "--cursor", "abc")
    assert (wrong.status, wrong.err.splitlines()[0]) == (2, "error: cursor 'abc' is not of this list")


def test_status_prints_blocked_tasks_with_their_reason_and_what_to_type(graphmem: Graphmem, tmp_path: Path) -> None:
    graphmem("campaign", "create", "the shop", "--name", "shop")
    (tmp_path / "plan.json").write_text('[{"seq": 1, "slug": "plan", "objective": "plan it"}]')
    graphmem("campaign", "add-tasks", "shop", "plan.json")
    graphmem("task", "start", "shop/1")
    graphmem("task", "block", "shop/1", "--reason", "no\nnetwork")
    lines = graphmem("status").out.splitlines()
    assert "task: plan it  [blocked]" in lines
    assert lines[lines.index("campaign: campaign/shop  [all blocked]  no task is ready") + 1 :][:2] == [
        "blocked: task/shop/001-plan  plan it",
        "    reason: no network",
    ]
    assert "    graphmem task show task/shop/001-plan" in lines
    assert "experiences: fewer than 10, so new ones get low confidence" in lines
