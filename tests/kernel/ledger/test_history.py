"""What is kept up change by change is what the files say: any history, then everything derived made anew."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st

from graphmem import GraphmemError, Memory
from tests.sample import Clock, contents, data, edge, failure, graph_of, line, mirror_of, open_memory, pattern, write

pytestmark = pytest.mark.usefixtures("graph_written_here")
NAMES = ("alpha", "beta", "gamma", "delta")
KEYED = ("failure/alpha", "failure/beta", "failure/gamma", "pattern/alpha", "pattern/beta", "part/alpha", "part/a b/c")
REFS = (*KEYED, "failure/delta", "pattern/gamma", "campaign/alpha", "task/alpha/001-one", "task/alpha/002-two")
TYPES = ("solves", "causes", "co_occurs", "variant", "uses", "touches")

Step = tuple[str, tuple[Any, ...]]

names, refs, types = st.sampled_from(NAMES), st.sampled_from(REFS), st.sampled_from(TYPES)
keyed = st.sampled_from(KEYED)
weights = st.sampled_from((None, 0.3, 1.0, 1.9))
flags = st.booleans()
texts = st.sampled_from((None, "pin it", "a longer text, with ünïcode"))
tags = st.sampled_from(((), ("build",), ("build", "ci")))


seen = st.lists(st.builds("{}{}".format, st.sampled_from(("lesson/", "")), names), max_size=2)


def ends() -> st.SearchStrategy[tuple[str, str, str]]:
    """Return edges, most of them of the kind that is allowed."""
    patterns, failures = st.sampled_from(("pattern/alpha", "pattern/beta")), st.sampled_from(KEYED[:3])
    return st.one_of(
        st.tuples(patterns, st.just("solves"), failures),
        st.tuples(keyed, st.sampled_from(("causes", "co_occurs", "variant")), keyed),
        st.tuples(refs, types, refs),
    )


steps: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("failure"), st.tuples(names, texts, tags)),
    st.tuples(st.just("pattern"), st.tuples(names, texts)),
    st.tuples(st.just("entity"), st.tuples(st.sampled_from(("alpha", "a b/c", "beta")), texts)),
    st.tuples(st.just("edit"), st.tuples(refs, texts, flags)),
    st.tuples(st.just("rename"), st.tuples(keyed, names)),
    st.tuples(st.just("forget"), st.tuples(refs)),
    st.tuples(st.just("restore"), st.tuples(refs)),
    st.tuples(st.just("link"), st.tuples(ends(), weights, texts)),
    st.tuples(st.just("link"), st.tuples(ends(), weights, texts)),
    st.tuples(st.just("unlink"), st.tuples(ends())),
    st.tuples(st.just("feedback"), st.tuples(keyed, flags, st.sampled_from((None, "task/alpha/001-one", "elsewhere")))),
    st.tuples(st.just("campaign"), st.tuples(names)),
    st.tuples(st.just("tasks"), st.tuples(names, flags)),
    st.tuples(st.just("type"), st.tuples()),
    st.tuples(st.just("pull"), st.tuples(keyed, names)),
    st.tuples(st.just("pull edge"), st.tuples(ends(), weights, flags)),
    st.tuples(st.just("pull edge"), st.tuples(ends(), weights, flags)),
    st.tuples(st.just("pull report"), st.tuples(refs, flags)),
    st.tuples(st.just("pull lesson"), st.tuples(names, st.sampled_from(("pattern", "preference")), flags)),
    st.tuples(st.just("pull run"), st.tuples(st.integers(1, 28), seen)),
    st.tuples(st.just("pull run"), st.tuples(st.integers(1, 28), seen)),
    st.tuples(st.just("drop"), st.tuples(st.integers(0, 20), st.integers(0, 50))),
    st.tuples(st.just("drop"), st.tuples(st.integers(0, 20), st.integers(0, 50))),
    st.tuples(st.just("checkout"), st.tuples()),
    st.tuples(st.just("look"), st.tuples()),
)


class History:
    """A store in which one thing happens after the other; files also change as a pull or an editor changes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = open_memory(folder)
        self.memory.types.add_entity("part")
        self.memory.types.add_relation("uses", sources=["part"], targets=["any"])
        for record_type, name in (ref.split("/", 1) for ref in KEYED):
            if record_type == "failure":
                self.memory.failures.add(f"{name} went wrong", name=name)
            elif record_type == "pattern":
                self.memory.patterns.add(f"when {name}", "do it", name=name)
            else:
                self.memory.entities.add(record_type, name)
        self.memory.campaigns.create("to do alpha", name="alpha")
        self.add_tasks("alpha", True)
        for ends in (
            ("pattern/alpha", "solves", "failure/alpha"),
            ("failure/alpha", "causes", "failure/beta"),
            ("failure/beta", "co_occurs", "failure/gamma"),
            ("part/alpha", "uses", "failure/alpha"),
        ):
            self.memory.relations.link(*ends)
        self.look()
        self.kept: dict[str, bytes] | None = None
        self.do: dict[str, Callable[..., object]] = {
            "failure": lambda name, fix, tags: self.memory.failures.add(
                f"{name} went wrong", name=name, fix=fix, tags=tags, dedup=False
            ),
            "pattern": lambda name, framework: self.memory.patterns.add(
                f"when {name}", "do it", name=name, framework=framework, dedup=False
            ),
            "entity": lambda name, value: self.memory.entities.add("part", name, value=value),
            "edit": self.edit,
            "rename": self.memory.rename,
            "forget": self.memory.forget,
            "restore": self.memory.restore,
            "link": lambda ends, weight, note: self.memory.relations.link(*ends, weight=weight, note=note),
            "unlink": lambda ends: self.memory.relations.unlink(*ends),
            "feedback": lambda ref, helped, task: self.memory.feedback(ref, helped=helped, task=task),
            "campaign": lambda name: self.memory.campaigns.create(f"to do {name}", name=name),
            "tasks": self.add_tasks,
            "type": lambda: self.memory.types.add_relation("touches", sources=["any"], targets=["any"], symmetric=True),
            "pull": self.pull,
            "pull edge": self.pull_edge,
            "pull report": self.pull_report,
            "pull lesson": self.pull_lesson,
            "pull run": self.pull_run,
            "drop": self.drop,
            "checkout": self.checkout,
            "look": self.look,
        }

    def run(self, steps: Sequence[Step]) -> None:
        for name, arguments in steps:
            try:
                self.do[name](*arguments)
            except GraphmemError as error:
                event(f"{name}: {type(error).__name__}")
            else:
                event(f"{name}: done")

    def edit(self, ref: str, text: str | None, is_unset: bool) -> None:
        field = {"failure": "fix", "pattern": "framework", "part": "value", "campaign": "outcome"}.get(
            ref.split("/", maxsplit=1)[0]
        )
        if field:
            self.memory.edit(ref, {field: text}, unset=[field] if is_unset and text is None else [])
        else:
            self.memory.edit(ref, {"objective": text or "nothing", "delivered": text})

    def add_tasks(self, campaign: str, is_chain: bool) -> None:
        plan = [{"seq": 1, "slug": "one", "objective": "first"}, {"seq": 2, "slug": "two", "objective": "second"}]
        self.memory.campaigns.add_tasks(campaign, [plan[0], {**plan[1], "depends": 1 if is_chain else "none"}])

    def pull(self, ref: str, name: str) -> None:
        """A record appears, or has another name, because of a merge; the name may be another's as well."""
        record_type, key = ref.split("/", 1)
        made = {"failure": failure, "pattern": pattern}.get(record_type)
        fields = {} if key == name else {"key": key}
        if made:
            self.append(record_type, made(name, **fields), f"{record_type}/{key}")
        else:
            self.append(
                f"entities/{record_type}",
                line(kind="entity", type=record_type, name=name, **fields),
                f"{record_type}/{key}",
            )

    def pull_edge(self, ends: tuple[str, str, str], weight: float | None, is_later: bool) -> None:
        """An edge appears; its ends may be missing, archived or given by another name than the key."""
        fields: dict[str, Any] = {} if weight is None else {"weight": weight}
        if is_later and weight is not None:
            fields["edited"] = {"weight": "2026-11-02T00:00:00.000Z"}
        if ends[0] != ends[2] and ends[1] != "touches":
            self.append(f"relations/{ends[1]}", edge(*ends, **fields), "\t".join(ends))

    def pull_report(self, ref: str, helped: bool) -> None:
        row = {"kind": "feedback", "ref": ref, "helped": helped, "at": "2026-11-03T00:00:00.000Z", "task": "task/other"}
        self.append("feedback", orjson.dumps(row, option=orjson.OPT_SORT_KEYS) + b"\n", f"task/other\t{ref}")

    def pull_lesson(self, name: str, kind: str, restored: bool) -> None:
        row = {"kind": "lesson", "name": name, "type": kind, "description": f"{name} is better",
               "created_at": "2026-11-02T00:00:00.000Z"}  # fmt: skip
        row |= {"restored_at": "2026-11-20T00:00:00.000Z"} if restored else {}
        self.append("lesson", orjson.dumps(row, option=orjson.OPT_SORT_KEYS) + b"\n", f"lesson/{name}")

    def pull_run(self, day: int, seen: list[str]) -> None:
        """A run, in the order of others or not; several on a day, so that fewer steps let a lesson fade."""
        for hour in range(6):
            run = f"{day}-{hour}"
            row = {"kind": "run", "run": run, "at": f"2026-11-{day:02}T{hour:02}:00:00.000Z", "seen": seen}
            self.append("run", orjson.dumps(row, option=orjson.OPT_SORT_KEYS) + b"\n", run)
            seen = []

    def append(self, name: str, row: bytes, key: str) -> None:
        """Put a row at the end of a file, in the place of the one with its key."""

        def key_of(line: bytes) -> str:
            row = orjson.loads(line)
            if row["kind"] == "relation":
                ends = [row["from"], row["to"]]
                if row["type"] in ("co_occurs", "variant"):
                    ends.sort()
                return f"{ends[0]}\t{row['type']}\t{ends[1]}"
            if row["kind"] == "feedback":
                return f"{row.get('task')}\t{row['ref']}"
            if row["kind"] == "run":
                return str(row["run"])
            if row["kind"] == "lesson":
                return f"lesson/{row['name']}"
            return f"{row.get('type', row['kind'])}/{row.get('key') or row['name']}"

        path = data(self.folder, name)
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        write(path, *(other for other in lines if key_of(other) != key_of(row)), row)

    def drop(self, file: int, place: int) -> None:
        """A line is gone."""
        files = sorted((self.folder / ".graphmem/data").rglob("*.ndjson"))
        if files:
            path = files[file % len(files)]
            lines = path.read_bytes().splitlines(keepends=True)
            if lines:
                del lines[place % len(lines)]
                write(path, *lines)

    def checkout(self) -> None:
        """The other branch is checked out: the files as they were at the last checkout."""
        now = dict(contents(self.folder))
        if self.kept is not None:
            for name in (name for name in now if name.startswith(("data/", "types/")) and name not in self.kept):
                (self.folder / ".graphmem" / name).unlink()
            for name, found in self.kept.items():
                if now.get(name) != found:
                    (self.folder / ".graphmem" / name).write_bytes(found)
        self.kept = now

    def look(self) -> None:
        """The graph and the index follow so far: what comes next is taken in change by change."""
        with self.memory.store.client.reading(), mirror_of(self.memory).shared_lock():
            pass
        self.memory.query("went wrong")


