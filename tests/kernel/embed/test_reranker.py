"""A tiny cross-encoder of random weights: what is loaded, what it gives, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphmem.errors import Unavailable
from graphmem.kernel.embed.reranker import Reranker, find_reranker

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the build fails on windows a is slow open".split()


def make_reranker(folder: Path, *, labels: int = 1) -> Path:
    """Make a cross-encoder of random weights, one layer, 14 words."""
    pytest.importorskip("sentence_transformers", reason="pip install 'graphmem[models]'")
    from torch import manual_seed
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    manual_seed(1)
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, num_labels=labels, initializer_range=1.0,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_reranker(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def usable(folder: Path) -> Reranker:
    found, warnings = find_reranker(str(folder))
    assert found is not None, warnings
    assert warnings == ()
    return found


@pytest.mark.long
def test_a_score_is_that_of_query_and_text_together(folder: Path) -> None:
    reranker = usable(folder)
    texts = ["windows open", "build slow", "the build is slow " * 100, ""]
    scores = reranker.scores("the build fails", texts)
    assert len(set(scores)) == 4
    assert reranker.scores("the build fails", texts[::-1]) == pytest.approx(scores[::-1], abs=1e-6)
    assert reranker.scores("windows", texts) != pytest.approx(scores, abs=1e-3)
    assert reranker.scores("the build fails", []) == []


@pytest.mark.long
def test_a_damaged_reranker_is_said_and_left_out(folder: Path, tmp_path: Path) -> None:
    weights = "model.safetensors"
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / weights).write_bytes((broken / weights).read_bytes()[:1000])
    found, warnings = find_reranker(str(broken))
    assert found is None
    assert "cannot load" in warnings[0]
    assert warnings[1] == f"no usable reranker {str(broken)!r}: nothing is reranked"


@pytest.mark.long
def test_scores_that_are_no_numbers_are_refused(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    broken = shutil.copytree(folder, tmp_path / "nan") / "model.safetensors"
    weights = load_file(broken)
    weights["classifier.bias"] *= float("nan")
    save_file(weights, broken, metadata={"format": "pt"})
    with pytest.raises(Unavailable, match="damaged"):
        usable(broken.parent).scores("the build", ["fails"])


@pytest.mark.long
def test_what_is_no_reranker_is_refused(folder: Path, tmp_path: Path) -> None:
    """A model that only embeds would be given a last layer of random weights."""
    embeds = shutil.copytree(folder, tmp_path / "embeds")
    (embeds / "config.json").write_text(
        json.dumps({**json.loads((embeds / "config.json").read_bytes()), "architectures": ["BertModel"]})
    )
    assert find_reranker(str(embeds))[1][0] == f"{str(embeds)!r} is not a reranker"
    (embeds / "config.json").unlink()
    assert find_reranker(str(embeds))[1][0] == f"{str(embeds)!r} is not a reranker"
    three = make_reranker(tmp_path / "three", labels=3)
    assert find_reranker(str(three))[1][0] == f"{str(three)!r} gives 3 scores a text, not one"


def test_a_name_without_a_folder_is_looked_for_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found, warnings = find_reranker("nothing-of-the-sort")
    assert found is None
    assert warnings == (
        "the hub was not asked for 'cross-encoder/nothing-of-the-sort': HF_HUB_OFFLINE is set",
        "no usable reranker 'cross-encoder/nothing-of-the-sort': nothing is reranked",
    )
    assert find_reranker("./nowhere/at-all")[1][0] == "there is no folder './nowhere/at-all'"


@pytest.mark.long
def test_code_that_comes_with_a_reranker_is_never_run(folder: Path, tmp_path: Path) -> None:
    evil = shutil.copytree(folder, tmp_path / "evil")
    (evil / "evil.py").write_text("raise SystemExit('ran')\n")
    config: dict[str, Any] = json.loads((evil / "config.json").read_bytes())
    config["auto_map"] = {"AutoConfig": "evil.Config", "AutoModelForSequenceClassification": "evil.Model"}
    config["model_type"] = "evil"
    (evil / "config.json").write_text(json.dumps(config))
    assert find_reranker(str(evil))[0] is None
