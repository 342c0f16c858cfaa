"""Settings and types that came with a branch: bounded, said in one line, and nothing is raised or swapped."""

import json
import shutil
import time
from pathlib import Path

import pytest

from graphmem import Memory, Usage
from graphmem.constants import EMBED_S
from graphmem.doors.cli.app import run
from graphmem.errors import BadInput, Refused
from graphmem.kernel.settings.config import SettingsSection, load_settings, sections
from tests.pace import patience
from tests.sample import open_memory, trust_all

DIGITS = "9" * 5_000
BOMBS = {
    "deep array": "x = " + "[" * 5_000,
    "deep table": "x = " + "{a=" * 5_000,
    "closed deep array": "[retrieval]\ncandidates = " + "[" * 3_500 + "]" * 3_500,
    "dotted": ".".join("a" * 4_000) + " = 1",
    "long number": f"[retrieval]\ncandidates = {DIGITS}",
    "hexadecimal": "[retrieval]\ncandidates = 0x" + "f" * 7_000,
    "of a float": "[retrieval]\nhalf_life_days = 0x" + "f" * 7_000,
    "binary": "format = 0b" + "1" * 7_000,
    "large": "[retrieval]\ncandidates = 99999999999999999999999",
    "larger": "[retrieval]\nrrf_k = 10001",
    "infinite": "[retrieval]\nhalf_life_days = inf",
    "no number": "[retrieval]\nmin_strength = nan",
    "format": "format = 99999999999999999999",
    "long key": "[retrieval]\n" + "k" * 7_000 + " = 1",
    "no text": "[embedding]\nmodel = " + "[" * 50 + "]" * 50,
    "many keys": "[retrieval]\n" + "".join(f"k{n}=1\n" for n in range(1_100)),
    "many sections": "".join(f"[r{n}]\n" for n in range(1_000)),
    "large file": "#" + "x" * 10_000_000,
    "time": "[retrieval]\ncandidates = 1979-05-27T07:32:00Z",
    "many tables": "\n".join(f"[t{number}]" for number in range(900)),
}
TYPICAL = {"deep array", "dotted", "long number", "large", "infinite", "no number", "no text", "large file"}
TYPES = {
    "binary": "x: 0b" + "1" * 60_000,
    "of base 60": "x: 1" + ":1" * 20_000,
    "long": f"x: {DIGITS}",
    "hexadecimal": "weight: 0x" + "f" * 50_000,
    "octal": "weight: 0" + "7" * 50_000,
    "of base 60, a fraction": "weight: 1" + ":1" * 20_000 + ".5",
    "with an exponent": "weight: 1e" + "9" * 5_000,
    "deep": "x: " + "[" * 30_000,
    "sources": "sources: " + DIGITS,
}


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.mark.parametrize(
    "bomb", [bomb if bomb in TYPICAL else pytest.param(bomb, marks=pytest.mark.long) for bomb in BOMBS]
)
@pytest.mark.slow
def test_a_config_file_that_is_a_bomb_is_reported_in_some_lines_at_once_and_stops_no_reader(
    bomb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_memory(tmp_path).close()
    (tmp_path / ".graphmem/config.toml").write_text(BOMBS[bomb])
    monkeypatch.chdir(tmp_path)
    for words, status in ((["list"], 0), (["query", "x", "--json"], 0), (["validate"], 1)):
        start = time.process_time()
        assert run(words) == status
        assert time.process_time() - start < 1 * patience(time.process_time)
        out, err = capsys.readouterr()
        assert "fault of graphmem" not in err and len(err) < 5_000
        assert "config.toml" in (f"{json.loads(out)['notices']}" if "--json" in words else out + err)
    assert run(["trust"]) in (0, 3)
    assert "fault of graphmem" not in capsys.readouterr().err


@pytest.mark.parametrize("bomb", ["many keys", "many sections"])
def test_a_file_of_wrong_settings_is_left_out_whole_and_nothing_is_written(bomb: str, tmp_path: Path) -> None:
    """Which setting each of them may have meant took three seconds a command."""
    open_memory(tmp_path).close()
    (tmp_path / ".graphmem/config.toml").write_text(f"{BOMBS[bomb]}[cypher]\nlimit = 7\n")
    with open_memory(tmp_path) as memory:
        (notice,) = memory.list().notices
        assert "has more than 50 wrong settings, and none of it counts" in notice
        assert memory.store.client.settings.cypher.limit != 7
        with pytest.raises(Refused, match="more than 50 wrong settings"):
            memory.failures.add("it broke")


@pytest.mark.parametrize("group", ["entities", "relations"])
@pytest.mark.parametrize("bomb", TYPES)
def test_a_type_file_that_is_a_bomb_is_a_finding_and_the_rest_is_read(bomb: str, group: str, tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("it broke", name="f")
        path = tmp_path / f".graphmem/types/{group}/evil.md"
        path.write_text(f"---\ntype: evil\nsources: [failure]\ntargets: [failure]\n{TYPES[bomb]}\n---\n")
        start = time.process_time()
        (found,) = [found for found in memory.store.validate().findings if found.file == f"types/{group}/evil.md"]
        assert time.process_time() - start < 2 * patience(time.process_time)
        assert (found.code, found.severity) == ("bad_type", "error") and len(found.message) < 500
        assert memory.get("f").record.name == "f"


def test_every_number_of_the_settings_has_an_upper_bound() -> None:
    def unbounded(model: type[SettingsSection]) -> list[str]:
        numbers = {name: field for name, field in model.model_fields.items() if field.annotation in (int, float)}
        return [name for name, field in numbers.items() if not any(hasattr(bound, "le") for bound in field.metadata)]

    assert {section: unbounded(model) for section, model in sections().items()} == {name: [] for name in sections()}


@pytest.mark.parametrize("value", ["86400", "10.5", "inf", "nan", "'86400'", "1e300"])
def test_a_project_cannot_raise_the_bounds_of_a_query(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRAPHMEM_EMBEDDING_WAIT")
    said: list[str] = []
    Memory.init(tmp_path)
    config = tmp_path / ".graphmem/config.toml"
    config.write_text(f"format = 1\n[cypher]\ntimeout = {value}\nlimit = 2000\n[embedding]\nwait = {value}\n")
    with Memory(tmp_path, on_message=said.append) as memory:
        assert (memory.store.client.settings.cypher.timeout, memory.store.client.settings.cypher.limit) == (10, 1000)
        assert memory.store.client.settings.embedding.wait == EMBED_S
        assert sum(found.code in ("untrusted", "bad_setting") for found in memory.store.doctor().findings) == 3
    ends = ("of the project, which may lower it from", "the default is used")
    assert sum(any(end in line for end in ends) for line in said) == 3


def test_a_project_may_lower_the_bounds_and_you_may_raise_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "config.toml"
    user = tmp_path / "user/graphmem/config.toml"
    user.parent.mkdir(parents=True)

    def bounds(text: str, of_user: str = "", options: dict[str, dict[str, object]] | None = None) -> tuple[float, int]:
        project.write_text(f"[cypher]\n{text}")
        user.write_text(f"[cypher]\n{of_user}")
        found = load_settings(project, options).cypher
        return found.timeout, found.limit

    assert bounds("timeout = 2\nlimit = 5") == (2, 5)
    assert bounds("timeout = 50\nlimit = 5000", "timeout = 60") == (50, 1000)
    assert bounds("timeout = 70", "timeout = 60\nlimit = 9999") == (60, 9999)
    assert bounds("timeout = 2", options={"cypher": {"timeout": 99.0}}) == (99, 1000)
    monkeypatch.setenv("GRAPHMEM_CYPHER_TIMEOUT", "77")
    assert bounds("timeout = 2") == (77, 1000)
    monkeypatch.setenv("GRAPHMEM_CYPHER_TIMEOUT", "1e300")
    assert bounds("timeout = 2") == (2, 1000)
    (wrong,) = load_settings(project).wrong
    assert (wrong.where, "1e300" in wrong.message) == ("GRAPHMEM_CYPHER_TIMEOUT", True)
    with pytest.raises(BadInput, match=r"cypher\.timeout.*1e.300"):
        bounds("", options={"cypher": {"timeout": 1e300}})


def test_a_bound_of_a_query_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(tmp_path) as memory:
        for bounds in ({"timeout_s": 1e300}, {"timeout_s": 3_601.0}, {"limit": 10**9}, {"timeout_s": float("nan")}):
            with pytest.raises(Usage, match="out of bounds"):
                memory.cypher("MATCH (f:Failure) RETURN f.name", **bounds)
    assert run(["cypher", "MATCH (f:Failure) RETURN f.name", "--timeout", "1e300", "--dir", str(tmp_path)]) == 2
    assert "at most 3,600" in capsys.readouterr().err


@pytest.mark.parametrize("setting", ["embedding.model", "retrieval.reranker"])
def test_a_model_that_is_swapped_after_it_was_trusted_does_not_count(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    Memory.init(project)
    monkeypatch.chdir(project)
    weights = project / "m/model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"good")
    (project / "m/tokenizer.json").write_text("{}")
    section, _, key = setting.partition(".")
    (project / ".graphmem/config.toml").write_text(f"format = 1\n[{section}]\n{key} = './m'\n")
    said: list[str] = []

    def counts() -> bool:
        said.clear()
        with Memory(project, on_message=said.append) as memory:
            return bool(getattr(getattr(memory.store.client.settings, section), key) == "./m")

    assert not counts()
    with Memory(project) as memory:
        assert trust_all(memory).trusted
    assert counts()
    shutil.copy2(weights, project / "kept")
    weights.write_bytes(b"evil")
    assert not counts()
    assert any("changed since it was trusted: model.safetensors" in line for line in said)
    with Memory(project) as memory:
        shown = memory.store.trust()
        assert not shown.trusted and shown.reason is not None and "model.safetensors" in shown.reason
    shutil.copy2(project / "kept", weights)  # as after a checkout back: other times, the same bytes
    assert counts()
    (project / "m/more.json").write_text("{}")
    assert not counts() and any("more.json" in line for line in said)
    shutil.rmtree(project / "m")
    assert not counts()


def test_a_folder_that_takes_the_name_of_a_trusted_model_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memory.init(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".graphmem/config.toml").write_text("format = 1\n[embedding]\nmodel = 'some/model'\n")

    def model() -> str:
        with Memory(tmp_path) as memory:
            return memory.store.client.settings.embedding.model

    with Memory(tmp_path) as memory:
        trust_all(memory)
    assert model() == "some/model"
    snapshot = tmp_path / "hub/models--some--model/snapshots/1"
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").write_bytes(b"fetched")
    assert model() == "some/model"
    (tmp_path / "some/model").mkdir(parents=True)
    (tmp_path / "some/model/model.safetensors").write_bytes(b"evil")
    assert model() != "some/model"
