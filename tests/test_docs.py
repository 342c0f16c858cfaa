"""The docs are true: every code block runs, generated pages are as generated, links lead somewhere."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from tests import generate_docs
from tests.doc_blocks import any_text, blocks, check, is_as_shown, printed
from tests.falkordb_server import falkordb_server
from tests.postgres import postgres
from tests.redis_server import redis

pytestmark = pytest.mark.docs
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GUARANTEES = DOCS / "guarantees.md"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    """Return a page's path below the checkout."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))], ids=name_of)
@pytest.mark.slow
def test_every_block_of_a_page_runs_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_USER_STORE", str(tmp_path / "own"))
    folder = tmp_path / "project"
    folder.mkdir()
    if "$TEAM_URL" in page.read_text(encoding="utf-8"):
        monkeypatch.setenv("TEAM_URL", postgres().new_project("ana"))
        monkeypatch.setenv("REDIS_URL", f"{redis().address}?project=shop")
    if page.stem == "many-projects":
        monkeypatch.setenv("GRAPHMEM_GRAPH", falkordb_server("--loglevel", "warning").address)  # one of its own
    if page.name == "README.md":  # whose readers have told git who they are
        for who in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{who}_NAME", "Ana")
            monkeypatch.setenv(f"GIT_{who}_EMAIL", "ana@example.org")
    names: dict[str, Any] = {}
    for block in blocks(page):
        check(block, folder, names)


def test_the_rooms_of_the_page_for_contributors_are_drawn_from_the_imports() -> None:
    """Mend: python -m tests.generate_docs."""
    text = generate_docs.CONTRIBUTING.read_text(encoding="utf-8")
    assert "features.inbox" in text and text == generate_docs.with_rooms(text)


@pytest.mark.parametrize("name", sorted(generate_docs.PAGES))
@pytest.mark.slow
def test_a_generated_page_is_as_its_generator_writes_it(name: str) -> None:
    """Mend: python -m tests.generate_docs."""
    assert (DOCS / "reference" / name).read_text(encoding="utf-8") == generate_docs.page(name)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as forges make them."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_page_is_found_from_the_index() -> None:
    index, decisions, benchmarks = (
        (DOCS / name).read_text(encoding="utf-8") for name in ("index.md", "decisions/README.md", "benchmarks.md")
    )
    for page in DOCS.rglob("*.md"):
        path = page.relative_to(DOCS).as_posix()
        if path.startswith("decisions/0"):
            assert f"({page.name})" in decisions, path
        elif path != "index.md":
            assert f"({path})" in (benchmarks if path.startswith("benchmarks/") else index), path


def test_the_first_screen_of_the_index_has_the_start_what_holds_and_the_guides_by_purpose() -> None:
    screen = "\n".join((DOCS / "index.md").read_text(encoding="utf-8").splitlines()[:25])
    guides = [f"(guides/{page.name})" for page in (DOCS / "guides").glob("*.md")]
    assert [
        link for link in ("(../README.md)", "(tutorial.md)", "(guarantees.md)", *guides) if link not in screen
    ] == []


def test_no_twelve_words_in_a_row_are_in_two_pages() -> None:
    """One page says it, the others link; generated pages and records of what was may quote."""
    said, generated = dict[tuple[str, ...], str](), generate_docs.PAGES
    for page in PAGES:
        name = name_of(page)
        if name.startswith(("docs/decisions/", "docs/changelog")) or name.removeprefix("docs/reference/") in generated:
            continue
        prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for line in re.sub(r"\]\([^)]*\)", "]", prose).lower().splitlines():
            words = re.findall(r"[\w./-]*\w", line)
            for run in zip(*(words[start:] for start in range(12)), strict=False):
                assert said.setdefault(run, name) == name, f"{name} repeats {said[run]}: {' '.join(run)}"


def test_every_setting_has_a_meaning() -> None:
    assert "| – |" not in generate_docs.config()


def test_the_first_screen_of_the_readme_shows_a_session_and_two_commands_do_everything() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").split("\n")
    assert "```console" in lines[:12]
    (together,) = [block.lines for block in blocks(ROOT / "README.md") if "./.bin/demo" in block.lines]
    assert together == ("./.bin/demo", "./.bin/test")
    assert all((ROOT / command).is_file() for command in together)


def test_an_ellipsis_stands_for_text_in_a_line_and_for_lines_alone() -> None:
    assert is_as_shown("a 1 b\nc\nd\n", ["a … b", "…", "d"])
    assert is_as_shown("d\n", ["…", "d"])
    assert not is_as_shown("a 1 b\nd\n", ["a … c", "d"])
    assert any_text("a.b…") == r"a\.b.*?"


def test_what_a_command_of_a_page_exports_counts_for_those_that_follow(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    assert [printed(command, folder) for command in ("export A=$(echo 1)", "echo $A", "unset A", "echo $A.")] == [
        "",
        "1\n",
        "",
        ".\n",
    ]


def test_every_guarantee_names_tests_that_there_are() -> None:
    """Of all bullets only those in short, which have links, and those of what does not hold name none."""
    written = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    limits, *others = bullets("What does not hold"), *map(bullets, proven())
    assert len(others) > 15 and all(others)
    for bullet in itertools.chain(*others):
        names, files = re.findall(r"`(test_\w+)`", bullet), re.findall(r"`(tests/[\w/]+\.py)`", bullet)
        assert names or files, bullet
        assert [name for name in names if f"def {name}(" not in written] == []
        assert [file for file in files if not (ROOT / file).is_file()] == []
    everywhere = re.findall(r"^[-*+] ", GUARANTEES.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(everywhere) == len(bullets("In short")) + len(limits) + sum(map(len, others))


def test_every_guarantee_in_short_ends_with_links_to_sections_that_name_tests() -> None:
    assert 15 <= len(bullets("In short")) <= 25
    for bullet in bullets("In short"):
        links = re.search(r" \(((\[[^\]]+\]\(#[a-z-]+\)(, )?)+)\)$", bullet)
        assert links, bullet
        for title, anchor in re.findall(r"\[([^\]]+)\]\(#([a-z-]+)\)", links[1]):
            assert title in proven() and anchor == title.lower().replace(" ", "-"), bullet


def proven() -> list[str]:
    """Return the titles of the sections of guarantees whose sentences name their tests."""
    return re.findall(r"^### (.+)$", GUARANTEES.read_text(encoding="utf-8"), re.MULTILINE)


def bullets(title: str) -> list[str]:
    """Return the bullets of a section of the guarantees, which ends at the next heading."""
    (_, section) = re.split(rf"^##+ {title}$", GUARANTEES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return re.findall(r"^- .+$", re.split(r"^#", section, flags=re.MULTILINE)[0], re.MULTILINE)
