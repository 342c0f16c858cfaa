"""Of a long question the first line counts once more: it says what the rest is about."""

import pytest

from graphmem import Memory

TITLE = "The login page forgets the user after a restart"
BODY = """
We run the service behind a proxy. The log of the database says that a connection was closed, and the queue was empty.
The certificate of the proxy was renewed last week; the backup of the database ran at night and took two hours.
The queue is on another machine, and the proxy has a timeout of thirty seconds for a connection to the database.
"""
RECORDS = {
    "login": "Users are logged out: the login page forgets the session after a restart",
    "proxy": "The proxy closes a connection to the database after a timeout of thirty seconds",
    "backup": "The backup of the database took two hours at night",
    "queue": "The queue was empty on another machine",
    "certificate": "The certificate of the proxy was renewed",
}


@pytest.mark.parametrize("with_model", [True, False], ids=["model", "words"])
def test_the_first_line_of_a_long_question_counts_once_more(with_model: bool, request: pytest.FixtureRequest) -> None:
    memory: Memory = request.getfixturevalue("memory_with_model" if with_model else "memory")
    for name, text in RECORDS.items():
        memory.failures.add(text, name=name)

    def relevance(question: str) -> float:
        hits = memory.query(question).results
        relevances = {hit.ref: hit.relevance for hit in hits}
        return relevances["failure/login"] / relevances["failure/proxy"]

    titled, introduced = relevance(TITLE + BODY), relevance(f"{TITLE}:{BODY}")
    assert titled > introduced * 1.05
