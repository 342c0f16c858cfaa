"""The speed is measured at the sizes that are asked for, beside the raw engines; how long it took is not asserted."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.bench.__main__ import run
from tests.bench.speed import RELATIONS, MadeModel, cpu, made_edges, made_rows


def test_what_is_made_is_skewed_and_the_same_every_time() -> None:
    rows, edges = made_rows(2_000), made_edges(2_000)
    assert rows == made_rows(2_000)
    words = [word for row in rows for word in row["trigger"].split()[:-1]]
    assert words.count("bababade") > 100 > words.count("sutasuta")
    assert len({row["trigger"] for row in rows}) == 2_000
    assert 0.9 * RELATIONS * 2_000 < len(edges) <= RELATIONS * 2_000
    assert np.bincount(edges[:, 1]).max() > 50 * np.median(np.bincount(edges.ravel()))
    assert MadeModel().encode_documents(["a", "b"]) == pytest.approx(MadeModel().encode_documents(["a", "b"]))


@pytest.mark.long
def test_the_command_measures_each_size_and_writes_what_it_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pyarrow", reason="pip install --group bench")
    out, picture = tmp_path / "out", tmp_path / "plot.png"
    assert run(["--size", "60", "--size", "50", "--write", str(out), "--plot", str(picture)]) == 0
    told = capsys.readouterr().out
    assert (out / "benchmark.md").read_text() == told
    assert told.index("| query | 50 |") < told.index("| query | 60 |") < told.index("| one add | 50 |")
    board = json.loads((out / "benchmark.json").read_text())
    assert board["quality"] is None
    assert board["machine"] in told
    assert {timing["size"] for timing in board["speed"]} == {50, 60}
    assert all(timing["ratio"] == timing["graphmem_s"] / timing["raw_s"] for timing in board["speed"])
    assert "related, the largest hub" in (out / "benchmark.svg").read_text()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_plot_without_matplotlib_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["--write", str(tmp_path / "out")]) == 4
    assert "graphmem[plots]" in capsys.readouterr().err
    assert run(["--plot", "plot.gif"]) == 2
    assert ".svg or .png" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_time_of_a_call_counts_the_children_that_it_waited_for() -> None:
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    assert cpu(subprocess.run, [sys.executable, "-c", busy]) > 0.5
