"""A candidate that comes again has more evidence, and keeps the better words."""

from graphmem.kernel.model.candidate import Candidate, Occasion


def made(session: str, insight: str, base: float) -> Candidate:
    seen = Occasion(source="codex", session=session)
    return Candidate(
        id="c1", base=base, failure={"trigger": "it broke"}, pattern={"insight": insight}, evidence=(seen,),
        marks=(seen.mark,), sessions=(session,),
    )  # fmt: skip


def test_two_candidates_about_one_thing_are_one() -> None:
    both = made("s1", "first", 0.4).with_more(made("s2", "second", 0.7))
    assert (both.occurrences, both.worth, both.pattern) == (2, 0.9, {"insight": "second"})
    assert both.with_more(made("s1", "third", 0.9)).pattern == {"insight": "second"}
    assert Candidate(id="c2", pattern={"insight": ""}).headline == ""


def test_the_headline_is_a_text_and_not_the_kind() -> None:
    other = ({"kind": "constraint", "constraint": "Use tabs\nhere", "sources": ["notes:AGENTS.md:1"]},)
    assert Candidate(id="c3", other=other).headline == "Use tabs"
    assert Candidate(id="c3", other=({"kind": "decision"},)).headline == ""