def state(memory: Memory) -> dict[str, Any]:
    """Return everything that a store answers."""
    listed = [*memory.list().results, *memory.list(archived=True).results]
    live = [found.record.key_ref for found in memory.list().results]
    answers: dict[str, Any] = {
        "list": [found.model_dump(mode="json") for found in listed],
        "get": {key: memory.get(key).model_dump(mode="json") for key in (found.record.key_ref for found in listed)},
        "related": {
            ref: memory.related(ref, max_hops=3, min_strength=0.1).model_dump(
                mode="json", exclude={"results": {"record"}}
            )
            for ref in live
        },
        "solutions": {ref: memory.solutions(ref).model_dump(mode="json") for ref in live if ref.startswith("failure/")},
        "ready": {
            ref: memory.campaigns.ready(ref).model_dump(mode="json") for ref in live if ref.startswith("campaign/")
        },
        "query": sorted((hit.ref, hit.relevance) for hit in memory.query("alpha went wrong, pin it", limit=50).results),
        "stats": memory.stats().model_dump(exclude={"worth": {"mean_importance", "importances"}}),  # the clock goes on
        "validate": memory.store.validate().model_dump(),
        "graph": graph(memory),
    }
    connection = memory.store.client.catalog.connection
    for table in (
        "record",
        "alias",
        "label",
        "signature",
        "error",
        "line",
        "expression",
        "relation",
        "fact",
        "run",
        "seen",
        "standing",
    ):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        wanted = ", ".join(
            column for column in columns if (table, column) not in (("record", "vector"), ("record", "file"))
        )
        answers[table] = sorted(connection.execute(f"SELECT {wanted} FROM {table}").fetchall(), key=repr)
    return answers


