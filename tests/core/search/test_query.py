"""List and query: filters, bands, factors, exact hits, what the graph adds; retrieval.md, sections 2, 3, 5."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import BadInput, Memory, Unavailable, Usage
from graphmem.core.evidence.score import BANDS
from graphmem.core.search.query_contract import Profile
from graphmem.kernel.embed.model import Embedder
from graphmem.kernel.embed.reranker import Reranker
from tests.sample import START, Clock, data, failure, open_memory, write


def refs(found: object) -> list[str]:
    return [hit.ref for hit in found.results]  # type: ignore[attr-defined]  # any answer with results


# --- list ----------------------------------------------------------------------------------------------------------


def test_list_filters_sorts_and_counts(memory: Memory) -> None:
    memory.types.add_entity("part")
    memory.entities.add("part", "wheel")
    memory.failures.add("one", name="a", cost=3, tags=["x", "y"])
    memory.failures.add("two", name="b", cost=9, tags=["x"])
    memory.failures.add("three", name="c")
    memory.patterns.add("t", "i", name="p", tags=["x"])
    assert refs(memory.list()) == ["failure/a", "failure/b", "failure/c", "part/wheel", "pattern/p"]
    assert refs(memory.list("entity")) == ["part/wheel"]
    assert refs(memory.list(tags=["x"])) == ["failure/a", "failure/b", "pattern/p"]
    assert refs(memory.list(tags=["x", "y"])) == ["failure/a"]
    assert refs(memory.list("failure", sort="cost")) == ["failure/a", "failure/b", "failure/c"]
    assert refs(memory.list("failure", sort="-cost")) == [
        "failure/b",
        "failure/a",
        "failure/c",
    ]  # without a value: last
    assert refs(memory.list("failure", sort="-created_at")) == ["failure/c", "failure/b", "failure/a"]
    limited = memory.list("failure", limit=2)
    assert (refs(limited), limited.total) == (["failure/a", "failure/b"], 3)
    assert memory.list("failure", tags=["x"], limit=1).total == 2
    for mistake in ({"kind": "failur"}, {"sort": "costs"}):
        with pytest.raises(Usage) as error:
            memory.list(**mistake)  # type: ignore[arg-type]
        assert "did you mean" in str(error.value.hint)


def test_a_list_shows_what_was_reported(memory: Memory) -> None:
    memory.failures.add("one", name="a")
    memory.feedback("a", helped=True)
    memory.feedback("a", helped=False)
    (found,) = memory.list("failure").results
    assert (found.record.helped, found.record.failed) == (1, 1)  # type: ignore[union-attr]  # a failure
    assert refs(memory.list(sort="-helped")) == ["failure/a"]


# --- query ---------------------------------------------------------------------------------------------------------


def test_without_a_model_search_is_lexical_and_finds_tokens_whole_and_by_part(memory: Memory) -> None:
    memory.failures.add("psycopg2.errors.UniqueViolation: duplicate key value", name="unique")
    memory.failures.add("ImportError: fasthtml.core not found in src/auth/token.py", name="fasthtml")
    memory.failures.add("the moon is made of cheese", name="moon")
    for text, name in (
        ("psycopg2.errors.UniqueViolation", "unique"),
        ("UniqueViolation", "unique"),
        ("violation", "unique"),
        ("errors.uniqueviolation", "unique"),
        ("fasthtml.core", "fasthtml"),
        ("src/auth/token.py", "fasthtml"),
        ("token.py", "fasthtml"),
        ("auth", "fasthtml"),
        ("importerror", "fasthtml"),
    ):
        answer = memory.query(text)
        assert answer.search == "lexical"
        assert answer.results[0].ref == f"failure/{name}", text
        hit = answer.results[0]
        assert hit.similarity == hit.relevance
        assert (hit.factors.semantic, hit.factors.graph) == (0, 0)
        assert 0 < hit.factors.lexical <= 1


def test_a_query_of_which_nothing_is_known_finds_nothing(memory: Memory) -> None:
    memory.failures.add("the moon is made of cheese", name="moon")
    assert memory.query("zebra").results == []
    assert memory.query("moon zebra unicorn griffin").results[0].relevance < 0.25  # one word of four, and a common one
    assert memory.query("moon").results[0].relevance == 1.0
    for empty in ("", "  \n"):
        with pytest.raises(BadInput):
            memory.query(empty)
    with pytest.raises(Usage):
        memory.query("moon", limit=0)
    for odd in ('"', "AND OR NOT", "a* NEAR(b)", "{}()[]^:-+", "\x00", "'; DROP TABLE lexical; --", "🙂", "of the"):
        memory.query(odd)


def test_a_score_is_the_product_of_its_factors(tmp_path: Path) -> None:
    clock = Clock(step=timedelta(0))
    with open_memory(tmp_path, clock=clock) as memory:
        memory.failures.add("the moon is made of cheese", name="moon", cost=7)
        memory.feedback("moon", helped=True)
        memory.feedback("moon", helped=True)
        memory.feedback("moon", helped=False)
        clock.time = START + timedelta(days=60)
        (hit,) = memory.query("cheese moon", profile="classic").results
        factors = hit.factors
        assert (factors.cost, factors.help_ratio, factors.age_decay) == (3.0, 3 / 5, 0.25)
        assert hit.score == hit.relevance * 3.0 * (3 / 5) * 0.25
        (hit,) = memory.query("cheese moon", profile="learned").results
        factors = hit.factors
        assert hit.score == hit.relevance * factors.cost * factors.help_ratio * factors.age_decay
        memory.feedback("moon", helped=False)  # a report that it did not help makes it no younger
        assert memory.query("cheese moon", profile="classic").results[0].factors.age_decay == pytest.approx(0.25)
        memory.feedback("moon", helped=True)
        assert memory.query("cheese moon", profile="classic").results[0].factors.age_decay == pytest.approx(1.0)
        clock.time = START - timedelta(days=60)  # a clock that went back
        assert memory.query("cheese moon", profile="classic").results[0].factors.age_decay == 1.0


@pytest.mark.parametrize("profile", ["classic", "learned"])
def test_an_old_error_that_matches_exactly_is_never_below_something_fresh(tmp_path: Path, profile: Profile) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.failures.add("E4711 while linking", name="old")
        clock.time += timedelta(days=3650)
        memory.failures.add("error E4799 while linking the program", name="fresh", cost=500, dedup=False)
        answer = memory.query("E4711 while linking\nerror E4799 while linking a program", profile=profile)
        assert refs(answer) == ["failure/old", "failure/fresh"]
        assert answer.results[0].factors.exact == 1.0
        if profile == "classic":
            assert answer.results[0].score < answer.results[1].score
        assert answer.results[1].relevance > 0.6


def test_a_name_a_reference_and_an_alias_are_exact(memory: Memory) -> None:
    memory.failures.add("the moon is made of cheese", name="zz-9")
    memory.failures.add("zz 9 plural z alpha", name="other")
    memory.rename("zz-9", "yy-8")
    for text in ("zz-9", "yy-8", "failure/yy-8", "failure/zz-9", " yy-8 "):
        hit = memory.query(text).results[0]
        assert (hit.ref, hit.factors.exact) == ("failure/yy-8", 1.0), text


@pytest.mark.parametrize(
    ("expression", "text", "is_hit"),
    [
        ("boom", "a boom here", True),
        ("(?i)BOOM", "a boom here", True),
        ("a|b", "xxx", False),
        ("ab?c", "ac", True),
        ("(foo|bar)baz", "barbaz", True),
        (r"^line \d+$", "first\nline 7\nlast", True),
        (r"x{0}y", "y", True),
        ("[a-c]z", "bz", True),
        ("(?:no)?module", "module", True),
        ("İ", "İ", True),
        ("ſ", "ſ", True),
        ("(?i)ß", "ẞ", True),
    ],
)
def test_a_match_expression_finds_what_pythons_own_would(
    memory: Memory, expression: str, text: str, is_hit: bool
) -> None:
    memory.failures.add("unrelated words", name="it", match=expression)
    found = [hit.ref for hit in memory.query(text).results if hit.factors.expression]
    assert found == (["failure/it"] if is_hit else [])


def test_a_pathological_expression_does_not_hang_the_query(tmp_path: Path) -> None:
    said: list[str] = []
    with open_memory(tmp_path, said=said) as memory:
        memory.failures.add("unrelated words", name="it", match=r"(a|aa)+(?<!x)$")
        memory.query("a" * 2000 + "!")


def test_a_pattern_that_solves_a_hit_is_let_in_by_the_graph(memory: Memory) -> None:
    memory.failures.add("the moon is made of cheese", name="moon")
    memory.patterns.add("astronomy", "look again", name="look")
    memory.patterns.add("geology", "dig", name="dig")
    memory.relations.link("look", "solves", "moon")
    memory.relations.link("dig", "solves", "moon", weight=0.5)
    answer = memory.query("moon made of cheese")
    hits = {hit.ref: hit for hit in answer.results}
    assert hits["pattern/look"].relevance == hits["failure/moon"].relevance  # never more than the hit's own
    assert hits["pattern/dig"].relevance == pytest.approx(hits["failure/moon"].relevance * 0.5)
    assert hits["pattern/look"].factors.graph == hits["failure/moon"].relevance
    assert refs(memory.query("moon made of cheese", kinds=["pattern"])) == ["pattern/look", "pattern/dig"]
    assert refs(memory.query("moon made of cheese", kinds=["failure"])) == ["failure/moon"]


def test_words_that_stand_side_by_side_say_more_than_the_same_words_apart(memory: Memory) -> None:
    memory.failures.add("pool of the connection is exhausted", name="apart", dedup=False)
    memory.failures.add("connection pool is of the exhausted", name="beside", dedup=False)
    found = memory.query("exhausted: connection pool").results
    assert [hit.ref for hit in found] == ["failure/beside", "failure/apart"]
    assert found[0].relevance > found[1].relevance


def test_a_pasted_log_keeps_its_rarest_words_however_they_are_inflected(memory: Memory) -> None:
    noise = " ".join(f"w{number}" for number in range(300))
    for name in ("a", "b"):
        memory.failures.add(f"{noise} {name}", name=name, dedup=False)
    memory.failures.add("deadlock", name="rare")
    assert "failure/rare" in refs(memory.query(f"{noise} deadlocks"))


def test_a_query_for_patterns_is_measured_by_patterns(memory: Memory) -> None:
    memory.patterns.add("disk full while the report is written", "delete old reports", name="p")
    memory.failures.add("disk full", name="f")
    assert memory.query("disk full", kinds=["pattern"]).results[0].relevance == pytest.approx(1)


def test_a_pasted_log_is_looked_for_by_the_lines_that_tell(memory_with_model: Memory) -> None:
    noise = [f"INFO the worker has finished task {number} and takes the next" for number in range(400)]
    memory_with_model.failures.add("A worker takes a task from the queue twice", name="twice")
    memory_with_model.failures.add("The certificate of the mirror has run out", name="certificate")
    log = "\n".join([*noise[:300], "SSLError: the mirror's certificate expired on Sunday", *noise[300:]])
    best = memory_with_model.query(log).results[0]
    assert best.ref == "failure/certificate"
    assert best.similarity > 0.4


def test_a_larger_limit_finds_more_than_the_usual_candidates(memory: Memory) -> None:
    rows = (b'{"kind":"failure","name":"n%d","trigger":"the moon number %d"}' % (n, n) for n in range(130))
    memory.add_rows(rows)
    assert len(memory.query("moon", limit=125).results) == 125
    assert len(memory.query("moon").results) == 10


def test_what_is_near_in_meaning_is_measured_by_its_words_too(
    tmp_path: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where other records use the words more."""
    monkeypatch.setenv("GRAPHMEM_RETRIEVAL_CANDIDATES", "2")
    Memory.init(tmp_path)
    with open_memory(tmp_path, embedder=embedder) as memory:
        for number in range(3):
            text = f"clients, slow clients: printer {number} in the hall is out of blue paper, the kitchen of coffee"
            memory.failures.add(text, name=f"printer-{number}", dedup=False)
        memory.failures.add("Response times are terrible, clients wait for ages", name="times")
        hits = {hit.ref: hit for hit in memory.query("the server answers clients far too slowly", limit=3).results}
        assert hits["failure/times"].factors.lexical > 0


