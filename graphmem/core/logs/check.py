"""
Checks: commands that say whether something is right, such as tests, builds, linters and type checkers.

Two runs are of one check where program and sub-command are the same and they share a target; options may differ. A pass
settles a failure where it looked at all that failed, in the same way.
"""

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from graphmem.core.logs.command_line import ASSIGNMENT, CHECKERS, MOST_CHARS, RUNNERS
from graphmem.patterns import lazy_re

BREAKS = frozenset(("&&", "||", ";", "|", "|&", "&", "\n", "(", ")", ";;"))
HINT = lazy_re(
    r"test|spec|lint|check|build|compile|make|type|mypy|pyright|ruff|flake8|tsc|vet|clippy|fmt|format|run|go |cargo|npm"
    r"|yarn|pnpm|bun|node|python|gradle|mvn|tox|nox|docker|terraform|\./|just|task|bash |sh |rustc|gcc|g\+\+"
    r"|clang|cmake"
    r"|ctest|jest|mocha|vite|eslint|prettier|rake|rspec|phpunit|dotnet|swift|deno|uv|poetry|hatch|pdm|bazel|ansible|helm"
)
PACKERS = frozenset(
    "uv uvx poetry pdm hatch npx pnpx bunx pipx rye conda bundle xvfb-run env time timeout nice nohup sudo stdbuf exec"
    " command".split()
)
SHELLS = frozenset("bash sh zsh dash".split())
COMPILERS = (
    frozenset(
        "cc gcc g++ c++ clang clang++ rustc javac kotlinc scalac swiftc ghc cmake ninja meson bazel buck"
        " bazelisk msbuild"
        " docker docker-compose terraform tofu helm ansible-playbook ansible-lint golangci-lint staticcheck hadolint"
        " prettier black isort pre-commit rubocop stylelint markdownlint yamllint swiftlint ktlint buf"
        " sphinx-build mkdocs"
        " hugo protoc sqlfluff pip pip3 alembic vite webpack rollup esbuild next playwright cypress pod"
        " xcodebuild psql".split()
    )
    | CHECKERS
)
RUNS = frozenset("run exec r x".split())  # sub-commands whose next word is the name of what runs
FORMATTERS = lazy_re(r"^(?:\S+ )?(?:fmt|format|gofmt|goimports|black|isort|prettier)$")
FILTERS = frozenset(
    "-run -k -t --filter --grep -g --testNamePattern --tests -m -R --test -only-testing --match".split()
)
VALUED = frozenset(  # options whose value is the next word, and no target
    "-n -p -C -c -o -f -j -timeout -count -tags --timeout --config --maxfail --tb --cov --reporter --manifest-path"
    " --features --package -w --workspace --project --target --profile -count -covermode -coverprofile -W -r".split()
)
BUILDING = frozenset("build buildx compose run".split())  # what of docker checks something
CONTAINERS = frozenset("docker docker-compose podman".split())
ELSEWHERE = frozenset("exec run".split())  # of docker: what follows names a container, and then what runs in it
WITH_VALUE = frozenset(  # options of wrappers whose value is the next word
    "-e -f -k -n -u -v -w --env --env-file --file --group --name --network --profile --user --volume --with"
    " --workdir".split()
)
OF_OUTPUT = lazy_re(  # options that say how a run is shown, how long it may take or where it stops
    r"-[vqxslj]+|-r[A-Za-z]+|-(?:n|j|count|timeout)(?:=.*|\d+)?|--(?:no-)?(?:verbose|quiet|silent|bail|stacktrace|colors?"
    r"|header|summary|nocapture|fail-?fast|exitfirst|showlocals|tb|durations|maxfail|cov|coverage|cov-[\w-]+|reporter"
    r"|format|output-format|timeout|jobs)(?:=.*)?"
)
SETS_UP = frozenset("sync add install lock remove pip create init tool".split())
ALL = frozenset(("", ".", "./...", "...", "all"))


class CheckCommand(NamedTuple):
    """
    One command of a command line that checks something.

    Attributes:
        name: program and sub-command, such as ``go test``.
        targets: files, folders and packages that it looks at, below the folder of the project where that is known.
        filters: names of tests that it is limited to.
        options: whatever else says what it looks at and how, sorted.
        folder: where it runs, as the command line changes to it; empty where it does not.
    """

    name: str
    targets: tuple[str, ...]
    filters: tuple[str, ...]
    options: tuple[str, ...] = ()
    folder: str = ""

    @property
    def is_formatter(self) -> bool:
        """Return whether it changes the form of files and decides nothing."""
        return FORMATTERS.match(self.name) is not None


