"""Paths of a machine are shortened in texts, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.records.places import MOST_DEPTH, Places, shortened_fields

PLACES = Places({"/work/zod", "/srv/x y/proj", "/"}, "/var/lib/jenkins")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cannot find module '/work/zod/src/gone.mjs'", "Cannot find module 'src/gone.mjs'"),
        ("imported from file:///work/zod/a.test.ts:3", "imported from a.test.ts:3"),
        ("cd /work/zod && make", "cd . && make"),
        ("at /work/zod/", "at ."),
        ("gcc -I/work/zod/include -L /work/zod/lib", "gcc -Iinclude -L lib"),
        ("/srv/x y/proj/a.py", "a.py"),
        ("open '/home/ada/.npmrc'", "open '~/.npmrc'"),
        ("/Users/Ada/x and /root/.cargo/bin, /root", "~/x and ~/.cargo/bin, ~"),
        (r"C:\Users\ada\proj\x.cs(3,4): error", r"~\proj\x.cs(3,4): error"),
        ("PATH=/home/ada/bin:/home/bob/bin", "PATH=~/bin:~/bin"),
        ("/var/lib/jenkins/ws/a", "~/ws/a"),
        ("/tmp/pytest-of-ann/pytest-0/test_x0/out.txt:3: boom", "$TMPDIR/out.txt:3: boom"),
        ("/private/var/folders/ab/cdef/T/x/y.log", "$TMPDIR/y.log"),
        (r"C:\Users\ada\AppData\Local\Temp\x\y.log", "$TMPDIR/y.log"),
    ],
)
def test_a_path_of_a_machine_is_shortened(text: str, expected: str) -> None:
    assert PLACES.shortened(text) == expected
    assert PLACES.may_be_in(text.encode())
    assert PLACES.shortened(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "/usr/include/x.h", "/workspace/zod", "/work/zodiac/x", "/other/work/zod/x", "https://ex.com/home/ada/x",
        "~/x", "/roots", "s/home/x/", "/home/linuxbrew/.linuxbrew/bin/x", "/Users/Shared/x", r"C:\Users\Public\x",
        "/tmp", "a/tmp/b/c", "/etc/hosts", "nothing", "C:\\Windows\\x.dll", "/app/src/x", "",
    ],
)  # fmt: skip
def test_any_other_path_stays(text: str) -> None:
    assert PLACES.shortened(text) == text


@given(st.text("/\\:ab~. 'CDUsershomtp", max_size=60))
def test_what_is_shortened_is_shortened_once(text: str) -> None:
    once = PLACES.shortened(text)
    assert PLACES.shortened(once) == once or "//" in text or "\\" in text


def test_a_project_at_the_root_of_a_file_system_shortens_only_homes() -> None:
    assert Places({"/"}).shortened("/etc/x /home/a/x") == "/etc/x ~/x"


def test_texts_of_all_fields_are_shortened_but_those_that_name_or_run_something() -> None:
    row = {
        "kind": "failure", "name": "/work/zod/x", "trigger": "at /work/zod/x", "match": "/work/zod/x", "cost": 3,
        "idioms": {"required": ["use /home/ada/x", "y"]}, "tags": ["/tmp/a/b"], "verify": "sh /work/zod/x",
    }  # fmt: skip
    changed = {"trigger": "at x", "idioms": {"required": ["use ~/x", "y"]}}
    assert shortened_fields(row, PLACES) == {**row, **changed}
    deep: object = "/home/ada/x"
    for _ in range(MOST_DEPTH + 1):
        deep = [deep]
    assert shortened_fields(deep, PLACES) is deep
    plain = {"trigger": "no path", "list": ("a", "b"), "map": {"x": [1, None]}}
    assert shortened_fields(plain, PLACES) is plain
