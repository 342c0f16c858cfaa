"""The vocabulary that a caller may know."""

from graphmem.model.vocabulary import EntityType, RelationType, Vocabulary


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
        ({"room"}, {"room"}, set()),
        ({"room", "failure"}, {"room"}, {"hides"}),
        (set(), set(), set()),
    ]
    for visible, entities, relations in cases:
        found = whole.narrowed(visible)
        assert (set(found.entities), set(found.project_relations)) == (entities, relations)
