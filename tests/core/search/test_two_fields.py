"""The same words in two fields of a record never rank lower than in one, and their order makes no difference."""

import pytest

from graphmem import Memory

TEXTS = ["the auth token expires after a refresh", "database lock timeout", "пул соединений исчерпан", "证书过期"]
MORE = "Wait for the holder, then start the worker again with a larger pool of connections"
OTHERS = ("The build fails when the network is away", "A certificate is not valid for this host", "A key is missing")


@pytest.mark.parametrize("with_model", [True, False], ids=["model", "words"])
@pytest.mark.parametrize("text", TEXTS)
def test_words_in_two_fields_never_rank_lower_than_in_one(
    text: str, with_model: bool, request: pytest.FixtureRequest
) -> None:
    memory: Memory = request.getfixturevalue("memory_with_model" if with_model else "memory")
    for number, other in enumerate(OTHERS):
        memory.failures.add(other, name=f"other-{number}", dedup=False)
    memory.patterns.add(text, MORE, name="one", dedup=False)
    memory.patterns.add(text, f"{text}. {MORE}", name="two", dedup=False)
    memory.patterns.add(text, text, name="twice", dedup=False)
    memory.lessons.add(text, name="alone")
    for question in (text, f"{text}?", text[: len(text) // 2]):
        found = {hit.ref: hit.relevance for hit in memory.query(question).results}
        assert found["pattern/two"] >= found["pattern/one"], question
        assert found["pattern/twice"] >= found["lesson/alone"] - 1e-6, question  # the same vector, in floats