def graph(memory: Memory) -> dict[str, list[str]]:
    """Return every node and edge of the graph, without the engine's own numbers."""
    found: dict[str, list[str]] = {}
    with graph_of(memory) as connection:
        for name, query in (
            ("nodes", "MATCH (n) RETURN n"),
            ("edges", "MATCH (a)-[r]->(b) RETURN a.ref, r, b.ref"),
        ):
            rows = connection.execute(query).get_all()
            plain = [[strip(value) for value in row] for row in rows]
            found[name] = sorted(repr(row) for row in plain)
    return found


def strip(value: object) -> object:
    """Leave out what the engine numbers, and what a node of another label has."""
    if isinstance(value, dict):
        return {k: v for k, v in sorted(value.items()) if k not in ("_id", "_src", "_dst") and v is not None}
    return value


@settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@example(  # the name that a report means becomes an alias of one record and stays the name of another
    [("rename", ("failure/alpha", "delta")), ("pull report", ("failure/delta", True)),
     ("pull", ("failure/beta", "delta")), ("rename", ("failure/beta", "beta"))]
)  # fmt: skip
@example(  # a task whose parent is dropped from the file, after the graph was built
    [("restore", ("pattern/gamma",)), ("drop", (9, 20)), ("pull report", ("pattern/alpha", False)),
     ("pull report", ("failure/gamma", True)), ("drop", (9, 43))]
)  # fmt: skip
@example(  # the only lesson, which a run saw, goes from its file
    [("pull lesson", ("gamma", "preference", False)), ("pull run", (2, ["lesson/gamma"])), ("look", ()),
     ("drop", (3, 0))]
)  # fmt: skip
@given(st.lists(steps, min_size=5, max_size=40))
@pytest.mark.long
def test_after_any_history_what_was_kept_up_is_what_the_files_say(history: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        lived = History(Path(first))
        lived.run([*history[: len(history) // 2], ("look", ()), *history[len(history) // 2 :]])
        shutil.copytree(lived.folder / ".graphmem", Path(second) / ".graphmem", ignore=shutil.ignore_patterns("local"))
        clock = lived.memory.store.client.now  # what is in the future depends on it
        assert isinstance(clock, Clock)
        fresh = open_memory(Path(second), clock=clock)
        kept, made = state(lived.memory), state(fresh)
        for part, found in made.items():
            assert kept[part] == found, part
        assert all(finding["severity"] == "warning" for finding in made["validate"]["findings"])
        lived.memory.close()
        fresh.close()
