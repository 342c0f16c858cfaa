"""Extractors run only where they are trusted, and write what they print as theirs, all or none: vocabulary.md, 3."""

import importlib.util
import json
import marshal
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem import Memory, NotFound, Refused, Unavailable, constants
from graphmem.core.records.bulk_replace import Extraction
from graphmem.doors.cli.app import run as cli
from tests.kernel.system.test_checks import is_gone
from tests.pace import within
from tests.repository import Repository
from tests.sample import contents, open_memory, trust_all
from tests.secret_samples import KINDS, Maker

pytestmark = pytest.mark.process
SCRIPT = "tools/find.sh"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Memory]:
    """A store with an entity type and a relation type of its own."""
    with open_memory(tmp_path) as memory:
        memory.types.add_entity("target")
        memory.types.add_relation("needs", sources=["target"], targets=["any"])
        yield memory


def folder_of(memory: Memory) -> Path:
    return memory.store.client.root


def rows_of(memory: Memory) -> dict[str, bytes]:
    """Return the data files of a store."""
    return {name: text for name, text in contents(folder_of(memory)).items() if name.startswith("data/")}


def entity(name: str, value: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"kind": "entity", "type": "target", "name": name, **({} if value is None else {"value": value}), **fields}


def edge(source: str, target: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "edge", "from": f"target/{source}", "type": "needs", "to": target, **fields}


def declare(memory: Memory, script: str, *, name: str = "make", trusted: bool = True, **front: Any) -> None:
    """Give the project an extractor that runs a script of it."""
    folder = folder_of(memory)
    (folder / "tools").mkdir(exist_ok=True)
    (folder / "tools" / f"{name}.sh").write_text(script)
    place = folder / ".graphmem/extractors" / f"{name}.md"
    place.parent.mkdir(exist_ok=True)
    fields = {"command": ["sh", f"tools/{name}.sh"], "writes": ["target", "needs"], **front}
    place.write_text(f"---\n{json.dumps(fields)}\n---\n\nTargets.\n")
    if trusted:
        trust_all(memory)


def printing(*rows: dict[str, Any]) -> str:
    """Return a script that prints these rows."""
    return "cat <<'END'\n" + "".join(f"{json.dumps(row)}\n" for row in rows) + "END\n"


def extract(memory: Memory, *rows: dict[str, Any], **options: Any) -> Extraction:
    """Run an extractor that prints these rows."""
    declare(memory, printing(*rows))
    (found,) = memory.store.extractors.run(["make"], **options).extractions
    return found


def refused(memory: Memory, script: str, **front: Any) -> str:
    """Return why nothing of what an extractor prints is written, and see that nothing is."""
    declare(memory, script, **front)
    before = rows_of(memory)
    with pytest.raises((Refused, Unavailable)) as caught:
        memory.store.extractors.run(["make"])
    assert rows_of(memory) == before
    return caught.value.message


def test_what_an_extractor_prints_is_written_as_its_own_and_the_same_again_changes_no_byte(project: Memory) -> None:
    rows = entity("app", "builds"), edge("app", "target/lib", weight=0.5, note="links"), entity("lib")
    assert extract(project, *rows).created == 3
    assert project.get("target/app").record.sources == ("extractor/make",)
    assert [(one.ref, one.strength) for one in project.related("target/app").results] == [("target/lib", 0.5)]
    before = rows_of(project)
    done = extract(project, *rows)
    assert (done.unchanged, done.created, done.updated, done.removed) == (3, 0, 0, 0)
    assert rows_of(project) == before
    assert project.store.validate().findings == []


def test_a_later_run_replaces_what_the_extractor_wrote_before(project: Memory) -> None:
    extract(project, entity("app", "old"), entity("lib"), entity("gone"), edge("app", "target/lib", weight=0.5),
            edge("app", "target/gone"))  # fmt: skip
    done = extract(project, entity("app", "new"), entity("lib"), edge("app", "target/lib"), entity("more"))
    assert (done.created, done.updated, done.unchanged, done.removed) == (1, 2, 1, 2)
    assert getattr(project.get("target/app").record, "value", None) == "new"
    assert [(one.ref, one.strength) for one in project.related("target/app").results] == [("target/lib", 1.0)]
    with pytest.raises(NotFound):
        project.get("target/gone")
    assert project.undo().writes[0].command
    assert project.get("target/gone").record.name == "gone"


