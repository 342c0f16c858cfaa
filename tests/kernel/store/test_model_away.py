"""A model that is asked over a network: no snapshot is open meanwhile, and where it does not answer words do."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphmem import Memory, Unavailable
from tests.kernel.store.test_embedding import Counting
from tests.sample import open_memory

AWAY = "the model at http://127.0.0.1:9 does not answer"
EVENTS = [b'{"type": "review.verdict", "run": "r1", "findings": [{"text": "never shout in the shop"}]}']


class Remote(Counting):
    """A model that can be away, and notes whether a question comes while a snapshot is open."""

    def __init__(self) -> None:
        super().__init__()
        self.is_away = False
        self.memory: Memory | None = None
        self.in_snapshot: list[bool] = []

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.is_away:
            raise Unavailable(AWAY)
        self.done += len(texts)
        return np.stack([Counting.encode_query(self, text) for text in texts])

    def encode_query(self, text: str) -> NDArray[np.float32]:
        if self.memory is not None:
            self.in_snapshot.append(self.memory.store.client.catalog.connection.in_transaction)
        if self.is_away:
            raise Unavailable(AWAY)
        return super().encode_query(text)


@pytest.fixture
def remote() -> Remote:
    return Remote()


@pytest.fixture
def filled(tmp_path: Path, remote: Remote) -> Memory:
    """A store with a few records and a model that is asked over a network."""
    memory = open_memory(tmp_path, embedder=remote)
    memory.failures.add("the port 8080 is taken", name="port", fix="stop the old server")
    memory.lessons.add("never shout in the shop", name="quiet")
    memory.campaigns.create("a faster shop", name="fast")
    memory.campaigns.complete("fast")
    memory.campaigns.create("a cheaper shop", name="cheap")
    memory.campaigns.add_tasks("cheap", [{"seq": 1, "slug": "price", "objective": "look at the prices"}])
    remote.memory = memory
    return memory


ASKS: dict[str, Callable[[Memory], object]] = {
    "query": lambda memory: memory.query("port 8080 taken"),
    "context": lambda memory: memory.context("port 8080 taken"),
    "match": lambda memory: memory.match("OSError: the port 8080 is already taken\n"),
    "similar": lambda memory: memory.similar("a faster shop again"),
    "tasks.start": lambda memory: memory.tasks.start("cheap/001"),
    "failures.add": lambda memory: memory.failures.add("the disk is full", name="disk"),
    "lessons.learn": lambda memory: memory.lessons.learn(EVENTS, semantic=True),
    "experiences.promote": lambda memory: memory.experiences.promote(),
    "add_rows": lambda memory: memory.add_rows([b'{"kind":"failure","trigger":"it rains","name":"rain"}'], dedup=True),
}


@pytest.mark.parametrize("name", ASKS)
def test_where_the_model_does_not_answer_words_do_and_the_answer_says_so(
    filled: Memory, remote: Remote, name: str
) -> None:
    remote.is_away = True
    answer = ASKS[name](filled)
    if name not in ("experiences.promote", "lessons.learn"):  # which have nothing to compare here
        assert f"{AWAY}: search is by words alone" in answer.notices  # type: ignore[attr-defined]
    if name == "query":
        assert answer.search == "lexical"  # type: ignore[attr-defined]
        assert answer.results[0].ref == "failure/port"  # type: ignore[attr-defined]
    remote.is_away = False
    found = filled.query("port 8080 taken")
    assert (found.search, found.notices) == ("semantic+lexical", [])


@pytest.mark.parametrize("name", ["query", "context", "match", "tasks.start"])
def test_a_question_is_embedded_before_the_snapshot_is_opened(filled: Memory, remote: Remote, name: str) -> None:
    ASKS[name](filled)
    assert remote.in_snapshot
    assert not any(remote.in_snapshot)


def test_a_model_that_goes_away_while_the_store_is_held_stops_no_write(
    filled: Memory, remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compared is embedded before the lock; a text that is not is no reason to lose the write."""
    monkeypatch.setattr(filled.store.client, "encode_ahead", lambda *_: setattr(remote, "is_away", True))
    answer = filled.failures.add("the disk is full", name="disk")
    assert (answer.action, answer.notices) == ("created", [f"{AWAY}: search is by words alone"])
