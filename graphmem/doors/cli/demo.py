"""``demo``: a store of real data, and the main job with it; every command is one that a user could type."""

import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel

from graphmem.api import Memory
from graphmem.doors.cli.caller import Invocation, invocation_of
from graphmem.doors.cli.demo_store import NEXT, SHOWN, Demonstrated, DemoStep, committed, plant, prepare, shipped
from graphmem.errors import Usage
from graphmem.kernel.answer import Answer
from graphmem.kernel.settings.folders import project_folder
from graphmem.kernel.system import shell
from graphmem.kernel.text import count


@dataclass
class Recorder(Invocation):
    """An invocation that keeps the last answer, and prints it only where it is read."""

    last: BaseModel | None = None

    def answer(self, answer: BaseModel, text: str, *, is_dim: bool = False, is_file: bool = False) -> None:
        self.last = answer
        if not self.is_json:
            super().answer(answer, text, is_dim=is_dim, is_file=is_file)


@dataclass
class Show:
    """The demo on its way."""

    invocation: Invocation
    folder: Path
    steps: list[DemoStep] = field(default_factory=list)

    def tell(self, line: str) -> None:
        """Print a line of the story."""
        if not self.invocation.is_json:
            self.invocation.write(line)

    def open(self) -> Memory:
        """Open the store, again if it was closed."""
        if self.invocation.opened is None:
            self.invocation.folder = str(self.folder)
        return self.invocation.memory

    def close(self) -> None:
        """Let go of the store, as if the process had ended."""
        if self.invocation.opened is not None:
            self.invocation.opened.close()
            self.invocation.opened = None

    def run(self, command: str) -> None:
        """Print a command as it is typed, run it as it is typed, and keep its answer."""
        from graphmem.doors.cli.app import command_line  # noqa: PLC0415 - it loads this module by name

        self.tell(f"$ {command}")
        recorder = Recorder(str(self.folder), self.invocation.is_json, is_quiet=True, opened=self.open())
        start = time.monotonic()
        status = command_line().main(
            args=shlex.split(command)[1:], prog_name="graphmem", standalone_mode=False, obj=recorder
        )
        if status:
            raise typer.Exit(status)
        if isinstance(recorder.last, Answer):
            self.steps.append(DemoStep(command=command, seconds=time.monotonic() - start, answer=recorder.last))


def demo(
    ctx: typer.Context,
    project: Annotated[str | None, typer.Argument(metavar="FOLDER", help="An empty folder; here if not given.")] = None,
) -> None:
    """
    Make a store from real data in an empty folder, and show what graphmem does with it.

    Example: graphmem demo /tmp/graphmem-demo
    """
    invocation = invocation_of(ctx)
    if invocation.is_user:
        raise Usage(
            "the demo is not for the user's own store, which every project asks",
            hint="without --user it fills an empty folder",
        )
    start = time.monotonic()
    show = Show(invocation, Path(project or invocation.folder or project_folder() or ".").expanduser().absolute())
    made = prepare(show.folder)
    show.tell(f"A new store in {made}, with data that ships with graphmem (its licences: {shipped() / 'NOTICE.md'}).")
    added, embedded = plant(show.open())
    show.tell(
        f"{count(added.created, 'record')}, {count(added.relations, 'relation')},"
        f" {count(embedded, 'text')} embedded in {time.monotonic() - start:.0f} s"
    )
    for purpose, command in SHOWN:
        show.tell(f"\n# {purpose}")
        show.run(command)
    is_identical, kept = _rebuilt(show)
    seconds = time.monotonic() - start
    answer = Demonstrated(
        path=str(made),
        added=added,
        embedded=embedded,
        steps=show.steps,
        files=kept,
        identical=is_identical,
        seconds=seconds,
    )
    invocation.answer(answer, _ending(show.folder, seconds) if is_identical else "")
    if not is_identical:
        raise typer.Exit(1)


def _rebuilt(show: Show) -> tuple[bool, dict[str, str]]:
    """Delete the graph, rebuild all that is derived, and return whether the files are the same bytes as before."""
    show.tell("\n# The files are the truth: delete the graph, rebuild everything derived, compare.")
    show.run("graphmem export")
    before = committed(show.folder)
    show.tell("$ rm .graphmem/local/graph.*")
    show.close()
    for file in (show.folder / ".graphmem" / "local").glob("graph.*"):
        file.unlink()
    show.run("graphmem rebuild")
    show.run("graphmem export")
    after = committed(show.folder)
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    if changed:
        show.tell(f"not identical: {', '.join(changed)}")
    else:
        show.tell(f"identical bytes: {count(len(after), 'file')}, before and after")
    return not changed, after


def _ending(folder: Path, seconds: float) -> str:
    """Return the last lines: how long it took, and what to try next."""
    where = [shell.command("cd", str(folder))] if folder != Path.cwd() else []
    return "\n".join([f"\nDone in {seconds:.0f} s. Try next:", *(f"  {line}" for line in (*where, *NEXT))])
