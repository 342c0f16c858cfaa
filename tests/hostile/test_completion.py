"""What a shell gets to complete can only be a word to it, whatever a branch calls its records."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sample import data, line, open_memory, write

GRAPHMEM = Path(sys.executable).with_name("graphmem")
HARMLESS = ["thing/José", "thing/a+b@c:1.2/x-y_z", "thing/-rf"]
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


@pytest.mark.parametrize("shell", PRINTS)
def test_only_names_of_plain_characters_are_offered(store: Path, shell: str) -> None:
    for typed, expected in (("thing/", HARMLESS), ("thi", HARMLESS), ("", HARMLESS), ("-r", [])):
        more = {name: value.format(typed) for name, value in PRINTS[shell].items()}
        done = subprocess.run(
            [GRAPHMEM], cwd=store, env=environment(**more), capture_output=True, text=True, check=True
        )
        shown = done.stdout.replace("'*: :((", "").replace("))'", "").replace(r"\\:", ":")  # as zsh wants it
        assert set(re.findall(r"thing/[^\"\n]*|-rf", shown)) == set(expected)
        assert not set("$`;&|<>{}!#~*\\'") & set(shown)


def test_a_bash_that_completes_and_runs_a_line_runs_nothing_else(store: Path) -> None:
    """On a real terminal: the tab key, then Enter."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(store)
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment(PS1="ready> ", TERM="dumb"))
    try:
        source = b'source <(_GRAPHMEM_COMPLETE=source_bash graphmem); echo "sour""ced"\n'
        for keys, wanted in (
            (source, b"sourced"),
            (b"graphmem get thi\t", b"ng/"),
            (b"\t\t", b"Jos"),
            (b"J\t\n", b"type: "),
            (b"graphmem get thing/$\t\n", b"ready> "),
            (b"graphmem get \t\t\n", b"ready> "),
        ):
            os.write(terminal, keys)
            shown = until(terminal, wanted)
            assert wanted in shown, shown
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)
    assert not list(store.rglob("PWN"))


def until(terminal: int, wanted: bytes) -> bytes:
    """Return what a terminal shows until a text is in it, for at most 20 seconds."""
    shown, end = b"", time.monotonic() + 20
    while wanted not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536)
    return shown
