"""Reports, runs, events and purges."""

from collections.abc import Collection
from datetime import datetime

import orjson

from graphmem.kernel.catalog.database import Reads, parse_row, rows_among
from graphmem.kernel.model import Feedback, Frozen
from graphmem.kernel.model.field import parse_time
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.model.record import Row


class FactReads(Reads):
    """Reports, runs, events and purges."""

    def reports(self, ids: Collection[int]) -> dict[int, tuple[int, int, str | None]]:
        """Return, for records that were reported on, how often they helped, failed, and when they last helped."""
        sql = (
            "SELECT record, sum(helped), count(*), max(CASE WHEN helped THEN at END) FROM fact"
            " WHERE ref IS NOT NULL AND record IN (...) GROUP BY record"
        )
        rows = rows_among(self.connection, sql, ids)
        return {number: (helped, total - helped, last) for number, helped, total, last in rows}

    def most_helped(self, limit: int) -> list[int]:
        """Return the live records that helped more often than not, by how much more; what rows began with counts."""
        row = "SELECT id, json_extract(CAST(line AS TEXT), '$.helped'), json_extract(CAST(line AS TEXT), '$.failed')"
        sql = (
            "SELECT id, total(good) - total(bad) AS worth, total(good) AS good FROM ("
            "SELECT record AS id, sum(helped) AS good, count(*) - sum(helped) AS bad FROM fact"
            " WHERE ref IS NOT NULL AND record IS NOT NULL GROUP BY record"
            f" UNION ALL {row} FROM record WHERE id IN (SELECT record FROM label WHERE sort = 'helped'))"
            " WHERE id IN (SELECT id FROM record WHERE is_live)"
            " GROUP BY id HAVING worth > 0 ORDER BY worth DESC, good DESC, id LIMIT ?"
        )
        return [number for number, *_ in self.connection.execute(sql, (limit,))]

    def disputes(self, ids: Collection[int]) -> dict[int, list[str]]:
        """Return when reports said of records that they are wrong; those of which none did are left out."""
        found: dict[int, list[str]] = {}
        sql = "SELECT record, at FROM fact WHERE wrong AND record IN (...)"
        for number, at in rows_among(self.connection, sql, ids):
            found.setdefault(number, []).append(at)
        return found

    def last_dispute(self, number: int) -> Feedback | None:
        """Return the last report that a record is wrong."""
        sql = "SELECT id, line, crc FROM fact WHERE wrong AND record = ? ORDER BY at DESC, id LIMIT 1"
        row = self.connection.execute(sql, (number,)).fetchone()
        found = parse_row(*row) if row else None
        return found if isinstance(found, Feedback) else None

    def asked_reports(self, ids: Collection[int]) -> dict[int, tuple[int, int]]:
        """Return how many reports on records say what was asked, and how many of these that it helped: helped, all."""
        sql = (
            "SELECT record, sum(helped), count(*) FROM fact"
            " WHERE question IS NOT NULL AND record IN (...) GROUP BY record"
        )
        return {number: (helped, total) for number, helped, total in rows_among(self.connection, sql, ids)}

    def reports_with_texts(self) -> dict[int, Feedback]:
        """Return the reports that say what was asked, or have a note, by number."""
        has_note = "ref IS NOT NULL AND instr(line, CAST('\"note\"' AS BLOB))"
        sql = f"SELECT id, line, crc FROM fact WHERE question IS NOT NULL OR ({has_note})"
        rows = self.connection.execute(sql).fetchall()
        found = ((row[0], parse_row(*row)) for row in rows)
        return {number: report for number, report in found if isinstance(report, Feedback)}

    def reports_on(self, questions: Collection[bytes]) -> list[tuple[bytes, int, int, int]]:
        """Return the reports of these questions, by hash and record: how many helped, and how many there are."""
        sql = (
            "SELECT question, record, sum(helped), count(*) FROM fact"
            " WHERE question IN (...) AND record IS NOT NULL GROUP BY question, record"
        )
        return list(rows_among(self.connection, sql, questions))

    def times_of_reports(self, number: int) -> list[tuple[datetime, bool, bool]]:
        """Return when each report on a record was made, whether it helped, and whether it is wrong, by time."""
        sql = "SELECT at, helped, wrong FROM fact WHERE ref IS NOT NULL AND record = ? ORDER BY at, id"
        found = self.connection.execute(sql, (number,))
        return [(parse_time(at), bool(helped), bool(wrong)) for at, helped, wrong in found]

    def reports_about(self, number: int) -> list[Feedback]:
        """Return the reports on a record, by time."""
        sql = "SELECT id, line, crc FROM fact WHERE ref IS NOT NULL AND record = ? ORDER BY at, id"
        found = (parse_row(*row) for row in self.connection.execute(sql, (number,)))
        return [report for report in found if isinstance(report, Feedback)]

    def reports_of_task(self, number: int) -> dict[int, bool]:
        """Return the memories that a task reported on, by number, and whether each helped."""
        sql = (
            "SELECT r.dst, f.helped FROM relation r JOIN fact f ON f.id = r.owner"
            " WHERE r.is_live AND r.type = 'used' AND r.src = ?"
        )
        return {memory: bool(helped) for memory, helped in self.connection.execute(sql, (number,))}

    def handed_out(self, ids: Collection[int]) -> dict[int, tuple[int, int]]:
        """Return to how many tasks records were handed out, and how many of these reported that they helped."""
        sql = (
            "SELECT h.dst, count(*), sum(EXISTS (SELECT 1 FROM relation u JOIN fact f ON f.id = u.owner"
            " WHERE u.is_live AND u.type = 'used' AND u.src = h.src AND u.dst = h.dst AND f.helped))"
            " FROM relation h WHERE h.is_live AND h.type = 'handed_out' AND h.dst IN (...) GROUP BY h.dst"
        )
        return {number: (tasks, worked) for number, tasks, worked in rows_among(self.connection, sql, ids)}

    def report(self, number: int) -> Feedback | None:
        """Return a report by its number."""
        found = self.fact(number)
        return found if isinstance(found, Feedback) else None

    def fact(self, number: int) -> Frozen | None:
        """Return a report, a run or an event by its number."""
        row = self.connection.execute("SELECT id, line, crc FROM fact WHERE id = ?", (number,)).fetchone()
        return parse_row(*row) if row else None

    def purges(self) -> Purges:
        """Return which rows were purged."""
        sql = "SELECT line FROM fact WHERE node IS NULL AND ref IS NULL"
        return Purges((orjson.loads(line) for (line,) in self.connection.execute(sql)), self.vocabulary.refs)

    def report_count(self) -> int:
        """Return how many reports there are."""
        return int(self.connection.execute("SELECT count(*) FROM fact WHERE ref NOT NULL").fetchone()[0])

    def reports_by_day(self) -> list[tuple[str, int, int]]:
        """Return, for each day with reports, as ISO date: how many say that a memory helped, and how many there are."""
        sql = "SELECT substr(at, 1, 10), sum(helped), count(*) FROM fact WHERE ref IS NOT NULL GROUP BY 1"
        return self.connection.execute(sql).fetchall()

    def reports_since(self, at: str) -> list[tuple[int, bool]]:
        """Return the reports since a time: the record, and whether it helped."""
        sql = "SELECT record, helped FROM fact WHERE ref IS NOT NULL AND record IS NOT NULL AND at >= ?"
        return [(number, bool(helped)) for number, helped in self.connection.execute(sql, (at,))]

    def reports_without_record(self) -> list[tuple[int, str, str, bytes]]:
        """Return the reports on records that are missing: number, file, reference, line."""
        return self.connection.execute(
            "SELECT id, file, ref, line FROM fact WHERE ref NOT NULL AND record IS NULL"
        ).fetchall()

    def latest_runs(self, limit: int) -> list[tuple[str, str]]:
        """Return time and name of the latest runs, the last first."""
        return self.connection.execute(
            "SELECT at, run FROM run ORDER BY at DESC, run DESC LIMIT ?", (limit,)
        ).fetchall()

    def times_of_runs(self) -> dict[str, str]:
        """Return the time of each run by its name."""
        return dict(self.connection.execute("SELECT run, at FROM run").fetchall())

    def facts_with(self, texts: Collection[str]) -> dict[int, Frozen]:
        """Return the facts whose rows hold one of these texts, by number."""
        rows = self.connection.execute("SELECT id, line, crc FROM fact WHERE ref IS NULL AND node IS NOT NULL")
        wanted = [text.encode() for text in texts]
        return {row[0]: parse_row(*row) for row in rows.fetchall() if any(text in row[1] for text in wanted)}

    def fact_rows_naming(self, fields: Collection[str]) -> list[tuple[int, str, Row]]:
        """Return the rows of facts that hold one of these fields: number, file, row."""
        any_of = " OR ".join(["instr(line, CAST(? AS BLOB))"] * len(fields))
        sql = f"SELECT id, file, line FROM fact WHERE {any_of}"
        rows = self.connection.execute(sql, [f'"{name}"' for name in fields]).fetchall()
        return [(number, file, orjson.loads(line)) for number, file, line in rows]
