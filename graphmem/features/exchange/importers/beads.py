"""
Beads: the tracker's ``issues.jsonl``, an issue a line.

An issue is a task, in the campaign of the issue that it is a child of, else in ``imported``. An epic, and every other
issue with children, is a campaign beside its task. A bug that was closed with a reason that says what was done is a
failure as well. A memory that the tracker keeps (``bd remember``) is a constraint where it says what must be, else a
decision.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from graphmem.core.foreign.note_items import items_of
from graphmem.core.foreign.reading import (
    NO_TIME,
    OWN,
    Fields,
    ForeignInput,
    Source,
    is_item,
    joined,
    kept_in,
    own_fields,
    rings,
    slug_of,
    take_own,
    task_name,
    with_own,
)
from graphmem.kernel.model.field import LIST_ITEMS
from graphmem.kernel.model.vocabulary import RESERVED
from graphmem.kernel.ndjson import Row, encode

NAME = "beads"
KINDS = ("campaign", "task")  # of records that the form holds
HOLDS = "an issue a line, with id, title, status and issue_type"
STATUSES = {"open": "pending", "in_progress": "active", "blocked": "blocked", "closed": "complete"}
TYPES = {"bug": "impl", "feature": "impl", "task": "other", "epic": "other", "chore": "other"}
SYMMETRIC = ("related", "relates-to")
TOMBSTONE = "tombstone"  # the status of an issue that was deleted
KEPT = "x_beads"  # the field of what has no place of its own
OF_CAMPAIGN = "of_campaign"  # among the own fields of an issue: those of the campaign beside its task
# The words by which trackers resolve issues, and those that go with them: alone they do not say what was done.
RESOLVES = frozenset(
    "done fixed fix resolved solved closed close complete completed finished implemented merged landed shipped released"
    " pushed verified tested works working duplicate wontfix invalid obsolete stale outdated cancelled canceled skipped"
    " won't will not no longer all is was it this that the a an as by in on to of for and now already been has"
    " issue bug task work main master branch pr commit".split()
)
DEFAULT = "imported"  # the campaign of issues without a parent
Issues = Mapping[str, tuple[str, Row]]


def is_meant(source: Source) -> bool:
    """Return whether a file holds what this module reads."""
    found = source.first_object or {}
    return {"id", "title", "issue_type", "status"} <= found.keys() or _is_memory(found)


def read(source: Source) -> ForeignInput:
    """Return the issues of a file, with their dependencies."""
    reading = ForeignInput(NAME)
    issues: dict[str, tuple[str, Row]] = {}
    for place, issue in source.objects(reading):
        if _is_memory(issue):
            _add_memory(reading, place, issue)
            continue
        reading.read["issue"] += 1
        reading.read["dependency"] += len(_dependencies_of(issue))
        number, title = issue.get("id"), issue.get("title")
        if not isinstance(number, str) or not number.strip():
            _skip(reading, place, issue, "it has no id")
        elif not isinstance(title, str) or not title.strip():
            _skip(reading, place, issue, f"issue {number} has no title")
        elif number in issues:
            _skip(reading, place, issue, f"issue {number} is in {issues[number][0]} already")
        else:
            issues[number] = place, issue
    Importer(reading, issues, _parents_among(issues)).run()
    return reading


def _is_memory(line: Row) -> bool:
    """Return whether a line is a memory of the tracker, and not an issue."""
    return line.get("_type") == "memory" and isinstance(line.get("key"), str) and isinstance(line.get("value"), str)


def _add_memory(reading: ForeignInput, place: str, line: Row) -> None:
    """Add a memory: a rule, or what was decided."""
    reading.read["memory"] += 1
    fields = Fields(line)
    del fields.left["_type"]
    key, text = fields.text("key"), fields.text("value")
    if key is None or text is None:
        return reading.skip(place, "a memory needs a key and a value, both texts")
    kind = "constraint" if any(item.kind == "constraint" for item in items_of(text)) else "decision"
    created = fields.time("created_at")
    row: Row = {"kind": kind, "name": slug_of(key), kind: text, "sources": [reading.origin(f"memory/{key}")]}
    return reading.add(row | ({"created_at": created} if created else {}) | fields.rest(NAME), place)


def says_what(reason: str | None) -> bool:
    """Return whether a text says what was done, and not in one word, or in those of a tracker, that something was."""
    words = reason.lower().split() if reason else []
    return len(words) > 1 and any(word.strip(".,:;!?()'\"") not in RESOLVES for word in words)


def _parents_among(issues: Issues) -> frozenset[str]:
    """Return the ids of the issues that are a campaign too: epics, and those that others are children of."""
    parents = {number for number, (_, issue) in issues.items() if issue.get("issue_type") == "epic"}
    return frozenset(
        parents | {found for _, issue in issues.values() for found in _parents_of(issue) if found in issues}
    )


def _skip(reading: ForeignInput, place: str, issue: Row, reason: str) -> None:
    """Leave an issue out with its dependencies."""
    reading.skip(place, reason)
    for _ in _dependencies_of(issue):
        reading.skip(place, f"a dependency of what is left out: {reason}")


def _dependencies_of(issue: Row) -> list[Any]:
    """Return the dependencies of an issue."""
    found = issue.get("dependencies")
    return found if isinstance(found, list) else []


def _parents_of(issue: Row) -> list[str]:
    """Return the ids of the issues that an issue is a child of, as its dependencies say."""
    return _targets_of(issue, "parent-child")


def _targets_of(issue: Row, sort: str) -> list[str]:
    """Return the ids that an issue's dependencies of a sort name."""
    found = (one for one in _dependencies_of(issue) if isinstance(one, dict) and one.get("type") == sort)
    return [one["depends_on_id"] for one in found if isinstance(one.get("depends_on_id"), str)]


