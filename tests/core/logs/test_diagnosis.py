"""Which problems an output tells of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.logs.diagnosis import Reader, diagnose, statement
from graphmem.core.logs.message import message_of


def texts(output: str) -> list[str]:
    return [one.trigger for one in diagnose(output).problems]


@pytest.mark.parametrize(
    ("around", "message"),
    [
        ("\x1b[31mcart.c:2:12: \x1b[0merror: unknown type name 'u8'", "unknown type name 'u8'"),
        ("compiling 40%\rcart.c:2:12: error: unknown type name 'u8'", "unknown type name 'u8'"),
        ("2026-09-04T14:45:16.4597260Z cart.c:2:12: error: unknown type name 'u8'", "unknown type name 'u8'"),
        ("##[error]ValueError: no prices", "no prices"),
        ("web-1  | ValueError: no prices", "no prices"),
        ("#12 0.431 ValueError: no prices", "no prices"),
        ("E   ValueError: no prices", "no prices"),
        ("[gw1] ValueError: no prices", "no prices"),
        ("2024-03-11 08:14:02 ERROR shop.cart: ValueError: no prices", "no prices"),
        ('{"level": "error", "msg": "ValueError: no prices"}', "no prices"),
        ("Caused by: java.lang.IllegalStateException: no prices", "no prices"),
    ],
)
def test_what_carries_a_message_is_not_of_it(around: str, message: str) -> None:
    (found,) = diagnose(around).problems
    assert found.message == message


@pytest.mark.parametrize(
    "output",
    [
        "checking for error handlers... ok\n0 failed, 12 passed\n",
        "=== RUN   TestError\n    e_test.go:6: error: open x.csv: no such file or directory\n"
        "--- PASS: TestError (0.00s)\nPASS\n",
        "retrying after error: ECONNRESET\n0 errors, 14 done\n",
        "All checks passed!\n",
        "make: *** [Makefile:3: all] Error 1\n",
        "##[group]Run pytest --error-for-skips\n14 rows read\n##[error]Process completed with exit code 3.\n",
        "",
    ],
)
def test_what_passed_and_what_only_says_that_a_step_failed_tells_no_problem(output: str) -> None:
    assert texts(output) == []


def test_the_innermost_function_of_the_project_is_the_frame() -> None:
    output = (
        'Traceback (most recent call last):\n  File "/srv/app/jobs.py", line 20, in <module>\n    main()\n'
        '  File "/srv/app/jobs.py", line 17, in push\n    socket.create_connection(address, timeout=2)\n'
        '  File "/usr/lib/python3.11/socket.py", line 851, in create_connection\n    raise exceptions[0]\n'
        "ConnectionRefusedError: [Errno 111] Connection refused\n"
    )
    (found,) = diagnose(output).problems
    assert (found.code, found.frame) == ("ConnectionRefusedError", "push")


def test_warnings_are_problems_only_where_nothing_worse_is_there() -> None:
    warning = "a.c:3:1: warning: control reaches end of non-void function [-Wreturn-type]\n"
    assert [one.severity for one in diagnose(warning).problems] == ["warning"]
    (found,) = diagnose(f"{warning}a.c:2:2: error: unknown type name 'u8'\n").problems
    assert found.message == "unknown type name 'u8'"


def test_a_problem_is_kept_once_with_all_its_lines() -> None:
    (found,) = diagnose("ValueError: no prices\nok so far\nValueError: no prices\n").problems
    assert found.numbers == [1, 3]


@pytest.mark.parametrize(
    ("text", "template", "names"),
    [
        ("cannot use price (variable of type float64) as int value in argument to takePrice",
         "cannot use * variable of type * as * value in argument to *", ("price", "float64", "int", "takePrice")),
        ("No module named 'yaml'", "no module named *", ("yaml",)),
        ("line too long (123 > 100 characters)", "line too long # characters", ()),
        ("Request failed with status code 401", "request failed with status code 401", ()),
        ("无法找到模块 'a'", "无法找到模块 *", ("a",)),
    ],
)  # fmt: skip
def test_a_message_is_what_it_says_and_of_what(text: str, template: str, names: tuple[str, ...]) -> None:
    found = message_of(text)
    assert (found.template, found.names) == (template, names)


@given(st.text(max_size=400))
def test_any_text_is_read_and_is_what_it_is(text: str) -> None:
    reader = Reader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.read(number, line)
    reader.end()
    assert all(one.text for one in statement(text))


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("ShopClosed: come back tomorrow", "ShopClosed", "come back tomorrow"),
        ("shop.models.Order.DoesNotExist: no such order", "DoesNotExist", "no such order"),
        ("StopIteration", "StopIteration", ""),
        ("hypothesis.errors.Flaky: it passed the second time", "Flaky", "it passed the second time"),
    ],
)
def test_what_ends_a_trace_is_its_error_whatever_its_class_is_called(line: str, code: str, message: str) -> None:
    before = 'Traceback (most recent call last):\n  File "/srv/app.py", line 9, in {}\n    go()\n'
    alone = before.format("main") + line
    first = f"{before.format('total')}KeyError: 'price'"
    chained = f"{first}\n\nDuring handling of the above exception, another exception occurred:\n\n{alone}"
    for text in (alone, chained):
        for found in (diagnose(text).problems, statement(text)):
            last = found[-1]
            assert (last.code, last.message, last.frame) == (code, message, "main")
