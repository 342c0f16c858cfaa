"""What was written in a project of a server: its commits, and the rows as they were at one of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphmem.errors import NotFound
from graphmem.kernel.git.commands import DATE, parsed_date
from graphmem.kernel.ledger.parts import usual_file
from graphmem.kernel.ledger.port import Moment, PlaceChange, Side

Ask = Callable[..., list[tuple[Any, ...]]]
# Of each row that was written after one commit and up to another: what it was before, and what it was at the end.
WRITTEN = """
SELECT r.kind, r.key, f.old, l.new
FROM (SELECT DISTINCT ON (id) id, old FROM graphmem.changes
      WHERE project = %s AND seq > %s AND seq <= %s ORDER BY id, seq) f
JOIN (SELECT DISTINCT ON (id) id, new FROM graphmem.changes
      WHERE project = %s AND seq > %s AND seq <= %s ORDER BY id, seq DESC) l ON l.id = f.id
JOIN graphmem.rows r ON r.project = %s AND r.id = f.id
"""
# The rows as they were at a commit, in the order of their files.
ROWS = """
SELECT kind, type, key, line FROM (
  SELECT r.id, r.kind, r.type, r.key, CASE WHEN f.id IS NULL THEN r.row ELSE f.old END AS line
  FROM graphmem.rows r
  LEFT JOIN (SELECT DISTINCT ON (id) id, old FROM graphmem.changes
             WHERE project = %s AND seq > %s ORDER BY id, seq) f ON f.id = r.id
  WHERE r.project = %s) then_ WHERE line IS NOT NULL ORDER BY id
"""
BEFORE = """
SELECT DISTINCT ON (id) id, old FROM graphmem.changes WHERE project = %s AND id = ANY(%s) AND seq > %s ORDER BY id, seq
"""
DELETED = """
SELECT DISTINCT ON (id) id, old FROM graphmem.changes WHERE project = %s AND id = ANY(%s) AND new IS NULL
ORDER BY id, seq DESC
"""
LAST = 2**62  # above every number of a commit


class PostgresHistory:
    """
    The history of one project; ``port.PlaceHistory`` says what the methods do.

    Args:
        ask: returns what a statement with these values gives.
    """

    def __init__(self, ask: Ask, project: str) -> None:
        self.ask, self.project = ask, project

    def moment(self, named: str) -> Moment:
        sql = "SELECT epoch, seq, history_from FROM graphmem.project WHERE project = %s"
        epoch, last, first = next(iter(self.ask(sql, self.project)), ("", 0, 0))
        if is_date := DATE.fullmatch(named):
            sql = "SELECT max(seq) FROM graphmem.changes WHERE project = %s AND at < %s"
            number = self.ask(sql, self.project, parsed_date(named))[0][0]
        else:
            number = int(named) if named.isdecimal() and named.isascii() and len(named) < len(str(LAST)) else None
        if number is None and not is_date:
            raise NotFound(f"{named!r} is not a commit of this memory", hint=f"a number up to {last}, or a date")
        if number is None or not max(first, 1) <= number <= last:
            what = f"there is no commit before {named}" if is_date else f"commit {named} is not in the history"
            raise NotFound(what, hint=f"the history of this memory has the commits {max(first, 1)} to {last}")
        sql = "SELECT at FROM graphmem.changes WHERE project = %s AND seq <= %s ORDER BY seq DESC LIMIT 1"
        found = self.ask(sql, self.project, number)
        return Moment(number, found[0][0] if found else None, f"{epoch} {number}")

    def between(self, old: Moment, new: Moment | None) -> tuple[Side, Side]:
        span = (self.project, old.number, LAST if new is None else new.number)
        sides: tuple[Side, Side] = (set(), {}), (set(), {})
        for kind, key, *texts in self.ask(WRITTEN, *span, *span, self.project):
            for (lines, files), text in zip(sides, texts, strict=True):
                if text is not None and kind == "file":
                    files[key] = text.encode()
                elif text is not None:
                    lines.add(text.encode())
        return sides

    def files(self, moment: Moment) -> dict[str, bytes]:
        found: dict[str, list[str]] = {}
        for kind, type_name, key, line in self.ask(ROWS, self.project, moment.number, self.project):
            found.setdefault(key if kind == "file" else usual_file(kind, type_name), []).append(line)
        return {path: "".join(f"{line}\n" if path.startswith("data/") else line for line in lines).encode()
                for path, lines in found.items()}  # fmt: skip

    def last(self) -> int:
        return int(self.ask("SELECT seq FROM graphmem.project WHERE project = %s", self.project)[0][0])

    def before(self, numbers: Sequence[int], commit: int) -> dict[int, bytes]:
        return {number: old.encode() for number, old in self.ask(BEFORE, self.project, list(numbers), commit) if old}

    def deleted(self, numbers: Sequence[int]) -> dict[int, bytes]:
        return {number: old.encode() for number, old in self.ask(DELETED, self.project, list(numbers)) if old}

    def changes(self, numbers: Sequence[int]) -> Iterator[PlaceChange]:
        sql = (
            "SELECT seq, min(at), min(by), max(old), max(new) FROM graphmem.changes"
            " WHERE project = %s AND id = ANY(%s) GROUP BY seq ORDER BY seq DESC"
        )
        for seq, at, by, old, new in self.ask(sql, self.project, list(numbers)):
            yield PlaceChange(seq, at, by, *(None if text is None else text.encode() for text in (old, new)))
