"""Does a query know what it knows: with the answer in the store, without it, and of another field (retrieval.md)."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.kernel.embed.model import Embedder
from tests.repository import Repository
from tests.sample import open_memory

REPEATS = json.loads((Path(__file__).parents[2] / "data" / "repeats.json").read_text(encoding="utf-8"))
# What a web shop's project remembers: name, trigger, fix.
FAILURES = (
    ("orders-twice", "psycopg2.errors.UniqueViolation: duplicate key value violates unique constraint orders_pkey",
     "INSERT … ON CONFLICT DO NOTHING, since the queue delivers an order twice"),
    ("pool-dry", "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out",
     "Close the session in a finally block; the report job left it open"),
    ("migration-lock", "The migration waits for ever on ALTER TABLE customers", "Set lock_timeout and run it at night"),
    ("mail-refused", "smtplib.SMTPSenderRefused: 530 Authentication required", "The password of the relay had expired"),
    ("css-stale", "Customers see the old style sheet after a release", "Put a hash of it into the file name"),
    ("price-rounding", "The total of a cart is off by one cent", "Add up in Decimal and round once, at the end"),
    ("webhook-replay", "The payment provider calls the webhook again after a timeout", "Keep the id of each event"),
    ("image-memory", "The thumbnail worker is killed: out of memory on large TIFF files", "Stream with pyvips"),
    ("timezone-report", "The daily report misses orders between midnight and one o'clock", "Compare in UTC"),
    ("login-loop", "After login Safari sends the user back to the login page", "SameSite=None needs a secure cookie"),
    ("search-empty", "The search finds nothing for names with an umlaut", "Normalise to NFC before indexing"),
    ("docker-cache", "pip installs everything again on each docker build", "Copy requirements.txt before the code"),
    ("flaky-clock", "test_token_expires fails about once a week", "Freeze the clock in the test"),
    ("yaml-missing", "ModuleNotFoundError: No module named 'yaml'", "pip install pyyaml"),
)  # fmt: skip
KNOWN = (
    ("duplicate key value violates unique constraint when an order is saved", "orders-twice"),
    ("QueuePool limit reached, connection timed out in the report job", "pool-dry"),
    ("the cart total is wrong by a cent", "price-rounding"),
    ("ModuleNotFoundError: No module named 'yaml' in the importer", "yaml-missing"),
    ("search does not find names with umlauts", "search-empty"),
)
FOREIGN = (
    "How long does sourdough have to rise at room temperature?",
    "the striker was offside when he scored the second goal",
    "fingering of the chromatic scale on a clarinet",
    "Which soil is best for tomato seedlings on a balcony?",
)


def planted(folder: Path, embedder: Embedder | None) -> Memory:
    memory = open_memory(folder, embedder=embedder)
    for name, trigger, fix in FAILURES:
        memory.failures.add(trigger, name=name, fix=fix)
    return memory


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Memory]:
    """A store of fourteen failures, with the model, for the tests that only ask."""
    with planted(tmp_path_factory.mktemp("asked") / "shop", embedder) as memory:
        yield memory


@pytest.fixture
def shop(tmp_path: Path, asked: Memory, embedder: Embedder) -> Iterator[Memory]:
    """The same for a test that changes it."""
    with open_memory(
        shutil.copytree(asked.store.client.layout.store.parent, tmp_path / "shop"), embedder=embedder
    ) as memory:
        yield memory


@pytest.mark.parametrize(("text", "name"), KNOWN)
def test_what_is_in_the_store_is_known_and_what_was_forgotten_is_not(shop: Memory, text: str, name: str) -> None:
    answer = shop.query(text)
    assert (answer.results[0].ref, answer.known) == (f"failure/{name}", True)
    shop.forget(name)
    forgotten = shop.query(text)
    assert forgotten.results
    assert not forgotten.known
    assert forgotten.probability < answer.probability


@pytest.mark.parametrize("text", FOREIGN)
def test_a_question_of_another_field_is_not_known(asked: Memory, text: str) -> None:
    answer = asked.query(text)
    assert answer.results
    assert (answer.known, answer.certainty) == (False, "none")
    assert 0 < answer.probability < 0.08


@pytest.mark.parametrize("text", [text for text, _ in KNOWN] + [*FOREIGN])
def test_what_is_known_does_not_depend_on_how_many_results_are_shown(asked: Memory, text: str) -> None:
    usual = asked.query(text)
    for limit in (1, 3, 1_000):
        other = asked.query(text, limit=limit)
        assert (other.known, other.probability) == (usual.known, usual.probability)
    assert usual.results, usual.model_dump_json()
    least = usual.results[0].similarity
    assert asked.query(text, min_similarity=least).probability == usual.probability


@pytest.mark.parametrize("text", ["css-stale", "failure/css-stale", "style-old", "failure/style-old", " css-stale\n"])
def test_what_names_a_record_is_known(shop: Memory, text: str) -> None:
    shop.rename("css-stale", "style-old")
    answer = shop.query(text)
    assert (answer.results[0].ref, answer.known, answer.probability) == ("failure/style-old", True, 1.0)


def test_a_pattern_that_solves_a_failure_is_as_known_as_the_failure(shop: Memory) -> None:
    text = KNOWN[0][0]
    alone = shop.query(text)
    shop.patterns.add("A message queue delivers twice", "Make the write idempotent", name="idempotent", saved=50)
    shop.relations.link("idempotent", "solves", "orders-twice")
    both = shop.query(text)
    assert {hit.ref for hit in both.results[:2]} == {"pattern/idempotent", "failure/orders-twice"}
    assert both.known
    assert both.probability == pytest.approx(alone.probability, abs=0.01)
    for number in range(9):  # what solves it is no rival of it
        shop.patterns.add(f"way {number}", f"go {number}", name=f"way-{number}")
        shop.relations.link(f"way-{number}", "solves", "orders-twice")
    assert shop.query(text).probability == pytest.approx(alone.probability, abs=0.01)
    assert shop.query(text, kinds=["pattern"]).certainty != "none"
    assert shop.query(FOREIGN[0], kinds=["pattern"]).certainty == "none"


def test_among_many_that_are_as_near_the_first_one_is_less_likely(memory_with_model: Memory) -> None:
    text = "import worker is killed, out of memory"
    memory_with_model.failures.add("The import worker number 0 is killed: out of memory", name="w0")
    alone = memory_with_model.query(text)
    for number in range(1, 12):
        trigger = f"The import worker number {number} is killed: out of memory"
        memory_with_model.failures.add(trigger, name=f"w{number}", dedup=False)
    among = memory_with_model.query(text)
    assert (alone.known, among.known) == (True, False)
    assert among.probability < 0.8 * alone.probability


def test_where_nothing_is_found_nothing_is_known(memory: Memory) -> None:
    answer = memory.query("anything")
    assert (answer.results, answer.certainty, answer.probability) == ([], "none", 0.0)


def test_a_single_memory_is_known_to_who_asks_for_it_and_to_nobody_else(memory_with_model: Memory) -> None:
    memory_with_model.failures.add("The total of a cart is off by one cent", name="cent", fix="Round once, at the end")
    assert memory_with_model.query("the cart's total is off by one cent").known
    assert not memory_with_model.query("a customer was charged twice").known
    assert memory_with_model.query(FOREIGN[0]).certainty == "none"


def test_without_a_model_words_decide(tmp_path: Path) -> None:
    with planted(tmp_path, None) as memory:
        assert memory.query(KNOWN[3][0]).known
        assert memory.query("the striker scored a goal after the second corner").certainty == "none"


def test_the_thresholds_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(tmp_path, None).close()
    answers = []
    for known, unsure in ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)):
        monkeypatch.setenv("GRAPHMEM_RETRIEVAL_KNOWN", str(known))
        monkeypatch.setenv("GRAPHMEM_RETRIEVAL_UNSURE", str(unsure))
        with open_memory(tmp_path) as memory:
            answer = memory.query(KNOWN[0][0])
            answers.append((answer.certainty, answer.known))
    assert answers == [("high", True), ("low", False), ("none", False)]


def test_a_commit_knows_what_it_knew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", "/nonexistent")
    repository, text = Repository(tmp_path / "project"), KNOWN[3][0]
    with planted(repository.folder, None) as memory:
        repository.commit("all of it")
        before = memory.query(text)
        memory.forget("yaml-missing")
        repository.commit("without yaml")
    with Memory(repository.folder, at="HEAD~1") as past:
        then = past.query(text)
        assert (then.known, then.probability) == (before.known, before.probability) == (True, before.probability)
    with Memory(repository.folder, at="HEAD") as now:
        assert not now.query(text).known


# Stored: message and fix; then other errors of the same sort.
MESSAGES = (
    ("ModuleNotFoundError: No module named 'yaml'", "pip install pyyaml",
     ("ModuleNotFoundError: No module named 'pandas'", "why is there no module named 'toml'")),
    ("sqlite3.OperationalError: database is locked", "Set a busy timeout",
     ("sqlite3.OperationalError: no such table: users", "sqlite3.OperationalError: database is full")),
    ("error[E0502]: cannot borrow `v` as mutable because it is also borrowed as immutable", "Clone before the loop",
     ("error[E0499]: cannot borrow `v` as mutable more than once at a time",)),
    ("Error: listen EADDRINUSE: address already in use", "Stop the other server",
     ("Error: listen EACCES: permission denied",)),
    ("fatal: refusing to merge unrelated histories", "Pull with --allow-unrelated-histories",
     ("fatal: refusing to fetch into the current branch",)),
)  # fmt: skip
SURROUNDINGS = (
    "{}",
    "E   {}",
    "2026-11-20 10:02:13,441 ERROR worker-3: {}",
    'Traceback (most recent call last):\n  File "/srv/app/m.py", line 12, in main\n    run()\n{}',
    "Since the update of the runner the nightly job stops with this: {}\nPlease look into it and open a branch.",
)


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Memory]:
    """A store of five failures whose triggers are messages."""
    with open_memory(tmp_path_factory.mktemp("messages"), embedder=embedder) as memory:
        for number, (trigger, fix, _) in enumerate(MESSAGES):
            memory.failures.add(trigger, name=f"m{number}", fix=fix)
        yield memory


@pytest.mark.parametrize("around", SURROUNDINGS)
def test_the_same_error_in_other_surroundings_is_known(messages: Memory, around: str) -> None:
    for number, (trigger, _, _) in enumerate(MESSAGES):
        answer = messages.query(around.format(trigger))
        assert (answer.results[0].ref, answer.known) == (f"failure/m{number}", True)


@pytest.mark.parametrize("other", [other for *_, others in MESSAGES for other in others])
def test_another_error_of_the_same_sort_is_not_known(messages: Memory, other: str) -> None:
    answer = messages.query(other)
    assert not answer.known
    assert not messages.query(f"The nightly job stops with this: {other}\nPlease look into it.").known


@pytest.mark.long
def test_what_add_merges_is_known_and_what_it_tells_apart_is_not(tmp_path: Path, embedder: Embedder) -> None:
    """Five of those told apart are known: three by a line that is the same, one each by an order and a duration."""
    for name, other, most in (("again", "again", 42), ("others", "other", 5)):
        with open_memory(tmp_path / name, embedder=embedder) as memory:
            for pair in REPEATS[name]:
                memory.failures.add(pair["stored"], dedup=False)
            known = [memory.query(pair[other]).known for pair in REPEATS[name]]
        assert sum(known) <= most if name == "others" else all(known)


def test_a_result_says_which_of_its_conditions_the_question_and_the_project_meet(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "jinja2"\nversion = "3.1.2"\n')
    (tmp_path / "app.py").write_text("def boot(): ...\n")
    with open_memory(tmp_path) as memory:
        trigger = "ImportError: cannot import name 'soft_unicode' from 'markupsafe' in jinja2"
        memory.failures.add(trigger, name="a", fix="pin it", versions={"jinja2": "3.1.2"}, cites=["app.py:boot"])
        (hit,) = memory.query("why is soft_unicode missing").results
        assert hit.holds == ["cites app.py:boot (fresh)", "jinja2 3.1.2, as here"]
        assert hit.doubts == []
        (found,) = memory.match([f"{trigger}\n".encode()]).results
        assert (found.by, found.holds, found.doubts) == ("line", hit.holds, [])


def test_what_is_about_another_error_says_so_and_gives_way(tmp_path: Path, embedder: Embedder) -> None:
    with open_memory(tmp_path, embedder=embedder) as memory:
        memory.failures.add(MESSAGES[0][0], name="yaml", fix=MESSAGES[0][1])
        question = "ModuleNotFoundError: No module named 'pandas'"
        (hit,) = memory.query(question).results
        assert hit.verdict == "same_rule"
        text = "may not apply: yaml is not pandas"
        assert [(doubt.sign, doubt.text) for doubt in hit.doubts] == [("other_error", text)]
        strict = memory.query(question, strict=True)
        assert (strict.results, strict.left_out, strict.certainty) == ([], ["failure/yaml"], "none")
        memory.failures.add(question, name="pandas", fix="pip install pandas", dedup=False)
        both = memory.query(question)
        assert [(hit.ref, hit.doubts == []) for hit in both.results] == [
            ("failure/pandas", True), ("failure/yaml", False)
        ]  # fmt: skip
        assert both.known
