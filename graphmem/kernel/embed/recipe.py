"""What a model folder says about itself: how its vectors are made, and whether the light encoder can make them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphmem.errors import Unavailable

WEIGHTS = "model.safetensors"
# What is in a tokenizer.json whose ids the light encoder knows.
WORD_PIECES = (b'"BertNormalizer"', b'"BertPreTokenizer"', b'"WordPiece"', b'"[CLS]"', b'"[SEP]"')
EMBEDDINGS = (
    "word_embeddings.weight",
    "position_embeddings.weight",
    "token_type_embeddings.weight",
    "LayerNorm.weight",
    "LayerNorm.bias",
)
LAYER = tuple(
    f"{part}.{kind}"
    for part in (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.output.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    )
    for kind in ("weight", "bias")
)


@dataclass(frozen=True)
class Recipe:
    """How a model turns a text into a vector, apart from its weights and its vocabulary."""

    modules: tuple[str, ...]  # in order: "Transformer", "Pooling", "Normalize", ...
    pooling: tuple[str, ...]  # "mean", "cls", ...
    max_tokens: int | None  # word pieces of a text that are read; None: the folder does not say
    prompts: tuple[tuple[str, str], ...]  # name and text of each prompt that says something
    dimensions: int | None  # numbers that come out of the transformer
    truncate: int | None  # numbers that are kept of each vector; None: all
    lower_case: bool  # lower-cased before the tokenizer sees it
    others: str  # JSON: the settings of all other modules


@dataclass(frozen=True)
class Tensor:
    """Where a tensor lies in a safetensors file; ``start`` and ``stop`` in bytes from the start of the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


def read_json(path: Path) -> Any:
    """Return the document in ``path``, an empty dict if the file is missing; ``ValueError`` if it is not JSON."""
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}


def read_recipe(folder: Path) -> Recipe:
    """
    Return how the sentence-transformers model in ``folder`` makes its vectors.

    Raises:
        Unavailable: a settings file of the model cannot be read.
    """
    try:
        return _recipe(folder)
    except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        raise Unavailable(f"the settings of the model in {str(folder)!r} cannot be read: {error}") from error


def supports(folder: Path) -> bool:
    """
    Report whether the light encoder makes the vectors of the model in ``folder``.

    It decides from the settings files and the table of contents of the weights; nothing heavy is imported.
    """
    try:
        config, recipe, weights = read_json(folder / "config.json"), _recipe(folder), read_tensors(folder / WEIGHTS)
        return (
            config["model_type"] == "bert"
            and config.get("hidden_act", "gelu") == "gelu"
            and config.get("position_embedding_type", "absolute") == "absolute"
            and not config.get("is_decoder")
            and recipe.modules in {("Transformer", "Pooling"), ("Transformer", "Pooling", "Normalize")}
            and recipe.pooling == ("mean",)
            and not recipe.prompts
            and recipe.truncate is None
            and not recipe.lower_case
            and recipe.max_tokens is not None
            and recipe.max_tokens <= config["max_position_embeddings"]
            and all(map((folder / "tokenizer.json").read_bytes().__contains__, WORD_PIECES))
            and all(weights[name].dtype == "F32" for name in tensor_names(config["num_hidden_layers"]))
        )
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        return False


def tensor_names(layers: int) -> list[str]:
    """Return the names of the tensors that a BERT encoder of ``layers`` layers is made of."""
    return [f"embeddings.{name}" for name in EMBEDDINGS] + [
        f"encoder.layer.{layer}.{name}" for layer in range(layers) for name in LAYER
    ]


def read_tensors(weights: Path) -> dict[str, Tensor]:
    """Return the table of contents of a safetensors file; ``ValueError`` if the file is not whole."""
    with weights.open("rb") as file:
        begin = 8 + int.from_bytes(file.read(8), "little")
        if begin > weights.stat().st_size:
            raise ValueError(f"{str(weights)!r} is not a whole safetensors file")
        header = json.loads(file.read(begin - 8))
    header.pop("__metadata__", None)
    found = {
        name: Tensor(entry["dtype"], tuple(entry["shape"]), *(begin + offset for offset in entry["data_offsets"]))
        for name, entry in header.items()
    }
    if max((tensor.stop for tensor in found.values()), default=begin) != weights.stat().st_size:
        raise ValueError(f"{str(weights)!r} is not a whole safetensors file")
    return found


def _recipe(folder: Path) -> Recipe:
    modules = [(_kind(entry["type"]), folder / entry["path"]) for entry in read_json(folder / "modules.json")]
    settings = [(kind, read_json(place / "config.json")) for kind, place in modules if kind != "Transformer"]
    pooling: dict[str, Any] = next((config for kind, config in settings if kind == "Pooling"), {})
    sentence = read_json(folder / "config_sentence_transformers.json")
    transformer = next((place for kind, place in modules if kind == "Transformer"), folder)
    reading = read_json(transformer / "sentence_bert_config.json")
    prompts = {name: text for name, text in (sentence.get("prompts") or {}).items() if text}
    if sentence.get("default_prompt_name") in prompts:
        prompts["default"] = prompts[sentence["default_prompt_name"]]
    others = [(kind, config) for kind, config in settings if kind not in {"Pooling", "Normalize"}]
    return Recipe(
        modules=tuple(kind for kind, _ in modules),
        pooling=_pooling(pooling),
        max_tokens=reading.get("max_seq_length") or _tokenizer_limit(transformer),
        prompts=tuple(sorted(prompts.items())),
        dimensions=pooling.get("embedding_dimension", pooling.get("word_embedding_dimension")),
        truncate=sentence.get("truncate_dim"),
        lower_case=bool(reading.get("do_lower_case")),
        others=json.dumps(others, sort_keys=True),
    )


def _kind(module: str) -> str:
    """Return the bare name of a module of sentence-transformers, whose paths vary; the whole name of any other."""
    return module.rpartition(".")[2] if module.startswith("sentence_transformers.") else module


def _pooling(config: dict[str, Any]) -> tuple[str, ...]:
    """Return the ways of pooling under one spelling: old folders have a switch for each, new ones a name or a list."""
    modes = config.get("pooling_mode") or [
        name for name, on in config.items() if name.startswith("pooling_mode_") and on
    ]
    names = [modes] if isinstance(modes, str) else modes or ["mean"]
    return tuple(name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token") for name in names)


def _tokenizer_limit(folder: Path) -> int | None:
    """Return the maximum length that newer folders keep with their tokenizer."""
    limits = (
        read_json(folder / "tokenizer_config.json").get("model_max_length"),
        read_json(folder / "config.json").get("max_position_embeddings"),
    )
    return min((int(limit) for limit in limits if limit), default=None)