def test_with_the_model_meaning_is_found_without_a_shared_word(memory_with_model: Memory) -> None:
    memory_with_model.failures.add("The connection pool has run dry under load", name="pool")
    memory_with_model.failures.add("The typeface of the heading is wrong", name="typeface")
    answer = memory_with_model.query("too many database clients at once")
    assert answer.search == "semantic+lexical"
    assert answer.results[0].ref == "failure/pool"
    assert answer.results[0].factors.lexical == 0
    assert answer.results[0].similarity == answer.results[0].factors.semantic > 0.2
    similar = memory_with_model.query("The connection pool has run dry under load").results[0]
    assert similar.similarity == pytest.approx(1.0, abs=1e-5)
    assert similar.tier == "critical"
    assert refs(memory_with_model.query("database clients", min_similarity=0.99)) == []


def test_results_come_by_band_then_by_score(memory_with_model: Memory) -> None:
    for number, text in enumerate(
        ("the build fails on windows", "the build is slow", "windows are open", "a build of the house", "fails again")
    ):
        memory_with_model.failures.add(text, name=f"n{number}", cost=10**number, dedup=False)
    hits = memory_with_model.query("the build fails on windows", limit=20).results

    order = [(BANDS.index(hit.band), -hit.score) for hit in hits]
    assert order == sorted(order)
    assert all((hit.band == "exact") == bool(hit.factors.exact) for hit in hits)
    assert len({band for band, _ in order}) > 1
    for hit in hits:
        bounds = (("critical", 0.6), ("productive", 0.4), ("exploration", 0.25), ("background", -1.0))
        assert hit.tier == next(name for name, bound in bounds if hit.similarity >= bound)


