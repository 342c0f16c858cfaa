"""A type renamed or dropped: its rows, what refers to them, the files that name it; all or nothing, and taken back."""

import os
import shutil
from pathlib import Path

import orjson
import pytest

from graphmem import BadInput, Memory, NotFound, Refused
from tests.kernel.ledger.test_journal import Died, dying
from tests.sample import contents, data, edge, line, open_memory, write
from tests.secret_samples import KINDS, Maker

COMMENTED = """---
# made by hand
type: service
description: A thing we run.
owner: platform   # a field of ours
search: false
---

One row a service.

- never a library
"""


@pytest.fixture
def project(memory: Memory, tmp_path: Path) -> Memory:
    """Services that call each other, with a failure, a report, an event, a decision and a session that name one."""
    types = tmp_path / ".graphmem/types/entities"
    types.mkdir(parents=True, exist_ok=True)
    (types / "service.md").write_text(COMMENTED)
    memory.types.add_entity("team")
    memory.types.add_relation("calls", sources=["service"], targets=["service"])
    memory.types.add_relation("owns", sources=["team"], targets=["service", "failure"])
    memory.types.add_relation("near", sources=["any"], targets=["any"], symmetric=True)
    for name in ("shop", "stock", "old"):
        memory.entities.add("service", name, value=f"the {name}")
    memory.entities.add("team", "red")
    memory.failures.add("it broke", name="broke")
    memory.relations.link("service/shop", "calls", "service/stock", weight=0.4, note="twice")
    memory.relations.link("team/red", "owns", "service/shop")
    memory.relations.link("failure/broke", "causes", "service/stock")
    memory.relations.link("team/red", "near", "service/shop")
    memory.feedback("service/shop", helped=True, task="plan/001")
    memory.events.add("deployed", subject="service/shop")
    memory.rename("service/stock", "store")
    memory.supersede("service/old", "service/shop")
    memory.sessions.start()
    memory.sessions.note(used=["service/shop"])
    memory.sessions.end()
    return memory


def text_of(folder: Path, file: str) -> str:
    return (folder / ".graphmem" / file).read_text()


def test_a_preview_says_what_would_change_and_changes_nothing(project: Memory, tmp_path: Path) -> None:
    before = contents(tmp_path)
    answer = project.types.rename("service", "component")
    assert not answer.done
    assert (answer.type, answer.now, answer.records, answer.edges) == ("service", "component", 3, 4)
    assert answer.references == 3  # a report, an event, a session
    assert answer.types == ["calls", "owns"]
    assert answer.files == [
        "data/entities/component.ndjson", "data/entities/service.ndjson", "data/event.ndjson", "data/feedback.ndjson",
        "data/relations/calls.ndjson", "data/relations/causes.ndjson", "data/relations/near.ndjson",
        "data/relations/owns.ndjson", "data/session.ndjson", "types/entities/component.md",
        "types/entities/service.md", "types/relations/calls.md", "types/relations/owns.md",
    ]  # fmt: skip
    dropped = project.types.drop("service")
    assert (dropped.done, dropped.now, dropped.types, dropped.dropped) == (False, None, ["owns"], ["calls"])
    assert contents(tmp_path) == before


def test_a_renamed_type_has_another_name_wherever_it_is_named(project: Memory, tmp_path: Path) -> None:
    before = contents(tmp_path)
    answer = project.types.rename("service", "component", yes=True)
    after = contents(tmp_path)
    assert answer.done
    changed = {file for file in {*before, *after} if before.get(file) != after.get(file)}
    assert changed == {*answer.files, "schema.json"}
    named = [file for file, found in contents(tmp_path).items() if b"service" in found.replace(b"- service", b"")]
    assert named == ["types/entities/component.md"]  # its prose, which is a person's
    assert project.store.validate().findings == []
    assert project.store.export_check().ok
    assert [found.ref for found in project.list("component").results] == ["component/shop", "component/store"]
    (edge,) = [found for found in project.get("component/store").relations if found.type == "calls"]
    assert (edge.source, edge.weight, edge.note) == ("component/shop", 0.4, "twice")
    assert project.get("component/shop").record.kind == "entity"
    assert project.get("component/old").record.superseded_by == "component/shop"
    assert [found.subject for found in project.events.list().events if found.type == "deployed"] == ["component/shop"]
    assert project.cypher("MATCH (n:Component) RETURN count(*)").rows == [[2]]


