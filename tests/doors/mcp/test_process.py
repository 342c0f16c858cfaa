"""``graphmem mcp`` as a process: its first answers, its end, and what it prints where."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from graphmem import Memory
from tests.doors.mcp.answers import LISTS, request
from tests.pace import patience, within
from tests.sample import open_memory

pytestmark = pytest.mark.process
LEGACY, MODERN = LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
HEAVY = ("pydantic", "mcp_types", "mcp", "typer", "numpy", "graphmem.api", "asyncio")
INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
SURROUNDINGS = {"GRAPHMEM_EMBEDDING_MODEL": "none", "PYTHONPATH": str(Path(__file__).parents[3])}
SLOW = (  # until its time is up, ten seconds and more
    "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE (a * b) % 7 = 3 RETURN count(a)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_memory(tmp_path) as memory:
        memory.failures.add("the disk is full", fix="make room", name="full")
    return tmp_path


class Talk:
    """A client that writes lines and reads answers by their ids."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.answers: dict[Any, dict[str, Any]] = {}
        self.read = b""  # the beginning of a line

    def send(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(lines).encode())
        self.process.stdin.flush()

    def answer(self, number: int | str, limit_s: float = 30.0) -> dict[str, Any]:
        """Return the answer to a request; other answers are kept."""
        assert self.process.stdout is not None
        end = time.monotonic() + limit_s * patience()
        while number not in self.answers:
            assert select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0], "no answer"
            data = os.read(self.process.stdout.fileno(), 2**20)
            assert data, "the output ended"
            *lines, self.read = (self.read + data).split(b"\n")
            self.answers |= {found["id"]: found for found in map(json.loads, lines)}
        return self.answers[number]

    def ask(self, number: int, method: str, version: str = LEGACY, **params: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        self.send(request(number, method, version, **params))
        return self.answer(number)

    def end(self) -> tuple[int, str]:
        """End the input, and return the exit status and what went to standard error; nothing else is to be read."""
        out, err = self.process.communicate(timeout=20 * patience())
        assert out == b""
        return self.process.returncode, err.decode()


@contextmanager
def started(folder: Path, *options: str, python: Sequence[str] = (), **variables: Any) -> Iterator[Talk]:
    """Yield a client of a new process in a folder, which is killed where it is still there in the end."""
    environment, pipe = {**os.environ, **SURROUNDINGS, **variables}, subprocess.PIPE
    command = [sys.executable, *python, "-m", "graphmem", "mcp", *options]
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


def called(answer: Mapping[str, Any]) -> str:
    """Return the text of the result of a tool."""
    return str(answer["result"]["content"][0]["text"])


# --- the first answers ----------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.slow
def test_nothing_heavy_is_imported_before_the_tools_are_listed(folder: Path, version: str) -> None:
    """What the importer notes before the list of tools is asked for; after it, the import of the SDK begins."""
    methods = ["initialize" if version == LEGACY else "server/discover", *LISTS[1:]]
    with started(folder, python=("-X", "importtime")) as talk:
        for number, method in enumerate(methods):
            assert "result" in talk.ask(number, method, version)
        status, said = talk.end()
    imported = {line.rpartition("|")[2].strip() for line in said.splitlines() if line.startswith("import time:")}
    assert "graphmem.doors.mcp.front" in imported
    assert imported & set(HEAVY) == set()
    assert status == 0


@pytest.mark.long
def test_the_list_of_tools_is_written_before_the_import_begins(folder: Path) -> None:
    code = (
        "import sys; from graphmem.doors.mcp import front; send = front.Front.send\n"
        f"front.Front.send = lambda self, text: (print([n for n in {HEAVY} if n in sys.modules], file=sys.stderr),"
        " send(self, text))\n"
        "front.serve(None)"
    )
    with started(folder, python=("-c", code)) as talk:
        talk.ask(1, "initialize")
        talk.ask(2, "tools/list")
        assert talk.end()[1].splitlines()[:2] == ["[]", "[]"]


@pytest.mark.long
def test_the_import_of_the_sdk_begins_with_the_list_of_tools(folder: Path) -> None:
    with started(folder, python=("-X", "importtime")) as talk:
        talk.ask(1, "initialize")
        talk.ask(2, "tools/list")
        assert talk.process.stderr is not None
        end, said = time.monotonic() + 30 * patience(), b""
        while b" graphmem.doors.mcp.documents\n" not in said:
            assert select.select([talk.process.stderr], [], [], max(0.0, end - time.monotonic()))[0], said[-500:]
            said += os.read(talk.process.stderr.fileno(), 2**20)


def test_the_first_answer_takes_less_than_a_second_at_half_a_core(folder: Path) -> None:
    """The process is stopped half of the time, 10 ms each."""
    began = time.monotonic()
    with started(folder) as talk:
        talk.send(request(1, "server/discover", MODERN))
        assert talk.process.stdout is not None
        while not select.select([talk.process.stdout], [], [], 0.01)[0]:
            talk.process.send_signal(signal.SIGSTOP)
            time.sleep(0.01)
            talk.process.send_signal(signal.SIGCONT)
        assert within(time.monotonic() - began, 1.0)
        assert talk.answer(1)["result"]["supportedVersions"] == [MODERN]


@pytest.mark.parametrize("era", ["auto", pytest.param("legacy", marks=pytest.mark.long)])
def test_the_client_of_the_sdk_recalls_over_standard_input_and_output(folder: Path, era: str) -> None:
    command = ["-m", "graphmem", "mcp", "--dir", str(folder)]
    server = StdioServerParameters(command=sys.executable, args=command, env={**os.environ, **SURROUNDINGS}, cwd="/")

    async def run() -> tuple[str, str]:
        async with Client(stdio_client(server), mode=era) as client:
            assert len((await client.list_tools()).tools) == 8
            (content,) = (await client.call_tool("recall", {"text": "the disk is full"})).content
            assert isinstance(content, TextContent)
            return client.protocol_version, content.text

    version, said = anyio.run(run)
    assert version == (LEGACY if era == "legacy" else MODERN)
    assert 'fix: "make room"' in said


@pytest.mark.long
def test_lists_are_answered_while_the_sdk_is_imported(folder: Path) -> None:
    with started(folder) as talk:
        talk.ask(1, "initialize")
        talk.send(INITIALIZED)
        talk.ask(2, "tools/list")
        for number, method in enumerate(("ping", *LISTS), 3):
            assert "result" in talk.ask(number, method)
        talk.send(request(20, "tools/call", LEGACY, name="status"), request(21, "ping", LEGACY))
        assert "records" in called(talk.answer(20))
        assert talk.answer(21)["result"] == {}
        assert talk.end()[0] == 0


# --- the project ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_store_is_opened_at_the_first_call_and_may_come_later(tmp_path: Path) -> None:
    with started(tmp_path) as talk:
        talk.ask(1, "initialize")
        answer = talk.ask(2, "tools/call", name="recall", arguments={"text": "x"})
        assert answer["result"]["isError"]
        assert "graphmem init" in called(answer)
        Memory.init(tmp_path)
        assert "known: false" in called(talk.ask(3, "tools/call", name="recall", arguments={"text": "x"}))


@pytest.mark.parametrize(
    ("where", "options", "variables", "is_found"),
    [
        (".", [], {"CLAUDE_PROJECT_DIR": ".", "GRAPHMEM_DIR": "aside"}, False),
        ("aside", ["--dir", "."], {"GRAPHMEM_DIR": "aside"}, True),
        ("aside", [], {"CLAUDE_PROJECT_DIR": "."}, True),
        *(
            pytest.param(where, options, variables, is_found, marks=pytest.mark.long)
            for where, options, variables, is_found in (
                (".", [], {}, True),
                ("aside/below", [], {}, False),
                ("aside", ["--dir=.", "--lock-timeout", "5"], {}, True),
                (".", [], {"CLAUDE_PROJECT_DIR": "gone"}, True),
            )
        ),
    ],
)
@pytest.mark.long
def test_the_project_is_that_of_the_option_the_variable_the_client_or_the_folder(
    folder: Path, where: str, options: list[str], variables: dict[str, str], is_found: bool
) -> None:
    """All are folders of the project, which has a store; that of ``aside`` is empty."""
    (folder / "aside/below").mkdir(parents=True)
    Memory.init(folder / "aside", nested=True)
    given = [str(folder) if option == "." else option.replace("=.", f"={folder}") for option in options]
    found = {name: str(folder / value) for name, value in variables.items()}
    with started(folder / where, *given, **found) as talk:
        answer = talk.ask(1, "tools/call", MODERN, name="recall", arguments={"text": "full disk"})
        assert ("make room" in called(answer)) == is_found


# --- the wire -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_only_the_protocol_is_on_standard_output(folder: Path) -> None:
    """What the store has to report goes to standard error, and so does whatever is printed."""
    with (folder / ".graphmem" / "data" / "failure.ndjson").open("ab") as file:
        file.write(b"no row\n")
    with started(folder) as talk:
        talk.ask(1, "initialize")
        assert "make room" in called(talk.ask(2, "tools/call", name="recall", arguments={"text": "the disk is full"}))
        status, said = talk.end()
    assert status == 0
    assert "failure.ndjson" in said


def test_what_is_printed_goes_to_standard_error_and_nobody_else_reads_the_input(folder: Path) -> None:
    code = (
        "import os, sys; from graphmem.doors.mcp import front; run = front.Front.run\n"
        "def noisy(self):\n"
        "    print('noise', repr(sys.stdin.read()), flush=True)\n"
        "    os.system('echo more noise; cat')\n"
        "    return run(self)\n"
        "front.Front.run = noisy\n"
        "front.serve(None)"
    )
    with started(folder, python=("-c", code)) as talk:
        assert "result" in talk.ask(1, "initialize")
        assert talk.end() == (0, "noise ''\nmore noise\n")


@pytest.mark.long
def test_malformed_lines_are_passed_over(folder: Path) -> None:
    with started(folder) as talk:
        talk.send("\n", "{\n", '{"jsonrpc":"2.0"}\n', "\x00\n")
        assert talk.ask(1, "initialize")["result"]["protocolVersion"] == LEGACY
        talk.send("nonsense\n", '{"id":7}\n', f"{'x' * 100_000}\n")
        assert "make room" in called(talk.ask(2, "tools/call", name="recall", arguments={"text": "the disk is full"}))
        assert talk.end()[0] == 0


@pytest.mark.parametrize("lines", [[], [request(1, "initialize", LEGACY)], [request(1, "tools/list", MODERN)]])
@pytest.mark.slow
def test_the_end_of_the_input_ends_the_process(folder: Path, lines: list[str]) -> None:
    with started(folder) as talk:
        talk.send(*lines)
        if lines:
            talk.answer(1)
        assert talk.end() == (0, "")


@pytest.mark.long
def test_the_end_of_the_input_ends_a_call_and_the_engine_under_it(folder: Path) -> None:
    with started(folder) as talk:
        talk.ask(1, "initialize")
        assert "row" in called(talk.ask(2, "tools/call", name="cypher", arguments={"query": "RETURN 1 AS row"}))
        talk.send(request(3, "tools/call", LEGACY, name="cypher", arguments={"query": SLOW}))
        children = []
        for _ in range(500):
            children = children_of(talk.process.pid)
            if children:
                break
            time.sleep(0.01)
        assert talk.process.stdin is not None
        began = time.monotonic()
        talk.process.stdin.close()
        assert talk.process.wait(timeout=30 * patience()) == 0
        assert within(time.monotonic() - began, 1.0)
        for _ in range(500):
            if not any(Path(f"/proc/{child}").exists() for child in children):
                break
            time.sleep(0.01)
        assert not any(Path(f"/proc/{child}").exists() for child in children)


@pytest.mark.parametrize(
    "after_ms", [0, 6, *(pytest.param(1.5 * tried, marks=pytest.mark.long) for tried in range(14) if tried % 4)]
)
@pytest.mark.slow
def test_the_end_of_the_input_in_the_middle_of_calls_is_no_crash(folder: Path, after_ms: float) -> None:
    """A store that was closed under the threads that read it ended the process by a signal, once in five times."""
    with started(folder) as talk:
        talk.ask(1, "tools/call", MODERN, name="status")
        recall = {"name": "recall", "arguments": {"text": "the disk broke"}}
        talk.send(*(request(number, "tools/call", MODERN, **recall) for number in range(2, 8)))
        time.sleep(after_ms / 1000)
        _, said = talk.process.communicate(timeout=20 * patience())
        assert (talk.process.returncode, said) == (0, b"")


def children_of(parent: int) -> list[int]:
    """Return the processes that a process started."""
    if not Path("/proc").is_dir():
        pytest.skip("there is no /proc")
    found = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(child) for file in found for child in file.read_text().split()]


