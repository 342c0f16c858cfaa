"""The vocabulary that a caller may know."""

import pytest
from pydantic import ValidationError

from graphmem.kernel.model.vocabulary import EntityType, RelationType, Vocabulary


def test_a_narrowed_vocabulary_has_the_types_of_what_is_visible_and_the_relations_that_can_connect_them() -> None:
    whole = Vocabulary(
        entities={name: EntityType(type=name) for name in ("room", "service")},
        project_relations={
            "hides": RelationType(type="hides", sources=("room",), targets=("failure",)),
            "serves": RelationType(type="serves", sources=("service",), targets=("any",)),
            "near": RelationType(type="near", sources=("pattern",), targets=("service",), symmetric=True),
        },
    )
    cases: list[tuple[set[str], set[str], set[str]]] = [
        ({"pattern", "service"}, {"service"}, {"serves", "near"}),
        ({"room"}, {"room"}, {"hides", "serves"}),
        ({"lesson"}, set(), {"serves"}),
        ({"room", "failure"}, {"room"}, {"hides", "serves"}),
        (set(), set(), set()),
    ]
    for visible, entities, relations in cases:
        found = whole.narrowed(visible)
        assert (set(found.entities), set(found.project_relations)) == (entities, relations)


def test_a_type_is_of_some_types_by_its_name_and_a_relation_by_an_end() -> None:
    service, serves = EntityType(type="service"), RelationType(type="serves", sources=("service",), targets=("room",))
    assert (service.is_of({"service"}), service.is_of({"room"})) == (True, False)
    assert [serves.is_of({name}) for name in ("service", "room", "team")] == [True, True, False]


def changing() -> Vocabulary:
    """A type with two older names, one that rows are of without a file, and a relation type with an old name in it."""
    entities = {
        "part": EntityType(type="part", aliases=("component", "service", "team", "failure", "any")),
        "team": EntityType(type="team"),
        "service": EntityType(type="service"),
    }
    calls = RelationType(type="calls", sources=("service", "part"), targets=("any",), aliases=("asks",))
    return Vocabulary(entities=entities, project_relations={"calls": calls}, drifted=frozenset({"service"}))


def test_a_name_that_a_type_had_before_means_the_type_where_no_other_has_it() -> None:
    vocabulary = changing()
    assert [*vocabulary.declared] == ["part", "team", "calls"]
    assert vocabulary.renamed == {"component": "part", "service": "part", "asks": "calls"}
    assert vocabulary.current("component/x") == "part/x"
    assert vocabulary.current("team/x") is None
    assert vocabulary.refs("part/x") == ("part/x", "component/x", "service/x")
    assert vocabulary.refs("service/x") == ("service/x", "part/x", "component/x")
    assert vocabulary.refs("team/x") == ("team/x",)
    with pytest.raises(ValidationError, match="type 'Old' is not a lower-case letter"):
        EntityType(type="part", aliases=("Old",))


def test_ends_mean_types_by_their_current_names() -> None:
    vocabulary = changing()
    assert vocabulary.relations["calls"].sources == ("part",)
    assert vocabulary.allows("calls", "service", "team")
    assert not vocabulary.allows("calls", "team", "service")
    made = vocabulary.project_relations["calls"]
    assert made.with_ends({"team": "group"}) is made
    assert made.with_ends({"service": None, "part": "piece"}).sources == ("piece",)


def test_a_vocabulary_with_other_types_has_only_those_that_are_declared() -> None:
    after = changing().with_types({"team": None, "group": EntityType(type="group")})
    assert ([*after.entities], [*after.project_relations], after.drifted) == (["part", "group"], ["calls"], frozenset())