def test_the_old_name_of_a_type_is_still_found(project: Memory, tmp_path: Path) -> None:
    project.types.rename("service", "component", yes=True)
    project.types.rename("component", "part", yes=True)
    assert project.get("service/shop").ref == "part/shop"
    assert project.get("component/stock").ref == "part/store"
    assert project.types.show("service").type == "part"
    assert project.relations.link("service/shop", "causes", "component/stock").edge.source == "part/shop"
    write(data(tmp_path, "relations/variant"), edge("service/shop", "variant", "failure/broke"))
    assert [found.ref for found in project.related("service/shop", types=["variant"]).results] == ["failure/broke"]
    for refused in ("service", "component"):
        with pytest.raises(Refused, match="was renamed to 'part'") as error:
            project.entities.add(refused, "more")
        assert error.value.hint == "it is 'part' now"
        with pytest.raises(Refused, match="a name that 'part' had before"):
            project.types.add_entity(refused)
    assert project.types.rename("part", "service", yes=True).done  # back again
    assert project.get("part/shop").ref == "service/shop"
    assert project.store.validate().ok


def test_the_file_of_a_renamed_type_keeps_what_a_person_wrote(project: Memory, tmp_path: Path) -> None:
    project.types.rename("service", "component", yes=True)
    assert text_of(tmp_path, "types/entities/component.md") == COMMENTED.replace(
        "type: service", "type: component"
    ).replace("search: false\n", "search: false\naliases:\n- service\n")
    (shown,) = [made for made in project.types.list().entities if made.type == "component"]
    assert (shown.search, shown.aliases, (shown.__pydantic_extra__ or {})["owner"]) == (False, ("service",), "platform")


