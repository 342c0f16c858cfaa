"""The tables of what tools print: each block reads its own examples, and what is wrong with a block is said."""

from importlib import resources

import pytest

from graphmem.core.logs.diagnosis import Reader, diagnose, misread
from graphmem.core.logs.formats import FAMILIES, BadFormat, Table, packaged, read

FOLDER = resources.files("graphmem.core.logs").joinpath("tables")
TABLES = {name: FOLDER.joinpath(f"{name}.toml").read_text("utf-8") for name in FAMILIES}
BLOCKS = [block for name, text in TABLES.items() for block in read(text, f"{name}.toml", name)]
FRAME = "frame", "call"


def test_the_package_has_the_blocks_that_are_checked_here() -> None:
    assert sorted((one.text, one.kind) for one in packaged()) == sorted((one.text, one.kind) for one in BLOCKS)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_block_reads_its_examples_as_they_say(family: str) -> None:
    assert [text for block in BLOCKS if block.family == family for text in misread(block)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_block_of_a_tool_has_two_examples(family: str) -> None:
    assert [one.source for one in BLOCKS if one.family == family != "general" and len(one.examples) < 2] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_title_and_an_outer_line_are_no_problems_of_their_own(family: str) -> None:
    wrong = []
    for block in (one for one in BLOCKS if one.family == family):
        for example in block.examples:
            reader = Reader(Table([block]))
            reader.read(1, example["text"])
            if block.kind == "test" and [one.test for one in reader.tests] != [
                example.get("test", reader.tests[0].test)
            ]:
                wrong.append((block.source, example["text"], reader.tests))
            if block.kind == "outer" and not (reader.outer and not reader.found):
                wrong.append((block.source, example["text"], reader.found))
            if block.kind in (*FRAME, "skip", "begin", "pass", "file", "place", "more") and reader.found:
                wrong.append((block.source, example["text"], reader.found))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[format]\n", "a.toml: "),
        ("[[format]]\ntool = 'x'\n", "a block needs `tool` and `pattern`"),
        ("[[format]]\ntool = 'x'\npattern = '(?=a)'\n", "RE2 refuses the pattern '(?=a)'"),
        ("[[format]]\ntool = 'x'\npattern = 'a'\nkin = 'outer'\n", "unknown field 'kin'"),
        ("[[format]]\ntool = 'x'\npattern = 'a'\nkind = 'inner'\n", "the kind 'inner' is not one of problem"),
        ("[[format]]\ntool = 'x'\npattern = 'a'\nidentity = 'all'\n", "the identity 'all' is not one of rule"),
        ("[[format]]\ntool = 'x'\npattern = '(?P<wat>a)'\n", "unknown group 'wat'"),
        ("[[format]]\ntool = 'x'\npattern = '{file}:{file}'\n", "the group 'file' is twice in the pattern"),
        ("[[format]]\ntool = 'x'\npattern = 3\n", "pattern is 3; a text would be right"),
        ("[[format]]\ntool = 'x'\npattern = 'a'\nexamples = 3\n", "examples are 3; tables"),
        ("family = 'cooking'\n", "the family 'cooking' is not one of general"),
        ("colour = 1\n", "unknown entries colour"),
        ("format = 7\n", "write [[format]] blocks"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_name_and_the_value(text: str, said: str) -> None:
    with pytest.raises(BadFormat) as error:
        read(text, "a.toml", "general")
    assert said in str(error.value) and str(error.value).startswith("a.toml")


def test_one_more_block_is_all_that_a_new_tool_needs() -> None:
    block = r"""[[format]]
tool = "pricelint"
pattern = '{file}@{line} (?P<code>R\d{3}) (?P<message>.+)'
"""
    output = "checking 3 lists\nrates/eu.csv@14 R012 rate of 'EUR' is older than 30 days\n"
    assert diagnose(output).problems == []
    (found,) = diagnose(output, formats=Table([*read(block, "a.toml", "linters"), *packaged()])).problems
    assert (found.tool, found.code, found.said.names, found.file, found.line) == (
        "pricelint", "R012", ("EUR",), "rates/eu.csv", 14,
    )  # fmt: skip
