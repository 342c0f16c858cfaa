"""The files of rules in a project: kept current, and taken out again (docs/guides/agents.md, "Without hooks")."""

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from graphmem.doors.agents.edits import Change, Place, marked_edit, planned, write
from graphmem.doors.agents.install import has_hooks
from graphmem.doors.agents.install_contract import InstallRequest, KeptRules
from graphmem.errors import Unavailable
from graphmem.kernel.settings.instructions import FILES, OF_OTHERS, RULES_MARKS, RulesAgent

ANY_FRONT = "---\n"  # of a file of ours that goes, what is before the markers goes too
HINT = "nothing was written; correct the file or move it away, then run the command again"


def keep_rules(
    folder: Path, files: Mapping[str, str], agents: Collection[RulesAgent] = (), *, dry_run: bool = False
) -> KeptRules:
    """
    Put rules into the files of agents; a second time it changes nothing.

    All edits are made before the first file is written: where one is refused, none is changed.

    Args:
        files: of all agents, as ``exporters.rules.written`` returns them; what one has no more is taken out.
        agents: whose files; those that the project has if not given.

    Raises:
        BadInput: a file has half of our markers or two of them, is not UTF-8, or is of others where it has to be ours.
        Unavailable: a file cannot be read or written, or is behind a link.
    """
    names = [name for agent in agents or agents_of(folder) for name in FILES[agent]]
    return _applied([_change_of(folder, name, files.get(name)) for name in names], dry_run=dry_run)


def remove_rules(folder: Path, *, dry_run: bool = False) -> KeptRules:
    """
    Take our rules out of the files of all agents; a file that holds nothing else is removed.

    Raises:
        BadInput, Unavailable: as ``keep_rules``.
    """
    names = [name for names in FILES.values() for name in names if _may_be_ours(folder, name)]
    return _applied([_change_of(folder, name, None) for name in names], dry_run=dry_run)


def agents_of(folder: Path) -> list[RulesAgent]:
    """Return the agents whose files a project has; without any the one that most agents read."""
    return [agent for agent in FILES if _is_used(folder, agent)] or ["agents-md"]


def _is_used(folder: Path, agent: RulesAgent) -> bool:
    """Return whether a project has files of an agent; one that our hooks brief has no need of rules."""
    if any(os.path.lexists(folder / name) for name in FILES[agent]):
        return True
    match agent:
        case "claude-code" | "cursor":
            home = folder / FILES[agent][0].split("/")[0]
            return (home.is_dir() or home.is_symlink()) and not has_hooks(InstallRequest(client=agent, folder=folder))
        case "copilot":
            return os.path.lexists(folder / ".github/instructions")
    return False


def _may_be_ours(folder: Path, name: str) -> bool:
    """Return whether a file is a regular one of the project, behind no link: we write no other."""
    try:
        is_file = stat.S_ISREG(os.lstat(folder / name).st_mode)
    except OSError:
        return False
    return is_file and not Place(folder / name, folder).is_link()


def _change_of(folder: Path, name: str, content: str | None) -> Change:
    """
    Return what becomes of a file.

    Args:
        content: our markers with what is before and between them; None takes them out.
    """
    begin, end = RULES_MARKS
    head, _, rest = (content or ANY_FRONT).partition(f"{begin}\n")
    lines = rest.rpartition(f"\n{end}")[0] if content else None
    edit = marked_edit(lines, begin, end, front=None if name in OF_OTHERS else head)
    change = planned(Place(folder / name, folder), edit, HINT)
    if change.before != change.after and change.before is not None and not os.lstat(change.path).st_mode & 0o222:
        raise Unavailable(f"{str(change.path)!r} is write-protected", hint=f"chmod u+w {name}, or leave its agent out")
    return change


def _applied(changes: list[Change], *, dry_run: bool) -> KeptRules:
    """Write changes, and return them as an answer; what is not there and stays so is not in it."""
    for change in changes:
        if not dry_run:
            write(change)
    files = [change.shown() for change in changes if change.before is not None or change.after is not None]
    return KeptRules(applied=not dry_run, files=files)
