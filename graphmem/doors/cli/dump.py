"""The command ``dump``: it prints the memory in a form, or writes it to a file or a folder."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from graphmem.doors.agents.rule_files import keep_rules
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import passes
from graphmem.doors.cli.inputs import listed
from graphmem.doors.cli.install import changes
from graphmem.errors import Refused, Unavailable, Usage
from graphmem.kernel.registry import Taken, printout
from graphmem.kernel.settings.instructions import RulesAgent
from graphmem.kernel.store.runtime import find_store
from graphmem.kernel.system import safe_files, shell
from graphmem.kernel.system.safe_files import STORE
from graphmem.kernel.system.surroundings import current_folder

AGENTS: tuple[RulesAgent, ...] = get_args(RulesAgent)
IN_FOLDERS = ("okf", "markdown")  # forms of several files


@passes("dump", format=Taken(flag="--to"))
def dump(
    invocation: Invocation,
    answer: Any,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write a file, or a new folder for okf and markdown."),
    ] = None,
    into: Annotated[
        list[str] | None,
        typer.Option(
            "--into",
            metavar="AGENT",
            help=f"Keep rules for this agent, no other; may be repeated. One of: {', '.join(AGENTS)}.",
            autocompletion=lambda: [*AGENTS],
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change in the files of agents, and change nothing.")
    ] = False,
) -> None:
    """
    Print the memory as NDJSON, archived rows too, or in the form of another program.

    `graphmem import` takes ndjson, csv, mcp-memory, beads and okf; graphml, dot, mermaid and jsonld are for programs
    that compute with graphs or draw them; markdown, and html as one page for a browser, are for people.

    rules is for agents without hooks: constraints, decisions and fixes, kept current in the files that the project's
    agents read (AGENTS.md, .claude/rules, .cursor/rules, .github), and taken out with `graphmem uninstall rules`.

    Example: graphmem dump --to mermaid --kind solves -o memory.mmd
    """
    said = printout("dump", answer)
    if answer.format == "rules":
        keep(invocation, answer, said.notes, output, listed(into), is_dry=dry_run)
        return
    if into or dry_run:
        option = "--into" if into else "--dry-run"
        words = ("dump", "--to", "rules", option, *(["AGENT"] if into else []))
        raise Usage(f"{option} is of the form rules", hint=shell.command("graphmem", *words))
    if output is not None:
        written(answer.files, current_folder() / output, is_folder=answer.format in IN_FOLDERS)
        invocation.say(f"written: {output}")
    elif answer.format == "okf" and not invocation.is_json:
        raise Usage("okf is a folder of pages", hint="name a new one: graphmem dump --to okf -o FOLDER")
    for note in said.notes:
        invocation.say(note)
    if output is None or invocation.is_json:
        invocation.answer(answer, said.text, is_file=True)


def keep(
    invocation: Invocation, answer: Any, notes: Sequence[str], output: Path | None, into: Sequence[str], *, is_dry: bool
) -> None:
    """
    Keep rules in the files of agents, and print what changed.

    Raises:
        Usage: they are not for these files.
    """
    if output is not None:
        raise Usage(
            "rules go into files of agents, not into one of yours", hint="graphmem dump --to rules --into AGENT"
        )
    if invocation.is_user:
        raise Usage("nothing of a user's own store goes into a project's files", hint="graphmem dump --to rules")
    for name in into:
        if name not in AGENTS:
            raise Usage(f"--into {name!r} names no agent that has files for rules", hint=f"one of: {', '.join(AGENTS)}")
    agents = [agent for agent in AGENTS if agent in into]
    made = keep_rules(find_store(invocation.folder).root, answer.files, agents, dry_run=is_dry)
    made = made.model_copy(update={"left_out": answer.left_out, "notices": answer.notices})
    for note in notes:
        invocation.say(note)
    lines = [*changes(made)]
    if made.applied and answer.rows:
        lines.append("take it back with: graphmem uninstall rules")
    invocation.answer(made, "\n".join(lines), is_file=is_dry)


def written(files: Mapping[str, str], output: Path, *, is_folder: bool) -> None:
    """
    Write the files of a dump, all or none: one file in the place of what has its name, or a folder that is new.

    Raises:
        Refused: there is a link, a folder in the place of a file, or a folder that holds something.
        Unavailable: it cannot be written.
    """
    path = Path(os.path.abspath(output))
    if STORE in path.parts:
        raise Refused(f"{str(output)!r} is in the memory itself", hint="name a place outside of it")
    if path.is_symlink():
        raise Refused(f"{str(output)!r} is a symbolic link, which is not followed", hint="name what it leads to")
    if path.is_dir() and (not is_folder or any(path.iterdir())):
        what = "holds files already" if is_folder else "is a folder"
        raise Refused(f"{str(output)!r} {what}", hint=f"name a new {'folder' if is_folder else 'file'}")
    if is_folder and path.exists() and not path.is_dir():
        raise Refused(f"{str(output)!r} is a file", hint="name a new folder")
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if is_folder:
            fresh.mkdir(parents=True)
            for name, content in files.items():
                safe_files.put(fresh / name, content.encode())
            fresh.replace(path)
        else:
            (content,) = files.values()
            safe_files.put(path, content.encode(), is_flushed=True)
    except OSError as error:
        raise Unavailable(f"{str(output)!r} cannot be written: {error.strerror}") from None
    finally:
        safe_files.remove_folder(fresh)
