"""
The plugin: one folder that coding agents install by their own commands, with skills, the MCP server and hooks.

Its root is a plugin in the portable form (agent-plugins.org, 1.0.0), which has no hooks, with what Claude Code reads
beside it. Codex and Gemini have folders below: Codex takes a folder with the portable form for nothing else, without
hooks and away from the project, and Gemini reads its hooks from a name that Claude Code reads too.
"""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from graphmem import __version__
from graphmem.doors.agents.clients import BY_PATH, hooks_of, server_of
from graphmem.doors.agents.edits import Change, Place, planned, write
from graphmem.doors.agents.install_contract import Installed, InstallRequest
from graphmem.doors.agents.skills import SKILLS
from graphmem.errors import Refused, Unavailable, Usage
from graphmem.kernel.settings.folders import state_folder
from graphmem.kernel.system import foreign, safe_files, shell
from graphmem.kernel.system.programs import NAME, own_program, program

PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini"}
ID = f"{NAME}@{NAME}"  # the plugin of the marketplace, which is the same folder
ABOUT = "The project's memory: known failures and their fixes, decisions, what was learned"
SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
MOST_BYTES = 65_536  # of a file of the plugin that is looked at
LIMIT_S = 120
README = f"""\
# graphmem

{ABOUT}.

The skill `recall` says when to ask the memory, and `retro` when to record something; the MCP server has the tools.
The hooks do it by themselves: a briefing when a session begins, the known fix when a command fails, a report of what
helped.

Each project that has a memory was prepared with `graphmem init`; in any other the plugin does nothing.
It needs the program: `pipx install graphmem`.
This folder was written by `graphmem install CLIENT --plugin`, which writes it again after an upgrade.
"""


def install(request: InstallRequest, *, is_removal: bool = False) -> Installed:
    """
    Write the plugin and have the client's own program install it, or take both back.

    Where that program is not on the PATH, or the folder is the caller's, its commands are left to be typed.

    Raises:
        Refused: the caller's folder holds something else.
        Unavailable: the folder cannot be written, or the client's program fails.
        Usage: the client has no plugins.
    """
    if request.client not in PROGRAMS:
        hint = f"one of: {', '.join(PROGRAMS)}; without --plugin: {shell.command(NAME, 'install', request.client)}"
        raise Usage(f"graphmem has no plugin for {request.client}", hint=hint)
    folder = folder_of(request)
    if is_removal:
        return _uninstall(request, folder)
    made = contents(BY_PATH if request.out else own_program())
    if request.out:
        _refuse_other(folder, made)
    changes = [planned(Place(folder / name, folder), _always(text.encode())) for name, text in made.items()]
    lines = _registration(request.client, folder)
    is_run = not request.out and program(PROGRAMS[request.client]) is not None
    if not request.dry_run:
        for change in changes:
            write(change)
        for words in lines if is_run else ():
            is_first = words in removal(request.client)  # takes out what an earlier version registered
            if (error := _failure_of(words)) and not is_first:
                hint = f"the plugin is in {str(folder)!r}; type the command to see more"
                raise Unavailable(f"{shlex.join(words)!r} failed: {error}", hint=hint)
    return _answer(request, changes, lines, is_run=is_run)


def _uninstall(request: InstallRequest, folder: Path) -> Installed:
    """Take the plugin out of the client, and remove its folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    changes = [planned(Place(path, folder), _always(None)) for path in found]
    lines = removal(request.client) if found else []
    is_run = program(PROGRAMS[request.client]) is not None
    notices = []
    if found and not request.dry_run:
        if is_run:
            tried = ((words, _failure_of(words)) for words in lines)
            notices = [f"{shlex.join(words)!r} failed: {error}" for words, error in tried if error]
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise Unavailable(f"{str(folder)!r} cannot be removed: {(error.strerror or '').lower()}") from None
    return _answer(request, changes, lines, is_run=is_run, notices=notices)


def _answer(
    request: InstallRequest,
    changes: Sequence[Change],
    lines: Sequence[list[str]],
    *,
    is_run: bool,
    notices: Sequence[str] = (),
) -> Installed:
    """Return what was done, or would be."""
    texts = [shlex.join(words) for words in lines]
    return Installed(
        client=request.client,
        scope="user",
        applied=not request.dry_run,
        files=[change.shown() for change in changes],
        ran=texts if is_run else [],
        commands=[] if is_run else texts,
        notices=list(notices),
    )


def folder_of(request: InstallRequest) -> Path:
    """Return where the plugin is, or will be: each client has its own copy, that uninstalling one leaves the others."""
    return request.out or state_folder() / "plugins" / request.client


def _is_plugin(folder: Path) -> bool:
    """Return whether a folder is a plugin that graphmem wrote."""
    try:
        found = foreign.json(safe_files.read(folder / "plugin.json", most=MOST_BYTES).decode())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("name") == NAME


def _refuse_other(folder: Path, made: Collection[str]) -> None:
    """
    Refuse a folder that holds something else, which would be a part of the plugin for its client.

    Args:
        made: the files of the plugin, by path.
    """
    is_free = not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir()))
    if not is_free and not _is_plugin(folder):
        raise Refused(f"{str(folder)!r} holds something else than graphmem's plugin", hint="name a new folder")
    for place, folders, files in () if is_free else os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for path in (os.path.relpath(os.path.join(place, name), folder) for name in (*links, *files)):
            if path not in made:
                raise Refused(f"{str(folder)!r} holds {path!r}, which is not of graphmem", hint="name a new folder")


def _always(data: bytes | None) -> Callable[[bytes | None], bytes | None]:
    """Return an edit after which a file has this content, whatever it had."""
    return lambda before: data


def _registration(client: str, folder: Path) -> list[list[str]]:
    """Return the commands by which a client's own program installs the plugin, also over an earlier one."""
    match client:
        case "claude-code":
            added = [["claude", "plugin", "marketplace", "add", str(folder)], ["claude", "plugin", "install", ID]]
            return [removal(client)[0], *added]
        case "codex":
            return [["codex", "plugin", "marketplace", "add", str(folder)], ["codex", "plugin", "add", ID]]
        case _:
            return [*removal(client), ["gemini", "extensions", "link", str(folder / "gemini"), "--consent"]]


