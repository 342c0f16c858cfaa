"""Codes are found in questions of any sort, and told from their neighbours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.search.codes import SaidCode, codes, codes_first, printed_codes


def only(text: str) -> SaidCode:
    (code,) = codes(text)
    return code


@pytest.mark.parametrize(
    ("code", "words", "neighbours", "others"),
    [
        ("E0382", "e0382", ["e0308"], ["e", "the 0382"]),
        ("node18", "node18", ["node20"], ["node", "node modules"]),
        ("v3.1.0", "v3 1 0", ["v3 2 0", "v3 10"], ["3 apples", "version 3"]),
        ("3.11", "3 11", ["3 12"], ["3 apples", "30"]),
        ("CVE-2021-44228", "cve 2021 44228", ["cve 2021 45046"], ["cve", "cves 2021"]),
        ("http/2", "http 2", ["http 3"], ["http status", "https 3"]),
        ("42P01", "42p01", ["42703"], ["40001"]),
        ("arm64", "arm64", ["amd64"], ["x86", "arms"]),
        ("libssl1.1", "libssl1 1", ["libssl3"], ["libssl"]),
        ("get_user_by_id", "get user by id", ["get user by name"], ["get user", "user by name"]),
        ("getUserById", "getuserbyid", ["getuserbyname"], ["getuser"]),
    ],
)
def test_a_code_is_told_from_another_one_in_its_place(
    code: str, words: str, neighbours: list[str], others: list[str]
) -> None:
    found = only(f"what about {code}, in 3 of the 12 (see A and B)?")
    assert found.is_in(f"it was {words}") and not found.is_replaced_in(f"{neighbours[0]} is not {words}")
    assert all(found.is_replaced_in(f"it was {one} there") for one in neighbours)
    assert not any(found.is_replaced_in(f"it was {one} there") for one in others)


def test_prose_and_plain_numbers_are_no_codes() -> None:
    assert codes("We waited 30 s, e.g. for a well-known and/or read-only host; see Figure 3: __main__ of `i.e.`") == []


@given(st.text(alphabet="aZ09_.-/é 锁", max_size=40))
def test_any_text_has_codes_that_it_holds(text: str) -> None:
    for code in codes(text):
        assert code.is_in(code.words) and not code.is_replaced_in(code.words)


def test_the_holder_of_a_code_takes_the_place_of_its_best_neighbour() -> None:
    texts = {1: "upgrade to v3 2 0", 2: "notes v3 1 0", 3: "something", 4: "v3 1 0 again"}
    found = codes_first({1: 0.8, 2: 0.2, 3: 0.5, 4: 0.1}, codes("upgrade to v3.1.0"), texts)
    assert found == pytest.approx({1: 0.76, 2: 0.8, 3: 0.5, 4: 0.4})


def test_relevances_stay_where_no_neighbour_comes_before_the_holder() -> None:
    relevances = {1: 0.5, 2: 0.8, 3: 0.0}
    asked = codes("v3.1.0")
    assert codes_first(relevances, asked, {1: "v3 2 0", 2: "v3 1 0", 3: ""}) == relevances
    assert codes_first(relevances, asked, {1: "v3 2 0", 2: "v3 3 0", 3: ""}) == relevances
    assert codes_first(relevances, asked, {1: "none", 2: "v3 1 0", 3: ""}) == relevances
    assert codes_first(relevances, asked, {1: "v3 2 0", 2: "", 3: "v3 1 0"}) == relevances


def test_codes_that_programs_print_are_told_by_a_number_or_by_words() -> None:
    said = "ERR_PNPM_OUTDATED_LOCKFILE, TS2307 and ORA-01017, 0x80070005; no HTTP, v3.1.0, get_user or README"
    assert {code.words: code.is_number for code in printed_codes(said)} == {
        "err pnpm outdated lockfile": False, "ts2307": True, "ora 01017": True, "0x80070005": True,
    }  # fmt: skip
