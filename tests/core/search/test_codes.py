"""What has the code, version or name that a question says comes before what has another one in its place."""

import pytest

from graphmem import Memory

PAIRS = [
    ("E0382", "E0308"),
    ("node18", "node20"),
    ("TS2307", "TS2304"),
    ("libssl1.1", "libssl3"),
    ("utf8mb4", "utf8mb3"),
    ("CVE-2021-44228", "CVE-2021-45046"),
    ("http/2", "http/3"),
    ("v3.1.0", "v3.2.0"),
    ("v3.1.0", "v3.10"),
    ("3.11", "3.12"),
    ("ORA-00942", "ORA-01017"),
    ("0x80070005", "0x80070002"),
    ("42P01", "42703"),
    ("arm64", "amd64"),
    ("KB5034441", "KB5034123"),
    ("python3.12", "python3.11"),
    ("com.acme.Billing2", "com.acme.Billing3"),
    ("get_user_by_id", "get_user_by_name"),
    ("Ｅ０３８２", "Ｅ０３０８"),
]
OTHERS = (
    "The build of the wheel fails when the network is away",
    "The worker lost its connection to the database and tried again",
    "A task waits for a lock that is held or was never released",
    "The certificate is not valid for this host and was refused",
    "Version 2 of the page of the release forgets the user after 30 minutes",
)
NOTES = "The team looked at the log of the night, asked the one who had been on call, and wrote down what was done"


@pytest.mark.parametrize("with_model", [True, False], ids=["model", "words"])
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_code_that_is_asked_for_comes_before_its_neighbour(
    one: str, other: str, with_model: bool, request: pytest.FixtureRequest
) -> None:
    memory: Memory = request.getfixturevalue("memory_with_model" if with_model else "memory")
    for number, line in enumerate(OTHERS):
        memory.failures.add(line, name=f"other-{number}")
    for name, asked in (("one", one), ("other", other)):
        memory.failures.add(f"{asked}: the service does not start after the update", name=f"{name}-plain", dedup=False)
        memory.patterns.add(f"{NOTES}. {NOTES}, {asked}.", f"{NOTES}.", name=f"{name}-aside", dedup=False)
    for asked in (one, other):
        for question in (asked, f"service does not start, {asked}", f"what did we do about {asked} after the update?"):
            hits = [f"{hit.record.search_text}" for hit in memory.query(question).results]
            assert asked in hits[0], (question, hits)


@pytest.mark.parametrize("with_model", [True, False], ids=["model", "words"])
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_code_counts_more_than_the_other_words_of_the_question(
    one: str, other: str, with_model: bool, request: pytest.FixtureRequest
) -> None:
    memory: Memory = request.getfixturevalue("memory_with_model" if with_model else "memory")
    for number, line in enumerate(OTHERS):
        memory.failures.add(line, name=f"other-{number}")
    memory.failures.add(f"The service does not start after the update to {other}", name="neighbour", dedup=False)
    memory.patterns.add(f"{NOTES}. It was {one}.", NOTES, name="asked", dedup=False)
    hits = memory.query(f"the service does not start after the update to {one}").results
    assert hits[0].ref == "pattern/asked", [hit.ref for hit in hits]


@pytest.mark.parametrize(
    ("question", "is_known"),
    [
        ("CI says ERR_PNPM_OUTDATED_LOCKFILE, what now", True),
        ("the build has TS2307 about zod", True),
        ("the build has TS2307", False),  # the code of many errors
        ("the build has TS2307 about yup", False),
        ("hadolint complains with DL3008 again", True),  # a rule: whatever the names are
        ("what does ERR_PNPM_PEER_DEP_ISSUES mean", False),  # nothing has it
        ("hadolint complains with DL3006 again", False),  # two have it
    ],
)
def test_a_rare_code_of_the_message_makes_a_record_known(memory: Memory, question: str, is_known: bool) -> None:
    for trigger in (
        'ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date',
        "src/a.ts(3,8): error TS2307: Cannot find module 'zod' or its corresponding type declarations.",
        "Dockerfile:3 DL3008 warning: Pin versions in apt get install",
        "Dockerfile:1 DL3006 warning: Always tag the version of an image explicitly",
        "Dockerfile:9 DL3006 info: the tag of the base image is missing",
    ):
        memory.failures.add(trigger, fix="as it says", dedup=False)
    assert memory.query(question).known == is_known