def test_rows_of_others_stay_as_they_are(project: Memory) -> None:
    project.entities.add("target", "app", value="by hand")
    project.entities.add("target", "lib", value="by hand")
    project.relations.link("target/app", "needs", "target/lib", weight=0.25)
    before = rows_of(project)
    done = extract(project, entity("app", "printed"), edge("app", "target/lib", weight=0.75))
    assert (done.left, done.created, done.removed) == (2, 0, 0)
    assert rows_of(project) == before
    assert (extract(project, entity("new")).created, rows_of(project) == before) == (1, False)
    assert getattr(project.get("target/app").record, "value", None) == "by hand"


def test_an_extractor_goes_on_to_print_the_names_that_its_types_had(project: Memory) -> None:
    rows = entity("app"), entity("lib"), edge("app", "target/lib")
    extract(project, *rows)
    project.types.rename("target", "unit", yes=True)
    project.types.rename("needs", "requires", yes=True)
    (done,) = project.store.extractors.run(["make"]).extractions
    assert (done.unchanged, done.created, done.removed) == (3, 0, 0)


@pytest.mark.parametrize("reads", [["target"], [], ["place"]])
def test_a_caller_with_a_scope_runs_an_extractor_that_prints_only_what_it_may_write(
    project: Memory, reads: list[str]
) -> None:
    project.types.add_entity("place")
    project.entities.add("place", "here")
    project.store.scopes.add("maker", read=reads, write=["target"])
    rows = entity("app"), entity("lib"), edge("app", "target/lib"), edge("app", "place/here")
    declare(project, printing(*rows), writes=["target", "needs", "place"])
    with Memory(folder_of(project), scope="maker") as maker:
        (planned,) = maker.store.extractors.run(["make"], dry_run=True).extractions
        (done,) = maker.store.extractors.run(["make"]).extractions
        assert (planned.created, done.created) == (4, 4)
        (again,) = maker.store.extractors.run(["make"]).extractions
        assert (again.unchanged, again.created, again.removed) == (4, 0, 0)
        declare(project, printing(entity("app")), writes=["target", "needs", "place"])
        (less,) = maker.store.extractors.run(["make"]).extractions
        assert (less.unchanged, less.removed, less.kept) == (1, 3, 0)
    assert [one.ref for one in project.list("target").results] == ["target/app"]
    assert project.store.validate().ok


def test_a_row_that_a_caller_may_not_write_is_named_and_nothing_of_the_extractor_is_written(project: Memory) -> None:
    project.types.add_entity("place")
    project.store.scopes.add("maker", read=["any"], write=["target"])
    place = {"kind": "entity", "type": "place", "name": "here"}
    edge_there = {"kind": "edge", "from": "place/here", "type": "causes", "to": "place/there"}
    project.entities.add("place", "there")
    project.entities.add("place", "here")
    for row, title in ((place, "place/here"), (edge_there, "place/here -causes-> place/there")):
        declare(project, printing(entity("app"), row), writes=["target", "causes", "place"])
        before = rows_of(project)
        with Memory(folder_of(project), scope="maker") as maker:
            for is_dry in (True, False):
                with pytest.raises(Refused, match=f"extractor make:2: {title}: this caller may not write 'place'"):
                    maker.store.extractors.run(["make"], dry_run=is_dry)
        assert rows_of(project) == before
    declare(project, printing({**place, "name": "attic"}), name="other", writes=["place"])
    project.store.extractors.run(["other"])
    declare(project, printing(), name="other", writes=["place"])
    with Memory(folder_of(project), scope="maker") as maker, pytest.raises(Refused, match="may not write 'place'"):
        maker.store.extractors.run(["other"])  # it would take a place out
    assert project.get("place/attic").ref == "place/attic"


