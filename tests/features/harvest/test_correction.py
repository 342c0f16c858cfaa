"""Which sentences of a person are rules that hold beyond the moment."""

import pytest

from graphmem.features.harvest.correction import correction_of
from graphmem.kernel.model.transcript import Message, RanCommand


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("No, never call the API from a test.", "No, never call the API from a test."),
        ("That failed. Don't use requests, use httpx.", "Don't use requests, use httpx."),
        ("please use pnpm instead of npm", "please use pnpm instead of npm"),
        ("we always write migrations by hand", "we always write migrations by hand"),
        ("fix the test", None),
        ("don't change it yet", None),
        ("never mind", None),
        ("should we never call the API from a test?", None),
        ("don't commit anything, just look", None),
    ],
)
def test_a_rule_names_what_to_do_and_holds_beyond_this_moment(text: str, rule: str | None) -> None:
    event = Message("2026-01-01T00:00:00Z", 4, "person", text)
    found = correction_of(event, source="codex", session="s1", is_after_act=True)
    assert (found and found.other[0]["constraint"]) == rule


def test_only_a_person_who_has_seen_the_agent_act_corrects_it() -> None:
    event = Message("", 4, "person", "never call the API from a test")
    assert correction_of(event, source="c", session="s", is_after_act=False) is None
    agent = Message("", 4, "agent", "never call the API from a test")
    assert correction_of(agent, source="c", session="s", is_after_act=True) is None
    assert correction_of(RanCommand("", 1, "ls", 0), source="c", session="s", is_after_act=True) is None
