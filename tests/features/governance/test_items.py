"""Review items: raised by a stage or a person, moved as the table allows, found like any record."""

from collections.abc import Callable
from itertools import count

import pytest

from graphmem import Memory
from graphmem.errors import NotFound, Refused
from graphmem.kernel.system.surroundings import Surroundings, called_from
from tests.features.governance.flow_project import FlowProject
from tests.sample import kept_of


def named(folder: str) -> Callable[[], str]:
    """Return what makes the ids of a clone."""
    numbers = count()
    return lambda: f"{folder}-{next(numbers)}"


def test_an_item_goes_from_open_to_resolved(project: FlowProject) -> None:
    item = project.reviewed()
    items = project.memory.store.items
    assert (item.state, item.source, item.stage, item.tags) == ("open", "appraise:review", "review", ["errors"])
    project.begin("write")
    assert items.action(item.ref, token=project.token).item.state == "actioned"
    assert items.action(item.ref, token=project.token).item.history == items.show(item.ref).item.history  # a repeat
    with pytest.raises(Refused, match="may move it to resolved, and this caller is not"):
        items.resolve(item.ref, token=project.token)
    project.end()
    project.begin("review")
    assert items.reject(item.ref, "still wrong", token=project.token).item.reason == "still wrong"
    project.end()
    project.begin("write")
    assert items.wont_fix(item.ref, "it is the name of the field", token=project.token).item.rounds == 1
    project.end()
    project.begin("review")
    with pytest.raises(Refused, match="without a verdict"):
        project.end()
    found = items.resolve(item.ref, reason="right: the field has it", token=project.token).item
    assert [(one.before, one.after, one.stage) for one in found.history] == [
        ("open", "actioned", "write"), ("actioned", "rejected", "review"), ("rejected", "wont-fix", "write"),
        ("wont-fix", "resolved", "review"),
    ]  # fmt: skip
    project.end()
    assert items.list().items == [] and [one.ref for one in items.list(everything=True).items] == [item.ref]
    assert "right: the field has it" in kept_of(project.folder)  # it was rejected before: worth remembering
    assert project.memory.candidates.review().candidates[0].failure is not None


def test_an_item_is_found_and_is_about_the_entity_that_its_file_names(project: FlowProject) -> None:
    project.memory.types.add_entity("file")
    project.memory.entities.add("file", "src/app.py")
    project.repository.commit("types")
    item = project.reviewed()
    assert item.about == "file/src/app.py"
    assert item.ref in [hit.ref for hit in project.memory.query("the name says nothing").results]
    related = {one.ref for one in project.memory.related(item.ref, max_hops=1, min_strength=0.1).results}
    assert {"file/src/app.py", "work/feature-greet-a-user"} <= related


def test_the_same_finding_in_an_iteration_is_one_item(project: FlowProject) -> None:
    item = project.reviewed()
    project.begin("write")
    project.memory.store.items.action(item.ref, token=project.token)
    project.end()
    project.begin("review")
    again = project.found("the name says nothing", file="src/app.py", artefact="code", tags=["errors"])
    assert again.ref != item.ref  # of another iteration
    assert project.found("the name  says nothing", file="src/app.py", artefact="code", tags=["errors"]) == again


def test_who_may_call_is_a_stage_by_its_token_or_a_person_at_a_terminal(project: FlowProject) -> None:
    item = project.reviewed()
    items = project.memory.store.items
    moves: list[Callable[[], object]] = [
        lambda: items.add("more"), lambda: items.action(item.ref), lambda: items.resolve(item.ref),
    ]  # fmt: skip
    for move in moves:
        with pytest.raises(Refused, match="carries no token of a stage, and no person typed it"):
            move()
    with project.person():
        found = items.add("say it in the guide too").item
        assert found.source.startswith("human-appraise:") and found.stage is None
        with pytest.raises(Refused, match="a forge stage may move it"):
            items.action(item.ref)
    for via in ("mcp", "http", "claude-code", "python"):
        project.memory.store.runtime.via = via
        with project.person(), pytest.raises(Refused, match="no person typed it"):
            items.add("not a person")
    project.memory.store.runtime.via = "cli"
    project.begin("write")
    environment = {"GRAPHMEM_STAGE_TOKEN": str(project.token)}
    project.memory.store.runtime.via = "http"  # the server's variables are no caller's
    with called_from(Surroundings(str(project.folder), environment)), pytest.raises(Refused, match="carries no token"):
        items.action(item.ref)
    project.memory.store.runtime.via = "cli"
    with pytest.raises(Refused, match="may not add items"):
        project.found("by the forge")
    with pytest.raises(Refused, match="cannot be declined"):
        items.wont_fix(found.ref, "no", token=project.token)
    with called_from(Surroundings(str(project.folder), environment)):
        assert items.action(found.ref).item.state == "actioned"
    items.action(item.ref, token=project.token)
    project.end()
    with project.person():
        assert items.reject(found.ref, "not there").item.history[-1].who == "person"


