"""What two machines print of one error is the same, in every language; another error in its place is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.logs import volatile
from graphmem.core.logs.comparison import compare
from graphmem.core.logs.diagnosis import diagnose
from graphmem.core.logs.problem import LogProblem

# In every language: an error as one machine tells it, the same from another machine, another error in the same place.
PYTHON = """Traceback (most recent call last):
  File "{0}/app/main.py", line {1}, in run
    load(x)
  File "{0}/app/io.py", line {1}, in load
    return open(path)
  File "{0}/venv/lib/python3.11/site-packages/pandas/common.py", line 2, in get
    handle = open(
{2}"""
NODE = """{0}/src/handler.js:{1}
{2}
    at get (/srv/node_modules/lodash/get.js:1:2)
    at handler ({0}/src/handler.js:{1}:22)
    at process.processTicks (node:internal/process/task_queues:95:5)"""
JAVA = """{2}
\tat java.base/java.util.Objects.requireNonNull(Objects.java:{1})
\tat com.acme.shop.Cart.checkout(Cart.java:{1})
\t... {1} more"""
GO = """{2}

goroutine {1} [running]:
main.pick(...)
\t{0}/go/src/app/main.go:{1}
main.main()
\t{0}/go/src/app/main.go:20 +0x1d"""
RUST = "thread 'main' panicked at {0}/src/main.rs:{1}:9:\n{2}\nnote: run with RUST_BACKTRACE=1"
GCC = "{0}/src/foo.c:{1}:5: error: {2}"
PYTEST = """{0}/tests/test_a.py:{1}: in test_x
    pick()
{0}/app/pick.py:{1}: in pick
    raise
E   {2}"""

CASES = [
    (
        PYTHON,
        "FileNotFoundError: [Errno 2] No such file: '{0}/in.csv'",
        "FileNotFoundError: [Errno 2] No such file: 'b.csv'",
        "load",
    ),
    (
        PYTHON,
        "ModuleNotFoundError: No module named 'yaml'",
        "ModuleNotFoundError: No module named 'toml'",
        "load",
    ),
    (PYTHON, "shop.NoPrice", "shop.NoStock", "load"),
    (
        NODE,
        "TypeError: Cannot read properties of undefined (reading 'id')",
        "TypeError: x.get is not a function",
        "handler",
    ),
    (
        JAVA,
        "java.lang.IllegalStateException: order {1} is closed",
        "java.lang.NullPointerException: order is null",
        "com.acme.shop.Cart.checkout",
    ),
    (
        GO,
        "panic: runtime error: index out of range [{1}] with length 3",
        "panic: assignment to entry in nil map",
        "main.pick",
    ),
    (
        RUST,
        "index out of bounds: the len is 3 but the index is {1}",
        "called `Option::unwrap()` on a `None` value",
        "",
    ),
    (GCC, "'bar' undeclared (first use in this function)", "'baz' undeclared (first use in this function)", ""),
    (PYTEST, "KeyError: 'user_12'", "KeyError: 'user_34'", "pick"),
    ("{0}/run.sh: line {1}: {2}", "jq: command not found", "yq: command not found", ""),
    (
        "2026-11-02 10:00:{1} ERROR {2}",
        "psycopg2.errors.UniqueViolation: key orders_pkey",
        "psycopg2.errors.UniqueViolation: key users_pkey",
        "",
    ),
    (
        "{2}\n  --> {0}/src/lib.rs:{1}:9",
        "error[E0382]: borrow of moved value: `x`",
        "error[E0502]: cannot borrow `x`",
        "",
    ),
]


# A number of a message counts; a panic without a function does not tell which one it is.
VERDICTS = {
    "java.lang.IllegalStateException: order {1} is closed": "same_rule",
    "index out of bounds: the len is 3 but the index is {1}": "unclear",
}


@pytest.mark.parametrize(("form", "message", "other", "frame"), CASES)
def test_one_error_on_two_machines_is_the_same(form: str, message: str, other: str, frame: str) -> None:
    def told(home: str, line: int, text: str) -> LogProblem:
        report = form.format(home, line, text.format(home, line))
        return diagnose(f"collecting …\n{report}\n\nall done").problems[-1]

    here, there = told("/home/ann/shop", 12, message), told("/ci/build-7/shop", 345, message)
    assert compare(here, there).verdict == VERDICTS.get(message, "same")
    assert here.frame == frame
    assert compare(here, told("/home/ann/shop", 12, other)).verdict != "same"


pieces = st.sampled_from((
    "line 12", "pid 7", "0x1f", "0X1F", "2026-11-01T09:30:00.123Z", "09:30:00", "deadbeef01", "/tmp/a1/b",
    "/var/tmp/x", "/home/me/", "C:\\Users\\me\\", "/root/", "a.py:12:3", "3.5 ms", "10 minutes", "error: ",
    "KeyError", ": ", " ", "x", "7", "cannot find", "Permission denied", "'a b'", "-",
    "1e7c4b5a-0000-4000-8000-00000000000f", "not found", "\\", "/",
))  # fmt: skip


@given(st.lists(pieces, max_size=8).map("".join), st.booleans())
def test_a_look_before_a_search_changes_nothing(text: str, is_error: bool) -> None:
    plain = text
    for group in volatile.groups(text, is_error=is_error):
        for _, pattern, replacement in group.rules:
            plain = pattern.sub(replacement, plain)
    assert volatile.stable(text, is_error=is_error) == " ".join(plain.split())
