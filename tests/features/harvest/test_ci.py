"""Reports of CI become candidates: what failed and passed later with the commit that did it, and what is flaky."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory, NotFound
from graphmem.core.records.candidate_contract import Harvested
from graphmem.core.records.candidates import queue_of
from graphmem.errors import BadInput
from graphmem.features.harvest import ci
from graphmem.kernel.model.candidate import Candidate
from tests.repository import Repository
from tests.sample import kept_of, open_memory

BODY = """def test_total():
>       assert total([]) == 0

tests/test_cart.py:4: in test_total
    total([])
src/cart.py:{line}: in total
    raise ValueError("the cart is empty: call open() first")
E   ValueError: the cart is empty: call open() first

src/cart.py:{line}: ValueError"""
KNOWN = "ValueError: the cart is empty: call open() first"
TEST = "tests.test_cart.test_total"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "shop")


@pytest.fixture
def memory(repository: Repository) -> Iterator[Memory]:
    with open_memory(repository.folder) as memory:
        yield memory


def report(
    repository: Repository, name: str, commit: str, day: int, outcome: str = "", line: int = 2, test: str = "test_total"
) -> Path:
    """Write a report of one test in JUnit's XML."""
    path = repository.folder.parent / "reports" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    said = f'<{outcome} message="{KNOWN}">{BODY.format(line=line).replace(">", "&gt;")}</{outcome}>' if outcome else ""
    path.write_text(
        f'<testsuite name="pytest" timestamp="2026-11-{day:02}T12:00:00"><properties>'
        f'<property name="git.commit" value="{commit}"/></properties>'
        f'<testcase classname="tests.test_cart" name="{test}">{said}</testcase></testsuite>'
    )
    return path


def imported(memory: Memory, *paths: Path, commit: str | None = None) -> Harvested:
    return memory.imports.ci(paths=paths, commit=commit)


def waiting(memory: Memory) -> list[Candidate]:
    return queue_of(memory.store.client).read().waiting()


def history(repository: Repository) -> tuple[str, str, str]:
    """Commit a fault, its fix, and something else; return the hashes."""
    broken = repository.change("cart: count the rows", src__cart="def total(rows):\n    raise ValueError\n")
    fixed = repository.change("cart: open the cart before it is counted", src__cart="def total(rows):\n    return 0\n")
    return broken, fixed, repository.change("docs: say more", readme="'''Shop.'''\n")


def test_the_commit_that_fixed_a_test_is_named(repository: Repository, memory: Memory) -> None:
    broken, fixed, last = history(repository)
    failed, passed = report(repository, "1.xml", broken, 1, "failure"), report(repository, "3.xml", last, 3)
    answer = imported(memory, failed, passed)
    assert (answer.read, answer.candidates) == ({"tests": 2, "failed": 1, "passes": 1}, {"created": 1})
    seen = memory.match(f"_______ test_total _______\n\n{BODY.format(line=90)}\n")
    [candidate] = seen.candidates
    assert candidate.insight == (
        "cart: open the cart before it is counted (in src/cart.py: `raise ValueError` → `return 0`)"
    )
    [one] = waiting(memory)
    [evidence] = one.evidence
    assert (evidence.before, evidence.commit, evidence.command) == (broken, last, TEST)
    assert (evidence.at, evidence.passed) == ("2026-11-01T12:00:00.000Z", "2026-11-03T12:00:00.000Z")
    assert evidence.failed is not None and KNOWN in evidence.failed
    [ref] = [ref for ref in memory.candidates.accept(one.id).reviewed[0].refs if ref.startswith("pattern/")]
    assert getattr(memory.get(ref).record, "sources", None) == (f"git:{fixed[:12]}",)


def test_with_several_commits_that_can_have_done_it_the_evidence_has_the_range(
    repository: Repository, memory: Memory
) -> None:
    broken, _, _ = history(repository)
    last = repository.change("cart: name it", src__cart="def total(rows):\n    # rows\n    return 0\n")
    imported(memory, report(repository, "1.xml", broken, 1, "failure"), report(repository, "3.xml", last, 4))
    [one] = waiting(memory)
    assert one.pattern is None and one.failure is not None
    assert [(part.before, part.commit, part.edits) for part in one.evidence] == [(broken, last, ())]
    assert (one.failure["trigger"], one.failure["sources"]) == (f"E   {KNOWN}".strip("E "), [f"ci:{broken[:12]}"])


