"""Versions of packages: how they are compared, and which ones a text is about."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.constants import VERSIONS_TAKEN
from graphmem.core.evidence.named_packages import named_packages
from graphmem.kernel.versions import RANKS, Difference, Used, by_name, comparable, difference, nearest, pairs

USED = {
    "Werkzeug": ["2.3.8"],
    "requests": ["2.31.0"],
    "PyYAML": ["6.0"],
    "@scope/tool": ["1.2.3"],
    "semver": ["5.0.0", "7.0.0"],
    "serde": ["1.0.1"],
    "github.com/gin-gonic/gin": ["v1.9.1"],
}
KNOWN = {comparable(name): Used(name, frozenset(versions)) for name, versions in USED.items()}


@pytest.mark.parametrize(
    ("seen", "now", "apart"),
    [
        ("2.3.8", "2.3.8", "same"),
        ("2.3.8", "2.3.9", "patch"),
        ("2.3", "2.3.1", "patch"),
        ("2.3.8", "2.4.0", "minor"),
        ("2.3.8", "3.0.1", "major"),
        ("0.4.1", "0.5.0", "major"),
        ("0.4.1", "0.4.2", "patch"),
        ("v1.9.1", "v1.10.0", "minor"),
        ("2.3.8+cpu", "2.3.8", "patch"),
        ("stable", "nightly", "major"),
    ],
)
def test_two_versions_are_apart_by_their_first_number_that_differs(seen: str, now: str, apart: Difference) -> None:
    assert difference(seen, now) == difference(now, seen) == apart


def test_of_several_versions_the_nearest_counts() -> None:
    assert nearest(["2.3.8", "3.0.1"], ["1.0", "3.0.2"]) == "patch"
    assert get_args(Difference) == RANKS


@given(st.sets(st.tuples(st.text(min_size=1), st.text(min_size=1))))
def test_pairs_and_a_row_say_the_same(found: set[tuple[str, str]]) -> None:
    assert pairs(by_name(found)) == found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("werkzeug loses the query", set()),  # a word is no package, whatever it is called
        ("requests time out", set()),
        ("Build the semver first, then the requests: serde is slow", set()),
        ("`requests` hangs", set()),
        ("since requests 2.31 it hangs", set()),
        ("requests.exceptions.ConnectionError: refused", {"requests"}),
        ("requests.get(url) hangs", {"requests"}),
        ("see docs at requests.example.com and requests.md", set()),
        ("import requests", {"requests"}),
        ("    from requests.adapters import HTTPAdapter", {"requests"}),
        ("import requests fails as a word", set()),
        ("from requests to semver all is slow", set()),
        ("requests==2.31.0 is broken", {"requests"}),
        ('File "/x/lib/python3.11/site-packages/requests/api.py", line 5', {"requests"}),
        ('File "/x/site-packages/yaml/loader.py", line 5', {"PyYAML"}),
        ("at f (/x/node_modules/a/node_modules/@scope/tool/index.js:1:2)", {"@scope/tool"}),
        ("Cannot find module '@scope/tool/sub'", {"@scope/tool"}),
        ("use serde::Deserialize", {"serde"}),
        ("github.com/gin-gonic/gin panics", {"github.com/gin-gonic/gin"}),
        ("werkzeug-helper is another package", set()),
        ("requests.py fails, see requests.md and requests.conf", set()),
        ("No module named 'requests'", {"requests"}),
        ('import "github.com/gin-gonic/gin/binding"', {"github.com/gin-gonic/gin"}),
        ("github.com/gin-gonic/gin.Context panics", {"github.com/gin-gonic/gin"}),
        ("pip install -U requests fails", {"requests"}),
        ("nothing is named here", set()),
    ],
)
def test_a_memory_is_about_the_packages_that_its_trigger_has_as_code(text: str, names: set[str]) -> None:
    assert named_packages(text, "", KNOWN).keys() == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pip install requests", {"requests"}),
        ("Run `uv pip install 'requests<3'` first", {"requests"}),
        ("npm i @scope/tool and semver", {"@scope/tool"}),
        ("cargo add serde", {"serde"}),
        ("go get github.com/gin-gonic/gin", {"github.com/gin-gonic/gin"}),
        ("requests.get(url, timeout=3)", set()),
        ("Build the requests first", set()),
        ("import requests", set()),
    ],
)
def test_of_a_fix_only_what_is_installed_counts(text: str, names: set[str]) -> None:
    assert named_packages("", text, KNOWN).keys() == names


def test_a_path_that_has_a_version_tells_it() -> None:
    text = (
        "/root/.cargo/registry/src/index.crates.io-6f17/serde-1.0.9/src/lib.rs:3\n"
        "/root/go/pkg/mod/github.com/gin-gonic/gin@v1.8.0/gin.go:3\n"
        "/usr/lib/ruby/gems/3.1.0/gems/rack-2.2.3/lib/rack.rb:3\n"
    )
    found = named_packages(text, "", KNOWN)
    assert found == {"github.com/gin-gonic/gin": "v1.8.0", "rack": "2.2.3", "serde": "1.0.9"}


def test_a_package_in_several_versions_has_all_of_them() -> None:
    assert named_packages("import semver", "", KNOWN) == {"semver": ["5.0.0", "7.0.0"]}


def test_at_most_eight_packages_are_taken() -> None:
    known = {f"package{number}": Used(f"package{number}", frozenset({"1.0"})) for number in range(20)}
    text = "\n".join(f"import package{number}" for number in range(20))
    assert len(named_packages(text, "", known)) == VERSIONS_TAKEN


def test_a_version_beside_the_name_is_the_one_that_was_seen() -> None:
    for text in ("requests==2.25.1 fails", "requests@2.25.1 fails"):
        assert named_packages(text, "", KNOWN) == {"requests": "2.25.1"}
