"""The child that is kept for the next query: same answers, nothing carried over, gone when it has to be."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import BadInput, Unavailable
from graphmem.features.cypher.engines.kuzu import sandbox
from graphmem.features.cypher.engines.kuzu.mirror import KuzuMirror
from graphmem.features.cypher.engines.kuzu.sandbox import Sandbox
from graphmem.features.cypher.port import GraphAnswer
from tests.features.cypher.test_sandbox import LONG, children, graph, made  # noqa: F401 - fixtures
from tests.pace import patience

pytestmark = pytest.mark.process

COUNT = "MATCH (f:Failure) RETURN count(f)"


def ask(one: Sandbox, path: Path, query: str, *, state: object = None, timeout_s: float = 10.0) -> GraphAnswer:
    return one.run(path, query, {}, timeout_s=timeout_s, limit=10, state=state)


def pid_of(one: Sandbox) -> int | None:
    return one.child.pid if one.child else None


def sandbox_of(memory: Memory) -> Sandbox:
    mirror = memory.store.client.graph
    assert isinstance(mirror, KuzuMirror)
    return mirror.sandbox


def is_alive(pid: int) -> bool:
    """Tell whether a process is there and no zombie."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip()) and not found.stdout.startswith("Z")


def wait_for_end(pid: int) -> None:
    end = time.monotonic() + 5 * patience()
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_alive(pid)


def test_queries_on_one_state_are_answered_by_one_child(graph: Path) -> None:  # noqa: F811
    with closing(Sandbox()) as one:
        assert ask(one, graph, "RETURN 1").rows == [[1]]
        first = pid_of(one)
        assert ask(one, graph, COUNT).rows == [[1]]
        assert pid_of(one) == first
        assert ask(one, graph, "RETURN 1", state="another").rows == [[1]]
        assert pid_of(one) != first


def test_what_a_query_sets_ends_with_it(graph: Path) -> None:  # noqa: F811
    with closing(Sandbox()) as one:
        ask(one, graph, "CALL threads=64")
        ask(one, graph, "CALL timeout=0")
        first = pid_of(one)
        assert ask(one, graph, "CALL current_setting('threads') RETURN *").rows == [["2"]]
        assert pid_of(one) == first
        with pytest.raises(Unavailable, match=r"longer than 0\.3 s"):
            ask(one, graph, LONG, timeout_s=0.3)


def test_an_error_ends_the_child_and_the_next_query_is_answered(graph: Path) -> None:  # noqa: F811
    with closing(Sandbox()) as one:
        ask(one, graph, "RETURN 1")
        with pytest.raises(BadInput):
            ask(one, graph, "RETURN nope")
        assert one.child is None
        assert ask(one, graph, "RETURN 1").rows == [[1]]


def test_a_child_that_was_killed_while_it_waited_is_replaced(graph: Path) -> None:  # noqa: F811
    with closing(Sandbox()) as one:
        ask(one, graph, "RETURN 1")
        pid = pid_of(one)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for_end(pid)
        assert ask(one, graph, "RETURN 1").rows == [[1]]


@pytest.mark.parametrize(("name", "value"), [("CYPHER_KEPT_QUERIES", 1), ("CYPHER_KEPT_S", 0.0)])
def test_a_child_is_kept_for_some_queries_and_some_time(
    graph: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: float,
) -> None:
    monkeypatch.setattr(sandbox, name, value)
    with closing(Sandbox()) as one:
        ask(one, graph, "RETURN 1")
        first = pid_of(one)
        ask(one, graph, "RETURN 1")
        assert pid_of(one) != first


def test_a_memory_that_is_closed_leaves_no_descriptor_no_thread_and_no_child(tmp_path: Path) -> None:
    Memory.init(tmp_path)
    descriptors, threads, before = len(os.listdir("/dev/fd")), threading.active_count(), children()
    with Memory(tmp_path) as memory:
        memory.cypher(COUNT)
        assert memory.cypher(COUNT).rows == [[0]]
        assert len(children()) == len(before) + 1
    assert children() == before
    assert threading.active_count() == threads
    assert len(os.listdir("/dev/fd")) == descriptors


@pytest.mark.long
def test_a_child_that_waits_keeps_no_other_process_from_writing(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("the disk is full")
    assert memory.cypher(COUNT).rows == [[1]]
    first = pid_of(sandbox_of(memory))
    with Memory(tmp_path) as other:
        other.failures.add("the printer is on fire")
        assert other.cypher(COUNT).rows == [[2]]
    assert memory.cypher(COUNT).rows == [[2]]
    assert pid_of(sandbox_of(memory)) != first


@pytest.mark.long
def test_threads_have_children_of_their_own_that_end_with_them(memory: Memory) -> None:
    memory.failures.add("the disk is full")
    memory.cypher(COUNT)
    found: list[int | None] = []

    def in_thread() -> None:
        memory.cypher(COUNT)
        found.append(pid_of(sandbox_of(memory)))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    (pid,) = found
    assert pid is not None and pid != pid_of(sandbox_of(memory))
    wait_for_end(pid)


@pytest.mark.long
def test_a_child_that_waits_ends_with_its_parent(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("the disk is full")
    memory.cypher(COUNT)
    script = (
        "import os, signal, sys; from graphmem import Memory; memory = Memory(sys.argv[1]);"
        f"memory.cypher({COUNT!r}); print(memory.store.client.graph.sandbox.child.pid, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    wait_for_end(int(done.stdout))
