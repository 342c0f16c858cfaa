"""The model of a store is changed as a whole or not at all, and no answer mixes two models."""

import os
import re
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from graphmem import BadInput, Memory, Refused, Unavailable, Usage
from graphmem.constants import DEFAULT_MODEL
from graphmem.features.upkeep import embedding
from graphmem.kernel.catalog import vectors
from graphmem.kernel.embed import endpoint
from graphmem.kernel.embed.model import PACKAGE
from graphmem.kernel.settings import trust
from graphmem.kernel.system import safe_files
from tests.endpoint import DIMENSIONS, Endpoint, serving
from tests.sample import failure, new_store, trust_all

NUMBER = 150  # texts: more than are made between two commits
LINES = [failure(f"f{n}", trigger=f"the {n} red foxes of house {n}") for n in range(NUMBER)]
QUESTION = "which foxes live there"


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with serving() as made:
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A store of some records whose file of settings has a comment, with no model."""
    new_store(tmp_path)
    config_of(tmp_path).write_text('format = 1\n\n# ours\n[embedding]\nmodel = "none"  # for now\n')
    with Memory(tmp_path) as memory:
        memory.add_rows(LINES)
    return tmp_path


def config_of(folder: Path) -> Path:
    return folder / ".graphmem/config.toml"


def user_config() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"]) / "graphmem/config.toml"


def cosines(memory: Memory) -> dict[str, float]:
    """Return what a query finds, with its likeness in meaning; nothing where it goes by words alone."""
    found = memory.query(QUESTION, limit=NUMBER)
    return {} if found.search == "lexical" else {hit.ref: hit.factors.semantic for hit in found.results}


def test_a_change_makes_all_vectors_first_then_names_the_model(project: Path, server: Endpoint) -> None:
    seen: list[tuple[int, int]] = []
    with Memory(project, progress=lambda what, done, total: seen.append((done, total))) as memory:
        before = memory.store.embed.status()
        assert (before.model, before.dimensions, before.fingerprint) == ("none", None, None)
        assert (before.texts, before.missing, before.estimate_s) == (NUMBER, NUMBER, None)
        assert cosines(memory) == {}
        made = memory.store.embed.change("a-model", endpoint=server.url)
        assert (made.before, made.model, made.endpoint) == ("none", "a-model", server.url)
        assert (made.dimensions, made.made, made.kept, made.notices) == (DIMENSIONS, NUMBER, 0, [])
        assert seen[0] == (0, NUMBER)
        assert seen[-1] == (NUMBER, NUMBER)
        assert len(seen) > 3
        assert config_of(project).read_text() == (
            f'format = 1\n\n# ours\n[embedding]\nendpoint = "{server.url}"\ndimensions = {DIMENSIONS}\n'
            'model = "a-model"  # for now\n'
        )
        asked = len(server.asked)
        assert cosines(memory)  # at once, in the same process
        assert [one["body"]["input"] for one in server.asked[asked:]] == [[QUESTION]]
        status = memory.store.embed.status()
        assert (status.model, status.endpoint, status.missing, status.estimate_s) == ("a-model", server.url, 0, 0.0)
        assert (status.fingerprint, status.others) == (made.fingerprint, {})
    with Memory(project) as other:
        assert cosines(other)
        assert other.query(QUESTION).notices == []  # who changed the model trusts it


def test_back_and_forth_makes_nothing_again_and_the_answers_are_those_of_before(
    project: Path, server: Endpoint
) -> None:
    with Memory(project) as memory:
        first = memory.store.embed.change("all-MiniLM-L6-v2")
        assert (first.model, first.made) == (DEFAULT_MODEL, NUMBER)
        by_default = cosines(memory)
        assert memory.store.embed.change("a-model", endpoint=server.url).made == NUMBER
        by_endpoint = cosines(memory)
        assert all(abs(by_endpoint[ref] - by_default[ref]) > 1e-6 for ref in by_default.keys() & by_endpoint.keys())
        assert memory.store.embed.status().others == {first.fingerprint: NUMBER}
        again = memory.store.embed.change(DEFAULT_MODEL)
        assert (again.made, again.kept) == (0, NUMBER)
        assert cosines(memory) == by_default
        assert "endpoint" not in config_of(project).read_text()
        assert memory.store.embed.change("none").fingerprint is None
        assert cosines(memory) == {}
        assert memory.query(QUESTION).notices == []


def test_a_change_that_fails_leaves_all_as_it_was_and_goes_on_when_it_is_run_again(
    project: Path, server: Endpoint
) -> None:
    with Memory(project) as memory:
        memory.store.embed.change(DEFAULT_MODEL)
        text, before = config_of(project).read_bytes(), cosines(memory)
        for number in (0, 1, 3):  # the first request asks for the dimensions; two are one step
            server.asked.clear()
            server.bad = [*[lambda to: to.give([[1.0] * 8] * len(to.texts))] * number, lambda to: to.send(b"{}", 500)]
            with pytest.raises(Unavailable, match="answers 500"):
                memory.store.embed.change("a-model", endpoint=server.url)
            assert config_of(project).read_bytes() == text
            assert cosines(memory) == before
        done = memory.store.embed.change("a-model", endpoint=server.url)
        assert (done.made, done.kept) == (NUMBER - vectors.AHEAD, vectors.AHEAD)


def test_a_change_that_is_interrupted_keeps_the_vectors_that_were_made(project: Path, server: Endpoint) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    text = config_of(project).read_bytes()
    with Memory(project, progress=interrupt) as memory, pytest.raises(KeyboardInterrupt):
        memory.store.embed.change("a-model", endpoint=server.url)
    assert config_of(project).read_bytes() == text
    with Memory(project) as memory:
        assert cosines(memory) == {}
        (kept,) = memory.store.embed.status().others.values()
        assert kept == vectors.AHEAD
        assert memory.store.embed.change("a-model", endpoint=server.url).made == NUMBER - vectors.AHEAD


def test_a_vacuum_beside_a_change_and_after_one_that_was_cut_off_leaves_its_vectors(
    project: Path, server: Endpoint
) -> None:
    def vacuum(what: str, done: int, total: int) -> None:
        with Memory(project) as other:
            assert "vectors of another model" not in {one.what for one in other.store.vacuum().freed}
        if total == NUMBER and done:
            raise KeyboardInterrupt

    with Memory(project) as memory:
        memory.store.embed.change(DEFAULT_MODEL)
    with Memory(project, progress=vacuum) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.store.embed.change("a-model", endpoint=server.url)
        memory.store.vacuum()
        assert memory.store.embed.change("a-model", endpoint=server.url).made == NUMBER - vectors.AHEAD
        assert memory.store.embed.status().missing == 0
        assert len(cosines(memory)) == NUMBER


@pytest.mark.parametrize("step", ["trust", "file", "index"])
def test_a_process_that_dies_while_it_switches_leaves_the_old_model_or_the_new_one(
    project: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Death(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Death

    with serving() as old, Memory(project) as memory:
        was = memory.store.embed.change("an-old-one", endpoint=old.url)
        before, text = cosines(memory), config_of(project).read_bytes()
        with monkeypatch.context() as patch:
            if step == "trust":
                patch.setattr(embedding, "replace_files", die)
            elif step == "file":
                patch.setattr(safe_files, "replace", die)
            else:
                patch.setattr(vectors.VectorStore, "notice_changed_file", die)
            for _ in range(2):
                with pytest.raises(Death):
                    memory.store.embed.change("a-model", endpoint=server.url)
        server.asked.clear()
        with Memory(project) as other:
            after = cosines(other)
            status = other.store.embed.status()
            if step == "index":
                assert status.model == "a-model"
                assert after
                assert [one["body"]["input"] for one in server.asked] == [[QUESTION]]
            else:
                assert config_of(project).read_bytes() == text
                assert (status.model, status.fingerprint) == ("an-old-one", was.fingerprint)
                assert after == before
                assert other.query(QUESTION).notices == []
                assert other.store.embed.change("a-model", endpoint=server.url).made == 0
                assert other.query(QUESTION).notices == []


def test_no_query_measures_the_vectors_of_one_model_with_another(project: Path, server: Endpoint) -> None:
    """Half of the vectors of another model are there, and an open memory has not heard of the change yet."""
    with Memory(project) as memory:
        memory.store.embed.change(DEFAULT_MODEL)
        before = cosines(memory)
        other = vectors.VectorStore(
            memory.store.client.catalog, memory.store.client.local / "vectors",
            endpoint.EndpointEncoder(server.url, name="a-model", dimensions=DIMENSIONS),
        )  # fmt: skip
        assert other.make_ahead(most=NUMBER // 2) == NUMBER // 2
        assert cosines(memory) == before
        assert other.search(other.encoder.encode_documents([QUESTION])[0], None, 10) == []
        other.catch_up()
        store = memory.store.client.vectors
        assert store is not None
        assert store.search(store.encoder.encode_documents([QUESTION])[0], None, 10) == []  # the index is the other's
        assert cosines(memory) == before  # which this one takes back, without another embedding


def test_vectors_that_were_made_ahead_and_whose_file_is_gone_are_made_again(project: Path, server: Endpoint) -> None:
    with Memory(project) as memory:
        first = memory.store.embed.change("first", endpoint=server.url)
        memory.store.embed.change("none")
        (project / f".graphmem/local/vectors/{first.fingerprint}.f32").unlink()
        assert memory.store.embed.change("first", endpoint=server.url).made == NUMBER
        assert cosines(memory)


def test_an_endpoint_with_too_much_to_do_is_asked_again_up_to_a_limit(
    project: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    server.bad = [
        lambda to: to.give([[1.0] * DIMENSIONS]),
        lambda to: to.send(b"{}", 429, Retry_After="7"),
        lambda to: to.send(b"{}", 503),
    ]
    with Memory(project) as memory:
        assert memory.store.embed.change("a-model", endpoint=server.url).made == NUMBER
        assert slept == [7, 1]
        server.bad = [lambda to: to.give([[1.0] * DIMENSIONS])]
        server.bad += [lambda to: to.send(b"{}", 429, Retry_After="50")] * 3
        with pytest.raises(Unavailable, match="answers 429"):
            memory.store.embed.change("another", endpoint=server.url)
        assert slept[2:] == [50, 50]
        server.bad = [lambda to: to.send(b"{}", 429, Retry_After="50")]
        notices = memory.query("the foxes once more").notices
        assert [text for text in notices if "answers 429" in text and "search is by words alone" in text]
        assert slept[4:] == []


def test_a_long_change_says_how_long_it_takes(project: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "SHOWN_S", 0.0)
    said: list[str] = []
    with Memory(project, on_message=said.append) as memory:
        memory.store.embed.change("a-model", endpoint=server.url)
    assert len([text for text in said if text.startswith("embedding 150 texts, about ")]) == 1


def test_the_status_makes_a_few_vectors_to_see_how_long_it_takes(project: Path, server: Endpoint) -> None:
    with Memory(project) as memory:
        memory.store.embed.change("a-model", endpoint=server.url)
        memory.add_rows([failure(f"g{n}", trigger=f"{n} hens") for n in range(20)], dedup=False)
        status = memory.store.embed.status()
        assert (status.texts, status.missing) == (NUMBER + 20, 12)
        assert status.estimate_s
        assert status.estimate_s > 0
        server.bad = [lambda to: to.send(b"", 500)]
        status = memory.store.embed.status()
        assert (status.missing, status.estimate_s) == (12, None)
        assert [text for text in status.notices if "answers 500" in text]


def test_an_endpoint_of_a_project_counts_only_where_it_is_trusted(project: Path, server: Endpoint) -> None:
    config_of(project).write_text(f'[embedding]\nendpoint = "{server.url}"\ndimensions = {DIMENSIONS}\n')
    with Memory(project) as memory:
        found = memory.query(QUESTION)
        assert [text for text in found.notices if f"embedding.endpoint = '{server.url}' of the project" in text]
        assert server.asked == []
        trust_all(memory)
        memory.query(QUESTION)
        assert server.asked
        server.asked.clear()
        config_of(project).write_text(f'[embedding]\nendpoint = "{server.url}/x"\ndimensions = {DIMENSIONS}\n')
        memory.query(QUESTION)
        assert server.asked == []


def test_a_change_trusts_the_model_and_nothing_else_that_a_branch_asks_for(project: Path, server: Endpoint) -> None:
    with config_of(project).open("a") as file:
        file.write('\n[retrieval]\nreranker = "evil/one"\n')
    text = config_of(project).read_bytes()
    with Memory(project) as memory:
        with pytest.raises(Refused, match=r"the project asks for retrieval\.reranker too, which is not trusted"):
            memory.store.embed.change("a-model", endpoint=server.url)
        assert (config_of(project).read_bytes(), server.asked) == (text, [])
        assert trust.trusted() == {}
        trust_all(memory)
        memory.store.embed.change("a-model", endpoint=server.url)
        assert memory.store.client.settings.ignored == ()
        assert memory.store.client.settings.retrieval.reranker == "evil/one"


def test_a_branch_that_names_the_model_of_before_is_still_trusted_and_no_other(project: Path, server: Endpoint) -> None:
    with Memory(project) as memory:
        memory.store.embed.change("first", endpoint=server.url)
        first = config_of(project).read_bytes()
        memory.store.embed.change("second", endpoint=server.url)
        for text, is_trusted in ((first, True), (first.replace(b'"first"', b'"third"'), False)):
            config_of(project).write_bytes(text)
            memory.query(QUESTION)
            assert (memory.store.client.settings.ignored == ()) == is_trusted


def test_the_users_own_settings_can_be_changed_instead(project: Path, server: Endpoint) -> None:
    with Memory(project) as memory:
        with pytest.raises(Refused, match=r"config.toml sets embedding.model, which wins over .*cfg|config"):
            memory.store.embed.change("a-model", endpoint=server.url, user=True)
        config_of(project).write_text("format = 1\n")
        made = memory.store.embed.change("a-model", endpoint=server.url, user=True)
        assert made.config == str(user_config())
        assert f'endpoint = "{server.url}"' in user_config().read_text()
        assert config_of(project).read_text() == "format = 1\n"
        assert cosines(memory)
        assert memory.query(QUESTION).notices == []
        memory.store.embed.change("all-MiniLM-L6-v2")  # of the project, which names no address: not that of the user
        assert memory.store.client.settings.embedding.endpoint == ""
        assert memory.store.embed.status().model == DEFAULT_MODEL


def test_what_wins_over_the_file_is_named(project: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    with Memory(project) as memory, pytest.raises(Refused, match=r"the environment sets embedding\.model, which wins"):
        memory.store.embed.change("a-model", endpoint=server.url)
    assert server.asked == []


def test_the_key_of_the_endpoint_is_no_setting_and_in_no_file(
    project: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_KEY", "sk-very-secret")
    with Memory(project) as memory:
        memory.store.embed.change("a-model", endpoint=server.url)
        memory.query(QUESTION)
        assert "sk-very-secret" not in repr(memory.store.runtime.environment)
    assert {one["key"] for one in server.asked} == {"Bearer sk-very-secret"}
    files = [path for top in (project, user_config().parent) for path in top.rglob("*") if path.is_file()]
    assert [path for path in files if b"sk-very-secret" in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://h", "the endpoint 'ftp://h' is not a web address"),
        ("file:///etc/passwd", "is not a web address"),
        ("127.0.0.1:11434", "is not a web address"),
        ("http://h:99999", "is not a web address"),
        ("http://h/a?b=c", "is not a web address"),
        ("http://h/\x1b", "is not a web address"),
        ("http://[::1", "is not a web address"),
        ("https://me:pass-word@h/v1", "the address of 'h' has a user or a password in it"),
    ],
)
def test_an_address_that_is_none_is_refused_and_shows_no_password(project: Path, address: str, message: str) -> None:
    with Memory(project) as memory, pytest.raises(BadInput, match=message) as error:
        memory.store.embed.change("a-model", endpoint=address)
    assert "pass-word" not in repr(error.value)
    user_config().parent.mkdir(parents=True, exist_ok=True)
    user_config().write_text(f"[embedding]\nendpoint = {address!r}\n".replace("'", '"').replace("\\x1b", "\\u001b"))
    with Memory(project) as memory:  # in a file it stops no reader, and nothing is sent there
        assert memory.store.client.settings.embedding.endpoint == ""
        found = memory.store.validate().findings
        said = f"{memory.list().notices} {[one.message for one in found if one.code == 'bad_setting']}"
    assert re.search(message, said) and "pass-word" not in said


def test_none_is_no_model_of_an_endpoint(project: Path, server: Endpoint) -> None:
    with Memory(project) as memory, pytest.raises(Usage, match="none is without a model"):
        memory.store.embed.change("none", endpoint=server.url)
    assert server.asked == []


def test_a_branch_does_not_put_the_users_endpoint_out_of_use(project: Path, server: Endpoint) -> None:
    config_of(project).write_text("format = 1\n")
    with Memory(project) as memory:
        memory.store.embed.change("a-model", endpoint=server.url, user=True)
        config_of(project).write_text('format = 1\n[embedding]\nmodel = "evil"\ndimensions = 5\n')
        memory.query(QUESTION)
        assert memory.store.embed.status().fingerprint is not None
        assert (memory.store.embed.status().model, memory.store.embed.status().dimensions) == ("a-model", DIMENSIONS)


def test_a_model_that_is_not_there_changes_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    text = config_of(project).read_bytes()
    with Memory(project) as memory, pytest.raises(Unavailable, match="no usable model 'nobody/nothing'"):
        memory.store.embed.change("nobody/nothing")
    assert config_of(project).read_bytes() == text


def test_a_local_folder_is_named_by_its_whole_path(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = find_spec(PACKAGE)
    assert package is not None
    assert package.submodule_search_locations is not None
    place = tmp_path_factory.mktemp("models")
    (place / "mine").symlink_to(Path(package.submodule_search_locations[0]) / "model")
    monkeypatch.chdir(place)
    with Memory(project) as memory:
        made = memory.store.embed.change("mine")
        assert (made.model, made.made) == (str(place / "mine"), NUMBER)
        monkeypatch.chdir(project)
        assert memory.query(QUESTION).notices == []
        assert (memory.store.embed.status().missing, memory.store.embed.change(DEFAULT_MODEL).made) == (
            0,
            0,
        )  # the same model


def test_what_a_model_calls_alike_that_nobody_measured_is_not_known_for_it(
    tmp_path: Path, server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every text is near every other: the default model's weights would call a result at least related."""
    monkeypatch.setattr("tests.endpoint.vector_of", lambda text: [1.0 + len(text) / 1_000] + [1.0] * (DIMENSIONS - 1))
    new_store(tmp_path)
    with Memory(tmp_path) as memory:
        memory.failures.add("the deploy ends before the cache is warm", name="cache")
        memory.failures.add("OSError: no space left on device", name="disk")
        memory.store.embed.change("alike", endpoint=server.url)
        other = memory.query("how do I bake bread")
        assert other.results[0].factors.semantic > 0.9
        assert other.certainty == "none"
        assert memory.query("how to warm the cache before the deploy").known
