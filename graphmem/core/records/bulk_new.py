"""
A row of a bulk addition that has no time is new, and becomes what ``add`` would have made of it.

It is pinned to the code that it cites, takes the versions of the packages that it names, and loses the colours of a
terminal. A row with its time was written before, here or elsewhere, and is taken as it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from graphmem.core.evidence.citations import pin
from graphmem.core.evidence.versions import Known, beside_given, packages_in, packages_of
from graphmem.core.records.validation import refuse_no_slug, refuse_past, without_colours
from graphmem.errors import BadInput, GraphmemError
from graphmem.kernel.model import MODELS, Record
from graphmem.kernel.model.record import Row
from graphmem.kernel.ndjson import BadLine, decode


@dataclass
class Project:
    """
    What new rows take from the project around them; read before the lock is taken, for git and files may be slow.

    Args:
        cites: as rows have them, by what the input says; or why one is refused.
    """

    root: Path
    cites: dict[str, str | GraphmemError] = field(default_factory=dict)
    packages: Known | None = None

    @classmethod
    def around(cls, root: Path, lines: Iterable[bytes]) -> "Project":
        """Return what the new rows of an input need of a project."""
        made = cls(root, packages=packages_of(root))
        for line in lines:
            if b'"cites"' not in line:
                continue
            try:
                row = decode(line.strip(b"\r\n\xef\xbb\xbf"))
            except BadLine:  # it is reported when the rows are read
                continue
            for text in _cites_in(row):
                if text not in made.cites:
                    made.cites[text] = made.pinned(text)
        return made

    def pinned(self, text: str) -> str | GraphmemError:
        """Return a cite with the hash of the cited text, or why it cannot be found."""
        try:
            return str(pin(self.root, text))
        except GraphmemError as error:
            return error

    def complete(self, row: Row, line: bytes, now: datetime) -> None:
        """
        Make of a row without a time what ``add`` makes of the same fields.

        Raises:
            GraphmemError: its name is no slug, what it cites is not there, or it expires before now.
        """
        kind = str(row.get("kind"))
        model = MODELS.get(kind)
        if row.get("created_at") is not None or model is None or not issubclass(model, Record) or kind == "task":
            return
        name, expiry = row.get("name"), row.get("expires_at")
        if b"\\u001b" in line or b"\\u001B" in line:
            row.update({field: without_colours(value) for field, value in row.items()})
        if kind != "entity" and isinstance(name, str):
            refuse_no_slug(kind, name)
        if kind == "constraint" and isinstance(expiry, str):
            refuse_past(expiry, now)
        if texts := _cites_in(row):
            row["cites"] = [self.pin_of(text) for text in texts]
        if self.packages and "versions" in model.model_fields:
            given: Any = row.get("versions") or {}
            found = packages_in(row, self.packages or {})
            if found and isinstance(given, Mapping):
                row["versions"] = beside_given(found, given)

    def pin_of(self, text: str) -> str:
        """Return a cite as a row has it; raise an error where it is refused."""
        found = self.cites.get(text) or self.pinned(text)
        if isinstance(found, GraphmemError):
            raise BadInput(found.message, hint=found.hint)
        return found


def _cites_in(row: Row) -> list[str]:
    """Return the cites of a row; none where they are not what cites are, which its model refuses."""
    given = row.get("cites")
    found = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    return found if isinstance(given, list) and len(found) == len(given) else []