@pytest.mark.long
def test_a_slow_call_holds_up_no_other_and_can_be_cancelled(folder: Path) -> None:
    with started(folder) as talk:
        talk.ask(1, "initialize")
        talk.ask(2, "tools/call", name="status")
        talk.send(request(3, "tools/call", LEGACY, name="cypher", arguments={"query": SLOW}))
        began = time.monotonic()
        assert talk.ask(4, "ping")["result"] == {}
        assert "make room" in called(talk.ask(5, "tools/call", name="recall", arguments={"text": "the disk is full"}))
        assert within(time.monotonic() - began, 2.0)
        assert 3 not in talk.answers
        talk.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}\n')
        assert talk.ask(6, "ping")["result"] == {}
        assert talk.end()[0] == 0
        assert 3 not in talk.answers


@pytest.mark.long
def test_calls_at_once_are_all_answered_and_all_written(folder: Path) -> None:
    with started(folder) as talk:
        talk.ask(1, "initialize")
        lines = [
            request(number, "tools/call", LEGACY, name="remember",
                    arguments={"kind": "failure", "trigger": f"gadget {number:b} {word} went wrong", "fix": "x"})
            for number, word in enumerate(("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"), 10)
        ]  # fmt: skip
        asked = [request(number, "tools/call", LEGACY, name="recall", arguments={"text": "the disk is full"})
                 for number in range(30, 38)]  # fmt: skip
        talk.send(*(line for pair in zip(lines, asked, strict=True) for line in pair))
        made = {talk.answer(number)["result"]["structuredContent"]["ref"] for number in range(10, 18)}
        assert len(made) == 8
        assert all("make room" in called(talk.answer(number)) for number in range(30, 38))
        assert talk.end()[0] == 0
    with open_memory(folder) as memory:
        assert all(memory.get(ref).ref == ref for ref in made)


@pytest.mark.long
def test_a_client_that_reads_no_more_ends_the_process(folder: Path) -> None:
    with started(folder) as talk:
        talk.ask(1, "initialize")
        talk.ask(2, "tools/call", name="status")
        assert talk.process.stdout is not None and talk.process.stdin is not None
        talk.process.stdout.close()
        talk.send(request(3, "ping", LEGACY))
        assert talk.process.wait(timeout=10 * patience()) == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_stream_that_is_closed_is_no_traceback(folder: Path, closed: str) -> None:
    command = f"exec {sys.executable} -m graphmem mcp {closed}"
    line, env = request(1, "initialize", LEGACY).encode(), {**os.environ, **SURROUNDINGS}
    done = subprocess.run(["sh", "-c", command], cwd=folder, input=line, capture_output=True, check=False, env=env)
    assert b"Traceback" not in done.stderr
    assert (b'"id":1' in done.stdout) == (closed == "2>&-")
