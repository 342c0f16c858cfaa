"""A memory that stays open: beside other processes, in threads, after it was closed; and what holds no lock."""

import inspect
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from graphmem import Memory, Usage
from graphmem.features.upkeep.doctor import make_anew
from graphmem.kernel.git import commands
from graphmem.kernel.system.lock import locked
from tests.sample import data, failure, line, open_memory, trust_all, write

ENVIRONMENT = {
    "GRAPHMEM_EMBEDDING_MODEL": "none",
    "PYTHONPATH": str(Path(__file__).parents[1]),
    "PATH": "/usr/bin:/bin",
}


def command(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-m", "graphmem", *arguments], cwd=folder, env=ENVIRONMENT,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip


# --- types and repairs -----------------------------------------------------------------------------------------------


def test_an_open_memory_learns_of_a_type_that_another_process_added(memory: Memory, tmp_path: Path) -> None:
    memory.list()
    with open_memory(tmp_path) as other:
        other.types.add_entity("thing")
        other.entities.add("thing", "one")
        other.types.add_relation("touches", sources=["failure"], targets=["thing"])
        other.list()
    assert [found.ref for found in memory.list().results] == ["thing/one"]
    assert memory.entities.add("thing", "two").ref == "thing/two"
    memory.failures.add("it broke", name="a")
    assert memory.relations.link("failure/a", "touches", "thing/one").action == "created"
    assert "thing" in {made.type for made in memory.types.list().entities}


def test_doctor_leaves_the_open_memory_working(memory_with_model: Memory) -> None:
    memory = memory_with_model
    memory.failures.add("it broke", name="a")
    memory.query("it broke")
    make_anew(memory.store.client)
    assert [found.ref for found in memory.query("it broke").results] == ["failure/a"]
    memory.failures.add("something else entirely", name="b")
    assert memory.store.validate().ok


# --- calls that are wrong --------------------------------------------------------------------------------------------


def test_a_log_may_be_given_as_one_text(memory: Memory) -> None:
    memory.failures.add("ModuleNotFoundError: No module named 'yaml'", name="no-yaml", fix="pip install pyyaml")
    text = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'\n"
    for log in (text, text.encode(), text.splitlines(), text.encode().splitlines(keepends=True)):
        assert [found.ref for found in memory.match(log).results] == ["failure/no-yaml"]
    assert memory.add_rows(failure("x").decode()).created == 1
    assert memory.ran(["make"], status=1, log=text).log is not None


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.close()
    memory.close()
    for call in (memory.list, memory.store.validate, lambda: memory.failures.add("x"), lambda: memory.query("x"),
                 lambda: memory.cypher("MATCH (n) RETURN n"), memory.store.undoable, memory.store.rebuild):  # fmt: skip
        with pytest.raises(Usage, match="closed"):
            call()


def test_one_memory_serves_many_threads(memory: Memory) -> None:
    """Each thread writes and reads; nothing is lost, and no thread sees half of a write."""
    errors: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(5):
                name = f"t{thread}-{number}"
                memory.failures.add(f"thread {thread} failed at step {number}", name=name, dedup=False)
                if number:
                    memory.relations.link(f"failure/{name}", "causes", f"failure/t{thread}-0")
                    assert len(memory.related(f"failure/t{thread}-0").results) == number
                assert memory.get(f"failure/{name}").record.name == name
                assert memory.query(f"thread {thread} failed").results
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert memory.list().total == 20
    assert memory.store.validate().ok


def test_a_thread_that_comes_after_the_end_is_told_that_the_memory_is_closed(memory: Memory) -> None:
    memory.list()
    memory.close()
    raised: list[BaseException] = []

    def work() -> None:
        try:
            memory.list()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [type(error) for error in raised] == [Usage]
    assert "closed" in str(raised[0])


def test_an_open_memory_sees_settings_that_change(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("one", name="one")
    memory.failures.add("two", name="two")
    memory.relations.link("failure/one", "causes", "failure/two", weight=0.4)
    assert memory.related("one").results == []
    config = tmp_path / ".graphmem/config.toml"
    config.write_text(config.read_text() + "[retrieval]\nmin_strength = 0.3\n")
    assert [found.ref for found in memory.related("one").results] == ["failure/two"]


def test_an_open_memory_sees_what_is_trusted_meanwhile(memory: Memory, tmp_path: Path) -> None:
    config = tmp_path / ".graphmem/config.toml"
    config.write_text(config.read_text() + '[retrieval]\nreranker = "some/model"\n')
    notices = memory.list().notices
    assert len(notices) == 1
    assert "retrieval.reranker" in notices[0]
    assert memory.store.client.settings.retrieval.reranker == ""
    with open_memory(tmp_path) as other:
        trust_all(other)
    memory.list()
    assert memory.store.client.settings.retrieval.reranker == "some/model"


def test_notices_are_in_every_answer_that_they_bear_on(tmp_path: Path) -> None:
    """Callers of one memory do not see each other's answers; a terminal shows a line once."""
    said: list[str] = []
    memory = open_memory(tmp_path, said=said)
    memory.failures.add("one", name="one")
    assert "notices" not in memory.list().model_dump_json()
    with data(tmp_path, "failure").open("ab") as file:
        file.write(b"no row\n")
    notices = memory.list().notices
    assert ["failure.ndjson:2" in text for text in notices] == [True]
    assert memory.context("one").notices == notices
    with ThreadPoolExecutor() as pool:
        assert pool.submit(memory.list).result().notices == notices
    assert said == notices
    write(data(tmp_path, "failure"), failure("one"))
    assert memory.list().notices == []
    memory.close()


# --- input first, lock last ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("add", "--ndjson", "-"), failure("piped")),
        (("lesson", "learn", "-", "--run", "r"), orjson.dumps({"type": "review.verdict", "at": "2026-11-01T00:00:00Z",
                                                     "findings": []}) + b"\n"),
        (("feedback", "--ndjson", "-"), b'{"ref":"failure/there","helped":true}\n'),
    ],
    ids=["add", "learn", "feedback"],
)  # fmt: skip
@pytest.mark.slow
@pytest.mark.long
def test_a_slow_pipe_holds_no_lock(tmp_path: Path, arguments: Sequence[str], given: bytes) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("it is there", name="there")
    slow = command(tmp_path, *arguments)
    assert slow.stdin is not None
    slow.stdin.write(given[:5])
    slow.stdin.flush()
    for number in range(2):
        quick = command(
            tmp_path, "--lock-timeout", "0.5", "add", "failure", "--trigger", f"case {number} x", "--no-dedup"
        )
        _, told = quick.communicate(timeout=60)
        assert quick.returncode == 0, told
    assert slow.poll() is None
    _, told = slow.communicate(given[5:], timeout=60)
    assert slow.returncode == 0, told