def test_commits_that_do_not_follow_the_failure_fixed_nothing(repository: Repository, memory: Memory) -> None:
    _, fixed, last = history(repository)
    repository("switch", "-q", "-c", "other", fixed)
    other = repository.change("cart: begin again", src__cart="def total(rows):\n    return 1\n")
    imported(memory, report(repository, "1.xml", last, 1, "failure"), report(repository, "2.xml", other, 2))
    [one] = waiting(memory)
    assert (one.pattern, one.evidence[0].commit) == (None, other)


def test_a_check_that_failed_and_passed_at_one_commit_is_flaky(repository: Repository, memory: Memory) -> None:
    broken, _, _ = history(repository)
    imported(memory, report(repository, "1.xml", broken, 1, "failure"), report(repository, "2.xml", broken, 2))
    [one] = waiting(memory)
    assert one.failure is not None and one.failure["flaky"] is True and one.pattern is None


def test_a_test_that_passed_when_it_was_run_again_is_flaky(repository: Repository, memory: Memory) -> None:
    answer = imported(memory, report(repository, "1.xml", "", 1, "flakyFailure"))
    [one] = waiting(memory)
    assert (answer.read, one.failure and one.failure["flaky"]) == ({"tests": 1, "flaky": 1}, True)


def test_the_same_test_on_two_platforms_is_two_checks(repository: Repository, memory: Memory) -> None:
    broken, _, _ = history(repository)
    imported(
        memory,
        report(repository, "tests-windows-latest/junit.xml", broken, 1, "failure"),
        report(repository, "tests-ubuntu-latest/junit.xml", broken, 2),
    )
    [one] = waiting(memory)
    assert one.failure is not None and "flaky" not in one.failure
    assert [part.command for part in one.evidence] == [f"{TEST} (windows)"]


def test_a_failure_waits_for_a_pass_that_a_later_import_brings(repository: Repository, memory: Memory) -> None:
    broken, _, last = history(repository)
    failed, passed = report(repository, "1.xml", broken, 1, "failure"), report(repository, "3.xml", last, 3)
    assert imported(memory, failed).candidates == {"created": 1}
    [one] = waiting(memory)
    assert (one.pattern, one.evidence[0].passed) == (None, None)
    assert imported(memory, failed, passed).candidates == {"merged": 1}
    later = waiting(memory)
    assert [(each.occurrences, len(each.evidence), each.evidence[0].commit) for each in later] == [(1, 1, last)]
    assert later[0].pattern is not None


def test_a_failure_that_waited_and_turns_out_flaky_is_told_so(repository: Repository, memory: Memory) -> None:
    broken, _, _ = history(repository)
    imported(memory, report(repository, "1.xml", broken, 1, "failure"))
    answer = imported(memory, report(repository, "2.xml", broken, 2))
    assert answer.candidates == {"created": 1, "withdrawn": 1}
    [one] = waiting(memory)
    assert one.failure is not None and one.failure["flaky"] is True


def test_the_range_begins_at_the_last_failure(repository: Repository, memory: Memory) -> None:
    broken = repository.change("cart: count the rows", src__cart="def total(rows):\n    raise ValueError\n")
    still = repository.change("cart: comment", src__cart="def total(rows):\n    # sum\n    raise ValueError\n")
    fixed = repository.change("cart: open it first", src__cart="def total(rows):\n    # sum\n    return 0\n")
    paths = [
        report(repository, "1.xml", broken, 1, "failure"),
        report(repository, "2.xml", still, 2, "failure"),
        report(repository, "3.xml", fixed, 3),
    ]
    imported(memory, *paths)
    [one] = waiting(memory)
    assert str((one.pattern or {}).get("insight")).startswith("cart: open it first (in src/cart.py")
    assert [(part.before, part.commit) for part in one.evidence] == [(broken, fixed), (still, fixed)]


