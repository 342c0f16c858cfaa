"""A proof runs a candidate's command at the commits before and after its fix, and only where the user looked at it."""

import sys
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.core.logs.draft import keys_of
from graphmem.core.logs.output_problem import problem_in
from graphmem.core.records.candidates import queue_of
from graphmem.errors import BadInput, Refused
from graphmem.kernel.model.candidate import Candidate, CandidateEdit, Occasion, candidate_id
from tests.repository import Repository
from tests.sample import open_memory

pytestmark = pytest.mark.process
ERROR = "ValueError: the shed has no colour at all"
COMMAND = "sh check.sh"


class Project:
    """A repository in which a check fails at one commit and passes at the next."""

    def __init__(self, folder: Path) -> None:
        self.repository = Repository(folder)
        self.folder = folder
        (folder / "check.sh").write_text(f"grep -q green colour || {{ echo '{ERROR}'; exit 1; }}\n")
        self.put("red", "paint it red")
        self.before = self.put("grey", "paint it grey")
        self.after = self.put("green", "paint it green")
        self.memory = open_memory(folder)

    def put(self, colour: str, subject: str) -> str:
        (self.folder / "colour").write_text(colour)
        self.repository("add", "colour", "check.sh")
        return self.repository.commit(subject)

    def candidate(self, *, command: str = COMMAND, trigger: str = ERROR, **fields: Any) -> str:
        keys = keys_of(problem_in(trigger))
        given = {"source": "git", "commit": self.after, "before": self.before, **fields}
        found = Occasion(command=command, **given)
        one = Candidate(
            id=candidate_id(trigger), keys=keys, base=0.5, failure={"trigger": trigger},
            pattern={"trigger": trigger, "insight": "paint it green"}, evidence=(found,), marks=("m",), sessions=("s",),
        )  # fmt: skip
        with queue_of(self.memory.store.client).changing() as queue:
            queue.candidates[one.id] = one
        return one.id

    def proven(self, name: str) -> Any:
        plan = self.memory.candidates.prove(name).reviewed[0].plan
        assert plan is not None
        return self.memory.candidates.prove(name, yes=plan.digest).reviewed[0]


@pytest.fixture
def project(tmp_path: Path) -> Any:
    made = Project(tmp_path / "project")
    yield made
    made.memory.close()


def test_what_fails_before_and_passes_after_is_proven_and_the_record_says_so(project: Project) -> None:
    name = project.candidate()
    (planned,) = project.memory.candidates.prove(name).reviewed
    assert planned.action == "planned"
    assert planned.plan is not None
    assert (planned.plan.command, planned.plan.before, planned.plan.after) == (COMMAND, project.before, project.after)
    done = project.proven(name)
    assert (done.action, done.reason) == ("proven", None)
    assert project.memory.candidates.review().candidates[0].proof == done.proof
    (failure, _) = project.memory.candidates.accept(at_least="proven").reviewed[0].refs
    assert project.memory.get(failure).record.model_dump()["proven"]["after"] == project.after
    assert project.repository("status", "--short", "--", "colour", "check.sh") == ""


def test_where_the_commits_are_not_named_the_first_commit_after_the_pass_that_changes_the_file_is_taken(
    project: Project,
) -> None:
    edits = (CandidateEdit(file="colour"),)
    name = project.candidate(commit=None, before=None, edits=edits, passed="2026-11-02T12:00:00Z")
    plan = project.memory.candidates.prove(name).reviewed[0].plan
    assert plan is not None
    assert (plan.before, plan.after) == (project.before, project.after)
    late = project.candidate(commit=None, before=None, edits=edits, passed="2100-01-01T00:00:00Z")
    with pytest.raises(BadInput, match="has no command with commits before and after its fix"):
        project.memory.candidates.prove(late)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"command": "true"}, "the command passes"),
        ({"command": "echo 'ValueError: quite another thing'; exit 1"}, "fails with another error"),
        ({"command": f"echo '{ERROR}'; exit 1"}, "does not pass"),
        ({"command": COMMAND, "folder": "missing"}, "'missing' is not there"),
        ({"command": COMMAND, "folder": "../.."}, "'../..' is not there"),
    ],
)
def test_what_does_not_fail_so_and_then_pass_is_disproven(
    project: Project, fields: dict[str, Any], reason: str
) -> None:
    done = project.proven(project.candidate(**fields))
    assert done.action == "disproven"
    assert reason in str(done.reason)
    assert project.memory.candidates.review().candidates[0].proof is None


