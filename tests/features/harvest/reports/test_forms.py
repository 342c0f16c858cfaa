"""Which files are reports of CI."""

import os
from pathlib import Path

import pytest

from graphmem.features.harvest.reports import forms
from graphmem.features.harvest.reports.forms import below, form_of
from graphmem.features.harvest.reports.report import Unreadable
from tests.features.harvest.reports.reports import SAMPLES


def test_the_form_of_a_report_is_known_by_its_beginning() -> None:
    found = {
        str(path.relative_to(SAMPLES)): form_of(path)
        for path in below(SAMPLES)
        if path.suffix != ".md" and path.name != "LICENSE"
    }
    assert set(found.values()) == {"junit", "report-log", "log"}
    assert [name for name, form in found.items() if form != "log" and not name.endswith((".xml", ".jsonl"))] == []


@pytest.mark.parametrize("text", [b"", b"# Notes\n", b"{}", b"\x7fELF\0\0", b"a\0b"])
def test_anything_else_has_no_known_form(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(text)
    with pytest.raises(Unreadable, match="of no known form"):
        form_of(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    with path.open("wb") as file:
        file.truncate(2**29 + 1)
    with pytest.raises(Unreadable, match=r"has more than 536,870,912 bytes"):
        form_of(path)


def test_a_folder_is_walked_in_order_without_links_and_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b.xml", "a.xml", ".git/c.xml", "d/e.xml", "d/.f.xml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("<")
    os.symlink(tmp_path, tmp_path / "d" / "again")
    os.symlink(tmp_path / "a.xml", tmp_path / "link.xml")
    names = ["a.xml", "b.xml", "d/e.xml"]
    assert [path.relative_to(tmp_path).as_posix() for path in below(tmp_path)] == names
    monkeypatch.setattr(forms, "MOST_FILES", 2)
    assert [path.name for path in below(tmp_path)] == ["a.xml", "b.xml"]
