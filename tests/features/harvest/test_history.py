"""The import of git's history: reverts, errors that were fixed, and comments about what is there only for now."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Constraint, Decision, Memory, Unavailable, Usage
from tests.repository import Repository
from tests.sample import kept_of, open_memory

REVERT = """Revert "store: cache the parsed files"

This reverts commit {0}.

Two processes share the folder, so the cache served files that another one had replaced.

Signed-off-by: Ada <ada@example.org>
"""
ERROR = """store: open the file as UTF-8

The nightly run on Windows stopped with

    UnicodeDecodeError: 'charmap' codec can't decode byte 0x9d in position 7: character maps to <undefined>

so this avoids the encoding of the platform.
"""
COMMENT = (
    "import os\n\n# Workaround for https://github.com/pallets/click/issues/2711: remove it\n# once click 8.3 is out.\n"
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "project")


@pytest.fixture
def memory(repository: Repository) -> Iterator[Memory]:
    with open_memory(repository.folder) as memory:
        yield memory


def waiting(memory: Memory) -> list[str]:
    found = memory.candidates.review(limit=100).candidates
    return sorted(part.headline for one in found for part in one.other)


def test_a_revert_is_a_decision_with_the_reason_that_its_message_gives(repository: Repository, memory: Memory) -> None:
    tried = repository.change("store: cache the parsed files", store="cache = {}\n")
    taken = repository.change(REVERT.format(tried), store="\n")
    answer = memory.imports.git()
    assert (answer.read, answer.candidates, answer.waiting) == ({"commits": 2, "reverts": 1}, {"created": 1}, 1)
    [found] = memory.candidates.review().candidates
    [ref] = memory.candidates.accept(found.id).reviewed[0].refs
    record = memory.get(ref).record
    assert isinstance(record, Decision)
    assert (record.decision, record.reasoning, record.sources) == (
        "Reverted: store: cache the parsed files",
        "Two processes share the folder, so the cache served files that another one had replaced.",
        (f"git:{taken[:12]}",),
    )


def test_an_error_that_a_commit_fixes_is_known_when_it_comes_again(repository: Repository, memory: Memory) -> None:
    repository.change("first", store="text = open(name).read()\n")
    fixed = repository.change(ERROR, store='text = open(name, encoding="utf-8").read()\n')
    assert memory.imports.git().read == {"commits": 2, "fixes": 1}
    seen = memory.match(
        "UnicodeDecodeError: 'charmap' codec can't decode byte 0x9d in position 90: character maps to <undefined>"
    )
    assert seen.results == []
    [candidate] = seen.candidates
    assert candidate.insight.startswith("store: open the file as UTF-8 (in store.py: `text = open(name).read()` → ")
    assert fixed[:12] in candidate.seen
    [shown] = memory.candidates.show(candidate.id).candidates
    assert [(edit.removed, edit.added) for one in shown.evidence for edit in one.edits] == [
        ("text = open(name).read()", 'text = open(name, encoding="utf-8").read()')
    ]


def test_a_comment_about_a_workaround_is_a_constraint_until_it_is_gone(repository: Repository, memory: Memory) -> None:
    repository.change("first", app__main=COMMENT)
    answer = memory.imports.git()
    assert (answer.read, answer.candidates) == ({"commits": 1, "workarounds": 1}, {"created": 1})
    text = "app/main.py: Workaround for https://github.com/pallets/click/issues/2711: remove it once click 8.3 is out."
    assert waiting(memory) == [text]
    repository.change("more", app__main=f"'''Main.'''\n{COMMENT}")
    assert memory.imports.git().candidates == {"merged": 1}
    assert memory.candidates.review().candidates[0].other[0].sources == ("comment:app/main.py:4",)
    repository.change("gone", app__main="import os\n")
    assert memory.imports.git().candidates == {"withdrawn": 1}
    assert waiting(memory) == []


def test_a_day_in_a_comment_ends_the_constraint(repository: Repository, memory: Memory) -> None:
    repository.change("first", a="# Workaround for Python 3.12; remove it after 2027-03-01.\n")
    memory.imports.git()
    [found] = memory.candidates.review().candidates
    [ref] = memory.candidates.accept(found.id).reviewed[0].refs
    record = memory.get(ref).record
    assert isinstance(record, Constraint)
    assert str(record.expires_at) == "2027-03-01 00:00:00+00:00"


def test_a_second_import_reads_only_what_is_new(repository: Repository, memory: Memory) -> None:
    repository.change("first", store="text = open(name).read()\n")
    memory.imports.git()
    before = kept_of(repository.folder)
    answer = memory.imports.git()
    assert ([one.status for one in answer.sources], answer.read) == (["unchanged"], {})
    assert kept_of(repository.folder) == before
    repository.change(ERROR, store='text = open(name, encoding="utf-8").read()\n')
    assert memory.imports.git().read == {"commits": 1, "fixes": 1}


def test_a_history_that_was_rewritten_is_read_again(repository: Repository, memory: Memory) -> None:
    repository.change(ERROR, store="a = 1\n")
    memory.imports.git()
    repository("checkout", "-q", "--orphan", "other")
    repository.change(ERROR, store="a = 2\n")
    repository("branch", "-q", "-D", "main")
    repository("reflog", "expire", "--expire=now", "--all")
    repository("gc", "-q", "--prune=now")
    answer = memory.imports.git()
    assert (answer.read, answer.candidates, answer.waiting) == ({"commits": 1, "fixes": 1}, {"merged": 1}, 1)


def test_a_day_leaves_out_the_history_before_it_for_now(repository: Repository, memory: Memory) -> None:
    repository.change("first", store="a = 1\n")
    repository.change(ERROR, store="a = 2\n")
    repository.change("last", store="a = 3\n")
    assert memory.imports.git(since="2026-11-03").read == {"commits": 1}
    assert memory.imports.git().read == {"commits": 3, "fixes": 1}


def test_a_dry_run_keeps_nothing(repository: Repository, memory: Memory) -> None:
    repository.change(ERROR, store="a = 2\n")
    answer = memory.imports.git(dry_run=True)
    assert (answer.applied, answer.candidates, answer.waiting) == (False, {"created": 1}, 1)
    assert memory.candidates.review().candidates == []
    assert memory.imports.git().candidates == {"created": 1}


def test_a_project_below_the_top_of_a_repository_reads_its_own_part(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "whole")
    repository.change("other part: " + ERROR, other__a="# Workaround for numpy 2.0: remove it after 2.1.\n")
    repository.change(ERROR, part__b="# Workaround for pandas 2.0: remove it after 2.1.\nb = 1\n")
    with open_memory(repository.folder / "part") as memory:
        assert memory.imports.git().read == {"commits": 1, "fixes": 1, "workarounds": 1}
        found = memory.candidates.review().candidates
        assert [one.other[0].sources for one in found if one.other] == [("comment:b.py:1",)]
        assert [edit.file for one in found for part in one.evidence for edit in part.edits] == ["b.py"]


def test_a_line_that_looks_like_a_header_is_no_file(repository: Repository, memory: Memory) -> None:
    repository.change("first", store="++ b/x\n-- a/y\n")
    repository.change(ERROR, store="++ b/z\n-- a/w\n")
    memory.imports.git()
    [found] = memory.candidates.review().candidates
    [edit] = memory.candidates.show(found.id).candidates[0].evidence[0].edits
    assert (edit.file, edit.removed, edit.added) == ("store.py", "++ b/x\n-- a/y", "++ b/z\n-- a/w")


def test_a_change_without_bound_is_left_out_of_the_evidence(repository: Repository, memory: Memory) -> None:
    repository.change(ERROR, store="a = 1\n" * 500_000)
    assert memory.imports.git().read == {"commits": 1, "fixes": 1}
    [found] = memory.candidates.review().candidates
    assert memory.candidates.show(found.id).candidates[0].evidence[0].edits == ()


def test_a_file_that_is_too_large_or_has_a_strange_name_does_not_stop_the_others(
    repository: Repository, memory: Memory
) -> None:
    large = "# Workaround for numpy 2.0: remove it after 2.1.\n" + "a = 1\n" * 200_000
    (repository.folder / "new\nline.py").write_text(COMMENT)
    repository.change("first", a=large, z="# Workaround for pandas 2.0: remove it after 2.1.\n")
    assert memory.imports.git().read == {"commits": 1, "workarounds": 1}
    assert waiting(memory) == ["z.py: Workaround for pandas 2.0: remove it after 2.1."]


def test_credentials_of_a_message_are_not_kept(repository: Repository, memory: Memory) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    repository.change(ERROR.replace("so this", f"with the token {secret} so this"), store=f"token = '{secret}'\n")
    memory.imports.git()
    assert secret not in kept_of(repository.folder)


def test_without_a_commit_it_says_so(memory: Memory) -> None:
    with pytest.raises(Unavailable, match="git has no commit here"):
        memory.imports.git()


def test_what_was_observed_is_kept_where_the_message_names_the_issue(repository: Repository, memory: Memory) -> None:
    message = "Lock the list\n\nThe server crashes when two clients come.\n\nFixes: #12\n"
    repository.change(message, server="lock(clients)\n")
    assert memory.imports.git().read == {"commits": 1, "fixes": 1}
    [found] = memory.candidates.review().candidates
    assert found.failure is not None and found.pattern is not None
    assert found.failure.headline == "The server crashes when two clients come."


def test_what_two_comments_of_a_project_say_is_one_candidate(repository: Repository, memory: Memory) -> None:
    repository.change("first", a=COMMENT, b=COMMENT)
    assert memory.imports.git().read == {"commits": 1, "workarounds": 1}


def test_what_each_file_lost_and_got_is_in_the_evidence_also_of_a_name_with_a_blank(
    repository: Repository, memory: Memory
) -> None:
    repository.change("first", **{"my store": "a = 1\nb = 2\n", "other": "c = 3\n"})
    repository.change(ERROR, **{"my store": "a = 2\n", "other": "c = 4\n"})
    memory.imports.git()
    [candidate] = memory.candidates.review().candidates
    edits = [(edit.file, edit.removed, edit.added) for edit in candidate.evidence[0].edits]
    assert edits == [("my store.py", "a = 1\nb = 2", "a = 2"), ("other.py", "c = 3", "c = 4")]


def test_a_day_reads_again_what_was_read_before(repository: Repository, memory: Memory) -> None:
    repository.change(ERROR, store="x = 1\n")
    assert memory.imports.git().sources[0].status == "read"
    assert memory.imports.git().sources[0].status == "unchanged"
    assert memory.imports.git(since="2020-01-01").sources[0].status == "read"


def test_what_is_not_from_a_comment_is_not_withdrawn_and_texts_are_not_read(
    repository: Repository, memory: Memory
) -> None:
    repository.change(ERROR, store="x = 1\n")
    memory.imports.git()
    (repository.folder / "README.md").write_text(COMMENT)
    repository.change("more", store="x = 2\n")
    answer = memory.imports.git()
    assert (answer.waiting, answer.candidates) == (1, {})


def test_a_fix_that_was_taken_back_says_so_also_where_a_later_import_finds_that(
    repository: Repository, memory: Memory
) -> None:
    repository.change("first", store="text = open(name).read()\n")
    fixed = repository.change(ERROR, store='text = open(name, encoding="utf-8").read()\n')
    memory.imports.git()
    [found] = memory.candidates.review().candidates
    assert found.evidence[0].reverted is None
    back = repository.change(f'Revert "store"\n\nThis reverts commit {fixed}.\n', store="text = open(name).read()\n")
    memory.imports.git()
    [found] = memory.candidates.review().candidates
    assert found.evidence[0].reverted == back
    again = repository.change(
        f'Reapply "store"\n\nThis reverts commit {back}.\n', store='text = open(name, encoding="utf-8").read()\n'
    )
    memory.imports.git()
    [found] = memory.candidates.review().candidates
    assert found.evidence[0].reverted is None
    last = repository.change(f"Revert it\n\nThis reverts commit {fixed}.\n", store="text = open(name).read()\n")
    assert again != last
    memory.imports.git()
    [failure, pattern] = memory.candidates.accept(found.id).reviewed[0].refs
    assert f"(taken back by commit {last[:12]})" in memory.get(pattern).record.model_dump()["insight"]
    assert failure.startswith("failure/")


def test_a_revert_that_names_the_subject_takes_the_commit_of_that_subject_back(
    repository: Repository, memory: Memory
) -> None:
    repository.change("first", store="text = open(name).read()\n")
    repository.change(ERROR, store='text = open(name, encoding="utf-8").read()\n')
    back = repository.change(
        'Revert "store: open the file as UTF-8" (#13)\n\nReverts acme/shop#12', store="text = open(name).read()\n"
    )
    memory.imports.git()
    [found] = memory.candidates.review().candidates
    assert found.evidence[0].reverted == back


def test_of_a_pull_request_an_error_is_taken_where_an_edit_is_about_it_and_prose_never(
    repository: Repository, memory: Memory
) -> None:
    repository.change("first", store="text = open(name).read()\n", page="a\n")
    repository.change(
        "Rework the store (#12)\n\n* fix: the command crashes when the file is empty\n* fix the page\n\nFixes: #11\n",
        store="text = open(name).read() or ''\n",
    )
    repository.change(
        "Rework the page (#13)\n\n* it no longer stops with\n\n    KeyError: 'colour'\n\n* fix more\n",
        page="b\n", store="text = ''\n",
    )  # fmt: skip
    assert memory.imports.git().candidates == {}
    repository.change(
        "Read the colour (#14)\n\n* fix a crash\n\n    KeyError: 'shade'\n",
        page="rows.get('shade')\n", store="text = 1\n",
    )  # fmt: skip
    assert memory.imports.git().candidates == {"created": 1}
    [found] = memory.candidates.review().candidates
    assert found.failure is not None
    assert found.failure.headline == "KeyError: 'shade'"


@pytest.mark.parametrize("since", ["yesterday", "2026-13-45", ""])
def test_a_day_that_is_none_is_refused_with_what_would_be_right(memory: Memory, since: str) -> None:
    for read in (memory.imports.git, memory.imports.sessions):
        with pytest.raises(Usage) as refused:
            read(since=since)
        assert (str(refused.value), refused.value.hint) == (f"since is {since!r}", "a day such as 2027-01-31")