def test_a_row_that_has_another_source_too_is_not_its_own(project: Memory) -> None:
    extract(project, entity("app", "printed"))
    row = {**entity("app"), "sources": ["a person"]}
    project.add_rows([json.dumps(row).encode()])
    before = rows_of(project)
    assert extract(project, entity("app", "other")).left == 1
    assert extract(project).removed == 0
    assert rows_of(project) == before


def test_two_extractors_leave_each_others_rows(project: Memory) -> None:
    extract(project, entity("app", "one"))
    declare(project, f"echo '{json.dumps(entity('app', 'two'))}'; echo '{json.dumps(entity('own'))}'", name="other")
    assert [(one.created, one.left) for one in project.store.extractors.run(["other"]).extractions] == [(1, 1)]
    assert [one.unchanged for one in project.store.extractors.run(["make"]).extractions] == [1]
    assert getattr(project.get("target/app").record, "value", None) == "one"


def test_a_record_that_others_refer_to_stays_and_the_answer_says_so(project: Memory) -> None:
    extract(project, entity("app"), entity("lib"), entity("seen"), edge("app", "target/lib"))
    project.failures.add("The app does not start")
    project.relations.link("failure/the-app-does-not-start", "causes", "target/app")
    project.feedback("target/seen", helped=True)
    answer = project.store.extractors.run(["make"], dry_run=True)
    declare(project, "")
    answer = project.store.extractors.run(["make"])
    (done,) = answer.extractions
    assert (done.kept, done.removed) == (2, 2)
    assert answer.notices == [
        "extractor make: target/app, target/seen is no longer found, and stays, for others refer to it"
    ]
    assert project.get("target/app").record.sources == ("extractor/make",)
    project.relations.unlink("failure/the-app-does-not-start", "causes", "target/app")
    assert project.store.extractors.run(["make"]).extractions[0].removed == 1


def test_a_renamed_and_an_archived_record_are_not_made_again(project: Memory) -> None:
    extract(project, entity("app"), entity("lib"))
    project.rename("target/app", "application")
    project.forget("target/lib")
    done = extract(project, entity("app"), entity("lib"), entity("x"), edge("x", "target/app"))
    assert (done.created, done.unchanged, done.left) == (2, 1, 1)
    assert [one.ref for one in project.related("target/x").results] == ["target/application"]


def test_a_look_writes_nothing(project: Memory) -> None:
    before = rows_of(project)
    assert extract(project, entity("app"), dry_run=True).created == 1
    assert rows_of(project) == before


def test_edges_may_name_any_record_but_none_that_is_about_to_go(project: Memory) -> None:
    project.failures.add("The app does not start")
    done = extract(project, entity("app"), entity("lib"), edge("app", "failure/the-app-does-not-start"))
    assert done.created == 3
    script = f"echo '{json.dumps(entity('app'))}'; echo '{json.dumps(edge('app', 'target/lib'))}'"
    assert "make:2" in (message := refused(project, script))
    assert "'target/lib' is not printed any more" in message


BAD_LINES = {
    '{"kind":"entity"': "unexpected end",
    "[1]": "a row is a JSON object",
    '{"kind":"failure","name":"x","type":"target"}': "kind 'failure' is not known here, expected entity or edge",
    '{"kind":"entity","type":"failure","name":"x"}': "type 'failure' is not among those that it writes",
    '{"kind":"edge","from":"target/a","type":"causes","to":"target/a"}': "type 'causes' is not among those",
    '{"kind":"entity","type":"target"}': "an entity needs a text as 'name'",
    '{"kind":"entity","type":["target"],"name":"x"}': "an entity needs a text as 'type'",
    '{"kind":"entity","type":"target","name":"x","sources":["hand"]}': "an entity has no field 'sources'",
    '{"kind":"entity","type":"target","name":"a\\u0007b"}': "not printable",
    '{"kind":"entity","type":"target","name":"x","value":"' + "y" * 5_000 + '"}': "value",
    '{"kind":"entity","type":"target","name":"x","value":7}': "value",
    '{"kind":"entity","type":"target","name":"x","name":"y"}': "twice",
    '{"kind":"edge","from":"target/../../etc","type":"needs","to":"target/a"}': "neither there nor in the input",
    '{"kind":"edge","from":"target/a","type":"needs","to":"target/a"}': "related to itself",
    '{"kind":"edge","from":"target/a","type":"needs","to":"target/b","weight":3}': "weight",
    '{"kind":"edge","from":"target/a","type":"needs","to":"target/b","weight":NaN}': "",
    '{"kind":"entity","type":"target","name":"a"}': "the same key as in line 1",
}