class Importer:
    """The issues of one file on their way to rows."""

    def __init__(self, reading: ForeignInput, issues: Issues, parents: Collection[str]) -> None:
        self.reading, self.issues, self.parents = reading, issues, parents
        self.own = {number: take_own(issue) for number, (_, issue) in issues.items()}
        self.of_campaign = {number: own.pop(OF_CAMPAIGN, None) for number, own in self.own.items()}
        self.alone = {number for number, own in self.own.items() if own.get("kind") == "campaign"}
        self.keys = {
            number: _key_in(self.own[number]) if number in self.alone else slug_of(number) for number in issues
        }
        self.campaigns = {number: self.campaign_of(number) for number in issues if number not in self.alone}
        self.rings = rings({number: _targets_of(issue, "blocks") for number, (_, issue) in issues.items()})
        self.tasks = {
            number: _key_in(self.own[number]) or task_name(key, number) for number, key in self.campaigns.items()
        }

    def run(self) -> None:
        """Make the rows of all issues."""
        if DEFAULT in self.campaigns.values():
            self.add_default()
        for number, (place, issue) in self.issues.items():
            self.add(number, place, issue)

    def campaign_of(self, number: str) -> str:
        """Return the key of the campaign of an issue: of its first parent, also of one that only its id names."""
        named = number.rpartition(".")[0]
        found = [*_parents_of(self.issues[number][1]), *([named] if named in self.parents else [])]
        return next((str(self.keys[one]) for one in found if one in self.issues and one != number), DEFAULT)

    def add_default(self) -> None:
        """Add the campaign of issues without a parent."""
        times = [made for _, issue in self.issues.values() if (made := Fields(issue).time("created_at"))]
        row = {
            "kind": "campaign", "name": DEFAULT, "objective": "Issues from beads that are in no epic",
            "sources": [self.reading.origin(DEFAULT)],
        }  # fmt: skip
        self.reading.add(row | ({"created_at": min(times)} if times else {}), self.reading.format)

    def add(self, number: str, place: str, issue: Row) -> None:
        """Add what one issue becomes."""
        fields = Fields(issue)
        fields.left.pop("id")
        said = joined(fields, "title", "description")
        shared: Row = {"sources": [self.reading.origin(number)], "tags": self.tags(fields)}
        created = fields.time("created_at")
        shared |= {"created_at": created} if created else {}
        status, sort = issue.get("status"), issue.get("issue_type")
        state = self.state(fields, created)
        if number in self.parents:
            self.add_campaign(number, place, said, {**shared, **state}, fields)
        if number in self.alone:
            return
        reason = fields.text("close_reason")
        fix = next(filter(says_what, (reason, Fields(issue).text("notes"))), None)
        if sort == "bug" and status == "closed" and fix:
            self.reading.add({"kind": "failure", "trigger": said, "fix": fix, **shared}, place)
        links, kept = self.links(number, place, fields)
        if kept:
            fields.left["dependencies"] = kept
        row = {
            "kind": "task", "name": self.tasks[number], "campaign": f"campaign/{self.campaigns[number]}",
            "objective": said, "type": TYPES.get(str(sort), "other"), **shared, **state,
            "depends": [ref for field, ref in links if field == "depends"], **fields.rest(NAME),
        }  # fmt: skip
        self.reading.add(with_own(row | ({"delivered": reason} if reason else {}), self.own[number]), place, *links)

    def add_campaign(self, number: str, place: str, said: str, shared: Row, fields: Fields) -> None:
        """Add the campaign of an issue that has children, or that is nothing but a campaign."""
        kept = {name: value for name, value in shared.items() if name not in ("status", "completed_at")}
        if shared["status"] == "complete":
            kept |= {"status": "complete"} | {name: shared[name] for name in ("completed_at",) if name in shared}
        row = {"kind": "campaign", "name": self.keys[number], "objective": said, **kept}
        is_alone = number in self.alone
        own = self.own[number] if is_alone else self.of_campaign[number]
        self.reading.add(with_own(row | (fields.rest(NAME) if is_alone else {}), own), place)

    def tags(self, fields: Fields) -> list[str]:
        """Return the labels of an issue, with a status and a type that are not among the documented ones."""
        given = {"status": {*STATUSES, TOMBSTONE}, "issue_type": {*TYPES}}
        words = {name: str(fields.left[name]) for name in given if is_item(fields.left.get(name))}
        return sorted({*fields.texts("labels"), *(word for name, word in words.items() if word not in given[name])})

    def state(self, fields: Fields, created: str | None) -> Row:
        """Return the status of a task, and whether it is archived: a tombstone is."""
        status = str(fields.left.get("status"))
        closed = fields.time("closed_at")
        row: Row = {"status": STATUSES.get(status, "complete" if status == TOMBSTONE and closed else "pending")}
        if status in STATUSES or status == TOMBSTONE:
            fields.left.pop("status")
        if closed:
            row["completed_at"] = closed
        if status == TOMBSTONE:
            row["archived_at"] = fields.time("deleted_at") or fields.time("updated_at") or closed or created or NO_TIME
            row["archive_reason"] = fields.text("delete_reason") or "deleted in beads"
        return row

    def links(self, number: str, place: str, fields: Fields) -> tuple[list[tuple[str, str]], list[Any]]:
        """
        Add the dependencies of an issue that are edges of their own.

        Returns:
            Those that are fields of its task, and what is to be kept as it was in the file.
        """
        links: list[tuple[str, str]] = []
        kept: list[Any] = []
        for one in _dependencies_of({"dependencies": fields.left.pop("dependencies", None)}):
            target, sort = (one.get("depends_on_id"), one.get("type")) if isinstance(one, dict) else (None, None)
            if not isinstance(target, str) or not isinstance(sort, str) or not sort.strip():
                self.reading.skip(place, f"a dependency of issue {number} has no depends_on_id or no type")
                kept.append(one)
            elif target not in self.issues:
                self.reading.dangling += 1
                kept.append(one)
            elif target == number:
                self.reading.skip(place, f"issue {number} depends on itself")
                kept.append(one)
            elif sort == "blocks" and (number, target) in self.rings:
                self.reading.skip(place, f"issue {number} needs {target}, which waits for it already")
                kept.append(one)
            elif sort == "blocks" and len(links) >= LIST_ITEMS:  # of a task that needs more, the rest are edges
                self.add_edge(number, place, target, one)
            elif sort == "blocks":
                links.append(("depends", f"task/{self.tasks[target]}"))
                kept.append(one)
            elif sort == "parent-child" and self.keys[target] == self.campaigns[number]:
                links.append(("campaign", f"campaign/{self.campaigns[number]}"))
                kept.append(one)
            else:
                self.add_edge(number, place, target, one)
        return links, kept

    def add_edge(self, number: str, place: str, target: str, given: Row) -> None:
        """Add a dependency that is an edge of its own: another parent leads to its campaign, all others to the task."""
        left = dict(given)
        own = take_own(left)
        fields = Fields(left)
        sort = str(fields.left.pop("type"))
        del fields.left["depends_on_id"]
        fields.left.pop("issue_id", None)
        is_child = sort == "parent-child"
        is_campaign = is_child or target in self.alone
        end = f"campaign/{self.keys[target]}" if is_campaign else f"task/{self.tasks[target]}"
        word = str(own.get("type") or ("child_of" if is_child else sort))
        made = word if "type" in own and word in RESERVED else self.reading.relation_type(
            word, "task", end.partition("/")[0], symmetric=sort in SYMMETRIC
        )  # fmt: skip
        row: Row = {"kind": "relation", "from": f"task/{self.tasks[number]}", "type": made, "to": end}
        created = fields.time("created_at") or Fields(self.issues[number][1]).time("created_at")
        row |= ({"created_at": created} if created else {}) | fields.rest(NAME)
        self.reading.add(with_own(row, own), place)


