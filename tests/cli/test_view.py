"""The page of ``view``: one file, in which no text of the memory is markup, and Chromium finds nothing wrong."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.page.render import FILES
from tests.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture
from tests.npm import apart, installed
from tests.sample import open_memory
from tests.usecase.harvest.test_review import put

SCRIPT = Path(__file__).with_name("view.mjs")
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
    assert len(parts) == 4
    for script, style in parts:
        digest = base64.b64encode(hashlib.sha256((script or style).encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]


def test_no_text_of_the_memory_is_markup(page: str) -> None:
    assert "onerror" in page
    assert "<img" not in page and "\u202e" not in page
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert json.loads(found[1])["records"][0]["title"].startswith("</script><script>")


def test_what_is_there_is_not_written_over_where_it_is_a_link_and_a_file_has_to_be_named(
    graphmem: Graphmem,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "other").write_text("mine")
    (tmp_path / "page.html").symlink_to(tmp_path / "other")
    assert graphmem("view", "--out", "page.html").status == 3
    assert (tmp_path / "other").read_text() == "mine"
    assert graphmem("view").status == 2
    refused = graphmem("view", "--out", "other")
    assert (refused.status, refused.err.splitlines()[0]) == (3, "error: 'other' was not made by graphmem view")
    assert graphmem("view", "--out", "new.html").status == graphmem("view", "--out", "new.html").status == 0


def test_the_scripts_of_others_are_those_that_the_notice_names() -> None:
    notice = (FILES / "vendor/NOTICE.md").read_text("utf-8")
    rows = re.findall(r"^\| (\S+\.js) \|.*\| ([0-9a-f]{64}) \|$", notice, re.MULTILINE)
    assert {name for name, _ in rows} == {one.name for one in (FILES / "vendor").iterdir() if one.name.endswith(".js")}
    for name, digest in rows:
        assert hashlib.sha256((FILES / "vendor" / name).read_bytes()).hexdigest() == digest


@pytest.mark.npm
def test_a_browser_shows_every_view_by_keyboard_asks_nothing_and_axe_finds_nothing(
    graphmem: Graphmem,  # noqa: F811
    tmp_path: Path,
) -> None:
    with open_memory(tmp_path) as memory:
        fill(memory)
    graphmem("view", "--out", "page.html")
    with installed("@sparticuz/chromium", "puppeteer-core", "axe-core") as programs:
        shutil.copy(SCRIPT, programs.parents[1])
        command = ["node", "view.mjs", str(tmp_path / "page.html")]
        environment = {**apart(programs.parents[1]), "TMPDIR": str(programs.parents[1])}
        done = subprocess.run(
            command, cwd=programs.parents[1], env=environment, capture_output=True, text=True, check=False, timeout=120
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["errors"] == []
    assert found["requests"] == [f"file://{tmp_path / 'page.html'}"]
    assert found["title"] == "graphmem"
    assert found["violations"] == []
    assert found["views"] == {
        "now": "Waiting for a review: 1", "records": "Records", "graph": "canvas", "campaigns": "Campaigns",
    }  # fmt: skip
    assert found["counts"] == ["4 of 4 records", "1 of 4 records"]
    assert found["record"].startswith("failure/hostile")
    assert "</script><script>" in found["record"] and "\\u202e" in found["record"]
    assert found["path"] == "pattern/key -solves 1.5-> failure/gone"
    assert found["focus"] == "failure/gone"


def fill(memory: Memory) -> None:
    """Fill a store with what each view shows, and with a hostile text."""
    memory.failures.add(HOSTILE, name="hostile")
    memory.failures.add("the key is gone", name="gone")
    memory.patterns.add("no key", "make another", name="key")
    memory.relations.link("pattern/key", "solves", "failure/gone")
    memory.campaigns.create("a page to look at", name="page")
    put(memory)