@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_bad_line_is_named_with_its_number_and_nothing_is_written(project: Memory, bad: str) -> None:
    project.entities.add("target", "b")
    good = json.dumps(entity("a"))
    message = refused(project, f"cat <<'END'\n{good}\n\n{bad}\nEND\necho what I do >&2\n")
    assert message.startswith("extractor make:3:"), message
    assert BAD_LINES[bad] in message
    assert message.endswith("nothing of it was written\n  what I do")


def test_a_failure_shows_the_end_of_standard_error_without_control_characters(project: Memory) -> None:
    script = "for n in $(seq 30); do printf 'line %d \\033[31m\\n' $n >&2; done; exit 3"
    message = refused(project, script)
    head, *said = message.split("\n")
    assert head == "extractor make ended with status 3; nothing of it was written"
    assert len(said) == constants.EXTRACT_SAID_LINES
    assert said[-1].startswith("  line 30")
    assert "\033" not in message.replace("\033", "") or "\\" in message


def test_an_extractor_over_its_time_is_ended_with_its_children(project: Memory) -> None:
    begin = time.monotonic()
    message = refused(project, "(sleep 600 & echo $! > child; wait) & sleep 600", timeout=0.5)
    assert "was not done after 0.5 s, and was ended" in message
    assert within(time.monotonic() - begin, 30)
    assert is_gone(int((folder_of(project) / "child").read_text()))