def test_a_command_that_takes_too_long_is_no_proof(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.features.harvest.prove.CHECK_S", 0.3)
    assert "took longer" in str(project.proven(project.candidate(command="sleep 9")).reason)


def test_nothing_runs_that_the_user_has_not_looked_at(project: Project, tmp_path: Path) -> None:
    name = project.candidate(command=f"touch {tmp_path}/ran")
    assert project.memory.candidates.prove(name).reviewed[0].action == "planned"
    with pytest.raises(Refused, match="'old' is not the digest of what would run"):
        project.memory.candidates.prove(name, yes="old")
    assert not (tmp_path / "ran").exists()


def test_a_link_in_a_commit_is_not_followed_out_of_the_copy(project: Project, tmp_path: Path) -> None:
    (project.folder / "out").symlink_to(tmp_path)
    project.repository("add", "out")
    after = project.repository.commit("a link")
    with Memory(project.folder) as memory:
        name = project.candidate(commit=after)
        plan = memory.candidates.prove(name).reviewed[0].plan
        assert plan is not None
        with pytest.raises(Exception, match="cannot be written"):
            memory.candidates.prove(name, yes=plan.digest)


def test_what_was_proven_is_shown_and_run_again_once_it_is_trusted(project: Project) -> None:
    name = project.candidate()
    project.proven(name)
    (failure, pattern) = project.memory.candidates.accept(name).reviewed[0].refs
    hit = project.memory.match(f"{ERROR}\n".encode()).results[0]
    clause = f"fails at {project.before[:12]}, passes at {project.after[:12]}"
    assert [one for one in hit.holds if one.startswith("proven ") and one.endswith(clause)]
    answer = project.memory.candidates.check_proofs()
    assert (answer.results, answer.untrusted) == ([], [failure, pattern])
    wanted = project.memory.store.trust()
    assert (wanted.commands, [COMMAND in one for one in wanted.proofs]) == ([], [True])
    project.memory.store.trust(yes=wanted.digest)
    answer = project.memory.candidates.check_proofs()
    assert [(one.ref, one.proven) for one in answer.results] == [(failure, True), (pattern, True)]


def accepted(project: Project) -> tuple[str, dict[str, Any]]:
    """Prove and accept a candidate and trust the proof; return the failure and what was proven."""
    name = project.candidate()
    project.proven(name)
    (failure, _) = project.memory.candidates.accept(name).reviewed[0].refs
    project.memory.store.trust(yes=project.memory.store.trust().digest)
    return failure, project.memory.get(failure).record.model_dump()["proven"]


@pytest.mark.parametrize("part", ["command", "before", "after", "folder", "without"])
def test_a_proof_with_another_part_is_not_the_one_that_was_trusted(project: Project, part: str) -> None:
    failure, row = accepted(project)
    others = {
        "command": "sh  check.sh",
        "before": project.after,
        "after": project.before,
        "folder": "x",
        "without": "x",
    }
    project.memory.edit(failure, proven={**row, part: others[part]})
    answer = project.memory.candidates.check_proofs()
    assert failure in answer.untrusted
    assert not project.memory.store.trust().trusted
    (hit,) = (one for one in project.memory.match(f"{ERROR}\n".encode()).results if one.ref == failure)
    assert [one for one in hit.holds if one.startswith("claims to be proven ")]


def test_a_trusted_verify_command_vouches_for_no_proof_and_a_proof_for_no_verify_command(project: Project) -> None:
    failure, row = accepted(project)
    project.memory.campaigns.create("all", name="c")
    plan = [{"seq": n, "slug": f"s{n}", "objective": "o", "verify": text} for n, text in ((1, COMMAND), (2, "sh b.sh"))]
    project.memory.campaigns.add_tasks("c", plan)
    project.memory.tasks.block("c/001", "it fails")
    project.memory.tasks.block("c/002", "it fails")
    assert not project.memory.store.trust().trusted  # the proof has the same command, and was trusted
    project.memory.store.trust(yes=project.memory.store.trust().digest)
    project.memory.edit(failure, proven={**row, "command": "sh b.sh"})
    assert failure in project.memory.candidates.check_proofs().untrusted


def test_a_commit_that_head_does_not_come_from_is_not_run_again(project: Project) -> None:
    failure, row = accepted(project)
    fork = project.repository("commit-tree", f"{project.after}^{{tree}}", "-p", project.before, "-m", "somebody else's")
    project.memory.edit(failure, proven={**row, "after": fork})
    project.memory.store.trust(yes=project.memory.store.trust().digest)
    found = {one.ref: one for one in project.memory.candidates.check_proofs().results}[failure]
    assert (found.proven, found.reason) == (False, f"commit {fork} is not in the history of HEAD")


def test_another_candidate_with_a_trusted_command_is_only_planned(project: Project) -> None:
    accepted(project)
    other = project.candidate(trigger="ValueError: the shed has no door", before="HEAD~2")
    assert [one.action for one in project.memory.candidates.prove(other).reviewed] == ["planned"]


def test_what_is_no_proof_is_a_finding(project: Project) -> None:
    failure, row = accepted(project)
    project.memory.edit(failure, proven={**row, "after": "FETCH_HEAD"})
    (found,) = (one for one in project.memory.store.validate().findings if one.code == "bad_proof")
    assert found.message.startswith(f"proven.after of {failure} is not a proof: ")
    assert str(found.fix) == f"graphmem edit {failure} --unset proven"
    project.memory.edit(failure, unset=["proven"])
    assert project.memory.store.validate().findings == []


def test_a_proof_that_is_none_any_more_says_why(project: Project) -> None:
    name = project.candidate()
    project.proven(name)
    (failure, _) = project.memory.candidates.accept(name, at_least=None).reviewed[0].refs
    row = project.memory.get(failure).record.model_dump()["proven"]
    for changes, reason in (
        ({"before": "0" * 40}, "0000000000"),
        ({"before": project.after}, "the command passes"),
    ):
        project.memory.edit(failure, proven={**row, **changes})
        wanted = project.memory.store.trust()
        if wanted.digest:
            project.memory.store.trust(yes=wanted.digest)
        found = {one.ref: one for one in project.memory.candidates.check_proofs().results}[failure]
        assert (found.proven, reason in str(found.reason)) == (False, True)
    project.memory.edit(failure, proven={"command": 3})
    assert failure not in [one.ref for one in project.memory.candidates.check_proofs().results]


def in_one_commit(project: Project) -> str:
    """Commit a check of the floor with what it asks for; return the commit."""
    (project.folder / "floor.sh").write_text(
        "grep -q oak floor || { echo 'ValueError: the floor is no oak'; exit 1; }\n"
    )
    (project.folder / "floor").write_text("oak")
    project.repository("add", "floor.sh", "floor")
    return project.repository.commit("an oak floor, and a check of it")


def test_a_check_that_came_with_its_fix_is_proven_without_the_change_of_the_edited_files(project: Project) -> None:
    after = in_one_commit(project)
    edits = (CandidateEdit(file="floor"), CandidateEdit(file="../other"), CandidateEdit(file="/etc/hosts"))
    name = project.candidate(
        command="sh floor.sh",
        trigger="ValueError: the floor is no oak",
        commit=after,
        before=project.after,
        edits=edits,
    )
    plan = project.memory.candidates.prove(name).reviewed[0].plan
    assert plan is not None
    assert plan.files == ["floor"]
    done = project.proven(name)
    assert (done.action, done.proof["without"]) == ("proven", "floor")
    (failure, _) = project.memory.candidates.accept(name).reviewed[0].refs
    hit = project.memory.match(b"ValueError: the floor is no oak\n").results[0]
    assert f"fails at {after[:12]} without the change of floor, passes with it" in " ".join(hit.holds)
    project.memory.store.trust(yes=project.memory.store.trust().digest)
    found = {one.ref: one for one in project.memory.candidates.check_proofs().results}
    assert found[failure].proven


def test_a_check_that_passes_without_the_change_as_well_is_disproven(project: Project) -> None:
    after = in_one_commit(project)
    edits = (CandidateEdit(file="colour"),)
    done = project.proven(project.candidate(command="sh floor.sh", commit=after, before=project.after, edits=edits))
    assert done.action == "disproven"
    assert f"fails with another error; at {after[:12]} without the change of colour the command passes" in done.reason


def test_installed_packages_are_there_in_the_copy(project: Project) -> None:
    """They are in no commit; what a commit has is not replaced."""
    (project.folder / "web").mkdir()
    (project.folder / "web/kept").write_text("")
    after = project.repository.commit("a page")
    for name in ("node_modules", "web/.venv", "other/venv"):
        (project.folder / name).mkdir(parents=True)
        (project.folder / name / "tool").write_text("sh check.sh")
    name = project.candidate(
        command="sh node_modules/tool && ! ls other && ls web/kept && ls web/.venv/tool", commit=after
    )
    assert project.proven(name).action == "proven"
    assert (project.folder / "node_modules/tool").exists()


def test_python_finds_the_code_of_the_copy_where_the_working_tree_is_installed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.folder / "pyproject.toml").write_text("")
    (project.folder / "src").mkdir()
    (project.folder / "run").mkdir()
    (project.folder / "run/check.py").write_text("import shed\n{'green': 1}[shed.COLOUR]\n")
    commits = []
    for colour in ("grey", "green"):
        (project.folder / "src/shed.py").write_text(f"COLOUR = {colour!r}\n")
        project.repository("add", "pyproject.toml", "src", "run")
        commits.append(project.repository.commit(colour))
    monkeypatch.setenv("PYTHONPATH", str(project.folder / "src"))
    before, after = commits
    command = f"{sys.executable} run/check.py"
    name = project.candidate(command=command, trigger="KeyError: 'grey'", before=before, commit=after)
    assert project.proven(name).action == "proven"
    printed = [
        b"Traceback (most recent call last):",
        b'  File "run/check.py", line 2, in <module>',
        b"KeyError: 'grey'",
    ]
    assert [one.id for one in project.memory.match(printed).candidates] == [name]


def test_a_report_of_ci_has_no_command_to_prove(project: Project) -> None:
    with pytest.raises(BadInput) as caught:
        project.memory.candidates.prove(project.candidate(source="ci"))
    assert caught.value.hint == "a report of CI names checks, not commands"
