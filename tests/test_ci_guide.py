"""The workflows of docs/guides/ci.md, step by step in bash, as a runner would: what they post, and how they end."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphmem.features.upkeep.branch_check import MARKER
from tests.doc_blocks import blocks
from tests.repository import Repository
from tests.sample import open_memory

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
FILES = {block.file: block for block in blocks(ROOT / "docs/guides/ci.md") if block.file}
EXPRESSIONS = {
    "github.token": "secret-token",
    "github.base_ref": "main",
    "github.repository": "ada/shop",
    "github.event.pull_request.number": "7",
}
GITLAB = {
    "CI_API_V4_URL": "https://gitlab.example/api/v4",
    "CI_PROJECT_ID": "5",
    "CI_MERGE_REQUEST_IID": "7",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "GRAPHMEM_TOKEN": "secret-token",
}
# Stand-ins for what talks to a forge: they note how they were called, keep what is posted, and know what was posted.
STUB = """\
#!{python}
import json, os, pathlib, sys
box, arguments = pathlib.Path({box!r}), sys.argv[1:]
with (box / "calls").open("a") as calls:
    calls.write(json.dumps(arguments) + "\\n")
given = next((word.partition("@")[2] for word in arguments if word.startswith(("body=@", "body@"))), None)
if (box / "refuse").exists() and given:
    sys.exit(1)
if given:
    (box / "comment").write_text(pathlib.Path(given).read_text())
elif (box / "comment").exists():
    body = (box / "comment").read_text()
    stranger = {{"id": 1, "author": {{"username": "eve"}}, "body": body}}
    ours = {{"id": 42, "author": {{"username": "project_5_bot_x"}}, "body": body}}
    print(json.dumps([stranger, ours]) if {is_curl!r} else 42)
elif {is_curl!r}:
    print("[]")