def _key_in(own: Row) -> str | None:
    """Return the key of a record that graphmem wrote, if its own fields say it."""
    return own.get("key") or own.get("name")


def written(records: Sequence[Row], relations: Sequence[Row]) -> tuple[dict[str, str], Counter[str]]:
    """
    Return tasks as issues, with what they depend on, the campaign that each is in, and the edges between them.

    A campaign is an epic, unless it came from an issue, which its task is.
    """
    rows = {f"{row['kind']}/{row.get('key', row['name'])}": row for row in records}
    numbers = _numbers_of(rows)
    tasks = {numbers[ref] for ref, row in rows.items() if row["kind"] == "task"}
    own = {
        ref: row for ref, row in rows.items() if ref in numbers and (row["kind"] == "task" or numbers[ref] not in tasks)
    }
    issues = {numbers[ref]: _issue_of(row, numbers[ref], numbers) for ref, row in own.items()}
    places = {number: (number, dict(issue)) for number, issue in issues.items()}
    importer = Importer(ForeignInput(NAME), places, _parents_among(places))
    for ref, row in own.items():
        _add_own(importer, issues[numbers[ref]], row, rows)
    edges = [
        row for row in relations if row["from"] in own and rows[row["from"]]["kind"] == "task" and row["to"] in numbers
    ]
    for edge in edges:
        issues[numbers[edge["from"]]].setdefault("dependencies", []).append(
            _dependency_of(importer, edge, rows, numbers)
        )
    lines = (f"{encode(issue).decode()}\n" for _, issue in sorted(issues.items()))
    return {"issues.jsonl": "".join(lines)}, Counter(row["kind"] for row in (*records, *edges))


