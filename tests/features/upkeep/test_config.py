"""The settings that hold, and where each comes from."""

import os
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import NotFound, Refused
from graphmem.kernel.settings.config import sections


def shown(memory: Memory, name: str | None = None) -> dict[str, tuple[object, str]]:
    return {one.name: (one.value, one.origin) for one in memory.store.config(name=name).settings}


def test_each_setting_names_what_gave_it_and_later_wins(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    root = memory.store.client.root
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "graphmem" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[retrieval]\nknown = 0.6\nunsure = 0.1\nrrf_k = 61\n[cypher]\ntimeout = 5\n")
    project = root / ".graphmem" / "config.toml"
    project.write_text("format = 1\n[retrieval]\nunsure = 0.2\nrrf_k = 62\n[cypher]\ntimeout = 9\nlimit = 10\n")
    monkeypatch.setenv("GRAPHMEM_RETRIEVAL_RRF_K", "63")
    with Memory(root, lock_timeout_s=3) as again:
        found = again.store.config()
        by_name = shown(again)
    assert by_name["retrieval.known"] == (0.6, str(own))
    assert by_name["retrieval.unsure"] == (0.2, str(project))
    assert by_name["retrieval.rrf_k"] == (63, "GRAPHMEM_RETRIEVAL_RRF_K")
    assert by_name["cypher.timeout"] == (5.0, str(own))  # the project may not raise it
    assert by_name["cypher.limit"] == (10, str(project))
    assert by_name["store.lock_timeout"] == (3.0, "--lock-timeout")
    assert by_name["retrieval.critical"] == (0.6, "default")
    assert by_name["user_store"] == (False, "GRAPHMEM_USER_STORE")
    assert by_name["by"] == ("", "GRAPHMEM_BY")
    assert [text.partition(" of ")[0] for text in found.ignored] == ["cypher.timeout = 9"]
    assert by_name.keys() == {
        "by", "user_store", *(f"{section}.{key}" for section, model in sections().items() for key in model.model_fields)
    }  # fmt: skip


def test_another_model_takes_the_address_of_the_first_one_off(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "graphmem" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[embedding]\nmodel = "there"\nendpoint = "http://127.0.0.1:9"\n')
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    with Memory(memory.store.client.root) as again:
        found = shown(again, "embedding")
    assert found["embedding.model"] == ("none", "GRAPHMEM_EMBEDDING_MODEL")
    assert found["embedding.endpoint"] == ("", "default")


def test_one_setting_or_a_section_is_asked_for_by_name(memory: Memory) -> None:
    assert shown(memory, "hooks.off").keys() == {"hooks.off"}
    assert shown(memory, "cypher").keys() == {"cypher.timeout", "cypher.limit"}
    with pytest.raises(NotFound, match="retrival") as error:
        memory.store.config(name="retrival")
    assert error.value.hint == "did you mean retrieval?"


NAMED = {
    "an unknown key": ("[retrieval]\nknwon = 0.5\nunsure = 0.1\n", "retrieval.knwon", "retrieval.known"),
    "a bad value": ('[cypher]\ntimeout = "soon"\n[retrieval]\nunsure = 0.1\n', "cypher.timeout", "valid number"),
    "an unknown section": ("[retreival]\nknown = 0.5\n[retrieval]\nunsure = 0.1\n", "retreival", "retrieval"),
    "no section": ("hooks = 1\n[retrieval]\nunsure = 0.1\n", "hooks", "[hooks]"),
}


def reads(memory: Memory) -> dict[str, list[str]]:
    """Return the notices of what reads and briefs."""
    return {
        "query": memory.query("it broke").notices,
        "list": memory.list().notices,
        "context": memory.context("mend it").notices,
        "prime": memory.prime().notices,
        "inject": memory.lessons.inject().notices,
        "brief": memory.types.brief().notices,
    }


@pytest.mark.parametrize("of", ["project", "user"])
@pytest.mark.parametrize("case", NAMED)
def test_a_setting_that_is_wrong_is_named_in_every_answer_and_stops_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, case: str, of: str
) -> None:
    text, name, right = NAMED[case]
    root, home = memory.store.client.root, Path(os.environ["XDG_CONFIG_HOME"])
    file = root / ".graphmem/config.toml" if of == "project" else home / "graphmem/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    with Memory(root) as again:
        for notices in reads(again).values():
            (said,) = [notice for notice in notices if name in notice]
            assert str(file) in said and right in said
        assert shown(again)["retrieval.unsure"] == (0.1, str(file))
        assert again.failures.add("it broke", name="f").action == "created"
        for found in (again.store.validate(), again.store.doctor()):
            (wrong,) = [one for one in found.findings if one.code == "bad_setting"]
            assert (found.ok, wrong.file) == (False, "config.toml" if of == "project" else str(file))
            assert name in wrong.message and right in wrong.expected
        file.write_text(text.replace("knwon", "known").replace('"soon"', "2").replace("hooks = 1", "")
                        .replace("[retreival]\nknown = 0.5\n", ""))  # fmt: skip
        assert again.store.validate().ok
        assert again.list().notices == []


def test_a_variable_that_is_wrong_is_named_and_stops_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_RETRIEVAL_KNWON", "0.5")
    monkeypatch.setenv("GRAPHMEM_HOOKS_OFF", "never")
    with Memory(memory.store.client.root) as again:
        for notices in reads(again).values():
            assert any("GRAPHMEM_RETRIEVAL_KNWON" in one and "GRAPHMEM_RETRIEVAL_KNOWN?" in one for one in notices)
            assert any("GRAPHMEM_HOOKS_OFF is 'never'" in one and "prompt" in one for one in notices)
        assert {one.file for one in again.store.validate().findings} == {
            "GRAPHMEM_RETRIEVAL_KNWON",
            "GRAPHMEM_HOOKS_OFF",
        }


@pytest.mark.parametrize(
    "text",
    [
        "[store]\nsecrets = 'hide'\n",
        "[store]\nsecret = 'redact'\n",
        "store = 'redact'\n",
        "format = 'x'\n",
        "[retrieval]\nmerge_similarity = 9\n",
        "[retrieval\n",
        "\xff",
    ],
)
def test_nothing_is_written_where_a_setting_is_wrong_that_decides_what_is_stored(memory: Memory, text: str) -> None:
    config = memory.store.client.layout.config
    config.write_bytes(text.encode("latin-1"))
    with Memory(memory.store.client.root) as again:
        assert all(any("config.toml" in notice for notice in notices) for notices in reads(again).values())
        with pytest.raises(Refused, match="which decides what is stored") as error:
            again.failures.add("it broke")
        assert "reading goes on" in str(error.value.hint)
        assert not again.store.validate().ok
