"""The page of ``view``: one file, in which no text of the memory is markup, and Chromium finds nothing wrong."""

import base64
import hashlib
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.core.page.render import FILES, SCRIPTS, page_of
from graphmem.core.records.event_contract import AddEventRequest
from graphmem.core.records.event_log import keep_here
from graphmem.names import visible
from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture
from tests.features.harvest.test_review import put
from tests.npm import in_chromium
from tests.sample import Clock, open_memory

HOSTILE = (
    "</script><script>document.title='run'</script><img src=x onerror=document.title='run'> \u202e {{data}} {{style}}"
)


@pytest.fixture
def page(graphmem: Graphmem, tmp_path: Path) -> str:  # noqa: F811
    done = graphmem("add", "failure", "--name", "hostile", "--trigger", HOSTILE, "--fix", "x" * 9_000)
    assert done.status == 0, done.err
    assert graphmem("view", "--out", "page.html").err == "graphmem: written: page.html\n"
    return (tmp_path / "page.html").read_text("utf-8")


def test_only_the_scripts_and_the_style_of_the_page_may_run(page: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1] and "http" not in policy[1]
    parts = re.findall(r"<script>(.*?)</script>|<style>(.*?)</style>", page, re.DOTALL)
    assert len(parts) == len(SCRIPTS) + 1
    for script, style in parts:
        digest = base64.b64encode(hashlib.sha256((script or style).encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]


def test_no_text_of_the_memory_is_markup(page: str) -> None:
    assert "onerror" in page
    assert "<img" not in page and "\u202e" not in page
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert json.loads(found[1])["records"][0]["title"].startswith("</script><script>")


def test_what_is_there_is_not_written_over_where_it_is_a_link_or_of_another_program(
    graphmem: Graphmem,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "page.html").symlink_to(tmp_path / "other")
    assert graphmem("view", "--out", "page.html").status == 3
    assert (tmp_path / "other").read_text() == "mine"
    refused = graphmem("view", "--out", "other")
    assert (refused.status, refused.err.splitlines()[0]) == (3, "error: 'other' was not made by graphmem view")
    assert graphmem("view", "--out", "new.html").status == graphmem("view", "--out", "new.html").status == 0


def test_a_file_holds_nothing_that_is_of_this_machine_alone(graphmem: Graphmem, tmp_path: Path) -> None:  # noqa: F811
    assert graphmem("init").status in (0, 2)
    with Memory(tmp_path) as memory:
        name = put(memory, "the private part broke", insight="a private fix")
        keep_here(
            memory.store.client, AddEventRequest(type="context-injected", data={"objective": "a private objective"})
        )
        memory.events.add("deploy", data={"to": "everywhere"})
        memory.runs.set({"workflow_step": "build", "agent_outputs": {"plan": {"summary": "a private summary"}}})
    assert "context-injected" in graphmem("event", "list").out
    assert "context-injected" not in graphmem("view", "--out", "page.html", "--json").out
    assert "everywhere" in (tmp_path / "page.html").read_text("utf-8")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "private" not in page and name not in page
    assert '"workflow_step":"build"' in page  # what is going on is there, without what agents put out
    assert graphmem("dump", "--to", "html", "-o", "dump.html").status == 0
    assert name not in (tmp_path / "dump.html").read_text("utf-8")


def test_the_scripts_of_others_are_those_that_the_notice_names() -> None:
    notice = (FILES / "vendor/NOTICE.md").read_text("utf-8")
    rows = re.findall(r"^\| (\S+\.js) \|.*\| ([0-9a-f]{64}) \|$", notice, re.MULTILINE)
    assert {name for name, _ in rows} == {one.name for one in (FILES / "vendor").iterdir() if one.name.endswith(".js")}
    for name, digest in rows:
        assert hashlib.sha256((FILES / "vendor" / name).read_bytes()).hexdigest() == digest


@pytest.mark.npm
def test_a_browser_shows_every_view_by_keyboard_asks_nothing_and_axe_finds_nothing(tmp_path: Path) -> None:
    with open_memory(tmp_path, clock=(clock := Clock())) as memory:
        fill(memory, clock)
        page = tmp_path / "page.html"
        page.write_text(page_of(memory.store.view()), "utf-8")
    found = looked_at("view.mjs", page)
    assert found["errors"] == []
    assert found["requests"] == [f"file://{page}"]
    assert found["title"] == "graphmem"
    assert found["violations"] == []
    assert found["overflows"] == []
    assert found["moves"] is False
    assert found["views"] == {
        "now": "What is going on", "records": "Records", "tree": "Tree", "graph": "canvas",
        "campaigns": "Campaigns", "health": "Health",
    }  # fmt: skip
    assert found["run"] == {
        "section": f"2.1 {visible(HOSTILE)}", "build": "Build: running, 1 of 4 chunks completed",
        "chunks": [
            [0, "form [completed, attempt 2] "], [1, "route [active] "], [2, "test [planned] , after docs too"],
            [0, "docs [planned] "],
        ],
    }  # fmt: skip
    assert "kept here" not in page.read_text("utf-8")
    assert found["counts"] == ["10 of 10 records", "2 of 10 records"]
    assert found["record"].startswith("failure/hostile")
    assert "</script><script>" in found["record"] and "\\u202e" in found["record"]
    assert found["path"] == "pattern/key solves failure/gone (strength 1.5) Hide the path"
    assert found["focus"] == "failure/gone"
    assert found["orders"] == {
        "importance": ["descending", "failure/gone"], "record": ["ascending", "campaign/page"],
        "edges": ["descending", "campaign/page"],
    }  # fmt: skip
    assert found["tree"] == {
        "kinds": ["campaign: 1", "failure: 3", "pattern: 1", "task: 5"], "first": "failure/gone the key is gone",
        "relation": "← solves 1.5 pattern/key no key", "level": ["3", "1", "1"], "opened": "pattern/key",
        "back": "← solves 1.5 pattern/key no key", "up": "failure: 3",
        "closed": ["failure/gone the key is gone", "false"], "typed": "task: 5",
        "filtered": ["failure: 1"], "stops": 1,
    }  # fmt: skip
    assert found["tasks"] == [
        "✓ complete 001-a", "○ pending 002-b", "○ pending 003-c", "○ pending 005-e", "○ pending 004-d",
    ]  # fmt: skip
    assert found["opened"] == "task/page/001-a"
    assert found["layouts"] == {"backwards": 0, "lost": 0, "crossing": 0, "circle": [[0], [1, 2]]}
    assert found["numbers"] == {
        "Failures by week": [["2026-10-26", "1", "1"], ["2026-11-09", "0", "1"]],
        "Reports by week": [["2026-11-09", "1", "1"]],
        "What solves the failures": [["a pattern", "1"], ["a fix of their own", "0"], ["nothing yet", "2"]],
        "Stale, untested, in doubt": [
            ["old and never returned", "0"], ["without a report", "3"], ["in doubt: date", "1"],
        ],
        "Room": [["failure", "3 of 500"], ["pattern", "1 of 200"], ["experience", "0 of 200"]],
    }  # fmt: skip
    assert found["drawn"] == {"Failures by week": [1, 2], "Reports by week": [1, 1], "Records by week": [2, 0]}


@pytest.mark.npm
def test_the_page_of_an_empty_memory_says_in_each_view_what_to_do(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        page = tmp_path / "page.html"
        page.write_text(page_of(memory.store.view()), "utf-8")
    found = looked_at("view_empty.mjs", page)
    assert (found["errors"], found["violations"]) == ([], [])
    assert found["commands"] == {
        "now": ["import --all", "add failure --trigger TEXT", "inbox add TEXT", "event add TYPE"],
        "records": ["add failure --trigger TEXT"], "tree": ["add failure --trigger TEXT"], "graph": [],
        "campaigns": ["campaign create"], "health": ["import --all", "import --all", "feedback REF --helped"],
    }  # fmt: skip


def looked_at(script: str, page: Path) -> Any:
    """Return what a script finds that looks at a page in Chromium."""
    here = Path(__file__)
    return in_chromium(here.with_name(script), str(page), beside=[here.with_name("browser.mjs")])


def fill(memory: Memory, clock: Clock) -> None:
    """Fill a store with what each view shows, over three weeks, and with a hostile text."""
    memory.failures.add("the key is gone", name="gone", cost=20)
    memory.failures.add("the day is past", name="past", check_after="2026-11-10")
    memory.patterns.add("no key", "make another", name="key")
    memory.relations.link("pattern/key", "solves", "failure/gone")
    clock.back(timedelta(days=-14))
    memory.failures.add(HOSTILE, name="hostile")
    memory.campaigns.create("a page to look at", name="page")
    order: dict[str, list[int]] = {"a": [], "b": [1], "c": [1], "d": [2, 3], "e": [1]}
    memory.campaigns.add_tasks(
        "page",
        [
            {"seq": number, "slug": slug, "objective": f"{HOSTILE} {slug}", "depends": depends}
            for number, (slug, depends) in enumerate(order.items(), 1)
        ],
    )
    memory.tasks.start("page/001")
    memory.tasks.complete("page/001", delivered="a page")
    memory.feedback("pattern/key", helped=True)
    memory.feedback("pattern/key", helped=False)
    put(memory)
    memory.runs.set(
        {"active_section": {"alias": HOSTILE, "number": "2.1"}, "agent_outputs": {"plan": {"summary": "kept here"}}}
    )
    needs: dict[str, list[str]] = {"form": [], "route": ["form"], "test": ["route", "docs"], "docs": []}
    memory.runs.begin({"chunks": [{"id": name, "depends_on": depends} for name, depends in needs.items()]})
    for status in ("active", "failed", "retrying"):
        memory.runs.chunk("form", status)
    memory.runs.chunk("form", "completed")
    memory.runs.chunk("route", "active")