"""


@dataclass
class Forge:
    """A clone of a pull request as a runner has it, and the comment on it."""

    clone: Path
    box: Path

    @property
    def comment(self) -> str:
        return (self.box / "comment").read_text()

    @property
    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.box / "calls").read_text().splitlines()]

    def bash(self, script: str, variables: Mapping[str, str], *options: str) -> int:
        """Run a script as a runner does and return its exit status."""
        own = {"PATH": f"{self.box}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(self.box / "summary")}
        known = {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHMEM_", "PYTEST_"))}
        more = {"GRAPHMEM_EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = ["bash", "--noprofile", "--norc", *options, "-c", script]
        done = subprocess.run(
            command,
            cwd=self.clone,
            env={**known, **more, **own, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "secret-token" not in done.stdout + done.stderr
        (self.box / "said").write_text(done.stdout + done.stderr)
        return done.returncode


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Forge:
    """A repository with a branch that breaks a test with a known failure, cloned as for a pull request."""
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = Repository(tmp_path / "origin")
    with open_memory(made.folder) as memory:
        memory.failures.add("KeyError: 'pear'", name="no-price", fix="add the fruit to the prices")
        made.commit("main")
        made("checkout", "-q", "-b", "feature")
        memory.patterns.add("Prices", "keep them in a table", name="table")
    (made.folder / "test_shop.py").write_text("def test_price():\n    assert {'apple': 1}['pear']\n")
    made.commit("feature")
    clone = tmp_path / "clone"
    made("clone", "-q", str(made.folder), str(clone))
    made("-C", str(clone), "checkout", "-q", "--detach", "origin/feature")
    box = tmp_path / "box"
    box.mkdir()
    stubs = {name: STUB.format(python=sys.executable, box=str(box), is_curl=name == "curl") for name in ("gh", "curl")}
    stubs |= {"graphmem": f'#!/bin/sh\nexec "{sys.executable}" -m graphmem "$@"\n', "pip": "#!/bin/sh\n"}
    stubs |= {name: f'#!/bin/sh\nexec "{sys.executable}" {way}"$@"\n' for name, way in PYTHONS.items()}
    for name, text in stubs.items():
        (box / name).write_text(text)
        (box / name).chmod(0o755)
    return Forge(clone, box)


PYTHONS = {"python": "", "pytest": "-B -m pytest "}


def github(forge: Forge) -> int:
    """Run the steps of the workflow for GitHub, as its runner does; return the worst status of a job."""
    jobs: Any = yaml.safe_load(FILES["github.yml"].text)["jobs"]
    return max(github_job(forge, job) for job in jobs.values())


def github_job(forge: Forge, job: Mapping[str, Any]) -> int:
    status = 0
    for step in job["steps"]:
        if "run" in step and (not status or step.get("if") == "always()"):
            values = EXPRESSIONS | {"job.status": "failure" if status else "success"}
            variables = {name: filled(text, values) for name, text in step.get("env", {}).items()}
            assert "${{" not in step["run"]  # a value of a stranger's is never put into a script
            options = ["-eo", "pipefail"] if step.get("shell") == "bash" else ["-e"]
            status = forge.bash(step["run"], variables, *options) or status
    return status


def filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace("${{ " + name + " }}", value)
    assert "${{" not in text
    return text


def gitlab(forge: Forge) -> int:
    """Run the scripts of the jobs for GitLab, as its runner does: a token of an environment is in its job alone."""
    jobs: Any = yaml.safe_load(FILES["gitlab.yml"].text)
    statuses = []
    for job in jobs.values():
        has_token = job.get("environment", {}).get("name") == "memory-comment"
        given = {name: value for name, value in GITLAB.items() if has_token or name != "GRAPHMEM_TOKEN"}
        statuses.append(forge.bash("\n".join(job["script"]), given, "-eo", "pipefail"))
    return max(statuses)


def test_the_token_for_gitlab_is_in_no_job_that_runs_code_of_a_branch() -> None:
    jobs: Any = yaml.safe_load(FILES["gitlab.yml"].text)
    text = {name: "\n".join(job["script"]) for name, job in jobs.items()}
    assert [name for name, script in text.items() if "GRAPHMEM_TOKEN" in script] == ["memory-comment"]
    assert jobs["memory-comment"]["variables"]["GIT_STRATEGY"] == "none"
    assert not any(word in text["memory-comment"] for word in ("pytest", "pip install", "graphmem match"))


def test_the_token_for_github_that_writes_is_in_no_job_that_runs_code_of_a_branch() -> None:
    workflow: Any = yaml.safe_load(FILES["github.yml"].text)
    memory, comment = workflow["jobs"]["memory"], workflow["jobs"]["comment"]
    assert (workflow["permissions"], memory["permissions"]) == ({}, {"contents": "read"})
    assert memory["steps"][0]["with"]["persist-credentials"] is False
    assert "github.token" not in str(memory)
    assert not any(word in str(comment) for word in ("pytest", "pip install", "checkout", "graphmem match"))


@pytest.mark.parametrize("file", ["github.yml", "gitlab.yml"])
def test_a_workflow_installs_this_version(file: str) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.findall(r"pip install graphmem(\S*)", FILES[file].text) == [f"=={version}"]


WORKFLOWS = {"github": github, "gitlab": gitlab}


@pytest.mark.parametrize("name", WORKFLOWS)
@pytest.mark.slow
@pytest.mark.long
def test_a_red_job_posts_one_comment_that_the_next_run_replaces(name: str, forge: Forge) -> None:
    workflow = WORKFLOWS[name]
    assert workflow(forge) == 1
    assert forge.comment.startswith(f"{MARKER}\n**Memory:** +1 pattern since `")
    assert "\n- added: `pattern/table Prices`\n\n**Memory:** 1 known failure in the log\n" in forge.comment
    assert "\n  - `fix: add the fruit to the prices`\n" in forge.comment
    assert "POST" in forge.calls[-1]
    (forge.clone / "test_shop.py").write_text("def test_price():\n    assert {'pear': 1}['pear']\n")
    assert workflow(forge) == 0
    assert "known failure" not in forge.comment
    assert {"PUT", "PATCH"} & {*forge.calls[-1]}
    assert any(word.endswith("/42") for word in forge.calls[-1])
    assert len(forge.calls) == 4


@pytest.mark.long
@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_link_that_the_tests_of_a_branch_left_is_not_posted(name: str, forge: Forge) -> None:
    (forge.clone / "test_shop.py").write_text(
        "import os\n\ndef test_price():\n    os.symlink('/proc/self/environ', 'comment.md')\n"
    )
    assert WORKFLOWS[name](forge) != 0
    assert not (forge.box / "comment").exists()


@pytest.mark.long
@pytest.mark.parametrize("name", WORKFLOWS)
@pytest.mark.slow
def test_an_error_of_the_check_fails_the_job_and_is_posted(name: str, forge: Forge) -> None:
    (forge.clone / "test_shop.py").write_text("def test_price():\n    pass\n")
    with (forge.clone / ".graphmem/data/failure.ndjson").open("ab") as file:
        file.write(b"<<<<<<< ours\n")
    assert WORKFLOWS[name](forge) == 1
    assert "\n- error: `data/failure.ndjson:" in forge.comment


@pytest.mark.long
@pytest.mark.parametrize("name", WORKFLOWS)
@pytest.mark.slow
def test_a_token_that_may_not_write_fails_no_job(name: str, forge: Forge) -> None:
    (forge.clone / "test_shop.py").write_text("def test_price():\n    pass\n")
    (forge.box / "refuse").touch()
    assert WORKFLOWS[name](forge) == 0
    assert "the comment was not posted" in (forge.box / "said").read_text()
    assert name == "gitlab" or MARKER in (forge.box / "summary").read_text()


@pytest.mark.parametrize("file", ["github.yml", "gitlab.yml"])
def test_a_workflow_finds_the_comment_by_the_line_that_check_prints(file: str) -> None:
    assert f'startswith("{MARKER}")' in FILES[file].text
