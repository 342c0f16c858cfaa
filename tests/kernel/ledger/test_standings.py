"""How lessons stand, kept up run by run: the same as from the files alone, whatever came when and went."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem import GraphmemError
from graphmem.kernel.catalog.database import parse_record
from graphmem.kernel.model import Lesson
from graphmem.kernel.model.lesson_state import standing
from tests.sample import Clock, graph_of, open_memory

pytestmark = pytest.mark.usefixtures("graph_written_here")
NAMES = ("a", "b", "c")
names, days = st.sampled_from(NAMES), st.integers(1, 28)
seen = st.lists(st.builds("{}{}".format, st.sampled_from(("lesson/", "")), names), min_size=1, max_size=3)
steps = st.one_of(
    st.tuples(st.just("run"), days, st.integers(1, 12), seen),
    st.tuples(st.just("run"), days, st.integers(1, 12), seen),
    st.tuples(st.just("run"), days, st.integers(1, 12), seen),
    st.tuples(st.just("lesson"), names, days, st.sampled_from(("pattern", "preference")), st.none() | days),
    st.tuples(st.just("drop"), st.sampled_from(("run", "lesson")), st.integers(0, 9)),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("forget"), names),
    st.tuples(st.just("restore"), names),
)


class History:
    """Rows come and go in the files, as a pull brings them; each change is taken in by itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = open_memory(folder, clock=Clock())
        for name, day in (("a", 1), ("b", 14)):
            self.lesson(name, day, "pattern", None)
        self.memory.list("lesson")
        self.do: dict[str, Callable[..., object]] = {
            "run": self.run, "lesson": self.lesson, "drop": self.drop, "rename": self.rename,
            "forget": lambda name: self.memory.forget(f"lesson/{name}"),
            "restore": lambda name: self.memory.restore(f"lesson/{name}"),
        }  # fmt: skip

    def append(self, kind: str, *rows: dict[str, Any]) -> None:
        path = self.folder / f".graphmem/data/{kind}.ndjson"
        path.parent.mkdir(exist_ok=True)
        fields = ("run",) if kind == "run" else ("name",)
        given = [tuple(row[field] for field in fields) for row in rows]
        there = [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
        kept = [row for row in there if tuple(row[field] for field in fields) not in given]
        path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in (*kept, *rows)))

    def run(self, day: int, silent: int, seen: list[str]) -> None:
        """A run that saw something, and silent ones after it."""
        made = [{"kind": "run", "run": f"{day}-{n:02}", "at": f"2026-11-{day:02}T{n:02}:00:00.000Z"}
                for n in range(silent)]  # fmt: skip
        self.append("run", {**made[0], "seen": seen}, *made[1:])

    def lesson(self, name: str, day: int, kind: str, restored: int | None) -> None:
        row = {"kind": "lesson", "name": name, "type": kind, "description": f"{name} is better",
               "created_at": f"2026-11-{day:02}T00:00:00.000Z"}  # fmt: skip
        self.append(
            "lesson", row | ({} if restored is None else {"restored_at": f"2026-11-{restored:02}T00:30:00.000Z"})
        )

    def drop(self, kind: str, place: int) -> None:
        path = self.folder / f".graphmem/data/{kind}.ndjson"
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        if lines:
            del lines[place % len(lines)]
            path.write_bytes(b"".join(lines))

    def rename(self, name: str, other: str) -> None:
        self.memory.rename(f"lesson/{name}", f"{other}-renamed")

    def folded(self) -> list[Any]:
        """Return how the lessons stand by the rule itself, over all runs."""
        run = self.memory.store.client.catalog.connection.execute
        runs = run("SELECT at, run FROM run ORDER BY at, run").fetchall()
        found = []
        for number, line, crc in run(
            "SELECT id, line, crc FROM record WHERE record_type = 'lesson' ORDER BY id"
        ).fetchall():
            sql = "SELECT DISTINCT at, run.run FROM seen JOIN run ON run.id = seen.run WHERE lesson = ? ORDER BY 1, 2"
            lesson = parse_record(number, line, crc)
            assert isinstance(lesson, Lesson)
            found.append((number, *standing(lesson, runs, run(sql, (number,)).fetchall())))
        return found

    def lesson_states(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Return how the lessons stand, which are live, and what the graph has of them."""
        memory = self.memory
        memory.list("lesson")
        run = memory.store.client.catalog.connection.execute
        query = "MATCH (l:Lesson) OPTIONAL MATCH (l)-[:SEEN_IN]->(r:Run) RETURN l.key, l.frequency, r.run"
        with graph_of(memory) as connection:
            nodes = sorted(connection.execute(query).get_all(), key=repr)
        return (
            run("SELECT record, frequency, silent, last_run, is_faded FROM standing ORDER BY record").fetchall(),
            run("SELECT id, is_live FROM record WHERE record_type = 'lesson' ORDER BY id").fetchall(),
            nodes,
        )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=3, max_size=14))
@pytest.mark.long
def test_lessons_stand_as_the_files_alone_say(history: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = History(Path(folder))
        for what, *arguments in history:
            try:
                made.do[what](*arguments)
            except GraphmemError:
                continue
            made.memory.list("lesson")  # each change is taken in by itself
        found = made.lesson_states()
        assert found[0] == made.folded()
        made.memory.store.rebuild()
        assert made.lesson_states() == found
        made.memory.close()