def test_what_is_named_wrongly_is_refused_with_what_is_there(project: FlowProject) -> None:
    project.start()
    project.run("write", src__app_py="a = 1\n")
    project.run("test")
    project.begin("review")
    with pytest.raises(NotFound, match="no artefact type 'cod'"):
        project.found("x", artefact="cod")
    with pytest.raises(NotFound, match="no law 'error'"):
        project.found("x", artefact="code", tags=["error"])
    with pytest.raises(Refused, match="secret"):
        project.found("the key is ghp_" + "a1B2" * 9)


def test_work_that_failed_takes_nothing_and_quotes_why(project: FlowProject) -> None:
    item = project.reviewed()
    project.begin("write")
    project.write("elsewhere.txt", "x")
    assert project.end().result == "unexpected_files"
    for call in (
        lambda: project.memory.store.items.action(item.ref, token=project.token),
        lambda: project.memory.store.works.advance(item.work, "guide"),
        lambda: project.memory.store.stages.begin(project.memory.store.works.next().token or project.token),
    ):
        with pytest.raises(Refused) as caught:
            call()
        assert "unexpected_files: stage write changed elsewhere.txt" in str(caught.value) or (
            caught.value.details.get("token") == "used"
        )
    assert project.memory.store.works.show().status == "failed"
    assert project.memory.store.items.show(item.ref).item.state == "open"


def test_two_clones_that_work_on_one_item_merge_and_see_the_same(project: FlowProject, tmp_path: object) -> None:
    item = project.reviewed()
    project.repository.commit("rows")
    other = FlowProject.__new__(FlowProject)
    other.repository = project.repository.copied(project.folder.with_name("other"))
    other.folder, other.clock, other.token = other.repository.folder, project.clock, None
    with other.opened() as other.memory:
        for clone, reason in ((project, "right"), (other, "so it is")):
            clone.memory.store.client.runtime.new_id = named(clone.folder.name)
            clone.begin("write")
            clone.memory.store.items.action(item.ref, token=clone.token)
            clone.end()
            clone.begin("review")
            clone.found(f"seen in {clone.folder.name}", file="src/app.py")
            clone.memory.store.items.resolve(item.ref, reason=reason, token=clone.token)
            clone.end()
        for clone, from_folder in ((project, other.folder), (other, project.folder)):
            clone.repository("fetch", "-q", str(from_folder), "HEAD")
        heads = [clone.repository("rev-parse", "FETCH_HEAD") for clone in (project, other)]
        for clone, head in zip((project, other), heads, strict=True):
            clone.repository("merge", "-q", "-m", "both", head)
        seen = [clone.memory.store.works.show() for clone in (project, other)]
    assert seen[0].items == seen[1].items and len(seen[0].items) == 3
    assert seen[0].stages == seen[1].stages and seen[0].iteration == 3  # both ran the second one
    assert seen[0].next is not None and seen[0].next.stage == "write"


def test_generic_commands_do_not_move_items(project: FlowProject) -> None:
    item = project.reviewed()
    memory: Memory = project.memory
    row = (
        '{"kind":"event","id":"forged","type":"item-moved","at":"2026-11-02T00:00:00Z",'
        f'"subject":"{item.ref}","data":{{"to":"resolved","who":"person"}}}}'
    )
    for call in (
        lambda: memory.edit(item.ref, text="nothing"),
        lambda: memory.forget(item.ref),
        lambda: memory.rename(item.ref, "other"),
        lambda: memory.add_rows([row.encode()]),
        lambda: memory.events.add("work-retried", subject=item.work),
        memory.undo,
    ):
        with pytest.raises(Refused, match="is of guarded work, which is changed by its own commands"):
            call()
    with project.person():
        assert memory.edit(item.ref, text="a clearer text").action == "updated"