@pytest.mark.parametrize("endless", ["yes", "tr '\\0' x < /dev/zero"])
def test_endless_output_is_cut_off(project: Memory, endless: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.features.extractors.operations.EXTRACT_BYTES", 2**20)
    assert "printed more than 1,048,576 bytes, and was ended" in refused(project, endless)


def test_too_many_lines_are_refused(project: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.features.extractors.operations.EXTRACT_LINES", 100)
    assert "printed 1,001 lines; at most 100 are read" in refused(project, "yes '' | head -n 1000")


def test_an_extractor_runs_only_where_its_very_text_is_trusted(project: Memory) -> None:
    declare(project, "touch ran", trusted=False)
    with pytest.raises(Refused, match=r"comes with the branch and runs a program: sh tools/make\.sh") as caught:
        project.store.extractors.run(["make"])
    assert caught.value.hint == "look at it, and allow it with: graphmem trust"
    assert not project.store.extractors.list().extractors[0].trusted
    (text,) = project.store.trust().extractors
    assert json.loads(text)["command"] == ["sh", "tools/make.sh"]
    trust_all(project)
    assert project.store.extractors.list().extractors[0].trusted
    project.store.extractors.run(["make"])
    ran = folder_of(project) / "ran"
    ran.unlink()
    for script, front in (
        ("touch ran # other", {}),
        ("touch ran", {"cwd": "tools"}),
        ("touch ran", {"command": ["sh"]}),
    ):
        declare(project, f"touch ran{script}", trusted=False, **front)
        with pytest.raises(Refused):
            project.store.extractors.run(["make"])
    declare(project, "touch ran", trusted=False)
    project.store.extractors.run(["make"])
    assert ran.exists()
    declare(project, "", command=["ls"])
    declare(project, "", command=["ls"], cwd="tools", trusted=False)
    assert not project.store.extractors.list().extractors[0].trusted


@pytest.mark.parametrize("words", [["sh", "../find.sh"], ["sh", "tools/../../find.sh"], ["env", "X=../find.sh", "sh"]])
def test_a_script_behind_links_is_trusted_by_what_it_really_holds(project: Memory, words: list[str]) -> None:
    """A branch can bring links: the path as it is written may name another file than the one that runs."""
    folder = folder_of(project)
    (folder / "a/b/tools").mkdir(parents=True)
    (folder / "link").symlink_to("a/b")
    for place in ("find.sh", "a/find.sh"):
        (folder / place).write_text("true")
    declare(project, "", command=words, cwd="link")
    assert project.store.extractors.list().extractors[0].trusted
    (folder / "a/find.sh").write_text("touch ran")
    assert not project.store.extractors.list().extractors[0].trusted


def test_a_link_in_the_project_that_leads_out_of_it_is_trusted_by_what_it_holds(project: Memory) -> None:
    tool = folder_of(project) / "tool"
    tool.symlink_to("/bin/true")
    declare(project, "", command=["./tool"])
    assert project.store.extractors.list().extractors[0].trusted
    tool.unlink()
    tool.symlink_to("/bin/sh")
    assert not project.store.extractors.list().extractors[0].trusted


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["python3", "tools"], "tools/__main__.py"),
        (["python3", "tools"], "tools/deep/other.py"),
        (["python3", "-m", "tools.find"], "tools/find.py"),
        (["python3", "-mtools"], "tools/__init__.py"),
        (["awk", "-ftools/x.awk", "/dev/null"], "tools/x.awk"),
        (["make", "-C", "tools", "all"], "tools/Makefile"),
        (["make", "-Ctools"], "tools/Makefile"),
        (["make", "--directory=tools"], "tools/Makefile"),
        (["sh", "-c", "cat x | sh tools/x.sh; true"], "tools/x.sh"),
        (["env", "A=1", "PATH=tools:/bin", "x"], "tools/x"),
        (["node", "--require", "./tools/x.js"], "tools/x.js"),
        (["go", "run", "./tools"], "tools/main.go"),
    ],
)
def test_what_a_command_names_in_any_form_is_trusted_by_its_content(
    project: Memory, words: list[str], file: str
) -> None:
    declare(project, "", command=words, trusted=False)
    write(project, {file: "one", "tools/beside": "", "other/file": ""})
    trust_all(project)
    assert project.store.extractors.list().extractors[0].trusted
    write(project, {"other/file": "changed", "tools/__pycache__/x.pyc": "made"})
    assert project.store.extractors.list().extractors[0].trusted
    write(project, {file: "two"})
    assert not project.store.extractors.list().extractors[0].trusted


def test_a_link_in_a_folder_that_a_command_names_is_trusted_by_what_it_leads_to(project: Memory) -> None:
    declare(project, "", command=["python3", "tools"], trusted=False)
    write(project, {"lib/x.py": "one"})
    (folder_of(project) / "tools/x.py").symlink_to("../lib/x.py")
    trust_all(project)
    write(project, {"lib/x.py": "two"})
    assert not project.store.extractors.list().extractors[0].trusted


def test_trust_says_where_it_cannot_look_at_what_a_command_runs(
    project: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(project, "", command=["python3", "many"], trusted=False)
    write(project, {f"many/{number}.py": "" for number in range(201)})
    (text,) = project.store.trust().extractors
    assert json.loads(text)["files"] == {"many": "not looked at: it has more than 200 files"}
    declare(project, "", command=["uptime"], trusted=False)
    assert cli(["--dir", str(folder_of(project)), "trust"]) == 0
    assert "(it names no file of the project: the words alone are trusted)" in capsys.readouterr().out


def test_compiled_modules_of_a_branch_are_not_loaded(project: Memory) -> None:
    write(project, {"tools/__main__.py": "import helper; print(helper.LINE)", "tools/helper.py": "LINE = 3"})
    evil = compile("LINE = open('ran', 'w')", "helper.py", "exec")
    header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)  # by its hash, which nobody compares
    cached = Path(importlib.util.cache_from_source("tools/helper.py")).as_posix()
    write(project, {cached: header + marshal.dumps(evil)})
    declare(project, "", command=[sys.executable, "tools"])
    with pytest.raises(Refused):
        project.store.extractors.run(["make"])
    assert not (folder_of(project) / "ran").exists()


