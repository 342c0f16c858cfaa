"""The shell scripts of the checkout: how they end."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TRAPS = [
    pytest.param(path, line, id=path.name)
    for path in sorted((*ROOT.glob(".bin/*"), ROOT / ".ci/run"))
    if path.is_file()
    for line in path.read_text("utf-8").splitlines()
    if line.startswith("trap ") and line.endswith(" EXIT")
]


@pytest.mark.parametrize(("path", "trap"), TRAPS)
def test_what_runs_at_the_end_of_a_script_leaves_the_status_alone(path: Path, trap: str, tmp_path: Path) -> None:
    # With nothing left to end, as after a run in which all went well.
    shell = "/bin/bash" if "bash" in path.read_text("utf-8").splitlines()[0] else "/bin/sh"
    script = f"set -eu\nwork={tmp_path}/work typed={tmp_path}/typed mypy=999999999\n{trap}\n"
    assert [subprocess.run([shell, "-c", script + end], check=False).returncode for end in ("true", "exit 3")] == [0, 3]


def test_both_scripts_that_clean_up_are_tried() -> None:
    assert [each.id for each in TRAPS] == ["test", "run"]
