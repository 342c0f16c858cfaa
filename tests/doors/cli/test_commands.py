"""A command that passes its request through is made from the fields of the request."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from pydantic import Field

from graphmem import Memory
from graphmem.doors.cli import commands
from graphmem.doors.cli.app import as_command, command_at, run
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, noun, passes
from graphmem.doors.cli.help import help_of
from graphmem.doors.cli.verbs import VERBS
from graphmem.kernel import registry
from graphmem.kernel.answer import Answer
from graphmem.kernel.registry import OPERATIONS, READ, Operation, Taken
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client

# Operations whose command is a function that does more than to pass a request on, or that another command calls.
BY_HAND = {
    "candidates.check_proofs",
    "cypher_named",
    "cypher_projects",
    "export_check",
    "feedback_rows",
    "hook",
    "impact",
    "init",
    "names",
    "queries",
    "undoable",
}


class EchoRequest(Request):
    """What is to be said back."""

    text: str = Field(description="What to say")
    times: int = Field(1, ge=1, le=9, description="How often to say it")
    volume: Literal["low", "high"] = Field("low", description="How loud it is")
    weight: float | None = Field(None, description="How much it counts")
    tags: tuple[str, ...] = Field((), description="What it is about")
    versions: Mapping[str, str] | None = Field(None, description="What it was seen with")
    slowly: bool = Field(False, description="Take time")
    clearly: bool = Field(True, description="Move the lips")
    data: Mapping[str, object] | None = Field(None, description="Anything else")
    secret: str | None = Field(None, description="What no command line takes")


class Echo(Answer):
    """What was given."""

    given: dict[str, Any]


def echo(client: Client, request: EchoRequest) -> Echo:
    """Say something back."""
    return Echo(given=request.model_dump(exclude_unset=True))


ECHO = Operation("echo", echo, EchoRequest, Echo, "Say something back.", READ)
Typed = Callable[..., None]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Runs a command with words as a shell would; the operation of `echo` answers with what it was given."""
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setitem(registry._loaded, "echo", ECHO)
    monkeypatch.setattr(commands, "PASSED", set())
    Memory.init(tmp_path)

    def run_it(command: Any, *words: str) -> None:
        invocation = Invocation(str(tmp_path))
        try:
            as_command("echo", command, "").main(
                args=list(words), prog_name="graphmem", standalone_mode=False, obj=invocation
            )
        finally:
            invocation.close()

    return run_it


def test_a_field_is_an_argument_or_an_option_without_another_line(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    @passes("echo", without=("secret",), weight=Taken("KG", flag="--heavy", note="by the scales"))
    def echo(invocation: Invocation, answer: Echo) -> None:
        """Say something back."""
        invocation.answer(answer, json.dumps(answer.given))

    lines = help_of(as_command("echo", echo, ""), "graphmem echo").partition("  --dir")[0].splitlines()
    assert [line.strip() for line in lines if line] == [
        "Usage: graphmem echo TEXT [OPTIONS]",
        "Say something back.",
        "Arguments:",
        "TEXT  What to say.",
        "Options:",
        "--times N               How often to say it. [from 1 to 9] [default: 1]",
        "--volume TEXT           How loud it is. One of: low, high. [default: low]",
        "--heavy KG              How much it counts; by the scales.",
        "--tag TAG               What it is about; may be repeated.",
        "--version NAME=V        What it was seen with.",
        "--slowly                Take time.",
        "--no-clearly            Do not move the lips.",
        "--data TEXT             Anything else.",
    ]
    typed(echo, "boo", "--tag", "a", "--tag", "b", "--times", "3", "--slowly", "--no-clearly", "--heavy", "0.5")
    assert json.loads(capsys.readouterr().out) == {
        "text": "boo", "times": 3, "volume": "low", "weight": 0.5, "tags": ["a", "b"], "slowly": True,
        "clearly": False,
    }  # fmt: skip


def test_a_command_sees_what_was_given_adds_options_and_calls_the_operation_with_other_values(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    @passes("echo", without=("secret",))
    def echo(
        invocation: Invocation,
        call: Call,
        times: int,
        backwards: Annotated[bool, typer.Option("--backwards", help="From the end.")] = False,
        volume: Annotated[bool, typer.Option("--loud", help="At the top of one's voice.")] = False,
    ) -> None:
        """Say something back."""
        answer: Echo = call(volume="high" if volume else "low", data={"backwards": backwards})
        invocation.answer(answer, json.dumps([times, answer.given]))

    text = help_of(as_command("echo", echo, ""), "graphmem echo")
    places = [text.index(flag) for flag in ("--times", "--backwards", "--loud", "--weight")]
    assert places == sorted(places)
    assert "--volume" not in text
    typed(echo, "boo", "--loud")
    times, given = json.loads(capsys.readouterr().out)
    assert times == 1
    assert given == {
        "text": "boo", "times": 1, "volume": "high", "data": {"backwards": False}, "slowly": False, "clearly": True,
    }  # fmt: skip


def test_the_command_of_a_group_runs_only_without_a_command_of_the_group(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []
    app = noun("Say things.")

    @app.callback(invoke_without_command=True)
    @passes("echo", arguments=0, without=("secret",))
    def of_the_group(invocation: Invocation, call: Call) -> None:
        ran.append("of the group")

    @app.command("loud")
    @passes("echo", without=("secret",))
    def loud(invocation: Invocation, answer: Echo) -> None:
        ran.append(answer.given["text"])

    typed(app, "--text", "x", "loud", "boo")
    typed(app, "--text", "x")
    assert ran == ["boo", "of the group"]


def test_each_operation_has_a_command() -> None:
    for module, name, line in VERBS.values():
        command_at(module, name, line)
    assert OPERATIONS.keys() - commands.PASSED == BY_HAND


def test_a_value_that_the_request_refuses_is_refused_with_the_name_of_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Memory.init(tmp_path)
    assert run(["context", "x", "--tier", "best"]) == 2
    assert "unknown --tier 'best'" in capsys.readouterr().err
