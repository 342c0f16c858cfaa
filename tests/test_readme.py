"""The first example in Python has the types it needs, and the default model needs no torch, as README.md says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import graphmem

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/guides/python.md").read_text(encoding="utf-8")


def checked(folder: Path, **files: str) -> str:
    """Return what `mypy --strict` says of files, as a user runs it: without settings and plugins of ours."""
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--cache-dir", str(folder / "c")]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(
        [*command, "--follow-imports", "silent", *(f"{name}.py" for name in files)],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout


@pytest.mark.long  # mypy reads the whole package, without what it kept of its last run
def test_the_example_is_typed_and_a_wrong_name_is_not_there(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    wrong = "from graphmem import Failur\n"
    narrowed = (
        "from graphmem import Memory, Pattern\n"
        "with Memory() as memory:\n"
        "    record = memory.get('a').record\n"
        "    print(record.insight)\n"
        "    if isinstance(record, Pattern):\n"
        "        print(record.insight.upper(), memory.solutions('a').results[0].record.insight.upper())\n"
    )
    said = checked(tmp_path, example=example, wrong=wrong, narrowed=narrowed)
    assert "example.py" not in said, said
    assert 'wrong.py:1: error: Module "graphmem" has no attribute "Failur"' in said
    assert {int(line.split(":")[1]) for line in said.splitlines() if line.startswith("narrowed.py")} == {4}


def test_a_wrong_name_is_not_there_at_run_time_either() -> None:
    with pytest.raises(ImportError):
        from graphmem import Failur  # type: ignore[attr-defined]  # noqa: F401
    assert set(graphmem.__all__) == set(dir(graphmem))


@pytest.mark.long
def test_the_default_model_needs_no_torch(tmp_path: Path) -> None:
    """So that an installation without extras answers by meaning."""
    code = """
import sys
for name in ("torch", "sentence_transformers", "transformers"):
    sys.modules[name] = None
from graphmem import Memory
Memory.init(".")
with Memory(".") as memory:
    memory.failures.add("the database refuses connections", name="db")
    memory.patterns.add("a cake", "bake it")
    found = memory.query("no connection to the server that stores tables")
    assert found.search == "semantic+lexical", found.search
    assert found.results[0].ref == "failure/db"
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    environment["PYTHONPATH"] = str(ROOT)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
