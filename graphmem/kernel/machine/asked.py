"""What was asked on this machine lately, so that a report can say which question it answers."""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

import orjson
from pydantic import BaseModel, ConfigDict

from graphmem.constants import ASKED_DAYS
from graphmem.errors import Unavailable
from graphmem.kernel.machine.state import State

ID_LENGTH = 12  # hexadecimal digits of the SHA-256 of what was asked


class Asked(BaseModel):
    """A question; ``by_ref`` has the part of it that a memory answers, by reference by key, where that is not all."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    at: datetime
    question: str
    by_ref: dict[str, str]


def keep(
    state: State, now: datetime, question: str, by_ref: Mapping[str, str], *, known_as: str | None = None
) -> str | None:
    """
    Keep a question; return its id, None where it cannot be kept. The same question has the same id.

    Args:
        by_ref: for memories that answer a part of the question, by their reference by key, that part.
        known_as: the id that another store gave it already.
    """
    made = {"question": question, "by_ref": dict(by_ref)}
    name = known_as or hashlib.sha256(orjson.dumps(made, option=orjson.OPT_SORT_KEYS)).hexdigest()[:ID_LENGTH]
    try:
        with state.changing() as kept:
            kept.put("asked", name, orjson.dumps({"at": now, **made}), now)
    except Unavailable:
        return None
    return name


def find(state: State, now: datetime, asked: str, ref: str) -> str | None:
    """Return the question with an id, as far as a memory answers it; None where it is not kept."""
    found = state.read("asked", asked, Asked.model_validate_json)
    if found is None or now - found.at > timedelta(days=ASKED_DAYS):
        return None
    return found.by_ref.get(ref) or found.question