def test_a_trusted_verify_command_lets_no_extractor_run(project: Memory) -> None:
    """They are kept apart: the text of a task could be made to look like an extractor."""
    declare(project, "touch ran", trusted=False)
    (text,) = project.store.trust().extractors
    project.campaigns.create("c")
    project.campaigns.add_tasks("c", [{"seq": 1, "slug": "a", "objective": "o", "verify": text}])
    project.tasks.start("task/c/001-a")
    project.tasks.block("task/c/001-a", "it fails")
    (folder_of(project) / ".graphmem/extractors/make.md").rename(folder_of(project) / "aside")
    trust_all(project)
    (folder_of(project) / "aside").rename(folder_of(project) / ".graphmem/extractors/make.md")
    with pytest.raises(Refused, match="comes with the branch"):
        project.store.extractors.run(["make"])


def test_no_folder_puts_a_program_in_the_place_of_another(project: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = folder_of(project) / "sh"
    fake.write_text("#!/bin/sh\ntouch shadowed\n")
    fake.chmod(0o755)
    declare(project, "")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    monkeypatch.chdir(folder_of(project))
    project.store.extractors.run(["make"])
    assert not (folder_of(project) / "shadowed").exists()


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ({"command": ["no-such-program"]}, "no program 'no-such-program' is installed"),
        ({"command": ["./no-such-program"]}, "ended with status 127"),
        ({"cwd": "missing"}, "'missing' is not a folder of the project"),
        ({"cwd": "out"}, "'out' is not a folder of the project"),
        ({"writes": ["target", "nothing"]}, "writes 'nothing', which is not a declared type"),
        ({"writes": ["part_of"]}, "writes 'part_of', which is not a declared type"),
        ({"cwd": "../x"}, "'../x' is not a folder below the project"),
        ({"command": []}, "command"),
        ({"command": "sh"}, "command"),
        ({"command": ["a\nb"]}, "not printable text"),
        ({"timeout": 0}, "timeout"),
        ({"timout": 5}, "timout"),
    ],
)
def test_an_extractor_that_cannot_run_says_why(project: Memory, front: dict[str, Any], reason: str) -> None:
    (folder_of(project) / "out").symlink_to("/usr")
    assert reason in refused(project, "", **front)


def test_a_folder_that_cannot_be_entered_is_an_error_in_words(project: Memory) -> None:
    closed = folder_of(project) / "closed"
    closed.mkdir()
    declare(project, "", cwd="closed")
    closed.chmod(0)
    if os.access(closed, os.X_OK):
        pytest.skip("this user may enter any folder")
    assert "cannot be started in" in refused(project, "", cwd="closed")