class Watching:
    """A model that looks, whenever it embeds, whether the store's lock is free."""

    name, fingerprint, dimensions = "watching", "watching", 8

    def __init__(self) -> None:
        self.lock: Path | None = None
        self.texts = 0

    def encode_documents(self, texts: Sequence[str]) -> Any:
        assert self.lock is not None
        with locked(self.lock, timeout_s=0):
            self.texts += len(texts)
        rows = np.array([[hash((text, place)) % 97 + 1 for place in range(8)] for text in texts], dtype="f4")
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_query(self, text: str) -> Any:
        return self.encode_documents([text])[0]


def test_nothing_is_embedded_while_the_lock_is_held(tmp_path: Path) -> None:
    watching = Watching()
    with open_memory(tmp_path, embedder=watching) as memory:
        watching.lock = memory.store.client.ledger.files.lock
        data(tmp_path, "failure").write_bytes(b"".join(failure(f"pulled{n}") for n in range(5)))
        memory.failures.add("added by hand", name="a")
        assert watching.texts == 6  # what was pulled is compared too
        memory.patterns.add("when", "do", name="p")
        memory.add_rows([failure("r1"), failure("r2"), line(kind="pattern", name="q", trigger="t", insight="i")],
                        dedup=True)  # fmt: skip
        verdict = {"type": "review.verdict", "findings": [{"text": "wait for it", "severity": "warning"}]}
        memory.lessons.add("something else", name="l")
        memory.lessons.learn([orjson.dumps(verdict)], run="r", semantic=True)
        experience = {"kind": "experience", "task_type": "bug", "description": "d", "approach": "a",
                      "outcome": "success", "lessons": ["wait for it"]}  # fmt: skip
        memory.add_rows([orjson.dumps({**experience, "name": f"2026-11-0{day}_t{day}"}) for day in (1, 2)])
        memory.experiences.promote(yes=True)
        memory.store.purge(["failure/a"], yes=True)
    assert watching.texts > 8


def test_git_never_goes_to_the_network_and_has_a_time_limit() -> None:
    assert commands.ENVIRONMENT["GIT_NO_LAZY_FETCH"] == "1" and commands.ENVIRONMENT["GIT_ALLOW_PROTOCOL"] == ""
    assert 0 < inspect.signature(commands.git).parameters["timeout_s"].default < 1_000


def test_what_a_thread_reads_stays_as_it_is_while_another_thread_writes(memory: Memory) -> None:
    memory.failures.add("the first failure")
    with memory.store.client.reading() as snapshot:
        before = snapshot.catalog.listed(["failure"], is_live=True)
        writer = threading.Thread(target=memory.failures.add, args=("the second failure",))
        writer.start()
        writer.join()
        assert snapshot.catalog.listed(["failure"], is_live=True) == before
    assert memory.list("failure").total == 2
