"""
Worth: how likely it is that a fix pair helps another session (docs/benchmarks/learning.md, "Harvest").

A rule of a tool holds in other sessions too; an error in code that was half written does not come again. The signs
were chosen on 60 judged pairs of one project, and judge the pairs of a session that was left out nearly as well.
"""

import re
from collections.abc import Iterable, Sequence

from graphmem.core.logs.fix_pairs import FixPair
from graphmem.core.logs.output_problem import ProblemSort
from graphmem.kernel.model.transcript import FileEdit
from graphmem.patterns import lazy_re

OF_SORT: dict[ProblemSort, float] = {"rule": 0.7, "compiler": 0.1, "test": 0.1, "error": 0.25, "usage": 0.35}
LEFT_OVER = lazy_re(r"^(?:unused(?!-param)|F401|F811|F841|no-unused|TS6133|W061[123]|unusedwrite)", re.IGNORECASE)
SETTING = lazy_re(  # files that say how a project is built and run, not what it does
    r"(?:^|[\\/])(?:Dockerfile|Makefile|Justfile|go\.(?:mod|sum|work)|\.[\w.-]+|[\w.-]+\.(?:toml|ya?ml|cfg|ini|lock|env|gradle"
    r"|properties|tf|mod|nix)|package(?:-lock)?\.json|tsconfig[\w.]*\.json|conftest\.py|requirements[\w-]*\.txt|setup\.py)$"
)
PROSE = (".md", ".markdown", ".rst", ".adoc", ".org", "/license", "/changelog", "/readme")
COMMENT = lazy_re(r"(?:^|\s)(?://|#(?!!)|--\s|/\*|\*\s|<!--)\s*(?P<text>.{12,})$")
REASON = lazy_re(
    r"\b(?:because|since|due to|otherwise|so that|instead of|must|never|always|note|not|requires?|needs?|only"
    r"|avoid|workaround"
    r"|doesn't|don't|can't|cannot|directly|by design|intentional(?:ly)?|best[- ]effort|nolint|noqa|type: ignore)\b",
    re.IGNORECASE,
)
FOREIGN = lazy_re(r"\bdoes not implement\b|\bhas no (?:exported )?(?:member|attribute)\b|\bmissing method\b")
ENVIRONMENT = lazy_re(
    r"\b(?:install|npm (?:i|ci)|pip|uv (?:sync|add|pip)|go mod|go get|migrate|alembic|docker|compose|export|apt"
    r"|brew|systemctl"
    r"|cargo add|poetry add|yarn add|pnpm add|bundle|make (?:deps|setup|install)|createdb|chmod)\b"
)
TRIES = 0.05  # for each further run that failed with it, at most three
SETTINGS, EXPLAINED, INTERFACE = 0.25, 0.25, 0.2  # what was changed, or why
MANY_FILES = 5  # edited files from which it is not known which of them mattered
UNCLEAR = 0.15  # less, where many files were edited or hours passed


def of_settings(files: Iterable[str]) -> float:
    """Return what it adds to the worth of a fix that it changed how the project is built or run."""
    return SETTINGS if any(map(SETTING.search, files)) else 0.0


def worth_of(pair: FixPair) -> float:
    """Return the worth of a pair, from 0 to 1; further sessions that met its problem add to it."""
    problem = pair.problem
    found = OF_SORT[problem.sort]
    if LEFT_OVER.match(problem.rule or problem.tool):
        found = 0.2
    found += TRIES * min(pair.runs - 1, 3)
    if problem.sort == "usage":
        return found
    is_environment = any(ENVIRONMENT.search(act.command) for act in pair.acts)
    found += SETTINGS if is_environment else of_settings(edit.file for edit in pair.edits)
    if problem.sort != "rule" and _is_explained(pair.edits):
        found += EXPLAINED
    if problem.sort == "compiler" and FOREIGN.search(problem.text):
        found += INTERFACE
    if len({edit.file for edit in pair.edits}) >= MANY_FILES:
        found -= UNCLEAR
    return round(max(0.0, min(1.0, found)), 3)


def is_prose(path: str) -> bool:
    """Return whether a file is read by people alone: an edit of it makes nothing pass."""
    return f"/{path}".lower().endswith(PROSE)


def _is_explained(edits: Sequence[FileEdit]) -> bool:
    """Return whether an edit adds a comment that says why."""
    for edit in edits:
        before = edit.removed
        for line in edit.added.splitlines():
            found = COMMENT.search(line)
            if found and found["text"] not in before and REASON.search(found["text"]):
                return True
    return False