@lru_cache(512)
def checks(command: str) -> tuple[CheckCommand, ...]:
    """Return the checks of a command line, in its order; none where it does something else."""
    text = command[:MOST_CHARS]
    if not HINT.search(text):
        return ()
    folder, found = "", []
    for words in commands(text):
        if words[0] == "cd" and len(words) > 1:
            folder = words[1]
        elif check := _check_of(words, folder):
            found.append(check._replace(folder=folder))
    return tuple(found)


def commands(text: str) -> list[list[str]]:
    """Return the words of each command of a command line."""
    reader = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    reader.whitespace, reader.commenters, reader.whitespace_split = " \t\r", "", True
    found: list[list[str]] = [[]]
    try:
        for word in reader:
            if word in BREAKS or (word.strip("\n;") == "" and word):
                found.append([])
            elif word.startswith("<<"):
                break  # the text of a document follows
            else:
                found[-1].append(word)
    except ValueError:  # a quote that does not end
        pass
    return [words for words in map(_without_redirections, found) if words]


def _without_redirections(words: list[str]) -> list[str]:
    """Return words without what only says where output goes, and without assignments before the program."""
    kept: list[str] = []
    is_target = False
    for word in words:
        if is_target:
            is_target = False
        elif set(word) <= set("<>&") or word in (">|",):
            is_target = True
            if kept and kept[-1].isdigit():
                kept.pop()
        elif kept or not ASSIGNMENT.fullmatch(f"{word} "):
            kept.append(word)
    return kept


def _check_of(words: list[str], folder: str) -> CheckCommand | None:
    """Return the check that a command is, if it is one."""
    words = _unwrapped(words)
    if not words:
        return None
    name, rest = words[0].rpartition("/")[2], words[1:]
    if re.fullmatch(r"python[\d.]*", name):
        if rest[:1] == ["-m"] and len(rest) > 1:
            name, rest = rest[1], rest[2:]
        elif rest and not rest[0].startswith("-"):
            return CheckCommand(f"python {rest[0]}", (), (), tuple(rest[1:]))
        else:
            return None
    is_script = "/" in words[0] and not words[0].startswith(("/", "~")) and name not in RUNNERS
    if name in SHELLS or is_script:
        script, *rest = (rest or [""]) if name in SHELLS else words
        if not script or script.startswith("-"):
            return None
        return CheckCommand(f"sh {script.rpartition('/')[2]}", (), (), tuple(rest))
    if name == "docker" and rest[:1] and rest[0] not in BUILDING:
        return None
    if name == "vitest" and rest[:1] == ["run"]:
        rest = rest[1:]
    if name in COMPILERS or name == "unittest":
        sub = rest[0] if name in ("docker", "terraform", "helm", "ruff", "pip", "pip3", "alembic") and rest else ""
        return _with_targets(f"{name} {sub}".rstrip(), rest[1:] if sub else rest, folder)
    if name in RUNNERS or name == "mise":
        return _of_runner(name, rest, folder)
    return None


def _unwrapped(words: list[str]) -> list[str]:
    """Return a command without what only says where and how it runs; nothing where no command is left."""
    while words:
        name, rest = words[0].rpartition("/")[2], words[1:]
        if name in PACKERS:
            words = _after_options(rest[1:] if rest[:1] and rest[0] in RUNS else rest)
            if words and words[0] in SETS_UP:
                return []
        elif name in CONTAINERS and (inner := _in_container(rest)):
            words = inner
        elif name in RUNNERS and rest[:1] and rest[0] in ("exec", "x", "dlx"):
            words = _after_options(rest[1:])
        else:
            return words
    return []


def _in_container(words: list[str]) -> list[str]:
    """Return what docker runs in a container; nothing where it runs what the container is made for."""
    place = next((place for place, word in enumerate(words) if word in ELSEWHERE), len(words))
    return _after_options(words[place + 1 :])[1:]


def _after_options(words: list[str]) -> list[str]:
    """Return what follows the options, numbers and assignments that words begin with."""
    while words and (words[0][:1] in "-0123456789" or ASSIGNMENT.fullmatch(f"{words[0]} ")):
        words = words[2 if words[0] in WITH_VALUE else 1 :]
    return words


