"""A prompt as people write it gets the fix of the failure that it is about, and no other one."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.kernel.embed.model import Embedder
from tests.sample import open_memory

PROMPTS = json.loads((Path(__file__).parents[2] / "data" / "prompts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("prompts"), embedder=embedder) as memory:
        for one in PROMPTS["known"]:
            memory.failures.add(one["trigger"], name=one["name"], fix=one["fix"], dedup=False)
        memory.store.rebuild()  # a prompt waits for vectors for a moment: on a busy machine the first ones had none
        yield memory


def handed_out(memory: Memory, prompt: str) -> set[str]:
    """The memories that a hook hands out with a prompt, in a session that was briefed."""
    events = ({"hook_event_name": "SessionStart"}, {"hook_event_name": "UserPromptSubmit", "prompt": prompt})
    *_, said = (memory.store.hook("claude-code", json.dumps({"session_id": prompt, **event})).text for event in events)
    return set(re.findall(r"^- `(.+?)`", said, re.MULTILINE))


@pytest.mark.long
def test_most_prompts_get_the_fix_that_they_need_and_nothing_else(known: Memory) -> None:
    given = {one["name"]: handed_out(known, one["prompt"]) for one in PROMPTS["prompts"]}
    assert all(refs <= {f"failure/{name}"} for name, refs in given.items())
    assert sum(map(bool, given.values())) >= 12, [name for name, refs in given.items() if not refs]


@pytest.mark.long
@pytest.mark.parametrize("sort", ["unrelated", "other_errors"])
def test_a_prompt_about_something_else_gets_nothing(known: Memory, sort: str) -> None:
    assert {prompt: refs for prompt in PROMPTS[sort] if (refs := handed_out(known, prompt))} == {}
