"""Which commands check something, and when two runs are of one check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.logs.check import CheckCommand, are_same, checks, commands, settles


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("cd api && CI=1 uv run pytest -q tests 2>&1 | tail -20", ["pytest"]),
        ("python -m pytest", ["pytest"]),
        ("python3.12 scripts/check.py --x", ["python scripts/check.py"]),
        ("python -c 'print(1)'", []),
        ("mise run fmt && mise run lint", ["mise fmt", "mise lint"]),
        ("npm run lint", ["npm lint"]), ("npm test -- --grep foo", ["npm test"]), ("npm install", []), ("npm run", []),
        ("npx tsc --noEmit", ["tsc"]), ("./gradlew test", ["gradlew test"]), ("make", ["make"]),
        ("make lint", ["make lint"]), ("docker build -t x .", ["docker build"]), ("node build.js", ["node build.js"]),
        ("node", []), ("./run-tests.sh --all", ["sh run-tests.sh"]), ("bash ci/check.sh", ["sh check.sh"]),
        ("bash -c 'x'", []), ("poetry run mypy src", ["mypy"]), ("uv sync", []), ("uv add pytest", []), ("uv run", []),
        ("timeout 60 go test ./...", ["go test"]), ("timeout -k 5 60 nice -n 10 mypy", ["mypy"]),
        ("time bundle exec rspec", ["rspec"]), ("sudo -u web pnpm exec tsc", ["tsc"]),
        ("npm exec -- eslint .", ["eslint"]),
        ("docker compose -f ci.yml exec -T web pytest", ["pytest"]),
        ("docker-compose run --rm web uv run mypy", ["mypy"]),
        ("docker run -v .:/w -w /w node:20 npm test", ["npm test"]), ("docker run web", ["docker run"]),
        ("uvx ruff check", ["ruff check"]), ("sudo", []), ("env A=1 pytest", ["pytest"]), ("ls -la", []),
        ("grep -rn test src", []), ("rm -rf build", []), ("cat <<EOF | python\nx\nEOF", []),
        ("cargo run -- test", ["cargo run"]), ("docker logs web", []),
        ("pytest 2> log.txt; echo 'a", ["pytest"]), ("ruff check . > out 2>&1", ["ruff check"]), ("go", []), ("", []),
    ],
)  # fmt: skip
def test_the_checks_of_a_command_line(command: str, names: list[str]) -> None:
    assert [check.name for check in checks(command)] == names


def test_targets_and_filters_are_read() -> None:
    (found,) = checks("cd api && pytest -q tests/test_a.py::TestX::test_y -k 'slow' --maxfail 1 --tb=short ./lib/")
    assert found == CheckCommand("pytest", ("api/tests/test_a.py", "api/lib"), ("test_y", "slow"), folder="api")
    (found,) = checks("go test -tags=integration ./cmd/... -run=TestX -count 1")
    assert found == CheckCommand("go test", ("cmd",), ("TestX",), ("-tags=integration",))


@pytest.mark.parametrize(
    ("failed", "passed", "output", "is_same"),
    [
        ("pytest -q", "pytest", "", True),
        ("pytest tests/a.py", "pytest tests", "", True),
        ("pytest tests/a.py", "pytest tests/b.py", "", False),
        ("pytest", "mypy", "", False),
        ("go test ./session", "go test ./cmd/cli/session -v", "", True),
        ("go test ./...", "go test ./cmd", "", True),
        ("pytest", "pytest -k test_login", "FAILED test_login - boom", True),
        ("pytest", "pytest -k test_login", "FAILED test_other - boom", False),
        ("pytest -k test_login", "pytest -k test_login", "", True),
        ("npm run lint", "npm run test", "", False),
    ],
)
def test_a_pass_ends_the_failure_of_the_same_check(failed: str, passed: str, output: str, is_same: bool) -> None:
    assert are_same(checks(failed)[0], checks(passed)[0], output) is is_same


@pytest.mark.parametrize(
    ("failed", "passed", "tests", "is_settled"),
    [
        ("pytest tests/a.py", "pytest", [], True),
        ("pytest tests/a.py -k login", "pytest -x --tb=short tests", [], True),
        ("cd api && pytest tests", "cd api && pytest", [], True),
        ("cd api && pytest", "cd web && pytest", [], False),
        ("go test ./cart/...", "go test -v ./...", [], True),
        ("go test ./...", "go test ./cart", [], False),
        ("uv run pytest tests/a.py::test_x", "pytest tests/a.py", [], True),
        ("npx vitest run src/a.test.ts", "npx vitest run", [], True),
        ("pytest", "pytest tests/a.py", ["tests/a.py::test_x"], True),
        ("pytest", "pytest tests/a.py::test_x", ["tests/a.py::test_x"], True),
        ("pytest", "pytest tests/a.py::test_y", ["tests/a.py::test_x"], False),
        ("pytest", "pytest tests/b.py", ["tests/a.py::test_x"], False),
        ("pytest", "pytest tests/a.py", ["tests/a.py::test_x", "tests/b.py::test_y"], False),
        ("pytest -m slow", "pytest", [], False),
        ("pytest tests/a.py -k login", "pytest tests -k logout", [], False),
        ("pytest tests/a.py", "pytest tests -k logout", [], False),
        ("cargo test -p cart", "cargo test -p shop", [], False),
        ("npm run lint", "npm run lint -- --fix", [], False),
        ("make -C cart test", "make -C shop test", [], False),
        ("python manage.py test cart", "python manage.py test shop", [], False),
        ("bash ci.sh cart", "bash ci.sh shop", [], False),
        ("pytest tests/abc.py", "pytest tests/a", [], False),
    ],
)
def test_a_pass_settles_a_failure_where_it_looked_at_all_that_failed(
    failed: str, passed: str, tests: list[str], is_settled: bool
) -> None:
    assert settles(checks(passed)[0], checks(failed)[0], tests) is is_settled


def test_formatters_are_known() -> None:
    assert [check.is_formatter for check in checks("mise run fmt && black . && pytest")] == [True, True, False]


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    checks(f"pytest {text}")
    assert all(words for words in commands(text))