def _numbers_of(rows: Mapping[str, Row]) -> dict[str, str]:
    """Return the id of the issue for each task and campaign: that which it came with, or its key; none for the rest."""
    numbers = {ref: _origin_of(row) or ref.partition("/")[2] for ref, row in rows.items() if row["kind"] == "task"}
    taken = {*numbers.values()}
    for ref, row in rows.items():
        origin = _origin_of(row)
        if row["kind"] == "campaign" and origin != DEFAULT:
            key = ref.partition("/")[2]
            numbers[ref] = origin if origin in taken else ref if key in taken else key
    return numbers


def _origin_of(row: Row) -> str | None:
    """Return the id of the issue that a record came from."""
    start = f"{NAME}:"
    return next((one.removeprefix(start) for one in row.get("sources", ()) if one.startswith(start)), None)


def _add_own(importer: Importer, issue: Row, row: Row, rows: Mapping[str, Row]) -> None:
    """Give an issue the fields of its records that reading it alone would make otherwise."""
    number, drafts = str(issue["id"]), importer.reading.drafts
    before = len(drafts)
    importer.add(number, number, importer.issues[number][1])
    made = {draft.row["kind"]: draft.row for draft in drafts[before:]}
    own = {**issue.get(OWN, {}), **own_fields(made[row["kind"]], row)}
    campaign = rows.get(f"campaign/{importer.keys[number]}")
    if row["kind"] == "task" and "campaign" in made and campaign is not None:
        own |= {OF_CAMPAIGN: found} if (found := own_fields(made["campaign"], campaign)) else {}
    issue.update({OWN: own} if own else {})