def test_front_matter_that_cannot_be_changed_line_by_line_is_written_anew(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / ".graphmem/types/entities/service.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('---\n{"type": "service", "owner": "us"}\n---\n\nprose\n')
    memory.types.rename("service", "component", yes=True)
    assert text_of(tmp_path, "types/entities/component.md") == (
        "---\ntype: component\naliases:\n- service\nowner: us\n---\n\nprose\n"
    )


def test_a_relation_type_is_renamed_with_its_edges(project: Memory, tmp_path: Path) -> None:
    answer = project.types.rename("near", "beside", yes=True)
    assert (answer.records, answer.edges, answer.types) == (0, 1, [])
    (found,) = project.related("team/red", types=["beside"]).results
    assert found.ref == "service/shop"
    assert data(tmp_path, "relations/near").read_bytes() == b""
    assert project.types.show("near").type == "beside"
    with pytest.raises(Refused, match="was renamed to 'beside'"):
        project.relations.link("team/red", "near", "service/stock")
    assert project.store.validate().findings == []


def test_the_ends_of_a_symmetric_edge_are_in_the_order_of_their_new_names(project: Memory, tmp_path: Path) -> None:
    assert b'"from":"service/shop"' in data(tmp_path, "relations/near").read_bytes()
    project.types.rename("service", "zone", yes=True)
    assert b'"from":"team/red","kind":"relation","to":"zone/shop"' in data(tmp_path, "relations/near").read_bytes()
    assert project.relations.link("zone/shop", "near", "team/red").action == "unchanged"
    project.types.rename("near", "beside", yes=True)
    project.undo(2)
    assert b'"from":"service/shop"' in data(tmp_path, "relations/near").read_bytes()


def test_what_this_machine_returned_is_counted_on_under_the_new_name(project: Memory) -> None:
    project.context("change the shop")
    before = project.get("service/shop").access_count
    assert before > 0
    project.types.rename("service", "component", yes=True)
    assert project.get("component/shop").access_count >= before
    project.types.drop("component", yes=True)
    project.types.add_entity("component")
    project.entities.add("component", "shop")
    assert project.get("component/shop").access_count < before


QUERY = """// Services that call, or are owned.
// column ref STRING
MATCH (s:Service:Team)-[c:calls]->(x:`Service`)
WHERE label(x) = 'Service' AND NOT s.ref STARTS WITH 'service/' AND s.type <> "service" AND s.name <> 'a service'
RETURN s.ref AS ref // :Service
"""
EXTRACTOR = '---\n{"command": ["true"], "writes": ["%s"]}\n---\n\nprose\n'


def own_file(tmp_path: Path, file: str, text: str) -> Path:
    """Write a file of a project by hand."""
    path = tmp_path / ".graphmem" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_stored_queries_have_the_new_name_where_they_name_the_type(project: Memory, tmp_path: Path) -> None:
    path = own_file(tmp_path, "queries/service/callers.cypher", QUERY)
    text = own_file(tmp_path, "queries/team/names.cypher", QUERY.replace(" AND s.type", " AND s.kind")).read_text()
    own_file(tmp_path, "queries/team/broken.cypher", "// Broken.\n MATCH (s:Service) SET s.x = 1")
    preview = project.types.rename("service", "order")
    assert {"queries/service/callers.cypher", "queries/team/names.cypher"} < {*preview.files}
    project.types.rename("service", "order", yes=True)
    assert path.read_text() == QUERY.replace("(s:Service:", "(s:`Order`:").replace(
        "(x:`Service`)", "(x:`Order`)"
    ).replace("= 'Service'", "= 'Order'").replace("'service/'", "'order/'").replace('"service"', '"order"')
    project.types.rename("calls", "rings", yes=True)
    assert "[c:RINGS]" in path.read_text()
    (tmp_path / ".graphmem/queries/team/broken.cypher").unlink()
    assert project.store.validate().findings == []
    assert project.cypher("service/callers").rows == []
    project.undo(2)
    assert path.read_text() == QUERY
    assert (tmp_path / ".graphmem/queries/team/names.cypher").read_text() == text


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("(n:Service:Team)", "(n:Team)"),
        ("(n:Team : SERVICE)", "(n:Team)"),
        ("(n:Team:`Service`:Failure)", "(n:Team:Failure)"),
        ("(n:Team)-[r:CALLS|OWNS|NEAR]->()", "(n:Team)-[r:OWNS|NEAR]->()"),
        ("(n:Team)-[r:CALLS|:OWNS]->()", "(n:Team)-[r:OWNS]->()"),
        ("(n:Service)", None),
        ("(n:Team)-[:CALLS]->()", None),
        ("(n:Team) WHERE EXISTS { MATCH (n)--(:Service) }", None),
    ],
)
def test_a_dropped_type_leaves_the_stored_queries_or_puts_them_aside(
    project: Memory, tmp_path: Path, pattern: str, left: str | None
) -> None:
    text = "// Names.\n// column ref STRING\nMATCH {} RETURN n.ref AS ref\n"
    path = own_file(tmp_path, "queries/some/names.cypher", text.format(pattern))
    answer = project.types.drop("service", yes=True)
    assert answer.aside == ([] if left else ["queries/some/names.cypher"])
    kept = path if left else path.with_name("names.cypher.aside")
    assert kept.read_text() == text.format(left or pattern)
    assert (path.exists(), "queries/some/names.cypher" in answer.files) == (bool(left), True)
    assert project.store.validate().findings == []
    project.undo()
    assert (path.read_text(), [*path.parent.iterdir()]) == (text.format(pattern), [path])


def test_an_extractor_that_wrote_a_dropped_type_alone_is_put_aside(project: Memory, tmp_path: Path) -> None:
    files = [
        own_file(tmp_path, "extractors/alone.md", EXTRACTOR % "service"),
        own_file(tmp_path, "extractors/calls.md", EXTRACTOR % "calls"),  # which goes with it
        own_file(tmp_path, "extractors/more.md", EXTRACTOR % 'service", "team'),
    ]
    before = contents(tmp_path)
    assert project.types.drop("service").aside == ["extractors/alone.md", "extractors/calls.md"]
    project.types.drop("service", yes=True)
    assert [path.exists() for path in files] == [False, False, True]
    assert [one.writes for one in project.store.extractors.list().extractors] == [["team"]]
    assert project.store.validate().findings == []
    project.undo()
    assert contents(tmp_path) == before