def test_two_branches_that_both_ran_it_merge_and_the_next_run_makes_them_right(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    with open_memory(tmp_path) as memory:
        memory.types.add_entity("target")
        memory.types.add_relation("needs", sources=["target"], targets=["any"])
        extract(memory, entity("app", "old"), entity("gone"))
        repository.commit("both have this")
        repository("checkout", "-q", "-b", "other")
        extract(memory, entity("app", "theirs"), entity("lib"), entity("gone"))
        repository.commit("theirs")
        repository("checkout", "-q", "main")
        extract(memory, entity("app", "ours"), entity("lib"), edge("app", "target/lib"))
        repository.commit("ours")
        repository("merge", "-q", "-X", "ours", "other")
        rows = entity("app", "merged"), entity("lib"), edge("app", "target/lib")
        assert (extract(memory, *rows).created, memory.store.validate().findings) == (0, [])
        assert extract(memory, *rows).unchanged == 3
        assert memory.list("target").total == 2


def test_a_name_that_no_extractor_has_is_refused_before_anything_runs(project: Memory) -> None:
    declare(project, "touch ran")
    with pytest.raises(NotFound, match="no extractor 'mak'") as caught:
        project.store.extractors.run(["make", "mak"])
    assert caught.value.hint is not None
    assert "make" in caught.value.hint
    assert not (folder_of(project) / "ran").exists()


def test_an_error_stops_the_run_and_says_what_was_written(project: Memory) -> None:
    declare(project, f"echo '{json.dumps(entity('app'))}'", name="a")
    declare(project, "exit 1", name="b")
    declare(project, "touch ran", name="c")
    with pytest.raises(Unavailable) as caught:
        project.store.extractors.run(["a", "b", "c"])
    assert caught.value.hint == "written before: a"
    assert project.get("target/app").record.name == "app"
    assert not (folder_of(project) / "ran").exists()


def test_a_link_in_the_place_of_the_file_is_not_followed(project: Memory) -> None:
    declare(project, "")
    place = folder_of(project) / ".graphmem/extractors/make.md"
    place.rename(folder_of(project) / "aside.md")
    place.symlink_to("../../aside.md")
    with pytest.raises(NotFound):
        project.store.extractors.run(["make"])


def test_the_program_gets_nothing_to_read_and_runs_in_its_folder(project: Memory) -> None:
    (folder_of(project) / "lib").mkdir()
    declare(project, "cat; basename $PWD >&2", command=["sh", "../tools/make.sh"], cwd="lib")
    assert project.store.extractors.run(["make"]).extractions[0].said == ["lib"]


@pytest.mark.long
def test_ourselves_is_this_installation(project: Memory) -> None:
    message = refused(project, "", command=["graphmem", "--version"])
    assert message.startswith("extractor make:1:1: "), message  # what it prints is no JSON


def test_a_secret_that_an_extractor_finds_is_redacted(project: Memory) -> None:
    phrase, secret = KINDS["github classic"](Maker(1))
    declare(project, f"echo '{json.dumps(entity('app', phrase))}'\ncat <<'END' >&2\n{phrase}\nEND\n")
    answer = project.store.extractors.run(["make"])
    assert answer.extractions[0].created == 1
    assert any("redacted what looks like a secret" in notice for notice in answer.notices)
    assert secret not in answer.model_dump_json()
    assert not any(secret.encode() in text for text in rows_of(project).values())
    assert project.store.extractors.run(["make"]).extractions[0].unchanged == 1


# --- the one for Python code ------------------------------------------------------------------------------------------

SHOP = {
    "shop/__init__.py": "from shop.cart import Cart",
    "shop/cart.py": '"""Carts."""\nfrom shop import money\nclass Cart:\n def pay(self): money.total()\n',
    "shop/money.py": "def total(): ...",
}


def write(memory: Memory, files: Mapping[str, str | bytes]) -> None:
    """Write files of a project."""
    for path, text in files.items():
        place = folder_of(memory) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture(autouse=True)
def _the_checkout_is_what_graphmem_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f":{Path(graphmem.__file__).parents[1]}")  # an empty part is the folder itself


@pytest.mark.long
def test_one_command_sets_up_the_extractor_for_python_and_one_runs_it(memory: Memory) -> None:
    write(memory, SHOP)
    assert memory.store.extractors.add("python").types == ["module", "class", "function", "defines", "imports", "calls"]
    assert memory.store.extractors.list().extractors[0].trusted
    (done,) = memory.store.extractors.run(["python"]).extractions
    assert (done.created, done.said) == (12, [])
    assert [one.ref for one in memory.related("function/shop.money.total", max_hops=1).results] == [
        "function/shop.cart.Cart.pay",
        "module/shop.money",
    ]
    assert memory.store.validate().findings == []
    write(memory, {"shop/money.py": "def sum(): ..."})
    (done,) = memory.store.extractors.run(["python"]).extractions
    assert (done.created, done.removed) == (2, 3)