def _issue_of(row: Row, number: str, numbers: Mapping[str, str]) -> Row:
    """Return a task or a campaign as an issue, with what it depends on."""
    kept = {name: value for name, value in kept_in(row, KEPT).items() if name not in ("dependencies", "id", OWN)}
    title, _, text = str(row["objective"]).partition("\n\n")
    words = {"pending": "open", "active": "in_progress", "blocked": "blocked", "complete": "closed"}
    issue: Row = {
        "id": number, "title": title, "description": text, "created_at": row["created_at"],
        "status": words.get(str(row.get("status", "pending")), "open"),
        "issue_type": "task" if row["kind"] == "task" else "epic", "priority": 2,
        "closed_at": row.get("completed_at"), "close_reason": row.get("delivered"), **kept,
        "labels": [tag for tag in row.get("tags", ()) if tag not in (kept.get("status"), kept.get("issue_type"))],
    }  # fmt: skip
    if "archived_at" in row:
        issue |= {"status": TOMBSTONE, "deleted_at": row["archived_at"], "delete_reason": row.get("archive_reason")}
    if row["kind"] == "campaign":
        issue[OWN] = {"kind": "campaign", **_names_in(row)}
    else:
        issue["dependencies"] = list(_dependencies_in(row, number, numbers))
        if _origin_of(row) is None or task_name(str(row["campaign"]).partition("/")[2], number) != row["name"]:
            issue[OWN] = _names_in(row)
    return {name: value for name, value in issue.items() if value not in (None, "", [])}


def _names_in(row: Row) -> Row:
    """Return the name and the key of a row."""
    return {name: row[name] for name in ("name", "key") if name in row}


def _dependencies_in(row: Row, number: str, numbers: Mapping[str, str]) -> Iterator[Row]:
    """Yield the dependencies that are fields of a task, as its issue had them if it was imported with some."""
    given = kept_in(row, KEPT).get("dependencies")
    was = [one for one in (given if isinstance(given, list) else ()) if isinstance(one, dict)]
    parent = numbers.get(str(row["campaign"]))
    fields = [*(("blocks", numbers.get(ref, ref)) for ref in row.get("depends", ()))]
    own = {(str(one.get("type")), str(one.get("depends_on_id"))) for one in was}
    is_implied = parent == number.rpartition(".")[0] and ("parent-child", parent) not in own
    fields += [("parent-child", parent)] if parent is not None and not is_implied else []
    known = {*numbers.values()} if was else set()  # few have some; there are many
    for one in was:  # also of what is not there
        if one.get("depends_on_id") not in known or (one.get("type"), one.get("depends_on_id")) in fields:
            yield one
    yield from ({"type": sort, "depends_on_id": number} for sort, number in fields if (sort, number) not in own)


def _dependency_of(importer: Importer, edge: Row, rows: Mapping[str, Row], numbers: Mapping[str, str]) -> Row:
    """Return an edge of a task as a dependency of its issue; its word is never one that is read as a field."""
    word = str(edge["type"]).removeprefix("their_").replace("_", "-")
    if word == "child-of" and edge["to"].startswith("campaign/") and edge["to"] != rows[edge["from"]]["campaign"]:
        word = "parent-child"
    elif word in ("blocks", "parent-child"):
        word = f"their-{word}"
    number, target = numbers[edge["from"]], numbers[edge["to"]]
    kept = {name: value for name, value in kept_in(edge, KEPT).items() if name != OWN}
    found = {**kept, "depends_on_id": target, "created_at": edge["created_at"], "type": word}
    importer.add_edge(number, number, target, found)
    own = own_fields(importer.reading.drafts[-1].row, edge)
    return {**found, OWN: own} if own else found
