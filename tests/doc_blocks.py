"""
The code blocks of the docs, and how a file's blocks are run: in order, in one fresh folder a file.

A `console` block holds commands after `$ ` and what they print, on standard output and standard error together.
A line that is only `…` stands for any lines, `…` in a line for any text.
A block after a comment `<!-- file: NAME -->` is written to that file first.
"""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import graphmem
from graphmem.doors.cli.app import run

FENCE = re.compile(r"^```(\w*)$")
FILE = re.compile(r"^<!-- file: (\S+) -->$")
OF_EXPORTS = re.compile(r"(^|; )(export|unset) ")
OF_A_SHELL = re.compile(r"[|<>;&*]|\$\(|\$[A-Z]|\bcd\b")


@dataclass(frozen=True)
class Block:
    """A code block: its language, its lines, the line of the page it begins at, and the file it is written to."""

    language: str
    lines: tuple[str, ...]
    line: int
    file: str | None

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def blocks(page: Path) -> Iterator[Block]:
    """Yield the code blocks of a page."""
    lines = page.read_text(encoding="utf-8").split("\n")
    start, language, file = 0, None, None
    for place, line in enumerate(lines):
        fence = FENCE.match(line)
        if language is None and fence:
            start, language = place + 1, fence[1]
            named = FILE.match(lines[place - 1]) if place else None
            file = named[1] if named else None
        elif language is not None and line == "```":
            yield Block(language, tuple(lines[start:place]), start + 1, file)
            language = None
    assert language is None, f"{page}: a block is not closed"


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console block with the lines that it prints."""
    command, shown = "", list[str]()
    for line in block.lines:
        if command.endswith("\\"):
            command = command[:-1] + line.strip()
        elif line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        else:
            shown.append(line)
    if command:
        yield command, shown


def printed(command: str, folder: Path) -> str:
    """
    Run a command as it would be typed in ``folder`` and return what it prints.

    The commands of a page are typed into one shell: what one exports or unsets counts for those that follow.
    """
    exports = folder.parent / "exports.sh"
    if command.startswith("graphmem") and not OF_A_SHELL.search(outside_quotes(command)) and not exports.exists():
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.chdir(folder):
            run(shlex.split(command)[1:])
        return out.getvalue()
    shims = folder.parent / "bin"
    shims.mkdir(exist_ok=True)
    for name in ("graphmem", "pytest"):  # an environment may have the module of one and no program
        (shims / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {name} "$@"\n', encoding="utf-8")
        (shims / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{shims}:{os.environ['PATH']}",
        "GRAPHMEM_HOOK_LIMIT": "30",  # a busy machine is no fault of a hook
        "PYTHONPATH": str(Path(graphmem.__file__).parents[1]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # graphmem's own plugin is named, wherever it is installed
        "PYTEST_PLUGINS": "graphmem.doors.pytest_plugin",
    }
    if exports.exists():
        command = f". {shlex.quote(str(exports))}; {command}"
    if OF_EXPORTS.search(command):
        command += f"; export -p > {shlex.quote(str(exports))}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


def outside_quotes(command: str) -> str:
    """Return a command without what stands in quotes."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", command)


def is_as_shown(output: str, shown: list[str]) -> bool:
    """Return whether a command printed what the page shows."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else any_text(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, output if not output or output.endswith("\n") else output + "\n") is not None


def any_text(line: str) -> str:
    """Return a pattern for a line in which ``…`` stands for any text."""
    return ".*?".join(map(re.escape, line.split("…")))


def check(block: Block, folder: Path, names: dict[str, Any]) -> None:
    """Run or parse a block; ``names`` are those of the Python blocks before it."""
    if block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8")
    match block.language:
        case "console":
            for command, shown in commands(block):
                output = printed(command, folder)
                assert is_as_shown(output, shown), f"line {block.line}: $ {command}\n{output}"
        case "python":
            with contextlib.chdir(folder):
                exec(compile(block.text, f"block in line {block.line}", "exec"), names)
        case "json":
            json.loads(block.text)
        case "ndjson":
            for line in block.lines:
                json.loads(line)
        case "toml":
            tomllib.loads(block.text)
        case "yaml":
            yaml.safe_load(block.text)
        case "cypher":
            query = shlex.quote(block.text.strip())
            assert "error" not in (output := printed(f"graphmem cypher {query}", folder)), output
        case "text" | "markdown" | "sh" | "sql":
            pass  # only shown
        case language:
            raise AssertionError(f"line {block.line}: a block in {language!r} is run by nobody")


def filled(page: Path, folder: Path) -> str:
    """Return a page with the output of its console blocks as it is now: for whoever writes the page."""
    lines = page.read_text(encoding="utf-8").split("\n")
    made, names, end = list[str](), dict[str, Any](), 0
    for block in blocks(page):
        made += lines[end : block.line - 1]
        end = block.line - 1 + len(block.lines)
        if block.language != "console":
            made += block.lines
            check(block, folder, names)
            continue
        for command, shown in commands(block):
            output = printed(command, folder)
            fresh = steady(output, folder).rstrip("\n").split("\n") if output else []
            made += [f"$ {command}", *(shown if shown and is_as_shown(output, shown) else fresh)]
    return "\n".join([*made, *lines[end:]])


def steady(output: str, folder: Path) -> str:
    """Return output with what is new every time left out."""
    output = output.replace(str(folder), "…")
    output = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "…", output)
    output = re.sub(r"(rows?  )[0-9a-f]{12}", r"\1…", output)
    output = re.sub(r"(built it from the files, ).*", r"\1…", output)
    assert "operational" not in output.lower() and "fault of graphmem" not in output, output
    return re.sub(r"in [\d.]+ s \([\d,]+ rows/s\)", "in … s (… rows/s)", output)


if __name__ == "__main__":
    import tempfile

    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
    for named in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as made_folder:
            project = Path(made_folder) / "project"
            project.mkdir()
            Path(named).write_text(filled(Path(named), project), encoding="utf-8")