def test_a_filter_by_kind_that_does_not_exist_is_a_mistake(memory: Memory) -> None:
    memory.types.add_entity("part")
    memory.entities.add("part", "wheel")
    with pytest.raises(Usage):
        memory.query("wheel", kinds=["prt"])
    assert refs(memory.query("wheel", kinds=["entity"])) == ["part/wheel"]
    assert refs(memory.query("wheel", kinds=["part", "failure"])) == ["part/wheel"]


def test_nothing_is_embedded_twice_also_across_a_rebuild(
    tmp_path: Path, embedder: Embedder, memory_with_model: Memory
) -> None:
    write(data(tmp_path, "failure"), failure("a", "one text"), failure("b", "one text"), failure("c", "another text"))
    assert memory_with_model.store.rebuild().embedded == 2  # one text, one vector
    assert memory_with_model.store.rebuild().embedded == 0
    before = data(tmp_path, "failure").read_bytes()
    write(data(tmp_path, "failure"))
    memory_with_model.query("one text")
    data(tmp_path, "failure").write_bytes(before)  # back on the other branch
    assert memory_with_model.store.rebuild().embedded == 0
    with open_memory(tmp_path, embedder=embedder) as again:
        assert again.store.rebuild().embedded == 0
        assert again.query("one text").results[0].similarity == pytest.approx(1, abs=1e-5)


