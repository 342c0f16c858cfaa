"""A symptom finds its failure by what people say, and `holds_for` says which problems a fix is for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphmem import BadInput, Memory
from graphmem.kernel.embed.model import Embedder
from tests.sample import open_memory

LOCK = "error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`."
SYMPTOM = "yarn says in CI that the lock file is out of date, since package.json was changed without it"
ASKED = "our pipeline complains that somebody forgot to update the lock file after changing package.json"
OTHERS = (
    ("fatal: detected dubious ownership in repository at '/builds/acme/api'", "git config --add safe.directory"),
    ("sqlite3.OperationalError: database is locked", "open it with timeout=30 and in WAL mode"),
    ("x509: certificate signed by unknown authority", "add the company root CA to the image"),
    ("ENOSPC: System limit for number of file watchers reached", "raise fs.inotify.max_user_watches"),
    ("TS2339: Property 'userId' does not exist on type 'Request'.", "augment Express.Request"),
)


@pytest.fixture
def project(tmp_path: Path, embedder: Embedder) -> Iterator[Memory]:
    """A store of five failures of other sorts, with the model."""
    with open_memory(tmp_path / "project", embedder=embedder) as memory:
        for number, (trigger, fix) in enumerate(OTHERS):
            memory.failures.add(trigger, name=f"other-{number}", fix=fix)
        yield memory


def test_a_question_in_words_of_its_own_is_answered_by_a_symptom_and_by_none_without_it(project: Memory) -> None:
    project.failures.add(LOCK, name="lock", fix="run yarn install and commit yarn.lock")
    without = project.query(ASKED)
    project.edit("failure/lock", {"symptom": SYMPTOM})
    answer = project.query(ASKED)
    assert (answer.results[0].ref, answer.certainty) == ("failure/lock", "high")
    assert answer.probability > without.probability
    project.forget("failure/lock")
    assert project.query(ASKED).certainty != "high"
    project.restore("failure/lock")
    assert project.query(ASKED).certainty == "high"


def test_a_symptom_has_a_vector_of_its_own_and_changes_no_other(project: Memory, embedder: Embedder) -> None:
    project.failures.add(LOCK, name="lock", fix="commit yarn.lock")
    before = project.query(LOCK).results[0].similarity
    project.edit("failure/lock", {"symptom": SYMPTOM})
    assert project.query(LOCK).results[0].similarity == pytest.approx(before)
    near = float(np.dot(embedder.encode_query(SYMPTOM), embedder.encode_documents([SYMPTOM])[0]))
    assert project.query(SYMPTOM).results[0].similarity == pytest.approx(near, abs=1e-4)
    project.edit("failure/lock", unset=["symptom"])
    assert project.query(SYMPTOM).results[0].similarity < near - 0.1


def test_a_message_in_a_question_is_compared_whatever_the_symptom_says(project: Memory) -> None:
    trigger = "ModuleNotFoundError: No module named 'yaml'"
    project.failures.add(trigger, fix="pip install pyyaml", symptom="the deploy script stops as a module is missing")
    answer = project.query("the deploy script stops as a module is missing\nModuleNotFoundError: No module named 'zod'")
    assert (answer.results[0].verdict, answer.certainty == "high") == ("same_rule", False)


def test_the_trigger_of_a_pattern_is_a_symptom_of_what_it_solves(project: Memory) -> None:
    project.failures.add(LOCK, name="lock")
    project.patterns.add(SYMPTOM, "run yarn install and commit yarn.lock", name="commit-lock")
    project.relations.link("pattern/commit-lock", "solves", "failure/lock")
    answer = project.query(ASKED)
    assert answer.results[0].ref in ("pattern/commit-lock", "failure/lock")
    assert answer.certainty == "high"


def test_without_a_model_a_symptom_is_found_by_its_words(tmp_path: Path) -> None:
    with open_memory(tmp_path / "words", embedder=None) as memory:
        memory.failures.add(LOCK, name="lock", symptom="the pipeline wants a newer manifest of dependencies")
        memory.failures.add(OTHERS[0][0], name="other")
        assert memory.query("newer manifest").results[0].ref == "failure/lock"


def test_a_merge_keeps_both_symptoms_and_what_a_fix_holds_for(project: Memory) -> None:
    project.failures.add(LOCK, name="lock", symptom=SYMPTOM)
    merged = project.failures.add(LOCK, symptom="CI wants yarn.lock to be committed", holds_for="rule")
    row: dict[str, Any] = project.get("failure/lock").record.to_row()
    assert (merged.ref, row["symptom"], row["holds_for"]) == (
        "failure/lock", "CI wants yarn.lock to be committed", "rule",
    )  # fmt: skip
    assert [(one["field"], one["text"]) for one in row["alternates"]] == [("symptom", SYMPTOM)]


@pytest.mark.parametrize(
    ("given", "says"),
    [("x" * 301, "at most 300"), ("two\nlines", "line end"), ("…", "a placeholder"), (" ", "is empty")],
)
def test_a_symptom_is_one_sentence(memory: Memory, given: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        memory.failures.add("boom", symptom=given)
    assert says in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.parametrize(("holds_for", "verdict"), [(None, "same_rule"), ("rule", "same"), ("names", "same_rule")])
def test_a_fix_may_hold_for_every_name(memory: Memory, holds_for: str | None, verdict: str) -> None:
    trigger = "ModuleNotFoundError: No module named 'yaml'"
    memory.failures.add(trigger, name="module", fix="run the set-up script", holds_for=holds_for)  # type: ignore[arg-type]
    log = b"ModuleNotFoundError: No module named 'tomli_w'\n"
    (hit,) = memory.match([log]).results
    assert (hit.ref, hit.verdict) == ("failure/module", verdict)
    assert memory.query(log.decode()).results[0].verdict == verdict


def test_a_fix_for_one_function_is_not_known_by_the_line_alone(memory: Memory) -> None:
    memory.failures.add("ValueError: bad total", name="total", fix="round once", holds_for="frame")
    (hit,) = memory.match([b"ValueError: bad total\n"]).results
    assert hit.verdict == "unclear"


def test_a_purge_destroys_the_vector_of_a_symptom(project: Memory) -> None:
    project.failures.add(LOCK, name="lock", symptom=SYMPTOM)
    project.query(ASKED)
    (place,) = project.store.client.catalog.connection.execute("SELECT vector FROM symptom").fetchone()
    with project.store.client.reading() as snapshot:
        assert snapshot.vectors is not None
        path, size = snapshot.vectors.path, snapshot.vectors.row_bytes
    assert any(path.read_bytes()[place * size : (place + 1) * size])
    project.store.purge(["failure/lock"], yes=True)
    assert not any(path.read_bytes()[place * size : (place + 1) * size])
    assert project.store.client.catalog.connection.execute("SELECT count(*) FROM symptom").fetchone() == (0,)