def test_two_tests_with_one_problem_are_one_candidate(repository: Repository, memory: Memory) -> None:
    broken, _, _ = history(repository)
    paths = [report(repository, f"{test}.xml", broken, 1, "error", test=test) for test in ("test_a", "test_b")]
    assert imported(memory, *paths).candidates == {"created": 1, "merged": 1}
    assert [part.command for part in waiting(memory)[0].evidence] == [
        "tests.test_cart.test_a",
        "tests.test_cart.test_b",
    ]


def test_a_second_import_changes_nothing(repository: Repository, memory: Memory) -> None:
    broken, _, last = history(repository)
    report(repository, "1.xml", broken, 1, "failure")
    folder = report(repository, "3.xml", last, 3).parent
    imported(memory, folder)
    before = kept_of(repository.folder)
    answer = imported(memory, folder)
    assert ([one.status for one in answer.sources], answer.read) == (["unchanged", "unchanged"], {})
    assert kept_of(repository.folder) == before
    assert imported(memory, folder, commit="HEAD").candidates == {"unchanged": 1}  # read again, and nothing is new
    assert repository("status", "--porcelain", "--", ".graphmem/state") == ""


def test_a_dry_run_keeps_nothing(repository: Repository, memory: Memory) -> None:
    path = report(repository, "1.xml", "", 1, "failure")
    answer = memory.imports.ci(paths=[path], dry_run=True)
    assert (answer.applied, answer.candidates, answer.waiting) == (False, {"created": 1}, 1)
    assert waiting(memory) == []


def test_reports_that_name_no_commit_are_of_the_one_that_is_given(repository: Repository, memory: Memory) -> None:
    broken, fixed, _ = history(repository)
    imported(memory, report(repository, "1.xml", "", 1, "failure"), commit=broken[:10])
    imported(memory, report(repository, "2.xml", "", 2), commit="main~1")
    [one] = waiting(memory)
    assert [(part.before, part.commit) for part in one.evidence] == [(broken, fixed)]
    assert one.pattern is not None


def test_without_commits_a_later_pass_is_evidence_and_no_pattern(repository: Repository, memory: Memory) -> None:
    history(repository)
    imported(memory, report(repository, "1.xml", "", 1, "failure"), report(repository, "2.xml", "", 2))
    [one] = waiting(memory)
    assert (one.pattern, one.evidence[0].passed) == (None, "2026-11-02T12:00:00.000Z")


def test_what_is_no_commit_and_what_is_not_there_is_refused(repository: Repository, memory: Memory) -> None:
    history(repository)
    path = report(repository, "1.xml", "", 1, "failure")
    with pytest.raises(NotFound, match="'nothing' is not a commit"):
        imported(memory, path, commit="nothing")
    with pytest.raises(BadInput, match=r"'none\.xml' is not there"):
        imported(memory, Path("none.xml"))
    with pytest.raises(BadInput, match="no report is named"):
        imported(memory)
    assert waiting(memory) == []


def test_a_folder_is_walked_and_what_is_no_report_is_counted(repository: Repository, memory: Memory) -> None:
    folder = report(repository, "a/b/1.xml", "", 1, "failure").parents[2]
    (folder / "notes.md").write_text("# Notes\n")
    (folder / "page.html").write_text("<html></html>")
    (folder / ".hidden.xml").write_text("<")
    os.symlink("/etc", folder / "etc")
    os.symlink("/etc/passwd", folder / "passwd.xml")
    answer = imported(memory, folder)
    assert answer.read == {"tests": 1, "failed": 1}
    assert answer.unread == {
        "of no known form": 1,
        "the report is XML, but its root is 'html' and not testsuites or testsuite": 1,
    }
    assert imported(memory, folder / "passwd.xml").unread == {"is a link, or cannot be read": 1}


def test_a_job_that_failed_and_passed_later(repository: Repository, memory: Memory) -> None:
    broken, _, last = history(repository)
    folder = repository.folder.parent / "logs"
    folder.mkdir()
    stamp = "2026-11-0{}T10:00:00.1234567Z "
    for day, commit, end in (
        (1, broken, f"src/cart.py:2: in total\n{KNOWN}\n##[error]Process completed with exit code 1.\n"),
        (3, last, "Cleaning up orphan processes\n"),
    ):
        lines = f"##[group]Run pytest\nshell: bash\n##[endgroup]\nHEAD is now at {commit[:7]} some subject\n{end}"
        text = "".join(f"test\tRun pytest\t{stamp.format(day)}{line}\n" for line in lines.splitlines())
        (folder / f"{day}.log").write_text(text)
    (folder / "9.log").write_text("2026-11-01T10:00:00.0Z ##[error]Process completed with exit code 1.\n")
    answer = imported(memory, folder)
    assert answer.read == {"jobs": 2, "failed": 1, "passes": 1}
    assert answer.unread == {"a check that failed does not say why": 1}
    [one] = waiting(memory)
    assert one.failure is not None and one.failure["trigger"] == KNOWN
    assert [(part.command, part.before, part.commit) for part in one.evidence] == [("test", broken, last)]
    assert one.pattern is not None


