"""The route of the page: anybody gets it, it holds nothing of the memory, and its policy lets in nothing else."""

import base64
import hashlib
import re
from collections.abc import Iterator

import pytest

from graphmem.core.page.render import SCRIPTS
from tests.doors.http.served import Served, serve
from tests.doors.service.project import shared_project

pytestmark = pytest.mark.process
ANYBODY = {"Authorization": ""}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with shared_project(tmp_path_factory) as made:
        made.here("add", "failure", "--name", "boom", "--trigger", "the attic is flooded")
        yield serve(made)


@pytest.mark.long
def test_the_page_holds_nothing_of_the_memory_and_only_its_own_scripts_may_run(served: Served) -> None:
    answer = served.send("GET", "/view", headers=ANYBODY)
    page, policy = answer.body.decode(), answer.headers["content-security-policy"]
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "attic" not in page and served.token not in page and served.read_token not in page
    assert policy.startswith("default-src 'none'; ") and "; frame-ancestors 'none'" in policy
    assert "connect-src 'self'" in policy and "unsafe" not in policy and "http" not in policy
    parts = re.findall(r"<script>(.*?)</script>|<style>(.*?)</style>", page, re.DOTALL)
    for script, style in parts:
        digest = base64.b64encode(hashlib.sha256((script or style).encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.count("'sha256-") == len(parts) == len(SCRIPTS) + 2  # the script that asks the service, and the style


@pytest.mark.long
def test_the_page_is_got_by_its_own_name_alone_and_what_it_asks_for_needs_the_token(served: Served) -> None:
    assert served.send("GET", "/view", headers={**ANYBODY, "Host": "evil.example"}).code == "wrong_host"
    assert served.send("GET", "/view", headers={**ANYBODY, "Origin": "http://evil.example"}).code == "wrong_origin"
    assert served.send("POST", "/v1/view", b"{}", ANYBODY).code == "unauthorized"


def test_an_answer_says_whether_the_token_may_write(served: Served) -> None:
    assert served.call("view").headers["graphmem-may"] == "write"
    assert served.call("view", as_reader=True).headers["graphmem-may"] == "read"
    assert "graphmem-may" not in served.send("GET", "/view", headers=ANYBODY).headers
