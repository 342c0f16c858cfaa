"""An import of issues and reviews: candidates, with the commits of this repository that closed them as fixes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from tests.features.exchange.importers.real import SAMPLES
from tests.repository import Repository
from tests.sample import contents, open_memory

GITHUB = SAMPLES / "github"
BEFORE = "PRICES = {}\n\n\ndef total(item):\n    return PRICES[item]\n"
AFTER = BEFORE.replace("PRICES[item]", "PRICES.get(item, 0)")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "project")
    made.change("first", shop__cart=BEFORE)
    return made


@pytest.fixture
def memory(repository: Repository) -> Iterator[Memory]:
    with open_memory(repository.folder) as memory:
        repository.commit("store")
        yield memory


def issue(**fields: Any) -> dict[str, Any]:
    return {**json.loads((GITHUB / "issues.json").read_text())[0], **fields}


def imported(memory: Memory, folder: Path, *rows: Any) -> Any:
    (folder / "rows.json").write_text(json.dumps(rows))
    return memory.imports.file(folder / "rows.json")


def state(memory: Memory) -> list[Any]:
    """Return what waits, and what speaks for it."""
    return [
        (one.id, one.worth, one.occurrences, one.evidence) for one in memory.candidates.review(limit=100).candidates
    ]


def fix(memory: Memory) -> str | None:
    """Return what the one candidate that waits says to do."""
    [found] = memory.candidates.review().candidates
    return found.pattern.insight if found.pattern else None


def test_an_issue_that_a_commit_closed_is_a_failure_with_its_fix(repository: Repository, memory: Memory) -> None:
    commit = repository.change("cart: take 0 where there is no price\n\nFixes #12", shop__cart=AFTER)
    before = contents(repository.folder)
    answer = memory.imports.file(GITHUB / "issues.json")
    assert (answer.format, answer.read, answer.created) == ("github", {"issue": 5}, {"candidate": 2})
    assert {one.place: one.reason for one in answer.skipped} == {
        "issue 15": "it shows no error", "issue 16": "it is open", "issue 17": "it was closed without a change",
    }  # fmt: skip
    assert contents(repository.folder) == before  # no record before a review
    found, other = memory.candidates.review().candidates
    assert found.failure and found.pattern and other.failure and not other.pattern
    assert found.failure.trigger == "KeyError: 'no price for a cart'"
    assert found.failure.sources == (f"git:{commit[:12]}", "https://github.com/acme/shop/issues/12")
    assert found.pattern.insight.startswith(
        "cart: take 0 where there is no price (in shop/cart.py: `return PRICES[item]`"
    )
    assert other.failure.trigger.startswith("npm error 404 Not Found")
    [shown] = memory.candidates.show(found.id).candidates
    assert [(one.source, one.run) for one in shown.evidence] == [("git", None), ("github", "acme/shop#12")]
    assert 'File "shop/cart.py", line 8' in (shown.evidence[1].failed or "")
    memory.candidates.accept(found.id)
    [hit] = memory.match("KeyError: 'no price for a cart'").results
    assert hit.solved_by


def test_the_same_file_again_changes_nothing_and_a_later_commit_completes_it(
    repository: Repository, memory: Memory
) -> None:
    memory.imports.file(GITHUB / "issues.json", dry_run=True)
    assert memory.candidates.review().total == 0
    for name in ("issues", "comments", "threads"):
        first = memory.imports.file(GITHUB / f"{name}.json")
        before = state(memory)
        again = memory.imports.file(GITHUB / f"{name}.json")
        assert (again.created, again.merged, again.unchanged) == ({}, {}, first.created)
        assert state(memory) == before
    repository.change("cart: take 0 where there is no price\n\nFixes #12", shop__cart=AFTER)
    assert memory.imports.file(GITHUB / "issues.json").merged == {"candidate": 1}
    [one] = [one for one in memory.candidates.review(limit=100).candidates if one.pattern]
    memory.candidates.dismiss(one.id)
    assert memory.imports.file(GITHUB / "issues.json").unchanged == {"candidate": 2}


@pytest.mark.parametrize(
    ("message", "remote", "is_fix"),
    [
        ("x\n\nResolves: acme/Shop#12", "", True),
        ("x\n\nfixed https://github.com/acme/shop/issues/12", "", True),
        ("x\n\nFixes other/shop#12, closes #3", "", False),
        ("x\n\nFixes #121", "", False),
        ("docs: say so\n\nFixes #12", "", False),
        ("x\n\nFixes #12", "git@github.com:bo/shop.git", True),
        ("x\n\nFixes #12", "https://github.com/bo/another", False),
        ("x\n\nFixes acme/shop#12", "https://github.com/bo/another", True),
        ("x\n\nFixes #12", "/srv/clones/another", True),
        ("Mend the cart (#14)", "", True),
        ("Mend the cart (#15)", "", False),
    ],
)
def test_a_commit_is_the_fix_where_it_closes_the_issue_of_this_repository(
    message: str, remote: str, is_fix: bool, repository: Repository, memory: Memory, tmp_path: Path
) -> None:
    repository.change(message, shop__cart=AFTER)
    if remote:
        repository("remote", "add", "origin", remote)
    imported(memory, tmp_path, issue())
    assert (fix(memory) is not None) == is_fix


def test_a_pull_request_of_another_repository_closed_nothing_here(
    repository: Repository, memory: Memory, tmp_path: Path
) -> None:
    repository.change("Take 0 where there is no price (#14)", shop__cart=AFTER)
    pull = {"number": 14, "url": "https://github.com/acme/other/pull/14"}
    imported(memory, tmp_path, issue(closedByPullRequestsReferences=[pull]))
    assert fix(memory) is None


def test_a_fix_that_was_taken_back_says_so(repository: Repository, memory: Memory, tmp_path: Path) -> None:
    tried = repository.change("cart: hide it\n\nFixes #12", shop__cart=AFTER)
    taken = repository.change(f'Revert "cart: hide it"\n\nThis reverts commit {tried}.', shop__cart=BEFORE)
    imported(memory, tmp_path, issue())
    [found] = memory.candidates.review().candidates
    assert found.evidence[0].reverted == taken


def test_of_two_fixes_the_one_that_was_not_taken_back_counts(
    repository: Repository, memory: Memory, tmp_path: Path
) -> None:
    repository.change("cart: take 0\n\nFixes #12", shop__cart=AFTER)
    tried = repository.change("cart: hide it\n\nFixes #12", shop__cart=f"{AFTER}\n")
    repository.change(f'Revert "cart: hide it"\n\nThis reverts commit {tried}.', shop__cart=AFTER)
    imported(memory, tmp_path, issue())
    assert (fix(memory) or "").startswith("cart: take 0")


def test_an_issue_says_itself_whether_it_was_closed(repository: Repository, memory: Memory, tmp_path: Path) -> None:
    few = {name: value for name, value in issue().items() if name in ("number", "title", "body")}
    [left] = imported(memory, tmp_path, few).skipped
    assert left.reason == "it does not say that it was closed: gh issue list --json has state"
    repository.change("cart: take 0\n\nFixes #12", shop__cart=AFTER)
    assert imported(memory, tmp_path, few).created == {"candidate": 1}


def test_a_review_is_rules_and_lessons_where_the_place_was_changed(repository: Repository, memory: Memory) -> None:
    memory.imports.file(GITHUB / "comments.json")
    [first, second] = memory.candidates.review().candidates
    assert [first.other[0].headline, second.other[0].headline] == [
        "A cart without a price ends the whole page; return 0 for it.",
        "in shop/cart.py: `return PRICES[item]` → `return PRICES.get(item, 0)`",
    ]
    repository.change("cart: take 0 where there is no price", shop__cart=AFTER)
    answer = memory.imports.file(GITHUB / "comments.json")
    assert (answer.read, answer.created) == ({"comment": 7, "reply": 1}, {"candidate": 1})
    assert {one.place: one.reason for one in answer.skipped} == {
        "comment 5": "it asks for nothing", "comment 6": "it asks for nothing", "comment 7": "a program wrote it",
        "comment 8": "it is not resolved, and nothing says that its place was changed since",
    }  # fmt: skip
    found = memory.candidates.review().candidates[0]
    assert found.other[0].headline == "Never index this table by hand, use `price_of` instead."
    assert found.evidence[0].edits[0].added.strip() == "return PRICES.get(item, 0)"
    [ref] = memory.candidates.accept(second.id).reviewed[0].refs
    lesson: Any = memory.get(ref).record
    assert (lesson.files, lesson.sources) == (
        ("shop/cart.py",),
        ("https://github.com/acme/shop/pull/14#discussion_r104",),
    )


def test_a_resolved_thread_needs_no_commit(memory: Memory) -> None:
    answer = memory.imports.file(GITHUB / "threads.json")
    assert [one.place for one in answer.skipped] == ["thread 2", "thread 3"]
    [found] = memory.candidates.review().candidates
    assert found.other[0].headline == "The total of a cart has to be rounded once, at the end."


def test_a_secret_in_an_issue_is_kept_nowhere(memory: Memory, tmp_path: Path) -> None:
    token = "ghp_016C7YBzQ8n1d8Y0i1S9m2b3c4d5e6f7a8b9"
    imported(memory, tmp_path, issue(body=f"```\nKeyError: no token {token} here\n```"))
    [found] = memory.candidates.show(memory.candidates.review().candidates[0].id).candidates
    assert token not in found.model_dump_json() and "[redacted:" in found.model_dump_json()


def test_a_project_without_git_has_candidates_without_fixes(tmp_path: Path) -> None:
    with open_memory(tmp_path / "plain") as memory:
        assert memory.imports.file(GITHUB / "issues.json").created == {"candidate": 2}
        assert all(one.pattern is None for one in memory.candidates.review().candidates)


def test_a_path_that_leads_out_of_the_project_is_only_a_text(memory: Memory, tmp_path: Path) -> None:
    [row, *_] = json.loads((GITHUB / "threads.json").read_text())["data"]["repository"]["pullRequest"]["reviewThreads"][
        "nodes"
    ]
    for path in ("../../etc/passwd", "--output=x", ":(exclude)*", "/etc/passwd", "a\nb"):
        assert imported(memory, tmp_path, {**row, "path": path}).created == {"candidate": 1}
