"""How runners and loggers print a message: each takes the lines of one and returns the lines of a log with it."""

import json
from collections.abc import Callable

Runner = Callable[[list[str]], list[str]]
TIME = "2026-11-22T10:00:00.1234567Z"


def behind(first: str, other: str | None = None) -> Runner:
    """Return a runner that puts ``first`` before a message and ``other`` before its further lines."""
    return lambda lines: [f"{other if number and other is not None else first}{ln}" for number, ln in enumerate(lines)]


def after(*before: str, indent: str = "") -> Runner:
    """Return a runner that prints lines of its own, then the message."""
    return lambda lines: [*before, *(indent + line for line in lines)]


def quoted(form: str, *, is_ascii: bool = False) -> Runner:
    """Return a runner that prints a message as one quoted string."""
    return lambda lines: [form.replace("@", json.dumps("\n".join(lines), ensure_ascii=is_ascii))]


def in_quotes(mark: str) -> Runner:
    """Return a runner that puts each line in quotes, and a backslash before those in it."""
    return lambda lines: [f"{mark}{line.replace(mark, chr(92) + mark)}{mark}" for line in lines]


def wrapped(lines: list[str]) -> list[str]:
    """Print a message of which each line goes on behind a backslash, where it has a blank."""
    return [part for line in lines for part in line.strip().replace(" ", " \\\n    ", 1).split("\n")]


def each_wrapped(lines: list[str]) -> list[str]:
    """The same behind a prefix."""
    return [f"web-1  | {line}" for line in wrapped(lines)]


