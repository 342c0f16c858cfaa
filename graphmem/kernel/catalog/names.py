"""Names, aliases and references of records."""

from collections.abc import Collection

from graphmem.kernel.catalog.database import Reads, remembered, rows_among
from graphmem.names import row_id, split_ref
from graphmem.patterns import lazy_re

ID_START = lazy_re("[0-9a-f]{8,32}")  # of an event, as lists show it
NUMBER = lazy_re("[0-9]{1,3}")  # of a task in its campaign

SCOPES = (  # from one to the next in the index: DISTINCT would read all of it
    "WITH RECURSIVE found (record_type) AS (SELECT min(record_type) FROM record UNION ALL"
    " SELECT (SELECT min(record_type) FROM record WHERE record_type > found.record_type) FROM found"
    " WHERE found.record_type IS NOT NULL)"
    " SELECT record_type FROM found WHERE record_type IS NOT NULL"
)


class NameReads(Reads):
    """Names, aliases and references of records."""

    def live(self, refs: Collection[str]) -> dict[str, tuple[int, str]]:
        """Return the live records that references mean, by key, name or alias: number and reference by key."""
        found = {row_id(ref): ref for ref in refs}
        result: dict[str, tuple[int, str]] = {}
        present: set[str] = set()
        sql = "SELECT id, is_live FROM record WHERE id IN (...)"
        for number, is_live in rows_among(self.connection, sql, found):
            present.add(found[number])
            if is_live:
                result[found[number]] = (number, found[number])
        for ref in set(refs) - present:
            number = self.by_name(*split_ref(ref)) or self.by_other_names(ref)
            if number is not None:
                row = self.connection.execute(
                    "SELECT record_type || '/' || key FROM record WHERE id = ? AND is_live", (number,)
                ).fetchone()
                if row:
                    result[ref] = (number, row[0])
        return result

    def known(self, refs: Collection[str]) -> dict[str, int]:
        """Return the records, live or archived, that references mean, by key, name or alias; of what may be told."""
        found: dict[str, int] = {}
        for ref in refs:
            number = self.lookup(*split_ref(ref)) if self.may_tell(split_ref(ref)[0]) else None
            if number is not None:
                found[ref] = number
        return found

    def lookup(self, record_type: str, name: str) -> int | None:
        """
        Return the record of a record type that a name means: by key, then name, then alias.

        A name that an entity type had before means what the type is called now, where nothing else has it.
        """
        number = row_id(f"{record_type}/{name}")
        if self.connection.execute("SELECT 1 FROM record WHERE id = ?", (number,)).fetchone():
            return number
        found = self.by_name(record_type, name)
        return self.by_other_names(f"{record_type}/{name}") if found is None else found

    def by_other_names(self, ref: str) -> int | None:
        """Return the record that a reference means by a name that its type had before, or has, as its campaign."""
        current = self.vocabulary.current(ref)
        return self.lookup(*split_ref(current)) if current is not None else self.by_campaign(*split_ref(ref))

    def by_campaign(self, record_type: str, name: str) -> int | None:
        """Return the task that is called so by another name of its campaign, before it was renamed or since."""
        campaign, slash, rest = name.rpartition("/")
        number = self.lookup("campaign", campaign) if record_type == "task" and slash else None
        if number is None:
            return None
        found = (self.by_name("task", f"{known}/{rest}") for known in self._all_names(number) if known != campaign)
        return next((one for one in found if one is not None), None)

    def _all_names(self, number: int) -> list[str]:
        """Return the key, the name and the aliases of a record."""
        sql = (
            "SELECT key FROM record WHERE id = ?1 UNION SELECT name FROM record WHERE id = ?1"
            " UNION SELECT name FROM alias WHERE record = ?1"
        )
        return [known for (known,) in self.connection.execute(sql, (number,))]

    def key_of_name(self, record_type: str, name: str) -> str | None:
        """Return the key of the record of a record type that is called this now; aliases do not count."""
        sql = "SELECT key FROM record WHERE name = ? AND record_type = ? ORDER BY key <> name, key LIMIT 1"
        row = self.connection.execute(sql, (name, record_type)).fetchone()
        return row[0] if row else None

    def namesakes(self, number: int, name: str) -> list[int]:
        """Return the other records that have this as their stored name, where it is not the key of this one."""
        sql = (
            "SELECT id FROM record WHERE name = ?1 AND id <> ?2 AND record_type ="
            " (SELECT record_type FROM record WHERE id = ?2 AND name = ?1 AND key <> name) ORDER BY key"
        )
        return [other for (other,) in self.connection.execute(sql, (name, number))]

    def by_name(self, record_type: str, name: str) -> int | None:
        """Return the record of a record type with this name, as shown or as stored, or with this alias."""
        row = self.connection.execute(
            "SELECT id FROM record WHERE name = ? AND record_type = ? AND shown = name UNION ALL"
            " SELECT id FROM record WHERE shown = ? AND shown <> name AND record_type = ? UNION ALL"
            " SELECT record FROM alias WHERE name = ? AND record_type = ? UNION ALL"
            " SELECT id FROM record WHERE name = ? AND record_type = ? LIMIT 1",
            (name, record_type) * 4,
        ).fetchone()
        return row[0] if row else None

    def anywhere(self, name: str, record_types: Collection[str] | None = None) -> list[int]:
        """
        Return the records of any type that a bare name means.

        Where nothing is called so, the live tasks with this slug: of one that was imported, its id in the other tool.
        Else the live tasks with this campaign and number, such as ``sso/2``, of which a merge may bring two; else the
        events whose id begins so.
        """
        among = [
            record_type for record_type in self.record_types() if record_types is None or record_type in record_types
        ]
        numbers = {self.lookup(record_type, name) for record_type in among} - {None}
        if not numbers and "task" in among:
            numbers |= self._tasks(name.removeprefix("task/"))
        if not numbers and "event" in among and ID_START.fullmatch(name):
            sql = "SELECT id FROM record WHERE record_type = 'event' AND substr(key, 1, ?) = ?"
            numbers |= {number for (number,) in self.connection.execute(sql, (len(name), name))}
        return sorted(number for number in numbers if number is not None)

    def _tasks(self, name: str) -> set[int]:
        """Return the live tasks that a slug means, or a campaign and a number."""
        sql = "SELECT id FROM record WHERE record_type = 'task' AND is_live AND"
        has_slug = f"{sql} substr(name, instr(name, '/') + 5) = ?"
        found = {number for (number,) in self.connection.execute(has_slug, (name,))}
        campaign, _, seq = name.rpartition("/")
        if found or not NUMBER.fullmatch(seq):
            return found
        number = self.lookup("campaign", campaign.removeprefix("campaign/"))
        for known in self._all_names(number) if number is not None else ():
            start = f"{known}/{int(seq):03d}-"
            begins = self.connection.execute(f"{sql} substr(name, 1, ?) = ?", (len(start), start))
            found |= {task for (task,) in begins}
        return found

    @remembered
    def record_types(self) -> list[str]:
        """Return the kinds and entity types that have records."""
        return [record_type for (record_type,) in self.connection.execute(SCOPES)]

    def names(self, limit: int) -> list[str]:
        """Return references by shown name, at most ``limit``: for suggestions and completion."""
        rows = self.connection.execute("SELECT record_type || '/' || shown FROM record WHERE is_live LIMIT ?", (limit,))
        return [ref for (ref,) in rows]

    def completions(self, text: str, limit: int) -> list[str]:
        """Return current references that begin with a text, in name order; where none does, those that hold it."""
        listed = "SELECT record_type || '/' || shown AS ref FROM record WHERE is_live AND"
        begins = f"{listed} substr(record_type || '/' || shown, 1, length(?1)) = ?1 ORDER BY ref LIMIT ?2"
        holds = f"{listed} instr(shown, ?1) ORDER BY ref LIMIT ?2"
        found = [ref for (ref,) in self.connection.execute(begins, (text, limit))]
        return found or [ref for (ref,) in self.connection.execute(holds, (text, limit))]

    def refs(self, ids: Collection[int]) -> dict[int, str]:
        """Return the current references of records."""
        sql = "SELECT id, record_type || '/' || shown FROM record WHERE id IN (...)"
        return dict(rows_among(self.connection, sql, ids))

    def shown_refs(self, refs: Collection[str]) -> dict[str, str]:
        """Return the current reference by shown name for each of these references that means a record."""
        known = self.known(refs)
        names = self.refs(set(known.values()))
        return {ref: names[number] for ref, number in known.items()}
