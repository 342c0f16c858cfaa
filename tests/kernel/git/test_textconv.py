"""Rows for people, one field a line, as ``git diff`` shows them."""

import subprocess
import sys
from pathlib import Path

from graphmem import Memory
from graphmem.doors.cli.app import run
from graphmem.kernel.git.textconv import described
from tests.repository import Repository
from tests.sample import CREATED, data, edge, failure, line, open_memory


def test_a_row_is_a_block_headed_by_its_reference_one_field_a_line_and_one_item_a_line() -> None:
    rows = [
        failure("b", cost=3, tags=["x", "y"], fix="first\nsecond", edited={"fix": CREATED}),
        failure("a", "It hangs"),
        line(kind="entity", type="service", name="shop", value="Python"),
        edge("failure/a", "causes", "failure/b", weight=0.5),
        line(kind="feedback", ref="failure/a", helped=True, at=CREATED, task="ci/7"),
        line(kind="task", name="sso/001-x", campaign="campaign/sso", objective="X", idioms={"required": ["a"]}),
    ]
    assert described(b"".join(rows)) == (
        f"failure/a\n  created_at: {CREATED}\n  name: a\n  trigger: It hangs\n"
        "\n"
        f"failure/a -causes-> failure/b\n  created_at: {CREATED}\n  weight: 0.5\n"
        "\n"
        f"failure/a for ci/7\n  at: {CREATED}\n  created_at: {CREATED}\n  helped: true\n"
        "\n"
        f"failure/b\n  cost: 3\n  created_at: {CREATED}\n  edited.fix: {CREATED}\n"
        "  fix:\n    first\n    second\n  name: b\n  tags:\n    - x\n    - y\n  trigger: b went wrong\n"
        "\n"
        f"service/shop\n  created_at: {CREATED}\n  name: shop\n  value: Python\n"
        "\n"
        f"task/sso/001-x\n  campaign: campaign/sso\n  created_at: {CREATED}\n"
        "  idioms.required:\n    - a\n  name: sso/001-x\n  objective: X\n"
    )


def test_a_renamed_record_keeps_its_heading_so_that_only_its_name_differs() -> None:
    old, new = described(failure("a", "t")), described(failure("b", "t", key="a"))
    assert old.replace("  name: a", "  name: b") == new


def test_lines_that_are_no_rows_stand_at_the_end_as_they_are() -> None:
    bad = [b"<<<<<<< HEAD", b'{"kind":"failure"}', b'{"kind":["x"],"name":1}', b"[1]", b"\xff{", b'{"a":1,"a":2}']
    assert described(b"\n".join([*bad, failure("a", "t")])) == (
        f"failure/a\n  created_at: {CREATED}\n  name: a\n  trigger: t\n\n"
        '<<<<<<< HEAD\n{"kind":"failure"}\n{"kind":["x"],"name":1}\n[1]\n\\xff{\n{"a":1,"a":2}\n'
    )


def test_no_text_of_a_row_steers_the_terminal_or_makes_a_heading() -> None:
    shown = described(
        failure("a", "\x1b[2J\u202e\r", tags=["x\nfailure/b"]) + line(kind="entity", type="t", name="x\ny")
    )
    assert not set(shown) & set("\x1b\u202e\r")
    assert [text for text in shown.split("\n") if text and not text.startswith(" ")] == ["failure/a", "t/x\\ny"]


def test_git_diff_shows_the_field_that_changed(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    with open_memory(repository.folder) as memory:
        prepare(memory)
        store = repository.folder / ".graphmem"
        (store / ".gitattributes").write_text("*.ndjson diff=graphmem\n")
        repository.commit("one")
        memory.edit("hang", {"cost": 5})
    python = f"env PYTHONPATH={Path(__file__).parents[2]} {sys.executable}"
    shown = repository("-c", f"diff.graphmem.textconv={python} -m graphmem textconv", "diff", "-U0")
    assert "@@ failure/it-hangs-768b76\n-  cost: 3\n+  cost: 5\n" in shown


def prepare(memory: Memory) -> None:
    memory.failures.add("It burns", name="burn")
    memory.failures.add("It hangs", name="hang", cost=3)


def test_a_file_that_is_not_there_is_an_error_and_its_name_is_inert(tmp_path: Path) -> None:
    call = [sys.executable, "-m", "graphmem", "textconv", "no\x1bfile"]
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, check=False,
                          env={"PYTHONPATH": str(Path(__file__).parents[2])})  # fmt: skip
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "error: 'no\\x1bfile' cannot be read: no such file or directory\n"
    assert run(["textconv", str(tmp_path / "nothing")]) == 4


def test_it_loads_neither_models_nor_the_parser_of_the_command_line(tmp_path: Path) -> None:
    path = data(tmp_path, "failure")
    path.write_bytes(failure("a"))
    code = (
        "import sys\nfrom graphmem.__main__ import main\n"
        f"sys.argv = ['graphmem', 'textconv', {str(path)!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('pydantic', 'typer', 'sqlite3', 'kuzu') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": str(Path(__file__).parents[2])})  # fmt: skip
    assert done.stdout.startswith("failure/a\n")
    assert done.stdout.endswith("[]\n")