def _of_runner(name: str, rest: list[str], folder: str) -> CheckCommand | None:
    """Return the check that a program runs which runs others, such as ``npm run lint``."""
    said = [word for word in rest if not word.startswith("-")]
    if name == "node":
        return CheckCommand(f"node {said[0]}", (), (), tuple(rest)) if said else None
    if name in ("mvn", "gradle", "gradlew", "rake", "sbt", "just", "make"):
        return CheckCommand(" ".join([name, *said[:1]]), (), (), tuple(word for word in rest if word not in said[:1]))
    if said[:1] and said[0] in RUNS and name not in ("go", "cargo"):
        return _with_targets(f"{name} {said[1]}", _after(rest, said[1]), folder) if len(said) > 1 else None
    if not said or said[0] in ("install", "i", "add", "ci", "get", "mod", "init", "use", "ls", "trust", "env", "list"):
        return None
    return _with_targets(f"{name} {said[0]}", _after(rest, said[0]), folder)


def _after(words: list[str], word: str) -> list[str]:
    """Return the words after one of them."""
    return words[words.index(word) + 1 :]


def _with_targets(name: str, words: list[str], folder: str) -> CheckCommand:
    """Return a check with what its arguments say of its targets and filters."""
    targets, filters, options, is_filter, is_mark, is_value, is_shown = [], [], list[str](), *[False] * 4
    for word in words:
        option, is_given, value = word.partition("=")
        if is_filter:
            filters.append(word)
            options += [word] if is_mark else []
            is_filter = False
        elif is_value:
            is_value = False
            options += [] if is_shown else [word]
        elif option in FILTERS:
            filters += [value] if is_given else []
            is_filter, is_mark = not is_given, word == "-m"  # which a project's settings may name too
        elif word.startswith("-"):
            is_value, is_shown = word in VALUED, OF_OUTPUT.fullmatch(word) is not None
            options += [] if is_shown else [word]
        else:
            path, _, test = word.partition("::")
            targets.append(_placed(path, folder))
            filters += [test.rpartition("::")[2]] if test else []
    return CheckCommand(name, tuple(targets), tuple(filters), tuple(sorted(options)))


def _placed(path: str, folder: str) -> str:
    """Return a target with the folder that its command changed to, in one spelling."""
    path = path.removeprefix("./").rstrip("/")
    if path in ALL:
        path = ""
    path = path.removesuffix("/...")
    return "/".join(part for part in (folder.rstrip("/") if folder not in (".", "") else "", path) if part)


def are_same(failed: CheckCommand, passed: CheckCommand, output: str) -> bool:
    """
    Return whether a pass of one check says that what failed in another is right now.

    Args:
        output: of the run that failed: a pass that is limited to some tests must be limited to those named there.
    """
    if failed.name != passed.name:
        return False
    if (
        failed.targets
        and passed.targets
        and not any(_meet(one, other) for one in failed.targets for other in passed.targets)
    ):
        return False
    if passed.filters and passed.filters != failed.filters:
        words = [word for text in passed.filters for word in re.findall(r"\w{4,}", text)]
        return any(word in output for word in words) or any(word in text for word in words for text in failed.filters)
    return True


def settles(passed: CheckCommand, failed: CheckCommand, tests: Sequence[str] = ()) -> bool:
    """
    Return whether a pass of one check is one of another, which failed: it looked at all that the other looked at.

    Args:
        tests: those that failed, where they are known, as ``FILE`` or ``FILE::NAME``: a pass of these will do.
    """
    if (passed.name, passed.options) != (failed.name, failed.options):
        return False
    seen, wanted = passed.targets or (passed.folder,), failed.targets or (failed.folder,)
    if passed.filters in ((), failed.filters) and all(any(_is_below(one, whole) for whole in seen) for one in wanted):
        return True
    files = [test.partition("::")[0] for test in tests]
    return (
        bool(tests)
        and all(any(_is_below(file, whole) for whole in seen) for file in files)
        and all(not passed.filters or test.rpartition("::")[2] in passed.filters for test in tests)
    )


def _is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it; everything is below an empty one."""
    return folder in ("", ".", path) or path.startswith(f"{folder}/")


def _meet(one: str, other: str) -> bool:
    """Return whether a target is within another, wherever each was named from."""
    short, long = sorted((one, other), key=len)
    return not short or long == short or f"/{short}/" in f"/{long}/"
