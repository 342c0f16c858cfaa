"""``dump``: the rows of the memory, as other memories take them."""

import json
import tempfile
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem import Memory, NotFound, Refused
from graphmem.core.foreign.reading import Source
from graphmem.features.exchange.dump import FOREIGN, key_ref
from graphmem.features.exchange.dump_contract import Dump
from graphmem.features.exchange.importers import formats, tables
from graphmem.kernel.model import MODELS
from graphmem.kernel.ndjson import encode
from graphmem.names import composed
from tests.features.exchange.exporters.hostile import SIGNS
from tests.features.exchange.importers.real import SAMPLES
from tests.features.exchange.importers.test_beads import issue, needs, write
from tests.features.harvest.test_review import put
from tests.pace import examples
from tests.sample import contents, data, open_memory


def content(answer: Dump) -> str:
    """Return the one file of a dump."""
    (found,) = answer.files.values()
    return found


def rows(folder: Path) -> dict[str, bytes]:
    """Return the data files of a store that hold something."""
    return {name: text for name, text in contents(folder).items() if name.startswith("data/") and text}


def come_back(tmp_path: Path, answer: Dump, name: str = "two") -> dict[str, bytes]:
    """Return the data files of a new store that took a dump, whole and with nothing left out."""
    folder = tmp_path / f"{name}-files"
    for file, text in answer.files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, "utf-8", newline="")
    path = folder if answer.format == "okf" else folder / next(iter(answer.files))
    with open_memory(tmp_path / name) as other:
        assert other.imports.file(path).skipped == []
        found = rows(tmp_path / name)
        again = other.imports.file(path)
        assert (again.created, again.updated, again.merged) == ({}, {}, {})
        assert rows(tmp_path / name) == found
    return found


def fill(memory: Memory) -> None:
    """Fill a store with records of most kinds, and edges between them."""
    memory.failures.add(
        'it goes "boom",\nthen bang', name="boom", fix="duck", tags=["a", "b"], versions={"flask": "3.0"}
    )
    memory.patterns.add("it goes boom", "duck\n\nand <b>cover</b>", name="duck", tags=["x"], check_after="2030-01-01")
    memory.relations.link("pattern/duck", "solves", "failure/boom", weight=1.75, note="often")
    memory.decisions.add("use the new cart", reasoning="it is faster\n\n# much")
    memory.constraints.add("never on a friday")
    memory.lessons.add("look at both ends", domain="cables")
    memory.types.add_entity("service")
    memory.types.add_entity("rule")
    memory.entities.add("service", "shop & sons", value="sells\nthings")
    memory.entities.add("rule", "shop", value="one line")
    memory.entities.add("service", "depot")
    memory.types.add_relation("runs_on", sources=["service"], targets=["service"], weight=0.5)
    memory.relations.link("service/shop & sons", "runs_on", "service/depot")
    memory.campaigns.create("a login page\n\nwith all", name="login")
    tasks = [
        {"seq": 1, "slug": "form", "objective": "the form"},
        {"seq": 2, "slug": "route", "objective": "the route", "depends": ["001"]},
    ]
    memory.campaigns.add_tasks("login", tasks)
    memory.tasks.start("task/login/001-form")
    memory.tasks.complete("task/login/001-form", delivered="a form")
    memory.tasks.start("task/login/002-route")
    memory.tasks.block("task/login/002-route", reason="no router")
    memory.rename("duck", "cover")
    memory.feedback("cover", helped=True)


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    """A store with records of most kinds."""
    with open_memory(tmp_path / "one") as made:
        fill(made)
        yield made


def of_kinds(found: Mapping[str, bytes], *names: str) -> dict[str, bytes]:
    """Return the data files of kinds and types."""
    return {name: text for name, text in found.items() if name.startswith(tuple(f"data/{one}" for one in names))}


