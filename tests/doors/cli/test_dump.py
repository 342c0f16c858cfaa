"""``dump`` on the command line: what it prints, and what it writes where."""

import json
import os
from pathlib import Path

import pytest

from tests.doors.cli.test_answers import Graphmem, graphmem, known

__all__ = ["graphmem", "known"]  # fixtures


def test_a_form_is_printed_and_what_it_has_no_place_for_is_counted(known: Graphmem) -> None:
    known("forget", "app-down")
    done = known("dump", "--to", "dot", "--kind", "failure")
    assert done.out == (
        "digraph graphmem {\n  rankdir=LR;\n  node [shape=box];\n"
        '  "failure/importerror-yaml-3077da" [label="failure/no-yaml\\nImportError: yaml"];\n}\n'
    )
    assert (done.status, done.err) == (0, "graphmem: left out: 1 failure, 1 relation\n")
    assert json.loads(known("dump", "--to", "dot", "--json").out)["left_out"] == {"failure": 1, "relation": 1}


def test_with_relation_types_alone_the_records_are_those_at_their_ends(known: Graphmem) -> None:
    out = known("dump", "--to", "mermaid", "--kind", "solves").out
    assert "failure/no-yaml" in out and "pattern/lock" in out and "app-down" not in out


def test_a_file_is_written_whole_in_the_place_of_what_has_its_name(known: Graphmem, tmp_path: Path) -> None:
    (tmp_path / "memory.csv").write_text("old")
    done = known("dump", "--to", "csv", "-o", "memory.csv")
    assert (done.status, done.out, done.err) == (0, "", "graphmem: written: memory.csv\n")
    assert (tmp_path / "memory.csv").read_text() == known("dump", "--to", "csv").out
    assert known("import", "memory.csv").out.startswith("csv: read 5 rows\nunchanged: ")
    assert known("dump", "-o", "new/folder/all.ndjson").status == 0
    assert (tmp_path / "new/folder/all.ndjson").read_text() == known("dump").out
    (tmp_path / "folder").mkdir()
    done = known("dump", "-o", "folder")
    assert (done.status, done.err) == (3, f"error: {str(tmp_path / 'folder')!r} is a folder\nhint: name a new file\n")


@pytest.mark.parametrize("form", ["okf", "markdown"])
def test_a_folder_is_new_or_empty_and_whole(known: Graphmem, tmp_path: Path, form: str) -> None:
    (tmp_path / "pages").mkdir()
    assert known("dump", "--to", form, "-o", "pages").status == 0
    pages = {path: path.read_text() for path in (tmp_path / "pages").rglob("*.md")}
    assert pages
    done = known("dump", "--to", form, "-o", "pages")
    assert (done.status, done.err) == (
        3,
        f"error: {str(tmp_path / 'pages')!r} holds files already\nhint: name a new folder\n",
    )
    (tmp_path / "page").write_text("mine")
    done = known("dump", "--to", form, "-o", "page")
    assert (done.status, done.err) == (3, f"error: {str(tmp_path / 'page')!r} is a file\nhint: name a new folder\n")
    assert {path: path.read_text() for path in (tmp_path / "pages").rglob("*.md")} == pages
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [".graphmem"]


def test_no_link_is_followed_and_nothing_is_written_into_the_memory(known: Graphmem, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to("target")
    done = known("dump", "-o", "link")
    assert done.status == 3 and "is a symbolic link, which is not followed" in done.err
    assert (tmp_path / "target").read_text() == "mine"
    done = known("dump", "-o", ".graphmem/config.toml")
    assert done.status == 3 and "is in the memory itself" in done.err
    assert (
        not (tmp_path / ".graphmem/config.toml").exists()
        or "kind" not in (tmp_path / ".graphmem/config.toml").read_text()
    )


def test_pages_of_a_folder_are_not_printed(known: Graphmem) -> None:
    done = known("dump", "--to", "okf")
    assert (done.status, done.err) == (
        2, "error: okf is a folder of pages\nhint: name a new one: graphmem dump --to okf -o FOLDER\n",
    )  # fmt: skip
    assert known("dump", "--to", "markdown").out.startswith("# failure\n\n## failure/app-down\n")
    assert "pattern/lock.md" in json.loads(known("dump", "--to", "okf", "--json").out)["files"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_named(known: Graphmem, tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0o500)
    assert "cannot be written" in known("dump", "-o", "shut/x").err