@pytest.mark.long
def test_the_python_code_is_not_run_and_what_cannot_be_read_is_left_out_with_a_line_each(memory: Memory) -> None:
    write(memory, SHOP | {
        "evil.py": "open('ran', 'w')\nimport os\nos.system('touch ran')\ndef f(): ...",
        "broken.py": "def f(:", "big.py": "#" * (constants.EXTRACT_FILE_BYTES + 1), "zero.py": b"a\0",
        "raw.py": b"'\xff'",
        "deep.py": "-" * 200_000 + "1", "sitecustomize.py": "open('ran', 'w')", "ast.py": "open('ran', 'w')",
        "graphmem/__init__.py": "open('ran', 'w')",
        ".hidden/x.py": "", "node_modules/x.py": "", "venv/pyvenv.cfg": "", "venv/x.py": "",
    })  # fmt: skip
    (folder_of(memory) / "link.py").symlink_to("shop/cart.py")
    (folder_of(memory) / "outside").symlink_to("/usr/lib")
    os.mkfifo(folder_of(memory) / "pipe.py")
    memory.store.extractors.add("python")
    (done,) = memory.store.extractors.run(["python"]).extractions
    left_out = {line.partition(": ")[0]: line.partition(": ")[2] for line in done.said}
    assert left_out.keys() >= {"broken.py", "big.py", "zero.py", "raw.py", "link.py", "pipe.py"}
    assert left_out["broken.py"] == "line 1: invalid syntax"
    assert left_out["link.py"] == "a symbolic link is not followed"
    assert left_out["big.py"] == "it has more than 1,048,576 bytes"
    assert not (folder_of(memory) / "ran").exists()
    modules = {one.ref.partition("/")[2] for one in memory.list("module").results}
    assert modules - {"deep"} == {"shop", "shop.cart", "shop.money", "evil", "sitecustomize", "ast", "graphmem"}


def test_to_set_it_up_is_one_write_that_can_be_taken_back(memory: Memory) -> None:
    before = contents(folder_of(memory))
    memory.store.extractors.add("python")
    after = contents(folder_of(memory))
    assert memory.store.extractors.add("python").types == []
    assert contents(folder_of(memory)) == after
    assert after.keys() - before.keys() == {
        "extractors/python.md", "types/entities/module.md", "types/entities/class.md", "types/entities/function.md",
        "types/relations/defines.md", "types/relations/imports.md", "types/relations/calls.md",
    }  # fmt: skip
    memory.undo()
    assert contents(folder_of(memory)) == before
    assert memory.types.list().entities == []


def test_types_of_the_project_with_its_names_are_used_as_they_are(memory: Memory) -> None:
    memory.types.add_entity("function", description="Ours.")
    memory.types.add_relation("calls", sources=["any"], targets=["any"], weight=0.5)
    assert memory.store.extractors.add("python").types == ["module", "class", "defines", "imports"]
    assert getattr(memory.types.show("function"), "description", None) == "Ours."


def test_a_relation_type_that_does_not_fit_and_another_extractor_of_its_name_are_refused(memory: Memory) -> None:
    memory.types.add_entity("service")
    memory.types.add_relation("calls", sources=["service"], targets=["service"])
    before = contents(folder_of(memory))
    with pytest.raises(Refused, match="'calls' of the project does not go from function to function or class"):
        memory.store.extractors.add("python")
    write(memory, {".graphmem/types/relations/calls.md": "---\ntype: calls\nsources: [any]\ntargets: [any]\n---\n"})
    write(memory, {".graphmem/extractors/python.md": "---\ncommand: [python3, x.py]\nwrites: [calls]\n---\n"})
    with pytest.raises(Refused, match="extractor 'python' is there already"):
        memory.store.extractors.add("python")
    with pytest.raises(NotFound, match="no extractor 'rust' comes with graphmem"):
        memory.store.extractors.add("rust")
    assert contents(folder_of(memory)).keys() - before.keys() == {"extractors/python.md"}


def test_validate_names_an_extractor_that_cannot_run(project: Memory) -> None:
    declare(project, "", writes=["nothing"])
    write(project, {".graphmem/extractors/other.md": "no front matter", ".graphmem/extractors/UPPER.md": ""})
    found = {(one.file, one.message) for one in project.store.validate().findings}
    assert found == {
        ("extractors/make.md", "it writes 'nothing', which is not a declared type"),
        ("extractors/other.md", "no front matter between two lines of ---"),
        ("extractors/UPPER.md", "the name of an extractor is a-z 0-9 - _, up to 64 characters"),
    }
    assert [one.name for one in project.store.extractors.list().extractors] == ["make"]
    with pytest.raises(Refused, match="no front matter"):
        project.store.extractors.run(["other"])