def test_a_merge_is_not_counted_between_a_failure_and_a_pass(repository: Repository, memory: Memory) -> None:
    broken = repository.change("cart: count the rows", src__cart="def total(rows):\n    raise ValueError\n")
    repository("switch", "-q", "-c", "fix")
    repository.change("till: open it first", src__till="is_open = True\n")
    repository("switch", "-q", "main")
    repository("merge", "-q", "--no-ff", "-m", "merge the fix", "fix")
    merged = repository("rev-parse", "HEAD")
    imported(memory, report(repository, "1.xml", broken, 1, "failure", line=9), report(repository, "2.xml", merged, 2))
    [one] = waiting(memory)
    assert str((one.pattern or {}).get("insight")).startswith("till: open it first")


@pytest.mark.parametrize(("name", "most"), [("MOST_BETWEEN", 1), ("MOST_RANGES", 0), ("MOST_COMMITS", 0)])
def test_git_is_asked_within_bounds(
    repository: Repository, memory: Memory, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(ci, name, most)
    broken, _, last = history(repository)
    first = report(repository, "1.xml", broken[:12], 1, "failure")
    imported(memory, first, report(repository, "2.xml", last[:12], 3))
    [one] = waiting(memory)
    assert (one.pattern, one.evidence[0].passed is not None) == (None, True)


def test_without_git_nothing_is_missing_but_the_fix(tmp_path: Path) -> None:
    with open_memory(tmp_path / "plain") as memory:
        repository = Repository(tmp_path / "other")
        first = report(repository, "1.xml", "a" * 40, 1, "failure")
        answer = imported(memory, first, report(repository, "2.xml", "b" * 40, 2))
        assert (answer.candidates, waiting(memory)[0].pattern) == ({"created": 1}, None)
        assert waiting(memory)[0].evidence[0].commit == "b" * 40


def test_of_too_many_failures_or_files_the_others_are_counted(
    repository: Repository, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ci, "MOST_FAILED", 1)
    monkeypatch.setattr(ci, "MOST_FILES", 2)
    for name in ("1.xml", "2.xml"):
        folder = report(repository, name, "", 1, "failure", test=f"test_{name[0]}").parent
    answer = imported(memory, folder)
    assert (answer.candidates, answer.unread) == (
        {"created": 1},
        {
            "more checks failed than one import keeps": 1,
            "a folder has 2 files or more, of which the first are read": 1,
        },
    )


def test_credentials_and_control_characters_are_not_kept(repository: Repository, memory: Memory) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = repository.folder.parent / "log.jsonl"
    row = {
        "$report_type": "TestReport", "nodeid": "tests/test_cart.py::test_a\x1b[31m", "when": "call",
        "outcome": "failed", "longrepr": f"E   KeyError: 'token {secret}\x00\x1b]0;title\x07 is gone'",
    }  # fmt: skip
    path.write_text("\n".join(map(json.dumps, [row, {"$report_type": "SessionFinish"}])))
    assert imported(memory, path).candidates == {"created": 1}
    kept = kept_of(repository.folder)
    assert secret not in kept and "\\u001b" not in kept and "\\u0000" not in kept
    [one] = waiting(memory)
    memory.candidates.accept(one.id)


def test_the_name_of_a_check_is_no_command_that_a_proof_runs(repository: Repository, memory: Memory) -> None:
    broken, _, last = history(repository)
    imported(memory, report(repository, "1.xml", broken, 1, "failure"), report(repository, "3.xml", last, 3))
    with pytest.raises(BadInput, match="no command"):
        memory.candidates.prove(waiting(memory)[0].id)
