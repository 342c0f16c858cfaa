"""The page that the service gives to a browser: what is done in it is in the store, and it tells nobody its token."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphmem import Memory
from graphmem.names import visible
from tests.doors.service.project import Project, new_project, stopped
from tests.features.harvest.test_review import put
from tests.npm import in_chromium

SCRIPT = Path(__file__).with_name("live.mjs")
THINGS = (
    "kiln",
    "mill",
    "loom",
    "forge",
    "lathe",
    "press",
    "drill",
    "saw",
    "crane",
    "winch",
    "boiler",
    "stove",
    "oven",
)
SIGNS = (
    "\u061c", "\U000e0041", "\u2028", "\u202e", "\U0001f469\u200d\U0001f692", "\u2764\ufe0f", "1\ufe0f\u20e3",
    "\u0645\u06cc\u200c\u062e", "a\u200db", "1\ufe0f",
)  # fmt: skip
HOSTILE = "<img src=x onerror=document.title='run'>"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = new_project(tmp_path)
    yield made
    stopped(made)


@pytest.mark.long
@pytest.mark.process
def test_the_address_of_the_page_is_said_and_a_service_is_started_for_it_once(project: Project) -> None:
    first, second = project.run("view"), project.run("view", "--json")
    assert first.returncode == 0, first.stderr
    assert first.stdout.strip() == json.loads(second.stdout)["address"]
    assert urlsplit(first.stdout.strip()).path == "/view"
    assert "keep it to yourself" in first.stderr


@pytest.mark.long
@pytest.mark.process
def test_a_token_that_is_not_known_here_and_most_without_a_file_are_errors_that_say_so(project: Project) -> None:
    own = {**project.environment, "GRAPHMEM_HTTP_TOKEN": "x" * 30}
    assert project.run("view", environment=own).stdout.endswith(f"/view#token={'x' * 30}\n")
    done = project.run("view")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        4, "error: the service was started with a token of its own, which is not known here",
    )  # fmt: skip
    assert "hint: graphmem view --most 5 --out memory.html" in project.run("view", "--most", "5").stderr


@pytest.mark.npm
def test_a_browser_reviews_by_keyboard_sees_what_comes_and_keeps_its_token(project: Project) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=project.root, check=True)
    with Memory(project.root) as memory:
        for number, text in enumerate(("one broke", HOSTILE, "three broke", "four broke", "five broke")):
            put(memory, text, base=0.9 - number / 10)
    address = project.run("view").stdout.strip()
    found = work_in(address, project)
    token = address.rpartition("=")[2]
    origin = address.partition("/view")[0]
    assert found["errors"] == [] and found["violations"] == []
    assert found["address"] == found["reloaded"][0] == f"{origin}/view"
    assert not [url for url in found["urls"] if not url.startswith((f"{origin}/", "data:"))]
    assert not [url for url in found["urls"] if token in url.partition("#")[0]]
    assert found["order"] == ["one broke", HOSTILE, "three broke", HOSTILE, "one broke"]
    assert (found["next"], found["title"]) == (HOSTILE, "graphmem")
    assert [said.partition(":")[0].partition(";")[0] for said in found["said"]] == [
        "accepted", "dismissed", "accepted", "taken back", "added to the inbox", "done", "reported",
    ]  # fmt: skip
    assert found["typed"][1].endswith("half a word") and found["escaped"] == "three broke"
    assert found["refused"].startswith("nothing is named 'failure/nothing'")
    assert found["back"].startswith("The last write of this clone: ") and found["keys"]
    assert found["stays"] == ["It helped", "meanwhile", "1 of 3 records"]
    assert found["reloaded"][1]
    for name in ("wrong", "none"):
        assert "Run graphmem view in the project again" in found[name]
    with Memory(project.root) as memory:
        assert [one.failure.trigger for one in memory.candidates.review().candidates if one.failure] == [
            "three broke", "four broke", "five broke",
        ]  # fmt: skip
        assert [one.reason for one in memory.candidates.review(dismissed=True).candidates] == ["a dead end"]
        assert [one.content for one in memory.inbox.items(everything=True).items] == ["a dark mode"]
        assert memory.inbox.items().items == []
        assert [one.helped for one in memory.why("failure/meanwhile").reports] == [True]


@pytest.mark.npm
def test_what_a_person_is_at_stays_while_others_write_and_no_answer_counts_twice(project: Project) -> None:
    with Memory(project.root) as memory:
        for number, thing in enumerate(THINGS):
            memory.failures.add(f"the {thing} does not start", name=thing, dedup=False, cost=100 - number)
        memory.patterns.add('"no key"', "make another", name="key")
        memory.relations.link("pattern/key", "solves", "failure/kiln")
        memory.relations.link("pattern/key", "solves", "failure/mill")
        memory.relations.link("failure/kiln", "causes", "failure/mill", weight=1.4)
        memory.campaigns.create("a plan", name="plan")
        steps = [
            {"seq": one, "slug": f"s{one}", "objective": "go", "depends": [one - 1] if one > 1 else []}
            for one in range(1, 7)
        ]
        memory.campaigns.add_tasks("plan", steps)
        for number, text in enumerate(("one broke", "two broke", "three broke")):
            put(memory, text, base=0.9 - number / 10)
    found = in_chromium(SCRIPT.with_name("stays.mjs"), project.run("view").stdout.strip())
    before, after = found["less"]
    assert before == after and before[0] and before[2]
    assert found["health"] == [[True, 1], [True, 1]]
    assert found["wide"] == ["wide", 150]
    assert found["tree"][0] == found["tree"][1] == [["pattern: 1", 'pattern/key "no key"'], 'pattern/key "no key"']
    assert found["up"] == "pattern: 1"
    assert found["shut"] == ["pattern/key", "panel-graph"]
    assert found["path"].startswith(
        "pattern/key solves failure/kiln, which causes failure/mill (strength 1.5 × 1.4 = 2.1)"
    )
    assert [one.partition(" ")[0] for one in found["counts"]] == ["0", "1"]
    assert "make lint" in found["candidate"] and "codex session s1" in found["candidate"] and found["inSight"]
    assert found["lost"].endswith("to do it again now does it once")
    assert (found["keys"], found["again"], found["newest"]) == (1, 2, True)
    assert found["pictures"] == [True, True, True]
    assert found["visible"] == [visible(text) for text in SIGNS]
    with Memory(project.root) as memory:
        assert [one.content for one in memory.inbox.items().items] == ["once", "once"]


@pytest.mark.npm
def test_of_a_large_memory_what_waits_is_there_first_and_after_each_action(project: Project) -> None:
    rows = [{"kind": "failure", "trigger": f"step{number} of {THINGS[number % 13]} broke"} for number in range(601)]
    with Memory(project.root) as memory:
        memory.add_rows([f"{json.dumps(row)}\n" for row in rows])
        put(memory, "one broke")
        put(memory, "two broke")
    found = in_chromium(SCRIPT.with_name("large.mjs"), project.run("view").stdout.strip())
    assert found["counts"] == ["500 of 500 records, 101 more are not in this page", "601 of 601 records"]
    assert found["top"] == ["candidate", 0, True]
    assert (found["first"], found["acted"], found["left"], found["awake"]) == ([500, "all"], 500, 1, 1)


def work_in(address: str, project: Project) -> Any:
    """Let a browser work in the page; return what it saw."""
    reader = Path(str(state_of(project)["read_token_file"])).read_text().strip()
    return in_chromium(SCRIPT, address, reader)


def state_of(project: Project) -> dict[str, object]:
    state = project.ask({"manage": "status"})
    assert state is not None
    return state