def test_a_dump_is_the_lines_of_the_files_whatever_their_number(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for number in range(30):
            memory.failures.add(f"error number {number}", name=f"f{number}", dedup=False)
        memory.forget("f3", reason="old")
        lines = data(tmp_path, "failure").read_text()
        answer = memory.dump(kinds=["failure"])
        assert (answer.rows, answer.left_out, content(answer)) == (30, {}, lines)
        memory.store.split("failure")
        assert content(memory.dump(kinds=["failure"])) == lines


def test_types_are_dumped_one_by_one_and_together(memory: Memory) -> None:
    assert content(memory.dump(kinds=["experience"])) == ""
    assert memory.dump(kinds=["service"]).rows == 2 and memory.dump(kinds=["runs_on"]).rows == 1
    both = memory.dump(kinds=["entity"])
    assert content(both) == content(memory.dump(kinds=["service", "rule", "rule"]))
    with pytest.raises(NotFound, match="no kind or type 'services'") as wrong:
        memory.dump(kinds=["services"])
    assert wrong.value.hint == "did you mean service?"


@pytest.mark.parametrize("form", ["ndjson", "csv"])
def test_all_rows_come_back_from_lines_and_from_a_table(memory: Memory, tmp_path: Path, form: Any) -> None:
    memory.forget("never-on-a-friday", reason="old")
    assert come_back(tmp_path, memory.dump(form)) == rows(tmp_path / "one")


def test_lines_and_tables_say_themselves_what_they_are(memory: Memory, tmp_path: Path) -> None:
    for form in ("ndjson", "csv"):
        (tmp_path / form).write_text(content(memory.dump(form, kinds=["failure"])))
        answer = memory.imports.file(tmp_path / form)
        assert (answer.format, answer.read, answer.unchanged) == (form, {"row": 1}, {"failure": 1})


SPOKEN = ("constraint", "decision", "entities", "failure", "lesson", "pattern", "relations")  # of the other memories


def test_records_come_back_from_the_form_of_the_memory_server(memory: Memory, tmp_path: Path) -> None:
    memory.rename("service/shop & sons", "shop & daughters")
    memory.edit("service/depot", {"value": "far"})
    memory.relations.link("service/depot", "causes", "failure/boom")
    answer = memory.dump("mcp-memory")
    assert (answer.rows, answer.left_out) == (11, {})
    assert come_back(tmp_path, answer) == of_kinds(rows(tmp_path / "one"), *SPOKEN)


def test_the_memory_server_is_told_what_failed_what_fixes_it_and_how_they_relate(memory: Memory) -> None:
    lines = {line["name"]: line for line in map(json.loads, content(memory.dump("mcp-memory")).splitlines())
             if line["type"] == "entity"}  # fmt: skip
    assert lines["failure/boom"]["entityType"] == "failure"
    assert lines["failure/boom"]["observations"] == ['trigger: it goes "boom",\nthen bang', "fix: duck"]
    assert lines["pattern/cover"]["observations"][1].startswith("insight: duck")
    assert lines["decision/use-the-new-cart"]["observations"][0] == "decision: use the new cart"
    (solves,) = (line for line in map(json.loads, content(memory.dump("mcp-memory")).splitlines())
                 if line.get("relationType") == "solves")  # fmt: skip
    assert (solves["from"], solves["to"]) == ("pattern/cover", "failure/boom")


def test_records_come_back_from_a_file_that_the_memory_server_wrote_again(memory: Memory, tmp_path: Path) -> None:
    """The server keeps the fields that it knows, and an agent added an observation."""
    known = ("type", "name", "entityType", "observations", "from", "to", "relationType")
    lines = []
    for line in map(json.loads, content(memory.dump("mcp-memory")).splitlines()):
        lines.append({name: line[name] for name in known if name in line})
        if line.get("name") == "failure/boom":
            lines[-1]["observations"].append("seen by Ada")
    (tmp_path / "memory.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with open_memory(tmp_path / "two") as other:
        assert other.imports.file(tmp_path / "memory.jsonl").skipped == []
        boom: Any = other.get("failure/boom")
        assert (boom.record.trigger, boom.record.fix) == ('it goes "boom",\nthen bang', "duck")
        assert boom.record.x_mcp_memory == {"observations": ["seen by Ada"]}
        assert [(edge.source, edge.type) for edge in boom.relations] == [("pattern/cover", "solves")]
    memory.imports.file(tmp_path / "memory.jsonl")
    assert memory.list("failure").total == 1


def test_what_came_from_the_memory_server_comes_back_to_it(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.imports.file(SAMPLES / "mcp_memory.jsonl")
        answer = memory.dump("mcp-memory")
        before = rows(tmp_path / "one")
    assert come_back(tmp_path, answer) == before
    assert '"graphmem"' not in content(answer)


def test_a_form_that_cannot_hold_what_is_asked_for_is_refused(memory: Memory) -> None:
    with pytest.raises(Refused, match="beads holds records of kind campaign, task; 'failure' is another kind") as wrong:
        memory.dump("beads", kinds=["failure"])
    assert wrong.value.hint == "graphmem dump --to beads --kind=campaign --kind=task"
    memory.entities.add("service", "shop")
    with pytest.raises(Refused, match="two entities are called 'shop'"):
        memory.dump("mcp-memory")
    assert memory.dump("mcp-memory", kinds=["rule"]).rows == 1


def test_tasks_and_campaigns_come_back_from_issues(memory: Memory, tmp_path: Path) -> None:
    memory.types.add_relation("blocks", sources=["task"], targets=["task"])
    memory.relations.link("task/login/001-form", "blocks", "task/login/002-route")
    memory.campaigns.create("another", name="other")
    answer = memory.dump("beads", kinds=["task"])
    assert (answer.rows, answer.left_out) == (5, {})
    assert come_back(tmp_path, answer) == of_kinds(rows(tmp_path / "one"), "task", "campaign", "relations/blocks")


def test_tasks_that_came_from_beads_come_back_from_its_form(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.imports.file(SAMPLES / "beads/issues.jsonl")
        memory.imports.file(
            write(
                tmp_path,
                issue("bd-e", issue_type="epic", labels=["ui"]),
                issue("bd-e.2", status="blocked", dependencies=needs("bd-e.2", "bd-e", "gone", sort="parent-child")),
                issue("bd-e.3", description="more", dependencies=needs("bd-e.3", "bd-e.2")),
            )
        )
        answer = memory.dump("beads")
        assert len(content(answer).splitlines()) == 27
        assert '"graphmem"' not in content(answer)
        before = rows(tmp_path / "one")
    assert come_back(tmp_path, answer) == before


def test_what_was_edited_here_comes_back_from_issues_too(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.imports.file(write(tmp_path, issue("bd-e", issue_type="epic"), issue("bd-e.2")))
        memory.edit("campaign/bd-e", {"objective": "another word"})
        memory.edit("task/bd-e/002-bd-e.2", {"objective": "a third"})
        answer, before = memory.dump("beads"), rows(tmp_path / "one")
    assert come_back(tmp_path, answer) == before


def test_records_come_back_from_pages_of_the_open_knowledge_format(memory: Memory, tmp_path: Path) -> None:
    memory.relations.link("pattern/cover", "prerequisite", "decision/use-the-new-cart")
    memory.relations.link("service/depot", "causes", "failure/boom")
    answer = memory.dump("okf")
    assert (answer.rows, answer.left_out) == (12, {})
    assert answer.files.keys() == {
        "constraint/never-on-a-friday.md", "decision/use-the-new-cart.md", "failure/boom.md",
        "lesson/look-at-both-ends.md", "pattern/cover.md", "rule/shop.md", "service/depot.md",
        "service/shop-sons-898307.md",
    }  # fmt: skip
    assert come_back(tmp_path, answer) == of_kinds(rows(tmp_path / "one"), *SPOKEN)


def test_a_page_links_to_the_pages_that_its_record_is_related_to(memory: Memory) -> None:
    pages = memory.dump("okf").files
    assert "\n\nduck\n\n<!-- graphmem" in pages["failure/boom.md"]
    assert 'type: failure\ntitle: boom\ndescription: "it goes \\"boom\\",\\nthen bang"\n' in pages["failure/boom.md"]
    assert "\n\n## Related\n\n- solves: [failure/boom](../failure/boom.md)\n\n<!-- " in pages["pattern/cover.md"]


def test_a_text_that_ends_in_such_links_stays_as_it_is(tmp_path: Path) -> None:
    text = "duck\n\n## Related\n\n- solves: [failure/boom](../failure/boom.md)"
    with open_memory(tmp_path / "one") as memory:
        memory.failures.add("it goes boom", name="boom", fix=text)
        memory.patterns.add("a boom comes", text, name="duck")
        memory.relations.link("pattern/duck", "solves", "failure/boom")
        answer, before = memory.dump("okf"), rows(tmp_path / "one")
    assert answer.files["pattern/duck.md"].count("## Related") == 2
    assert come_back(tmp_path, answer) == before


def test_what_a_user_wrote_on_a_page_is_taken_from_there(memory: Memory, tmp_path: Path) -> None:
    answer = memory.dump("okf")
    files = {name: text.replace("\n\nduck\n\n<!--", "\n\nrun\n\n<!--") for name, text in answer.files.items()}
    come_back(tmp_path, answer.model_copy(update={"files": files}))
    with open_memory(tmp_path / "two") as other:
        boom: Any = other.get("failure/boom")
        assert (boom.record.fix, boom.record.versions) == ("run", {"flask": "3.0"})


def test_a_bundle_comes_back_as_it_was(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.imports.file(SAMPLES / "okf")
        answer, before = memory.dump("okf"), rows(tmp_path / "one")
    found = come_back(tmp_path, answer)
    assert found == before


TEXTS = st.lists(st.sampled_from(SIGNS) | st.text(max_size=4), min_size=1, max_size=4).map("".join).filter(str.strip)
NAMES = TEXTS.map(lambda text: "".join(text.split())).filter(lambda name: bool(name) and name.isprintable())


HostileRows = tuple[list[Any], list[Any]]  # of records, and of the edges between them


@st.composite
def hostile_rows(draw: st.DrawFn) -> HostileRows:
    """Return rows of records of the kinds that other memories hold, and of edges between them."""
    at, texts = "2026-11-01T09:30:00.000Z", iter(draw(st.lists(TEXTS, min_size=14, max_size=14)))
    names = draw(st.lists(NAMES, min_size=2, max_size=3, unique_by=composed))
    made: list[Any] = [
        {"kind": "decision", "name": "d", "decision": next(texts), "reasoning": next(texts)},
        {"kind": "pattern", "name": "p", "key": "q", "trigger": next(texts), "insight": next(texts), "helped": 3},
        {"kind": "constraint", "name": "c", "constraint": next(texts), "x_okf": {"title": next(texts), "type": "Rule"}},
        {"kind": "failure", "name": "f", "key": "g", "trigger": next(texts), "fix": next(texts), "tags": [next(texts)]},
        {"kind": "lesson", "name": "l", "description": next(texts), "x_mcp_memory": {"observations": [next(texts)]}},
        {"kind": "campaign", "name": "plan", "objective": next(texts), "x_beads": {"id": "7", "graphmem": {"a": 1}}},
        {"kind": "task", "name": "plan/001-a", "campaign": "campaign/plan", "objective": next(texts)},
        {"kind": "task", "name": "plan/002-b", "campaign": "campaign/plan", "objective": next(texts),
         "depends": ["task/plan/001-a"], "archived_at": at},
        *({"kind": "entity", "type": "thing", "name": name, "value": name, "x_mcp_memory": name} for name in names),
    ]  # fmt: skip
    records = [MODELS[row["kind"]].model_validate({**row, "created_at": at}).to_row() for row in made]
    things = [f"thing/{row['name']}" for row in records if row["kind"] == "entity"]
    ends = [("task/plan/001-a", "blocks", "task/plan/002-b"), ("task/plan/001-a", "child_of", "campaign/plan"),
            ("decision/d", "prerequisite", "pattern/q"), (things[0], "near", things[1]),
            ("pattern/q", "solves", "failure/g"), (things[0], "causes", "failure/g"),
            ("lesson/l", "co_occurs", things[1])]  # fmt: skip
    edges = [{"kind": "relation", "from": source, "type": sort, "to": target, "created_at": at, "note": "n"}
             for source, sort, target in ends]  # fmt: skip
    return records, edges


@pytest.mark.long
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=hostile_rows(), form=st.sampled_from(["ndjson", "csv", *FOREIGN]))
def test_whatever_the_texts_the_same_rows_come_back(
    tmp_path: Path, rows: tuple[list[Any], list[Any]], form: str
) -> None:
    kinds, writer = FOREIGN.get(form, ([*MODELS], None))
    records = [row for row in rows[0] if row["kind"] in kinds]
    refs = {key_ref(row) for row in records}
    edges = [row for row in rows[1] if row["from"] in refs and row["to"] in refs]
    if writer is not None:
        files, counts = writer(records, edges)
        assert counts.total() == len(records) + len(edges)
    else:
        lines = "".join(f"{encode(row).decode()}\n" for row in (*records, *edges))
        files = {"memory": lines if form == "ndjson" else tables.written([*records, *edges])}
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    reading = formats.read(Source(folder if form == "okf" else folder / min(files)), None)
    found = [MODELS[draft.row["kind"]].model_validate(draft.row).to_row() for draft in reading.drafts]
    assert (reading.skipped, reading.dangling) == ([], 0)
    assert sorted(map(encode, found)) == sorted(map(encode, (*records, *edges)))


class Data(HTMLParser):
    """What a page holds as JSON, read as a browser reads it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.is_data, self.text = False, ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_data = ("id", "data") in attrs

    def handle_data(self, data: str) -> None:
        self.text += data if self.is_data else ""


def page(memory: Memory, *kinds: str) -> dict[str, Any]:
    (text,) = memory.dump(format="html", kinds=kinds).files.values()
    found: dict[str, Any] = json.loads(Data(text).text)
    return found


def test_a_page_holds_the_live_records_and_edges_that_are_asked_for_and_nothing_of_this_machine(tmp_path: Path) -> None:
    with open_memory(tmp_path / "page") as memory:
        memory.failures.add("</script> it broke", name="broke")
        memory.failures.add("gone", name="gone")
        memory.patterns.add("it breaks", "mend it", name="mend")
        memory.relations.link("pattern/mend", "solves", "failure/broke")
        memory.relations.link("failure/gone", "causes", "failure/broke")
        memory.forget("failure/gone")
        memory.inbox.add("look at it")
        memory.events.add("lunch")
        put(memory)
        found = page(memory)
        assert [one["ref"] for one in found["records"]] == ["failure/broke", "pattern/mend"]
        assert [one["type"] for one in found["edges"]] == ["solves"]
        assert (found["candidates"], found["inbox"], found["events"]) == ([], [], [])
        assert found["records"][0]["title"] == "</script> it broke"
        assert [one["ref"] for one in page(memory, "pattern")["records"]] == ["pattern/mend"]
        assert page(memory, "pattern")["edges"] == page(memory, "causes")["edges"] == []
        assert [one["ref"] for one in page(memory, "solves")["records"]] == ["failure/broke", "pattern/mend"]
