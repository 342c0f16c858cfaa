"""Signs, digits and keywords of code carry meaning: who asks for one finds the record that says it first."""

import pytest

from graphmem import Memory

OTHERS = (
    "The build of the wheel fails when the network is away",
    "Unpacking a tuple gives too many values",
    "The worker lost its connection to the database and tried again",
    "An import of a module that is not installed",
    "A task waits for a lock that is held or was never released",
    "The report is empty because the filter removes all rows",
    "The certificate is not valid for this host and was refused",
    "A key is missing in the dictionary or was removed",
)
PAIRS = [
    ("arguments after `{}` are missing in the call of the function", "**", "*"),
    ("wrong result of {} in a condition of two comparisons", "`and`", "`or`"),
    ("comparing two values with {} gives a surprising answer", "'is'", "'=='"),
    ("comparing two values with {} gives a surprising answer", "`is`", "`==`"),
    ("the shell runs the second command with {} in the script", "&&", "&"),
    ("syntax error at {} in the declaration of a function", "->", "=>"),
    ("the division with {} has a result of another type", "//", "/"),
    ("the tool ended with status {} in the last step", "2", "3"),
    ("the check x {} 1 is never true", "!=", "=="),
]


@pytest.mark.parametrize("with_model", [True, False], ids=["model", "words"])
@pytest.mark.parametrize(("text", "one", "other"), PAIRS, ids=[f"{one} or {other}" for _, one, other in PAIRS])
def test_a_query_with_a_sign_finds_the_record_that_says_it_before_one_with_another(
    text: str, one: str, other: str, with_model: bool, request: pytest.FixtureRequest
) -> None:
    memory: Memory = request.getfixturevalue("memory_with_model" if with_model else "memory")
    for number, line in enumerate(OTHERS):
        memory.failures.add(line, name=f"other-{number}")
    for sign, name in ((one, "one"), (other, "other")):
        memory.failures.add(f"{text.format(sign)}, cause {name}", name=name, dedup=False)
    for sign, name in ((one, "one"), (other, "other")):
        for query in (text.format(sign), f"why {sign} here: {text.split(maxsplit=2)[1]}?"):
            assert memory.query(query, limit=1).results[0].ref == f"failure/{name}", query
