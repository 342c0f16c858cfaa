"""Whether two problems are the same, the same rule for other names, or others."""

from itertools import product

import pytest

from graphmem.core.logs.comparison import compare, judged
from graphmem.core.logs.diagnosis import diagnose, statement
from graphmem.kernel.model.failure import Identity
from graphmem.kernel.model.verdict import Verdict

TRACE = (
    'Traceback (most recent call last):\n  File "/srv/app/{file}", line {line}, in {function}\n    {code}\n{error}\n'
)
GO = (
    "panic: runtime error: index out of range [{n}] with length 3\n\ngoroutine 1 [running]:\n"
    "main.{f}(...)\n\t/home/a/x/main.go:{n} +0x1d\n"
)

# What was recorded, an output, and the verdict; each is a kind, not a sample.
PAIRS: dict[str, tuple[str, str, Verdict]] = {
    "another place and machine": (
        "ModuleNotFoundError: No module named 'yaml'",
        TRACE.format(
            file="a.py", line=3, function="load", code="import x", error="ModuleNotFoundError: No module named 'yaml'"
        ),
        "same",
    ),
    "another name": ("undefined: ParseCart", "# shop\n./cart.go:4:9: undefined: loadRates\n", "same_rule"),
    "a place before it, a stamp of CI": (
        "undefined: ParseCart",
        "2026-08-28T23:46:56.2682907Z ./a/b.go:25:15: undefined: ParseCart\n"
        "##[error]Process completed with exit code 1.\n",
        "same",
    ),
    "another code, as alike as can be": (
        "error TS2304: Cannot find name 'x'.", "src/a.ts(3,4): error TS2552: Cannot find name 'x'.\n", "other",
    ),
    "another complaint of the same linter": (
        'a.go:3:1: directive `//nolint:errcheck` is unused for linter "errcheck" (nolintlint)',
        "b.go:9:2: directive `//nolint:gosec` should provide explanation such as `//nolint // why` (nolintlint)\n",
        "same_rule",
    ),
    "the same complaint of it": (
        'a.go:3:1: directive `//nolint:errcheck` is unused for linter "errcheck" (nolintlint)',
        'b.go:9:2: directive `//nolint:gosec,lll` is unused for linter "gosec" (nolintlint)\n', "same",
    ),
    "another class": ("KeyError: 'port'", "ValueError: 'port'", "other"),
    "another word that turns it": (
        "ssl.SSLError: certificate verify failed: unable to get local issuer certificate",
        "ssl.SSLError: certificate verify failed: certificate has expired", "other",
    ),
    "another status": (
        "Error: request failed with status code 401", "Error: request failed with status code 403", "other",
    ),
    "an expired port of the system": (
        "dial tcp 10.0.0.4:51211: connect: connection refused",
        "dial tcp 10.9.0.4:60122: connect: connection refused", "same",
    ),
    "another service": (
        "Error: connect ECONNREFUSED 127.0.0.1:5432", "Error: connect ECONNREFUSED 127.0.0.1:6379", "same_rule",
    ),
    "a path elsewhere, with the same end": (
        "Error: Cannot find module '/home/dev/shop/src/money.js'",
        "Error: Cannot find module '/builds/acme/shop/src/money.js'", "same",
    ),
    "another file": (
        "Error: Cannot find module '/home/dev/shop/src/money.js'",
        "Error: Cannot find module '/home/dev/shop/src/tax.js'", "same_rule",
    ),
    "an old and a new npm": (
        "npm ERR! missing script: build",
        "npm error missing script: build\nnpm error A complete log is in x\n", "same",
    ),
    "the same bug": (GO.format(n=5, f="total"), GO.format(n=9, f="total"), "same"),
    "the same message from another function": (GO.format(n=5, f="total"), GO.format(n=5, f="rank"), "other"),
    "a message that tells nothing, and no function": (
        "panic: runtime error: index out of range [5] with length 3", GO.format(n=5, f="rank"), "unclear",
    ),
    "only that a step failed": ("make: *** [all] Error 2", "make: *** [all] Error 2", "unclear"),
    "the step that failed is the same, the cause is not": (
        "a.c:3:5: error: use of undeclared identifier 'x'\nmake: *** [all] Error 1",
        "b.c:9:1: error: unknown type name 'u8'\nmake: *** [all] Error 1", "unclear",
    ),
    "one of two problems of a record is missing": (
        "a.go:1:1: undefined: one\na.go:2:2: undefined: two", "a.go:1:1: undefined: one", "same_rule",
    ),
    "quoted by somebody": (
        "ModuleNotFoundError: No module named 'yaml'",
        "The job stops with No module named 'yaml' since Monday.", "same",
    ),
    "JSON around it": (
        "dial tcp: lookup db.acme: no such host",
        '{"level":"error","msg":"dial tcp: lookup db.acme: no such host"}', "same",
    ),
    "a language that is not English": (
        "Datei oder Verzeichnis nicht gefunden: 'a.txt'",
        "cat: Datei oder Verzeichnis nicht gefunden: 'b.txt'", "same_rule",
    ),
    "a test, by its title": (
        "--- FAIL: TestTotal (0.00s)\n    cart_test.go:7: total is wrong",
        "--- FAIL: TestTotal (0.31s)\n    cart_test.go:19: total is wrong\nFAIL\n", "same",
    ),
    "the same check in another test": (
        "--- FAIL: TestTotal (0.00s)\n    cart_test.go:7: total is wrong",
        "--- FAIL: TestRank (0.31s)\n    cart_test.go:19: total is wrong\nFAIL\n", "other",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_an_output_is_compared_with_what_was_recorded(name: str) -> None:
    recorded, output, verdict = PAIRS[name]
    found = judged(statement(recorded), diagnose(output).problems or statement(output))
    assert found.verdict == verdict, found


def test_a_comparison_is_the_same_from_either_side() -> None:
    problems = [one for pair in PAIRS.values() for text in pair[:2] for one in statement(text)]
    for one, other in product(problems, problems):
        assert compare(one, other).verdict == compare(other, one).verdict, (one, other)
    for one in problems:
        assert compare(one, one).verdict in ("same", "unclear"), one


@pytest.mark.parametrize(("identity", "verdict"), [(None, "same_rule"), ("rule", "same"), ("names", "same_rule")])
def test_a_record_may_say_what_its_fix_holds_for(identity: Identity | None, verdict: Verdict) -> None:
    (one,), (other,) = (statement(f"src/a.py:1:1: F401 '{name}' imported but unused") for name in ("os", "re"))
    assert compare(one, other, identity).verdict == verdict


@pytest.mark.parametrize(("identity", "verdict"), [(None, "same_rule"), ("rule", "same")])
def test_who_records_may_say_that_any_complaint_of_a_linter_has_one_fix(
    identity: Identity | None, verdict: Verdict
) -> None:
    recorded, output, _ = PAIRS["another complaint of the same linter"]
    (one,), (other,) = statement(recorded), statement(output)
    assert compare(one, other, identity).verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("error: migration {} failed", "same_rule"),
        ("Uploads hang on Android {}", "same_rule"),
        ("ValueError: cannot concatenate along axis {}", "same_rule"),
        ("Error: the job was killed after {}2 ms", "same"),
        ("panic: runtime error: index out of range [{}] with length 3\n\tmain.total(0x1)\n\t\t/srv/a.go:7", "same"),
        ("FAILED tests/test_api.py::test_list - assert {} == 200", "same"),
    ],
)
def test_a_number_tells_unless_a_run_changes_it_or_a_function_or_test_decides(text: str, verdict: Verdict) -> None:
    one, other = (statement(text.format(number)) for number in (14, 15))
    assert judged(one, other).verdict == verdict


def test_two_records_are_one_only_with_the_same_numbers_and_paths() -> None:
    one, other = (statement(f"FAILED tests/test_api.py::test_list - assert {n} == 200") for n in (401, 500))
    assert judged(one, other).verdict == "same"
    assert judged(one, other, is_exact=True).verdict == "same_rule"


def test_a_path_after_a_code_tells_which_file_it_is() -> None:
    text = "Error: ENOENT: no such file or directory, open '/srv/app/config/{}.json'"
    assert judged(statement(text.format("prod")), statement(text.format("dev"))).verdict == "same_rule"
