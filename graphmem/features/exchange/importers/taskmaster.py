"""
Task Master: ``tasks.json``, plain or by tag.

A tag is a campaign; a task and a subtask are tasks of it, the subtask with an edge ``subtask_of``.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from graphmem.core.foreign.reading import NO_TIME, Fields, ForeignInput, Source, joined, rings, slug_of, task_name
from graphmem.kernel.ndjson import Row

NAME = "taskmaster"
HOLDS = "a JSON object with tasks, or with tasks by tag"
PLAIN = "master"  # the tag of a file without tags
STATUSES = {"pending": "pending", "in-progress": "active", "done": "complete", "blocked": "blocked"}
CANCELLED = "cancelled"
Tasks = dict[str, tuple[str, Row, str | None]]  # by id: place, task, id of the task that it is a part of


def is_meant(source: Source) -> bool:
    """Return whether a file holds what this module reads."""
    return any(
        isinstance(task, dict) and {"id", "title", "status"} <= task.keys()
        for _, tag in _tags_of(source.document)
        for task in tag["tasks"][:1]
    )


def _tags_of(document: Any) -> Iterator[tuple[str, Row]]:
    """Yield each tag of a file with its tasks."""
    if not isinstance(document, dict):
        return
    if isinstance(document.get("tasks"), list):
        yield PLAIN, document
        return
    for name, tag in document.items():
        if isinstance(tag, dict) and isinstance(tag.get("tasks"), list):
            yield name, tag


def read(source: Source) -> ForeignInput:
    """Return the tasks of a file, with what they depend on."""
    reading = ForeignInput(NAME)
    for name, tag in _tags_of(source.document):
        TaskTag(reading, source.name, name, tag).run()
    return reading


class TaskTag:
    """The tasks of one tag on their way to rows."""

    def __init__(self, reading: ForeignInput, file: str, name: str, tag: Row) -> None:
        self.reading, self.name, self.tag, self.place = reading, name, tag, f"{file}: {name}"
        self.key = slug_of(name)
        metadata = tag.get("metadata")
        self.about = Fields(metadata if isinstance(metadata, dict) else {})
        self.changed = self.about.left.get("updated")
        self.created = self.about.time("created")
        self.tasks: Tasks = {}
        for one in tag["tasks"]:
            self.gather(one, None)

    def gather(self, given: Any, parent: str | None) -> None:
        """Find a task and its subtasks by their ids."""
        self.reading.read["subtask" if parent else "task"] += 1
        fields = given if isinstance(given, dict) else {}
        number, title = fields.get("id"), fields.get("title")
        links = len(_items_of(fields, "dependencies"))
        self.reading.read["dependency"] += links
        identity = f"{parent}.{number}" if parent else str(number)
        place = f"{self.place} {identity}"
        if isinstance(number, bool) or not isinstance(number, int | str) or not str(number).strip():
            self.reading.skip(place, "a task without an id")
        elif not isinstance(title, str) or not title.strip():
            self.reading.skip(place, f"task {identity} has no title")
        else:
            identity = next(one for one in _numbered(identity) if one not in self.tasks)
            self.tasks[identity] = place, fields, parent
            links = 0
        for _ in range(links):
            self.reading.skip(place, "a dependency of what is left out")
        for one in _items_of(fields, "subtasks") if parent is None else ():
            self.gather(one, identity)

    def run(self) -> None:
        """Make the rows of the tag."""
        self.reading.read["tag"] += 1
        rest = Fields({name: value for name, value in self.tag.items() if name not in ("tasks", "metadata")})
        if self.about.left or rest.left:
            rest.left["metadata"] = dict(self.about.left)
        said = self.about.left.get("description")
        row = {
            "kind": "campaign", "name": self.key, "sources": [self.reading.origin(self.name)],
            "objective": said if isinstance(said, str) else f"Tasks of {self.name}", **self.times(), **rest.rest(NAME),
        }  # fmt: skip
        self.reading.add(row, self.place)
        needs = {identity: self.needs(identity) for identity in self.tasks}
        closing = rings({identity: [one for one in found if one in self.tasks] for identity, found in needs.items()})
        for identity, found in needs.items():
            self.add(identity, [one for one in found if (identity, one) not in closing], len(found))
            for one in found:
                if (identity, one) in closing:
                    place = self.tasks[identity][0]
                    self.reading.skip(place, f"task {identity} needs {one}, which waits for it already")

    def times(self) -> Row:
        """Return when the records of the tag were created, if it says so."""
        return {"created_at": self.created} if self.created else {}

    def needs(self, identity: str) -> list[str]:
        """Return the ids of what a task depends on; a number in a subtask is one of the same task, if it has that."""
        _, task, parent = self.tasks[identity]
        return [
            f"{parent}.{one}" if parent and f"{parent}.{one}" in self.tasks else str(one)
            for one in _items_of(task, "dependencies")
        ]

    def add(self, identity: str, needs: list[str], links: int) -> None:
        """Add a task."""
        place, task, parent = self.tasks[identity]
        fields = Fields(task)
        fields.left.pop("subtasks", None)
        fields.left.pop("id")
        known = [f"task/{self.task_name(one)}" for one in needs if one in self.tasks]
        self.reading.dangling += len(needs) - len(known)
        if links == len(known):
            fields.left.pop("dependencies", None)
        row = {
            "kind": "task", "name": self.task_name(identity), "campaign": f"campaign/{self.key}", "depends": known,
            "objective": joined(fields, "title", "description"), **self.state(fields), **self.times(),
            "sources": [self.reading.origin(f"{self.name}/{identity}")], **fields.rest(NAME),
        }  # fmt: skip
        self.reading.add(row, place, *(("depends", ref) for ref in known))
        if parent is not None:
            made = self.reading.relation_type("subtask_of", "task", "task")
            ends = {"from": f"task/{row['name']}", "type": made, "to": f"task/{self.task_name(parent)}"}
            self.reading.add({"kind": "relation", **ends, **self.times()}, place)

    def task_name(self, identity: str) -> str:
        """Return the key of a task."""
        return task_name(self.key, identity)

    def state(self, fields: Fields) -> Row:
        """Return how far a task is; one that was cancelled is archived, any other status is a tag."""
        status = str(fields.left.get("status"))
        if status in STATUSES:
            fields.left.pop("status")
            return {"status": STATUSES[status]}
        if status == CANCELLED:
            changed = Fields({"at": self.changed}).time("at")
            return {"archived_at": changed or self.created or NO_TIME, "archive_reason": "cancelled in Task Master"}
        return {"tags": [status[:200]]} if status.strip() else {}


def _numbered(identity: str) -> Iterator[str]:
    """Yield an id, and then what tells others from it that have it as well: real files have some twice."""
    yield identity
    yield from (f"{identity}#{number}" for number in count(2))


def _items_of(task: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list of a task."""
    found = task.get(name)
    return found if isinstance(found, list) else []