def test_a_vector_file_that_is_cut_short_is_made_again(
    tmp_path: Path, embedder: Embedder, memory_with_model: Memory
) -> None:
    memory_with_model.failures.add("one text", name="a")
    memory_with_model.query("one text")
    (path,) = (tmp_path / ".graphmem/local/vectors").glob("*.f32")
    path.write_bytes(path.read_bytes()[:100])
    with open_memory(tmp_path, embedder=embedder) as again:
        assert again.query("one text").results[0].similarity == pytest.approx(1, abs=1e-5)


# --- a reranker ----------------------------------------------------------------------------------------------------


class Scored:
    """A reranker whose scores are known: that of the first word of its list that a text holds."""

    name = "scored"

    def __init__(self, **scores: float) -> None:
        self.of, self.seen = scores, list[str]()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.seen += texts
        return [next((score for word, score in self.of.items() if word in text), -100.0) for text in texts]


@pytest.fixture
def moons(memory: Memory) -> Memory:
    """Four failures whose texts hold ever less of the query "red moon over paris"."""
    for name in ("red moon over paris", "red moon over rome", "red moon", "moon"):
        memory.failures.add(f"{name} again", name=name.replace(" ", "-"), dedup=False)
    return memory


def reranked_by(memory: Memory, reranker: Reranker) -> None:
    memory.store.client.__dict__["reranker"] = reranker