RUNNERS: dict[str, Runner] = {
    "as it is": behind(""),
    "pytest": behind("E   "),
    "pytest, indented": behind("E       "),
    "pytest, summary": behind("FAILED tests/a.py::test_b[x y-3] - ", ""),
    "pytest, summary of an error": behind("ERROR tests/a.py - ", ""),
    "pytest-xdist": behind("[gw3] [ 42%] "),
    "pytest, live log": behind("ERROR    app.module:app.py:12 ", ""),
    "unittest": after("ERROR: test_x (mod.Case.test_x)", "-" * 70, "Traceback (most recent call last):"),
    "unittest, assertion": behind("AssertionError: ", ""),
    "jest": after("  ● suite › test", "", indent="    "),
    "jest, on one line": behind("  ● ", "    "),
    "mocha": after("  1) suite", "       test:", indent="     "),
    "mocha, on one line": behind("     Error: ", "     "),
    "vitest": behind(" ❯ ", "   "),
    "tap": behind("# "),
    "tap, not ok": behind("not ok 3 - ", "  "),
    "go test": behind("    file_test.go:12: ", "        "),
    "go panic": behind("panic: ", ""),
    "go test -json": lambda lines: [
        json.dumps({"Time": TIME, "Action": "output", "Package": "x.org/y", "Output": f"    a_test.go:3: {line}\n"})
        for line in lines
    ],
    "rustc": behind("error[E0308]: ", ""),
    "rustc, frame": behind("  | "),
    "cargo test": after("---- tests::adds stdout ----", "thread 'tests::adds' panicked at src/lib.rs:12:9:"),
    "gcc": behind("src/main.c:12:5: error: ", ""),
    "gcc, fatal": behind("src/main.c:12:5: fatal error: ", ""),
    "msvc": behind("src\\main.cpp(12): error C2065: ", ""),
    "tsc": behind("src/app.ts(12,7): error TS2322: ", "  "),
    "maven": behind("[ERROR] "),
    "maven, compiler": behind("[ERROR] /src/main/java/App.java:[12,34] ", "[ERROR]   "),
    "junit": behind("[ERROR]   CartTest.total:42 ", "[ERROR]   "),
    "junit 5": behind("org.opentest4j.AssertionFailedError: ", ""),
    "java": behind('Exception in thread "main" ', ""),
    "java, cause": behind("Caused by: ", ""),
    "gradle": after("* What went wrong:"),
    "gradle, indented": after("* What went wrong:", "Execution failed for task ':app:test'.", indent="> "),
    "kotlin": behind("e: file:///src/App.kt:3:5 ", ""),
    "npm 6": behind("npm ERR! "),
    "npm 10": behind("npm error "),
    "yarn": behind("➤ YN0000: │ "),
    "make": behind("make: *** ", ""),
    "make, in a folder": behind("make[2]: *** [Makefile:12: all] ", ""),
    "docker compose": behind("web-1  | "),
    "docker compose, named": behind("db  | "),
    "docker build": behind("#12 3.456 "),
    "github actions": behind("##[error]", ""),
    "github actions, times": behind(f"{TIME} "),
    "github actions, both": behind(f"{TIME} ##[error]", f"{TIME} "),
    "github actions, command": behind("::error file=app.py,line=1::", ""),
    "gitlab": behind("2026-11-22T10:00:00.123456Z 01O "),
    "jenkins": behind("[2026-11-22T10:00:00.123Z] "),
    "python logging": behind("2026-11-22 10:00:00,123 ERROR app.module: ", ""),
    "python logging, dashes": behind("2026-11-22 10:00:00,123 - app.module - ERROR - ", ""),
    "python logging, basic": behind("ERROR:root:", ""),
    "python logging, name": behind("2026-11-22 10:00:00,123 ERROR worker: ", ""),
    "python logging, file": behind("2026-11-22 10:00:00,123 [ERROR] app.py:12 - ", ""),
    "loguru": behind("2026-11-22 10:00:00.123 | ERROR    | app.module:run:12 - ", ""),
    "structlog": behind("2026-11-22 10:00:00 [error    ] ", ""),
    "celery": behind("[2026-11-22 10:00:00,123: ERROR/ForkPoolWorker-1] ", ""),
    "gunicorn": behind("[2026-11-22 10:00:00 +0000] [7] [ERROR] ", ""),
    "log4j": behind("2026-11-22 10:00:00,123 ERROR [main] com.shop.Cart (Cart.java:12) - ", ""),
    "logback": behind("10:00:00.123 [main] ERROR c.shop.Cart - ", ""),
    "spring boot": behind("2026-11-22T10:00:00.123Z ERROR 4242 --- [shop] [           main] c.shop.Cart   : ", ""),
    "openstack": behind("2026-11-22 10:00:00.123 4242 ERROR nova.compute.manager [req-8f3a - - -] ", ""),
    "syslog": behind("Nov 22 10:00:00 host app[123]: "),
    "syslog, rfc 5424": behind("<34>1 2026-11-22T10:00:00.123Z host app 123 ID47 - ", ""),
    "journald": behind("2026-11-22T10:00:00+0000 host app[123]: "),
    "dmesg": behind("[  123.456789] "),
    "klog": behind("E1122 10:00:00.123456       1 file.go:12] ", ""),
    "kubectl logs": behind("[pod/web-5d9c7/web] "),
    "containerd": behind("2026-11-22T10:00:00.123456789Z stderr F "),
    "go log": behind("2026/11/22 10:00:00 ", ""),
    "go log, file": behind("2026/11/22 10:00:00 main.go:12: ", ""),
    "zap": behind("2026-11-22T10:00:00.000Z\terror\tserver/main.go:12\t", ""),
    "env_logger": behind("[2026-11-22T10:00:00Z ERROR shop::cart] ", ""),
    "tracing": behind("2026-11-22T10:00:00.123456Z ERROR shop::cart: ", ""),
    "rails": behind("E, [2026-11-22T10:00:00.123456 #4242] ERROR -- : ", ""),
    "nginx": behind("2026/11/22 10:00:00 [error] 123#123: *1 ", ""),
    "postgres": behind("2026-11-22 10:00:00.123 UTC [123] ERROR:  ", ""),
    "tox": behind("py311: "),
    "nox": behind("nox > "),
    "turbo": behind("web:build: "),
    "concurrently": behind("[0] "),
    "ansible": quoted('fatal: [host]: FAILED! => {"changed": false, "msg": @}'),
    "terraform": behind("│ Error: ", "│ "),
    "frame": behind("│ "),
    "json": quoted('{"level":"error","msg":@}'),
    "json, more after it": quoted('{"ts":1732269600.1,"message":@,"pid":7,"ok":false}'),
    "json, ascii": quoted('{"level":"error","error":{"message":@}}', is_ascii=True),
    "json behind a prefix": quoted('web-1  | {"level":"error","msg":@}'),
    "docker's json": lambda lines: [json.dumps({"log": f"{line}\n", "stream": "stderr"}) for line in lines],
    "logfmt": quoted("level=error msg=@"),
    "logfmt, more after it": quoted(f'time="{TIME}" level=error msg=@ component=cart code=5'),
    "colours": behind("\x1b[31m\x1b[1m\x1b[38;5;196m"),
    "colours around": lambda lines: [f"\x1b[0;31m{line}\x1b[0m\x1b[K" for line in lines],
    "links": lambda lines: [f"\x1b]8;;https://x.org/a b\x07{line}\x1b]8;;\x1b\\" for line in lines],
    "crlf": lambda lines: [f"{line}\r" for line in lines],
    "progress": behind(" 10% |#   |\r 90% |### |\r", ""),
    "progress after it": lambda lines: [f"{line}\r 90% |### |" for line in lines],
    "wrapped": wrapped,
    "wrapped behind a prefix": each_wrapped,
    "single quotes": in_quotes("'"),
    "double quotes": in_quotes('"'),
    "backticks": in_quotes("`"),
    "error in quotes": lambda lines: [f"ERROR: {line}" for line in in_quotes("'")(lines)],
    "typographic quotes": lambda lines: [line.replace("'", "\u2019").replace('"', "\u201d") for line in lines],
    "quotes as in json": lambda lines: [line.replace('"', '\\"') for line in lines],
}
