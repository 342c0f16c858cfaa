"""The benchmark counts what it should, through the real query path, on a set small enough to reckon by hand."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from graphmem.benchmark.quality import Bm25, fuse, measure, measures, order
from graphmem.cli.app import run
from tests.sample import data

CONVERTER = """
import json, pathlib, sys
src, out = map(pathlib.Path, sys.argv[1:])
for sort in ("entities", "relations"):
    (out / "types" / sort).mkdir(parents=True)
rows = [json.loads(line) for line in (src / "memories.ndjson").read_text().splitlines()]
with open(out / "rows.ndjson", "w") as file:
    for row in rows:
        made = {"kind": "failure", "name": row["id"], "trigger": row["text"], "match": "cheese"}
        print(json.dumps(made), file=file)
    print(json.dumps({"kind": "relation", "from": "failure/a", "type": "causes", "to": "failure/b"}), file=file)
(out / "refs.json").write_text(json.dumps({row["id"]: "failure/" + row["id"] for row in rows}))
"""
TEXTS = {"a": "the moon is made of cheese", "b": "a database has run out of connections", "c": "a lunar rock"}


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    folder = tmp_path / "sets" / "small"
    folder.mkdir(parents=True)
    (folder.parent / "to_graphmem.py").write_text(CONVERTER)
    memories = [{"id": name, "kind": "failure", "text": text, "group": name == "c"} for name, text in TEXTS.items()]
    queries = [
        {"task": "find", "query": "moon cheese", "gold": ["a"]},
        {"task": "find", "query": "moon cheese", "gold": ["c"], "group": True},
        {"task": "find", "query": "moon cheese connections", "gold": ["b"], "exclude": ["a"]},
        {"task": "no answer", "query": "moon", "gold": []},
    ]
    for name, rows in (("memories", memories), ("queries", queries)):
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder.parent


def test_a_ranking_is_measured_by_its_right_places() -> None:
    found = measures(["x", "a", "y", "z", "w", "v", "b"], {"a", "b"})
    assert found.ndcg_10 == pytest.approx((0.6309 + 0.3333) / (1 + 0.6309), abs=1e-3)
    assert (found.recall_5, found.recall_10, found.mrr) == (0.5, 1.0, 0.5)
    assert measures([], {"a"}).mrr == 0.0


def test_bm25_ranks_by_rare_words_and_fusion_by_both_places() -> None:
    words = Bm25(["red red car", "blue car", "blue the the"])
    assert order(words.scores("the blue car")).tolist() == [1, 2, 0]
    assert words.scores("the unknown").tolist() == [0, 0, 0]
    assert fuse([order(words.scores("red")), order(words.scores("red blue"))])[0] == 0


def test_group_and_exclude_are_respected_and_all_systems_run(sets: Path, tmp_path: Path) -> None:
    quality = measure([sets / "small"], tmp_path / "stores", with_match=False)
    (task,) = quality.tasks
    assert (task.set, task.task, task.queries) == ("small", "find", 3)
    assert (task.graphmem.mrr, task.bm25.mrr, task.rrf.mrr) == (1.0, 1.0, 1.0)
    assert task.model.mrr == pytest.approx((1 + 1 + 1 / 2) / 3)  # the moon, to a model, is near the lunar rock
    assert task.ratio == pytest.approx(task.graphmem.ndcg_10 / max(task.bm25.ndcg_10, task.model.ndcg_10))
    assert quality.ratio == task.ratio


def test_the_command_prints_a_table_and_keeps_its_stores(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["benchmark", "--data", str(sets), "--stores", str(tmp_path / "kept")]
    assert run(command) == 0
    told = capsys.readouterr().out
    assert "| small | find | 3 | 1.000 |" in told
    assert b"match" not in data(tmp_path / "kept" / "texts" / "small", "failure").read_bytes()
    (sets / "to_graphmem.py").unlink()  # the stores are there: it is not asked again
    assert run(command) == 0
    assert capsys.readouterr().out == told
    assert run([*command, "--match"]) == 2
    assert "has no to_graphmem.py" in capsys.readouterr().err
    assert run([*command, "--set", "smal"]) == 2
    assert "no set 'smal'" in capsys.readouterr().err


PEER = """
class Embeddings:
    def __init__(self, transform, **options):
        self.transform = transform

    def index(self, rows):
        self.rows = [(number, *self.transform([text])) for number, text, _ in rows]

    def search(self, sql, limit, parameters):
        (query,) = self.transform([parameters["text"]])
        alike = [(sum(a * b for a, b in zip(row, query)), number) for number, row in self.rows]
        return [{"id": str(number)} for _, number in sorted(alike, reverse=True)[:limit]]
"""


def test_a_peer_gets_the_same_vectors_and_is_measured_beside(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["benchmark", "--data", str(sets), "--json", "--peer"]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "txtai.py").write_text(PEER)  # stands for the package, which is no part of the tests
    monkeypatch.delitem(sys.modules, "txtai", raising=False)
    assert run([*command, "txtai"]) == 0
    (task,) = json.loads(capsys.readouterr().out)["quality"]["tasks"]
    assert task["peers"] == {"txtai": task["model"]}
    del sys.modules["txtai"]


def test_a_peer_that_is_unknown_or_missing_is_named(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["benchmark", "--data", str(sets), "--peer", "memo"]) == 2
    assert "known: mem0, txtai" in capsys.readouterr().err
    if find_spec("mem0") is None:
        assert run(["benchmark", "--data", str(sets), "--peer", "mem0"]) == 4
        assert "graphmem[peer-mem0]" in capsys.readouterr().err
    assert run(["benchmark", "--peer", "mem0"]) == 2
    assert "--data" in capsys.readouterr().err