def removal(client: str) -> list[list[str]]:
    """Return the commands by which a client's own program uninstalls the plugin."""
    match client:
        case "claude-code":
            return [["claude", "plugin", "uninstall", ID], ["claude", "plugin", "marketplace", "remove", NAME]]
        case "codex":
            return [["codex", "plugin", "remove", ID], ["codex", "plugin", "marketplace", "remove", NAME]]
        case _:
            return [["gemini", "extensions", "uninstall", NAME]]


def _failure_of(words: list[str]) -> str | None:
    """Run a command of a client; return what it says if it fails."""
    try:
        done = subprocess.run(
            [program(words[0]) or words[0], *words[1:]],
            cwd="/",  # a project's own settings of the client do not count here
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    except OSError as error:
        return (error.strerror or "").lower()
    except subprocess.TimeoutExpired:
        return f"it took more than {LIMIT_S} s"
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
    says = [line for line in lines if any(word in line.lower() for word in ("error", "fail", "cannot"))]
    return next(iter(says or lines[-1:]), f"exit status {done.returncode}")


def contents(program: Sequence[str]) -> dict[str, str]:
    """Return the files of the plugin, by path."""
    about = {"name": NAME, "version": __version__, "description": ABOUT}
    author = {"author": {"name": NAME}, "license": "MIT"}
    servers = {"mcpServers": {NAME: server_of(program)}}
    portable = {"mcpServers": {NAME: {"type": "stdio", **server_of(program)}}}
    offer = {"name": NAME, "description": ABOUT}
    local = {"source": "local", "path": "./codex"}
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    files: dict[str, dict[str, Any]] = {
        "plugin.json": {"$schema": f"{SCHEMAS}/plugin.schema.json", **about, **author},
        "mcp.json": {"$schema": f"{SCHEMAS}/mcp.schema.json", **portable},
        ".claude-plugin/plugin.json": {
            **about, **author, "mcpServers": "./mcp.json", "hooks": "./hooks/claude-code.json",
        },
        ".claude-plugin/marketplace.json": {
            "name": NAME, "owner": {"name": NAME}, "metadata": {"description": ABOUT},
            "plugins": [{**offer, "source": "./"}],
        },
        ".agents/plugins/marketplace.json": {
            "name": NAME, "plugins": [{**offer, "source": local, "policy": policy, "category": "Productivity"}],
        },
        "hooks/claude-code.json": _hooks_file("claude-code", program),
        "codex/.codex-plugin/plugin.json": {
            **about, "skills": "./skills/", "mcpServers": "./mcp.json", "hooks": "./hooks/hooks.json",
        },
        "codex/mcp.json": servers,
        "codex/hooks/hooks.json": _hooks_file("codex", program),
        "gemini/gemini-extension.json": {**about, **servers},
        "gemini/hooks/hooks.json": _hooks_file("gemini", program),
    }  # fmt: skip
    skills = {
        f"{top}skills/{name}/SKILL.md": text for name, text in SKILLS.items() for top in ("", "codex/", "gemini/")
    }
    return {
        "README.md": README,
        **skills,
        **{name: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for name, value in files.items()},
    }


def _hooks_file(client: str, program: Sequence[str]) -> dict[str, Any]:
    """Return a file with a client's hooks."""
    return {"hooks": {event: [entry] for event, entry in hooks_of(client, program).items()}}