def test_what_was_put_aside_before_under_the_same_name_is_kept(project: Memory, tmp_path: Path) -> None:
    first, second = EXTRACTOR % "service", EXTRACTOR % "team"
    path = own_file(tmp_path, "extractors/one.md", first)
    project.types.drop("service", yes=True)
    path.write_text(second)
    project.types.drop("team", yes=True)
    assert path.with_name("one.md.aside").read_text() == first + second
    project.undo()
    assert (path.read_text(), path.with_name("one.md.aside").read_text()) == (second, first)


def test_a_dropped_type_goes_with_all_that_names_it_also_edges_of_any_ends(project: Memory, tmp_path: Path) -> None:
    answer = project.types.drop("service", yes=True)
    assert (answer.records, answer.edges, answer.references, answer.dropped) == (3, 4, 2, ["calls"])
    assert [made.type for made in project.types.list().entities] == ["team"]
    assert project.types.show("owns").model_dump()["targets"] == ("failure",)
    with pytest.raises(NotFound, match="no type 'calls'"):
        project.types.show("calls")  # it led from services to services only
    left = {file: found for file, found in contents(tmp_path).items() if b"service/" in found}
    assert [*left] == ["data/event.ndjson"]  # what happened stays true
    assert project.get("team/red").relations == []
    assert project.store.validate().findings == []
    assert project.cypher("MATCH (n) WHERE label(n) = 'Service' RETURN count(*)").rows == [[0]]


def test_a_dropped_type_goes_with_what_has_an_older_name_of_it(project: Memory, tmp_path: Path) -> None:
    project.types.rename("service", "component", yes=True)
    write(data(tmp_path, "entities/service"), line(kind="entity", type="service", name="late"))
    write(data(tmp_path, "relations/variant"), edge("service/late", "variant", "failure/broke"))
    assert project.types.drop("component", yes=True).records == 4
    assert project.store.validate().findings == []


def test_what_was_purged_stays_away_under_every_name_of_its_type(project: Memory, tmp_path: Path) -> None:
    """As two branches leave it: one purged, the other renamed the type, before that or after it."""
    created = "2026-11-01T09:00:00.000Z"
    project.types.rename("service", "component", yes=True)
    project.store.purge(["component/shop"], yes=True)
    for name in ("service", "component"):
        path = data(tmp_path, f"entities/{name}")
        path.write_bytes(path.read_bytes() + line(kind="entity", type=name, name="shop", created_at=created))
    assert [found.ref for found in project.list("entity").results if found.ref.endswith("/shop")] == []
    project.store.doctor(fix=True)
    assert b'"shop"' not in b"".join(contents(tmp_path).values())
    project.types.rename("component", "part", yes=True)
    write(data(tmp_path, "entities/component"), line(kind="entity", type="component", name="shop", created_at=created))
    with pytest.raises(NotFound):
        project.get("part/shop")


def test_a_record_that_holds_a_secret_already_does_not_keep_its_type_from_being_renamed(
    project: Memory, tmp_path: Path
) -> None:
    path = data(tmp_path, "entities/service")
    phrase, token = KINDS["github classic"](Maker(1))
    path.write_bytes(path.read_bytes() + line(kind="entity", type="service", name="leaky", value=phrase))
    assert "secret" in [found.code for found in project.store.validate().findings]
    assert project.types.rename("service", "component", yes=True).records == 4
    assert token in str(project.get("component/leaky").record.model_dump()["value"])


