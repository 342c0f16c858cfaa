"""The settings that hold, and where each comes from."""

import os
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import NotFound
from graphmem.settings.config import sections


def shown(memory: Memory, name: str | None = None) -> dict[str, tuple[object, str]]:
    return {one.name: (one.value, one.origin) for one in memory.config(name=name).settings}


def test_each_setting_names_what_gave_it_and_later_wins(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    root = memory.client.layout.root
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "graphmem" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[retrieval]\nknown = 0.6\nunsure = 0.1\nrrf_k = 61\n[cypher]\ntimeout = 5\n")
    project = root / ".graphmem" / "config.toml"
    project.write_text("format = 1\n[retrieval]\nunsure = 0.2\nrrf_k = 62\n[cypher]\ntimeout = 9\nlimit = 10\n")
    monkeypatch.setenv("GRAPHMEM_RETRIEVAL_RRF_K", "63")
    with Memory(root, lock_timeout_s=3) as again:
        found = again.config()
        by_name = shown(again)
    assert by_name["retrieval.known"] == (0.6, str(own))
    assert by_name["retrieval.unsure"] == (0.2, str(project))
    assert by_name["retrieval.rrf_k"] == (63, "GRAPHMEM_RETRIEVAL_RRF_K")
    assert by_name["cypher.timeout"] == (5.0, str(own))  # the project may not raise it
    assert by_name["cypher.limit"] == (10, str(project))
    assert by_name["store.lock_timeout"] == (3.0, "--lock-timeout")
    assert by_name["retrieval.critical"] == (0.6, "default")
    assert by_name["user_store"] == (False, "GRAPHMEM_USER_STORE")
    assert [text.partition(" of ")[0] for text in found.ignored] == ["cypher.timeout = 9"]
    assert by_name.keys() == {
        "user_store", *(f"{section}.{key}" for section, model in sections().items() for key in model.model_fields)
    }  # fmt: skip


def test_another_model_takes_the_address_of_the_first_one_off(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "graphmem" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[embedding]\nmodel = "there"\nendpoint = "http://127.0.0.1:9"\n')
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    with Memory(memory.client.layout.root) as again:
        found = shown(again, "embedding")
    assert found["embedding.model"] == ("none", "GRAPHMEM_EMBEDDING_MODEL")
    assert found["embedding.endpoint"] == ("", "default")


def test_one_setting_or_a_section_is_asked_for_by_name(memory: Memory) -> None:
    assert shown(memory, "hooks.off").keys() == {"hooks.off"}
    assert shown(memory, "cypher").keys() == {"cypher.timeout", "cypher.limit"}
    with pytest.raises(NotFound, match="retrival") as error:
        memory.config(name="retrival")
    assert error.value.hint == "did you mean retrieval?"
