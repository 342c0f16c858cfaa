"""
What was asked on this machine in the last 30 days, so that a report can say which question it answers.

In ``state/``, never committed: one file a day, a line a question. Source: docs/concepts/retrieval.md, "Reports".
"""

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from graphmem.constants import ASKED_BYTES, ASKED_DAYS
from graphmem.core.logs.log_excerpt import kept_question
from graphmem.kernel.machine.lines import append
from graphmem.kernel.system import safe_files

ID_LENGTH = 12  # hexadecimal digits of the SHA-256 of what was asked


class Asked(BaseModel):
    """A question; ``by_ref`` has the part of it that a memory answers, by reference by key, where that is not all."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str
    question: str
    by_ref: dict[str, str]


def keep(
    folder: Path,
    now: datetime,
    question: str,
    by_ref: Mapping[str, str],
    on_message: Callable[[str], None],
    *,
    known_as: str | None = None,
) -> str | None:
    """
    Keep a question; return its id, None where it cannot be kept. The same question has the same id.

    Args:
        question: of a log its telling lines.
        by_ref: for memories that answer a part of the question, by their reference by key, that part.
        known_as: the id that another store gave it already.
    """
    kept = {
        "question": kept_question(question),
        "by_ref": {ref: kept_question(text) for ref, text in by_ref.items()},
    }
    made = known_as or hashlib.sha256(orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)).hexdigest()[:ID_LENGTH]
    path = folder / f"{now:%Y-%m-%d}.ndjson"
    try:
        stat = safe_files.stat_of(path)
        if stat is None:
            forget_old(folder, now)
        elif stat.st_size > ASKED_BYTES:
            return None
        append(path, orjson.dumps({"id": made, **kept}) + b"\n", on_message)
    except OSError:
        return None
    return made


def find(folder: Path, now: datetime, asked: str, ref: str) -> str | None:
    """Return the question with an id, as far as a memory answers it; None where it is not kept."""
    forget_old(folder, now)
    for path in reversed(safe_files.files(folder)):
        for line in reversed(safe_files.read(path).splitlines()):
            if asked.encode() in line and (kept := parsed(line)) is not None and kept.id == asked:
                return kept.by_ref.get(ref) or kept.question
    return None


def parsed(line: bytes) -> Asked | None:
    """Return what a line holds; None where it is damaged."""
    try:
        return Asked.model_validate_json(line)
    except ValidationError:
        return None


def forget_old(folder: Path, now: datetime) -> None:
    """Remove what was asked more than ``ASKED_DAYS`` ago."""
    last = f"{now - timedelta(days=ASKED_DAYS):%Y-%m-%d}"
    for path in safe_files.files(folder):
        if path.stem < last:
            safe_files.remove(path)
