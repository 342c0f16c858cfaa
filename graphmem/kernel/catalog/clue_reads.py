"""What texts and logs are recognised by."""

from collections.abc import Collection

from graphmem.kernel.catalog.database import Reads, marks, rows_among
from graphmem.kernel.model.expression import folded
from graphmem.names import row_id


class ClueReads(Reads):
    """What texts and logs are recognised by."""

    def expressions(self, text: str | None = None) -> list[tuple[int, str]]:
        """Return the match expressions of live records, those alone whose needed literal is in ``text``."""
        sql = (
            "SELECT DISTINCT e.record, e.expression FROM expression e JOIN record r ON r.id = e.record"
            " WHERE r.is_live AND (? IS NULL OR instr(?, e.literal)) ORDER BY e.record"
        )
        wanted = None if text is None else folded(text)
        return self.connection.execute(sql, (wanted, wanted)).fetchall()

    def heads(self, numbers: Collection[int] | None = None) -> list[tuple[int, str]]:
        """Return of triggers the number of the first line and its last word; of all, or where it is one of some."""
        if numbers is None:
            return self.connection.execute("SELECT DISTINCT number, word FROM line").fetchall()
        sql = "SELECT DISTINCT number, word FROM line WHERE number IN (...)"
        return list(rows_among(self.connection, sql, numbers))

    def begun_by(self, number: int) -> list[tuple[int, bytes]]:
        """Return the live records with a trigger that begins with a line, and the numbers of the lines after it."""
        sql = "SELECT l.record, l.rest FROM line l JOIN record r ON r.id = l.record WHERE l.number = ? AND r.is_live"
        return self.connection.execute(sql, (number,)).fetchall()

    def with_errors(self, keys: Collection[str], limit: int = -1) -> list[int]:
        """Return the live failures whose trigger reports a problem with some of these keys, with most first."""
        numbers = [row_id(key) for key in keys]
        sql = (
            f"SELECT e.record FROM error e JOIN record r ON r.id = e.record WHERE e.number IN ({marks(numbers)})"
            " AND r.is_live GROUP BY e.record ORDER BY count(*) DESC, e.record LIMIT ?"
        )
        return [record for (record,) in self.connection.execute(sql, (*numbers, limit))] if numbers else []
