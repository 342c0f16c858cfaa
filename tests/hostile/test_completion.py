"""What a shell gets to complete can only be a word to it, whatever a branch calls its records."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.sample import data, line, open_memory, write

GRAPHMEM = Path(sys.executable).with_name("graphmem")
HARMLESS = ["thing/José", "thing/a+b@c:1.2/x-y_z", "thing/-rf", "thing/z2-y_z"]
HOSTILE = ["$(touch${IFS}PWN)", r"\$(touch PWN)", "`touch PWN`", "a;touch PWN", "a b", "'", '"', "a'\"$(touch PWN)",
           "~", "*", "=ls", "a|b", "a&b", "a>PWN", "{a,b}", "!!", "#", "a\u200bb", "a^b", "a\\"]  # fmt: skip
PRINTS = {
    "bash": {"_GRAPHMEM_COMPLETE": "complete_bash", "COMP_WORDS": "graphmem get {}", "COMP_CWORD": "2"},
    "zsh": {"_GRAPHMEM_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "graphmem get {}"},
    "fish": {"_GRAPHMEM_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": "graphmem get {}",
             "_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_WORD_TO_COMPLETE": "{}"},
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with open_memory(tmp_path) as memory:
        memory.types.add_entity("thing")
    names = [*(ref.removeprefix("thing/") for ref in HARMLESS), *HOSTILE]
    write(data(tmp_path, "entities/thing"), *(line(kind="entity", type="thing", name=name) for name in names))
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    path = f"{GRAPHMEM.parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "GRAPHMEM_EMBEDDING_MODEL": "none", "LC_ALL": "C.UTF-8", **more}


@pytest.mark.long
@pytest.mark.parametrize("shell", PRINTS)
@pytest.mark.slow
def test_only_names_of_plain_characters_are_offered(store: Path, shell: str) -> None:
    for typed, expected in (
        ("thing/", HARMLESS), ("thi", HARMLESS), ("", HARMLESS), ("-r", []), ("y_z", [HARMLESS[1], HARMLESS[3]]),
    ):  # fmt: skip
        more = {name: value.format(typed) for name, value in PRINTS[shell].items()}
        done = completed(store, more)
        shown = (
            done.stdout.replace("-M 'l:|=* r:|=*' '*: :((", "").replace("))'", "").replace(r"\\:", ":")
        )  # as zsh wants it
        assert set(re.findall(r"thing/[^\"\n]*|-rf", shown)) == set(expected)
        assert not set("$`;&|<>{}!#~*\\'") & set(shown)


def completed(folder: Path, more: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([GRAPHMEM], cwd=folder, env=environment(**more), capture_output=True, text=True, check=True)
    assert done.stderr == ""  # it would be in the prompt
    return done


def test_without_a_store_commands_are_completed_and_nothing_else_is_printed(tmp_path: Path) -> None:
    more = {"_GRAPHMEM_COMPLETE": "complete_bash", "COMP_WORDS": "graphmem sol", "COMP_CWORD": "1"}
    assert completed(tmp_path, more).stdout.split() == ["solutions"]


def test_references_of_the_user_s_own_store_are_completed(
    store: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = tmp_path_factory.mktemp("own")
    with open_memory(own) as memory:
        memory.patterns.add("a push is refused", "sign", name="sign")
    with open_memory(store) as memory:
        memory.patterns.add("a wheel is missing", "build it", name="wheel")
    more = {name: value.format("user:pat") for name, value in PRINTS["fish"].items()}
    assert completed(store, {**more, "GRAPHMEM_USER_STORE": str(own)}).stdout.split() == ["user:pattern/sign"]
    assert completed(store, {**more, "GRAPHMEM_USER_STORE": ""}).stdout.split() == []
    part = {name: value.format("user:sig") for name, value in PRINTS["bash"].items()}
    assert completed(store, {**part, "GRAPHMEM_USER_STORE": str(own)}).stdout.split() == ["user:pattern/sign"]


@pytest.mark.parametrize(
    ("shell", "source"),
    [
        (
            ["zsh", "-f", "-i"],
            b'autoload -Uz compinit && compinit -u -D; eval "$(_GRAPHMEM_COMPLETE=source_zsh graphmem)"\n',
        ),
        (["fish", "--no-config", "-i"], b"_GRAPHMEM_COMPLETE=source_fish graphmem | source\n"),
    ],
    ids=["zsh", "fish"],
)
def test_the_tab_key_completes_in_other_shells(store: Path, shell: list[str], source: bytes) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    with terminal_of(shell, store) as terminal:
        os.write(terminal, source)
        os.write(terminal, b"echo sour''ced\n")
        assert b"sourced" in until(terminal, b"sourced")
        for keys, wanted in (
            (b"graphmem sol\t", b"solutions"),
            (b"graphmem get thing/a\t", b"thing/a+b@c:1.2/x-y_z"),
            (b"graphmem get c:1.2\t", b"thing/a+b@c:1.2/x-y_z"),  # a part of a name
        ):
            os.write(terminal, keys)
            shown = until(terminal, wanted)
            assert wanted in plain(shown), shown
            assert b"graphmem:" not in shown
            os.write(terminal, b"\x15")
    assert not list(store.rglob("PWN"))


@pytest.mark.long
def test_a_bash_that_completes_and_runs_a_line_runs_nothing_else(store: Path) -> None:
    """On a real terminal: the tab key, then Enter."""
    with terminal_of(["bash", "--norc", "--noprofile", "-i"], store) as terminal:
        source = b'source <(_GRAPHMEM_COMPLETE=source_bash graphmem); echo "sour""ced"\n'
        for keys, wanted in (
            (source, b"sourced"),
            (b"graphmem get thi\t", b"ng/"),
            (b"\t\t", b"Jos"),
            (b"J\t\n", b"type: "),
            (b"graphmem get thing/$\t\n", b'"?\nready> '),
            (b"graphmem get \t\t\n", b'"?\nready> '),
            (b"graphmem get x-y\t", b"thing/a+b@c:1.2/x-y_z "),  # a part of a name
            (b"\x15graphmem get y_z\t", b"y_z\x07"),  # of several
            (b"\t", b"ready> graphmem get y_z"),  # they are listed, and the word stays
            (b"\x15graphmem get z2\t", b"z2-y_z"),
        ):
            os.write(terminal, keys)
            shown = until(terminal, wanted)
            assert wanted in plain(shown), shown
    assert not list(store.rglob("PWN"))


@contextmanager
def terminal_of(shell: list[str], folder: Path) -> Iterator[int]:
    """Yield a terminal with a shell in a folder, which is killed at the end."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(shell[0], shell, environment(PS1="ready> ", TERM="dumb"))
    try:
        yield terminal
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)


def until(terminal: int, wanted: bytes) -> bytes:
    """Return what a terminal shows until a text is in it, for at most 20 seconds."""
    shown, end = b"", time.monotonic() + 20
    while wanted not in plain(shown) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536)
    return shown


def plain(shown: bytes) -> bytes:
    """Return what a terminal shows without its escape sequences."""
    return re.sub(rb"\x1b(\[[0-9;?>=]*[a-zA-Z]|[()=>][A-Z0-9]?)|[\x08\r]", b"", shown)
