"""What a project has already that an import could read: looked at in a moment, and counted."""

import os
from collections import Counter
from pathlib import Path
from time import monotonic

from graphmem.errors import GraphmemError
from graphmem.features.harvest.sessions import SessionHaul, left_out
from graphmem.features.harvest.transcripts.places import READERS, usual
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import worktrees
from graphmem.kernel.system.surroundings import variables

LOOK_S = 2.0  # seconds that a look may take; more sessions than that are not counted
NOTES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursor/rules", ".github/copilot-instructions.md", "docs/adr")


def found(root: Path) -> list[str]:
    """Return what there is, a clause each: sessions by client, commits, notes for agents."""
    sessions = [f"{number:,} {'session' if number == 1 else 'sessions'} of {name}" for name, number in _counted(root)]
    return [*sessions, *_commits(root), *(name for name in NOTES if (root / name).exists())]


def _counted(root: Path) -> list[tuple[str, int]]:
    """Return how many sessions of each client worked in a repository, the most first."""
    roots = [os.path.realpath(one) for one in worktrees(root)]
    harvest, counts, until = SessionHaul(roots=roots), Counter[str](), monotonic() + LOOK_S
    for file in usual(Path(os.path.expanduser("~")), variables(), [Path(one) for one in roots]):
        if monotonic() > until:
            break
        try:
            for session in READERS[file.reader](file.path, Counter()):
                counts[session.client] += left_out(harvest, session.folder or file.folder) is None
        except (OSError, GraphmemError, RecursionError):
            continue
    return [(name, number) for name, number in counts.most_common() if number]


def _commits(root: Path) -> list[str]:
    """Return how many commits the history has, in a clause; nothing without one."""
    try:
        number = int((commands.git(root, "rev-list", "--count", "HEAD") or b"0").decode())
    except (GraphmemError, ValueError):
        return []
    return [f"{number:,} {'commit' if number == 1 else 'commits'}"] if number else []
