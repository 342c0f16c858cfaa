"""The pictures of the docs are of the page as it is."""

import json
import re
import struct
from pathlib import Path

import pytest

from graphmem.core.page.render import FILES
from tests.pictures import IMAGES, take

MOST = 200 * 1024  # bytes of a picture
PICTURE = re.compile(r"!\[([^\]]+)\]\((?:\.\./|docs/)images/([\w-]+\.png)\)")
PAGES = [IMAGES.parents[1] / "README.md", *IMAGES.parent.rglob("*.md")]


def size_of(path: Path) -> tuple[int, int]:
    """Return how wide and how high a PNG is."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


def test_every_picture_is_small_and_is_shown_with_a_text_for_who_does_not_see_it() -> None:
    shown = {name for page in PAGES for text, name in PICTURE.findall(page.read_text("utf-8")) if len(text) > 20}
    assert shown == {path.name for path in IMAGES.iterdir()}
    views = re.search(r"const VIEWS = (\[.*\]);", (FILES / "page.js").read_text("utf-8"))
    assert views is not None and shown == {f"view-{name}.png" for name, _ in json.loads(views[1])}
    assert [path.name for path in IMAGES.iterdir() if path.stat().st_size > MOST] == []


@pytest.mark.npm
def test_the_pictures_are_taken_of_the_page_as_it_is(tmp_path: Path) -> None:
    found = take(tmp_path)
    assert (found["errors"], found["violations"]) == ([], [])
    assert {path.name: size_of(path) for path in tmp_path.iterdir()} == {
        path.name: size_of(path) for path in IMAGES.iterdir()
    }