def test_a_reranker_reorders_the_hits_and_hands_out_their_relevances(moons: Memory) -> None:
    before = moons.query("red moon over paris")
    assert before.reranker is None
    assert {hit.factors.reranked for hit in before.results} == {None}
    reranked_by(moons, Scored(rome=7.0, paris=-3.0, red=2.5))
    after = moons.query("red moon over paris")
    assert after.reranker == "scored"
    by_relevance = sorted(after.results, key=lambda hit: -hit.relevance)
    assert [hit.ref.removeprefix("failure/") for hit in by_relevance] == [
        "red-moon-over-rome", "red-moon", "red-moon-over-paris", "moon",
    ]  # fmt: skip
    assert [hit.factors.reranked for hit in by_relevance] == [7.0, 2.5, -3.0, -100.0]
    assert [hit.relevance for hit in by_relevance] == sorted((hit.relevance for hit in before.results), reverse=True)
    assert refs(after)[0] == "failure/red-moon-over-rome"


def test_a_reranker_looks_at_the_first_hits_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_RETRIEVAL_RERANK", "2")
    with open_memory(tmp_path) as memory:
        for text in ("red moon over paris", "red moon over rome", "moon"):
            memory.failures.add(text, name=text.replace(" ", "-"), dedup=False)
        reranker = Scored(rome=2.0, paris=1.0, moon=3.0)
        reranked_by(memory, reranker)
        answer = memory.query("over paris red moon")
    assert reranker.seen == ["red moon over paris", "red moon over rome"]
    assert refs(answer) == ["failure/red-moon-over-rome", "failure/red-moon-over-paris", "failure/moon"]
    assert [hit.factors.reranked for hit in answer.results] == [2.0, 1.0, None]


def test_what_is_exact_stays_first_and_is_not_reranked(moons: Memory) -> None:
    moons.failures.add("the sun", name="sun")
    reranker = Scored(paris=9.0)
    reranked_by(moons, reranker)
    first = moons.query("red moon over paris\nthe sun").results[0]
    assert (first.ref, first.factors.exact, first.factors.reranked) == ("failure/sun", 1.0, None)
    assert "the sun" not in reranker.seen


def test_a_pattern_that_solves_a_hit_follows_it_when_it_is_reranked(moons: Memory) -> None:
    moons.patterns.add("unheard of", "look away", name="p")
    moons.relations.link("p", "solves", "red-moon-over-rome")
    reranked_by(moons, Scored(rome=5.0))
    relevances = {hit.ref: hit.relevance for hit in moons.query("red moon over paris").results}
    assert relevances["pattern/p"] == relevances["failure/red-moon-over-rome"] == max(relevances.values())


def test_a_reranker_that_fails_is_said_once_and_the_query_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Scored):
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            raise Unavailable("it fails")

    said: list[str] = []
    with open_memory(tmp_path, said=said) as memory:
        memory.failures.add("red moon", name="m")
        reranked_by(memory, Broken())
        for _ in range(2):
            answer = memory.query("moon")
            assert (refs(answer), answer.reranker) == (["failure/m"], None)
    assert said.count("it fails") == 1
    monkeypatch.setenv("GRAPHMEM_RETRIEVAL_RERANKER", str(tmp_path / "nowhere"))
    with open_memory(tmp_path, said=said) as memory:
        assert refs(memory.query("moon")) == refs(memory.query("red")) == ["failure/m"]
    assert said.count(f"no usable reranker {str(tmp_path / 'nowhere')!r}: nothing is reranked") == 1


def test_a_query_without_a_reranker_does_not_look_for_one(memory: Memory) -> None:
    memory.failures.add("red moon", name="m")
    assert memory.query("moon").reranker is None
    assert memory.store.client.reranker is None


def test_a_finished_task_comes_after_a_failure_that_says_the_same(memory: Memory) -> None:
    memory.campaigns.create("transport", name="h3")
    memory.campaigns.add_tasks("h3", [{"seq": "001", "slug": "pool", "objective": "write a transport with a pool"}])
    memory.failures.add("a timeout of the pool", name="timeout", fix="close responses")
    memory.failures.add("cannot write a transport with a pool", name="write", fix="close responses")
    task = "task/h3/001-pool"
    assert refs(memory.query("pool"))[0] == task  # still to be done
    memory.tasks.start(task)
    memory.tasks.complete(task)
    for text in ("pool", "write a transport with a pool"):
        assert "task" not in refs(memory.query(text))[0]
    found = {hit.ref: hit for hit in memory.query("write a transport with a pool").results}
    assert (found[task].factors.finished, found["failure/write"].factors.finished) == (0.5, 1.0)
    assert refs(memory.query(task))[0] == task  # named in full