def test_a_file_with_bad_lines_keeps_a_type_as_it_is(project: Memory, tmp_path: Path) -> None:
    path = data(tmp_path, "relations/calls")
    path.write_bytes(path.read_bytes() + b"{\n")
    before = contents(tmp_path)
    message = r"calls\.ndjson is not written as long as it has bad lines"
    with pytest.raises(BadInput, match=message):
        project.types.rename("service", "component", yes=True)
    with pytest.raises(BadInput, match=message):
        project.types.drop("calls", yes=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("change", ["rename", "drop"])
def test_undo_takes_the_change_of_a_type_back(project: Memory, tmp_path: Path, change: str) -> None:
    before, shown = contents(tmp_path), project.list(limit=100)
    if change == "rename":
        project.types.rename("service", "component", yes=True)
    else:
        project.types.drop("service", yes=True)
    assert project.store.undoable().writes[0].rows[0] == "entity type service"
    project.undo()
    after = contents(tmp_path)
    assert {file: found for file, found in after.items() if found} == before
    assert project.list(limit=100) == shown
    assert project.store.validate().findings == []


def test_several_changes_of_a_type_are_taken_back_together(memory: Memory, tmp_path: Path) -> None:
    before = contents(tmp_path)
    memory.types.add_entity("service")
    memory.entities.add("service", "shop")
    memory.types.rename("service", "component", yes=True)
    memory.types.drop("component", yes=True)
    memory.undo(4)
    assert {file: found for file, found in contents(tmp_path).items() if found} == before


def test_a_change_of_a_type_stays_where_something_follows_from_it(project: Memory, tmp_path: Path) -> None:
    project.types.rename("service", "component", yes=True)
    project.entities.add("component", "fresh")
    project.undo()
    with open_memory(tmp_path) as other:
        other.entities.add("component", "fresh")
    (tmp_path / ".graphmem/state/undo/0000000099.json").unlink(missing_ok=True)
    newest = max((tmp_path / ".graphmem/state/undo").iterdir())
    newest.unlink()  # of a branch, say
    before = contents(tmp_path)
    with pytest.raises(Refused, match="type 'component' cannot be taken back: 1 rows are of it"):
        project.undo()
    path = tmp_path / ".graphmem/types/entities/component.md"
    path.write_text(path.read_text() + "\nmore\n")
    with pytest.raises(Refused, match=r"component\.md, which is gone or has another text"):
        project.undo()
    assert {file for file, found in contents(tmp_path).items() if before[file] != found} == {
        "types/entities/component.md"
    }


@pytest.mark.parametrize("name", ["aux", "con", "nul", "prn", "com1", "com0", "lpt9"])
def test_no_new_file_is_called_as_a_device_of_windows(project: Memory, tmp_path: Path, name: str) -> None:
    """Git cannot check out a repository with such a file there."""
    for refused in (
        lambda: project.types.add_entity(name),
        lambda: project.types.add_relation(name, sources=["service"], targets=["service"]),
        lambda: project.types.rename("service", name, yes=True),
        lambda: project.store.scopes.add(name, read=["failure"]),
    ):
        with pytest.raises(Refused, match="on Windows no file can be called"):
            refused()
    other = "prn" if name != "prn" else "con"
    memory = [
        {"type": "entity", "name": "a", "entityType": name.upper(), "observations": ["x"]},
        {"type": "entity", "name": "b", "entityType": "thing", "observations": ["y"]},
        {"type": "relation", "from": "a", "to": "b", "relationType": other},
    ]
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in memory))
    project.imports.file(path)
    assert project.get(f"their_{name}/a").relations[0].type == f"their_{other}"
    files = [file for file in contents(tmp_path) if Path(file).stem in (name, other)]
    assert files == [] and project.store.validate().findings == []
    assert project.types.add_entity(f"{name}_x").type == f"{name}_x"


def test_a_file_that_is_called_as_a_device_is_read_and_named(project: Memory, tmp_path: Path) -> None:
    (tmp_path / ".graphmem/types/entities/aux.md").write_text("---\ntype: aux\n---\n")
    write(data(tmp_path, "entities/aux"), line(kind="entity", type="aux", name="x"))
    assert project.get("aux/x").ref == "aux/x"
    found = [found for found in project.store.validate().findings if found.code != "stale_schema"]
    assert [(one.code, one.file) for one in found] == [
        ("windows_name", "data/entities/aux.ndjson"), ("windows_name", "types/entities/aux.md"),
    ]  # fmt: skip


def test_names_that_are_taken_or_are_no_names_are_refused(project: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "entities/ghost"), line(kind="entity", type="ghost", name="x"))
    (tmp_path / ".graphmem/types/entities/broken.md").write_text("nothing")
    project.list()
    before = contents(tmp_path)
    for new, message in (
        ("team", "would have the label 'Team', which 'team' has"),
        ("te_am", "would have the label 'TeAm', which 'team' has"),
        ("calls", "would have the label 'Calls', which 'calls' has"),
        ("failure", "a name of graphmem's own"),
        ("any", "a name of graphmem's own"),
        ("purge", "kept free for graphmem's own use"),
        ("service", "is called so already"),
        ("ghost", "rows of a type 'ghost' are there already"),
        ("broken", "broken.md is there already and cannot be read"),
    ):
        with pytest.raises(Refused, match=message):
            project.types.rename("service", new, yes=True)
    with pytest.raises(BadInput, match="type name 'Service' is not allowed"):
        project.types.rename("service", "Service")
    for old, message in (("failure", "graphmem's own"), ("solves", "graphmem's own")):
        with pytest.raises(Refused, match=message):
            project.types.rename(old, "other")
        with pytest.raises(Refused, match=message):
            project.types.drop(old)
    with pytest.raises(NotFound, match="no type 'servce' is declared") as error:
        project.types.drop("servce")
    assert "service" in str(error.value.hint)
    assert contents(tmp_path) == before


def test_a_type_that_shadows_one_of_graphmem_is_neither_renamed_nor_dropped(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / ".graphmem/types/relations/used.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\ntype: used\nsources: [any]\ntargets: [any]\n---\n")
    with pytest.raises(Refused, match="type 'used' is graphmem's own too") as error:
        memory.types.rename("used", "utilised")
    assert error.value.hint == "remove types/relations/used.md, and its edges are of graphmem's own type"
    with pytest.raises(Refused, match="graphmem's own too"):
        memory.types.drop("used", yes=True)


@pytest.mark.long
@pytest.mark.parametrize("change", ["rename", "drop", "undo"])
@pytest.mark.slow
def test_a_process_that_dies_leaves_all_of_a_change_or_nothing(
    project: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Before each file that is put in place or removed; the next command finishes what was begun, or clears it away."""
    if change == "undo":
        project.types.rename("service", "component", yes=True)
    before = whole(tmp_path)
    project.close()
    results: list[dict[str, bytes]] = []
    is_dead, steps = True, 0
    while is_dead:
        folder = shutil.copytree(tmp_path, tmp_path.parent / f"{tmp_path.name}-{steps}")
        is_dead = die(folder, change, steps, monkeypatch)
        with open_memory(folder) as memory:
            memory.failures.add("it came afterwards", name="afterwards")
            assert memory.store.validate().findings == []
            memory.undo()
        results.append(whole(folder))
        steps += 1
    assert steps > 12
    assert [found for found in results if found not in (before, results[-1])] == []
    assert before in results
    assert results.count(results[-1]) > 1


def die(folder: Path, change: str, steps: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Do a change with a death before the step of this number; return whether it died."""
    countdown = iter(range(steps, -1_000, -1))
    with open_memory(folder) as memory, monkeypatch.context() as patch:
        memory.list()
        for name in ("replace", "unlink"):
            patch.setattr(os, name, dying(getattr(os, name), countdown))
        try:
            do(memory, change)
        except Died:
            return True
    return False


def do(memory: Memory, change: str) -> None:
    if change == "rename":
        memory.types.rename("service", "component", yes=True)
    elif change == "drop":
        memory.types.drop("service", yes=True)
    else:
        memory.undo()


def whole(folder: Path) -> dict[str, bytes]:
    """Return the committed files that hold something."""
    return {file: found for file, found in contents(folder).items() if found}
