"""What a record is: keys made from texts, names that are taken, texts that are set aside, names in NFC."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from graphmem import BadInput, Conflict, Memory, NotFound, Refused
from graphmem.kernel.model import Campaign, Failure, Pattern
from tests.sample import CREATED, data, open_memory

LOCK = "sqlite3.OperationalError: database is locked"
NPM = "npm ERR! peer dep missing: react@18"
REDIS = "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379"


def row(**fields: object) -> bytes:
    return orjson.dumps(fields)


def failure(memory: Memory, ref: str) -> Failure:
    record = memory.get(ref).record
    assert isinstance(record, Failure)
    return record


# --- a name that is taken -----------------------------------------------------------------------------------------


def test_a_name_that_another_failure_has_is_refused_and_nothing_of_either_changes(
    memory: Memory, tmp_path: Path
) -> None:
    memory.failures.add(LOCK, name="db-lock", fix="Enable WAL", cost=40)
    before = data(tmp_path, "failure").read_bytes()
    with pytest.raises(Conflict) as error:
        memory.failures.add(NPM, name="db-lock")
    assert LOCK in error.value.message
    assert "graphmem edit failure/db-lock" in str(error.value.hint)
    assert "--replace" in str(error.value.hint)
    assert data(tmp_path, "failure").read_bytes() == before


def test_replace_under_a_taken_name_keeps_the_older_text_among_the_alternates(memory: Memory) -> None:
    memory.failures.add(LOCK, name="db-lock", fix="Enable WAL")
    answer = memory.failures.add("database is locked by the importer", name="db-lock", replace=True, fix="Stop it")
    assert (answer.ref, answer.action) == ("failure/db-lock", "updated")
    assert [(found.field, found.text) for found in answer.set_aside] == [("fix", "Enable WAL"), ("trigger", LOCK)]
    record = failure(memory, "db-lock")
    assert (record.trigger, record.fix) == ("database is locked by the importer", "Stop it")
    assert {found.text for found in record.alternates} == {"Enable WAL", LOCK}


def test_replace_does_not_give_a_text_the_fix_of_an_unlike_one(memory: Memory) -> None:
    memory.failures.add(LOCK, name="db-lock", fix="Enable WAL")
    with pytest.raises(Refused, match="Enable WAL"):
        memory.failures.add(NPM, name="db-lock", replace=True)
    assert failure(memory, "db-lock").trigger == LOCK
    memory.failures.add(NPM, name="db-lock", replace=True, fix="npm install")
    memory.failures.add(LOCK, fix="Set busy_timeout")  # a text that was set aside brings no current fix
    assert failure(memory, "db-lock").fix == "npm install"


def test_a_name_of_an_archived_record_is_refused_with_what_helps(memory: Memory) -> None:
    memory.failures.add(LOCK, name="lock")
    memory.forget("lock")
    with pytest.raises(Conflict) as error:
        memory.failures.add(NPM, name="lock")
    assert error.value.hint == "give another name, or bring that record back with: graphmem restore failure/lock"


def test_a_row_takes_no_reference_of_another_record_by_its_key(memory: Memory) -> None:
    memory.failures.add(LOCK, name="lock", fix="WAL")
    with pytest.raises(BadInput, match="the name failure/lock is taken"):
        memory.add_rows([row(kind="failure", key="lock", name="other", trigger=NPM)])


@pytest.mark.parametrize("dedup", [False, True])
def test_a_row_that_repeats_a_text_without_naming_it_loses_no_fix(memory: Memory, dedup: bool) -> None:
    memory.failures.add(LOCK, name="lock", fix="WAL")
    assert memory.add_rows([row(kind="failure", trigger=LOCK, fix="Set busy_timeout")], dedup=dedup).updated == 1
    record = failure(memory, "lock")
    assert {record.fix, *(other.text for other in record.alternates)} == {"WAL", "Set busy_timeout"}


@pytest.mark.parametrize("alias", [False, True])
def test_patterns_lessons_and_campaigns_refuse_a_taken_name_too(memory: Memory, alias: bool) -> None:
    memory.patterns.add("A build breaks", "Pin it", name="p")
    memory.lessons.add("Retry with a key", name="l")
    memory.campaigns.create("Add a login page", name="c")
    if alias:
        for ref in ("pattern/p", "lesson/l", "campaign/c"):
            memory.rename(ref, f"{ref.partition('/')[2]}-2")
    with pytest.raises(Conflict, match="A build breaks"):
        memory.patterns.add("A test hangs", "Add a timeout", name="p")
    with pytest.raises(Conflict, match="Retry with a key"):
        memory.lessons.add("Name the clock", name="l")
    with pytest.raises(Conflict, match="Add a login page"):
        memory.campaigns.create("Move to Postgres", name="c")


def test_a_name_given_with_a_known_text_becomes_an_alias_unless_another_has_it(memory: Memory) -> None:
    memory.failures.add(LOCK, name="db-lock")
    memory.failures.add(NPM, name="npm")
    assert memory.failures.add(LOCK, name="sqlite-lock").ref == "failure/db-lock"
    assert memory.get("failure/sqlite-lock").ref == "failure/db-lock"
    with pytest.raises(Conflict):
        memory.failures.add(LOCK, name="npm")


def test_a_bulk_row_that_names_a_record_changes_it_and_says_so(memory: Memory) -> None:
    memory.failures.add(LOCK, name="db-lock", fix="Enable WAL")
    line = row(kind="failure", name="db-lock", trigger=LOCK, fix="Set busy_timeout")
    answer = memory.add_rows([line], verbose=True)
    assert (answer.updated, answer.created) == (1, 0)
    assert [(update.ref, update.fields) for update in answer.updates] == [("failure/db-lock", ["fix"])]
    assert failure(memory, "db-lock").fix == "Set busy_timeout"
    assert memory.add_rows([line]).unchanged == 1


# --- keys ---------------------------------------------------------------------------------------------------------


def test_the_key_comes_from_the_text_whatever_the_name(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add(LOCK, name="db-lock")
    (stored,) = (orjson.loads(line) for line in data(tmp_path, "failure").read_bytes().splitlines())
    assert stored["key"].startswith("sqlite3.operationalerror-database-is-locked-")
    assert stored["name"] == "db-lock"
    Memory.init(tmp_path / "clone", nested=True)
    with Memory(tmp_path / "clone") as clone:
        clone.failures.add(LOCK.replace(" ", "\n  "), name="another-name", dedup=False)
        assert failure(clone, "another-name").key == stored["key"]


@pytest.mark.parametrize("way", ["edit", "rows"])
def test_a_text_whose_record_became_another_one_is_a_new_record(memory: Memory, way: str) -> None:
    """The key stays with the record; the two must not be mixed for that."""
    memory.failures.add(LOCK, name="lock", fix="Enable WAL")
    if way == "edit":
        memory.edit("lock", {"trigger": NPM, "fix": "npm install"})
    else:
        memory.add_rows([row(kind="failure", name="lock", trigger=NPM, fix="npm install")])
    answer = memory.failures.add(LOCK, fix="Set busy_timeout")
    assert (answer.action, answer.record.key) == ("created", f"{failure(memory, 'lock').key}.2")
    assert failure(memory, "lock").fix == "npm install"
    assert memory.failures.add(LOCK).ref == answer.ref


def test_a_pattern_is_its_trigger_and_its_advice(memory: Memory) -> None:
    first = memory.patterns.add("A build breaks", "Pin it", dedup=False).record
    second = memory.patterns.add("A build breaks", "Read the changelog", dedup=False).record
    assert (first.name, first.key.rpartition("-")[0]) == ("a-build-breaks", "a-build-breaks")
    assert second.name == second.key != first.key


def test_a_row_of_an_older_store_keeps_its_name_as_its_key_and_is_found_by_its_text(
    memory: Memory, tmp_path: Path
) -> None:
    old = row(
        kind="failure", name="database-is-locked", trigger="database is locked", created_at="2026-01-01T00:00:00Z"
    )
    data(tmp_path, "failure").write_bytes(old + b"\n")
    assert failure(memory, "failure/database-is-locked").key == "database-is-locked"
    assert memory.failures.add("database is locked", fix="WAL", dedup=False).action == "updated"
    assert memory.campaigns.create("x").action == "created"
    assert len(memory.list("failure").results) == 1


def test_a_name_made_of_other_letters_begins_with_a_letter_or_digit(memory: Memory) -> None:
    name = memory.failures.add("数据库被锁定").ref.partition("/")[2]
    assert name[0].isalnum()
    with pytest.raises(BadInput, match="not a slug"):
        memory.failures.add("x", name="-x")


def test_two_campaigns_of_one_name_on_two_branches_keep_their_tasks_apart(tmp_path: Path) -> None:
    keys = []
    for objective in ("Move to Postgres", "Add a login page"):
        folder = tmp_path / objective
        Memory.init(folder)
        with Memory(folder) as memory:
            memory.campaigns.create(objective, name="auth")
            (task,) = memory.campaigns.add_tasks("auth", [{"seq": 1, "slug": "setup", "objective": "o"}]).tasks
            assert task.ref == "task/auth/001-setup"
            keys.append(task.key)
    assert keys[0] != keys[1]


# --- campaigns ----------------------------------------------------------------------------------------------------


def test_a_finished_campaign_is_not_reopened_or_renamed_by_creating_it_again(memory: Memory) -> None:
    memory.campaigns.create("Add a login page", name="auth")
    assert memory.campaigns.create("Add a login page", name="auth").action == "unchanged"
    memory.campaigns.complete("auth", outcome="done")
    with pytest.raises(Refused, match="complete") as error:
        memory.campaigns.create("Add a login page", name="auth-2")
    assert "objective" in str(error.value.hint)
    record = memory.get("campaign/auth").record
    assert isinstance(record, Campaign)
    assert (record.status, record.aliases) == ("complete", ())


# --- texts that are set aside -------------------------------------------------------------------------------------


def test_the_same_error_with_another_fix_keeps_both_and_says_which_was_set_aside(memory: Memory) -> None:
    memory.failures.add(REDIS, name="redis", fix="restart the laptop")
    answer = memory.failures.add(REDIS, fix="docker compose up -d redis")
    assert [(found.field, found.text) for found in answer.set_aside] == [("fix", "restart the laptop")]
    assert failure(memory, "redis").fix == "docker compose up -d redis"


def test_a_near_duplicate_with_another_fix_sets_the_newer_aside_and_says_so(memory: Memory) -> None:
    memory.failures.add(f"{REDIS} at line 4", name="redis", fix="restart the laptop")
    answer = memory.failures.add(f"{REDIS} at line 9", fix="docker compose up -d redis")
    assert (answer.action, answer.merged_into) == ("merged", "failure/redis")
    assert ("fix", "docker compose up -d redis") in {(found.field, found.text) for found in answer.set_aside}
    record = failure(memory, "redis")
    assert record.fix == "restart the laptop"
    (other,) = [found for found in record.alternates if found.field == "fix"]
    assert other.at is not None
    assert other.at > record.created_at


def test_an_alternate_that_is_made_the_current_text_changes_places_with_it(memory: Memory) -> None:
    memory.failures.add(REDIS, name="redis", fix="restart the laptop")
    memory.failures.add(REDIS, fix="docker compose up -d redis")
    answer = memory.edit("redis", {"fix": "restart the laptop"})
    assert [found.text for found in answer.set_aside] == ["docker compose up -d redis"]
    record = failure(memory, "redis")
    assert record.fix == "restart the laptop"
    assert [found.text for found in record.alternates] == ["docker compose up -d redis"]


def test_adding_again_what_an_edit_replaced_does_not_bring_it_back(memory: Memory) -> None:
    """The key is the one of the first text, and whoever edited the text knew better."""
    memory.failures.add("the importer lock the database", name="lock")
    memory.edit("lock", {"trigger": "the importer locks the database"})
    answer = memory.failures.add("the importer lock the database")
    assert failure(memory, "lock").trigger == "the importer locks the database"
    assert [found.text for found in answer.set_aside] == ["the importer lock the database"]


@pytest.mark.parametrize("trigger", [REDIS, f"  {REDIS} "])
def test_a_repeat_never_lowers_a_cost_and_loses_no_expression(memory: Memory, trigger: str) -> None:
    memory.failures.add(REDIS, name="redis", cost=20, match="Error 111")
    answer = memory.failures.add(trigger, cost=2, match="111 connecting")
    record = failure(memory, answer.ref)
    assert record.cost == 20
    assert {record.match, *(found.text for found in record.alternates)} == {"Error 111", "111 connecting"}
    memory.add_rows([row(kind="failure", name="redis", trigger=REDIS, cost=1)])
    assert failure(memory, "redis").cost == 20


def test_a_saving_only_grows_too(memory: Memory) -> None:
    memory.patterns.add("A build breaks", "Pin it", name="pin", saved=9)
    memory.patterns.add("A build breaks", "Pin it", saved=3)
    record = memory.get("pin").record
    assert isinstance(record, Pattern)
    assert record.saved == 9


# --- empty texts --------------------------------------------------------------------------------------------------


def test_an_empty_text_is_refused_by_its_name(memory: Memory) -> None:
    memory.failures.add(LOCK, name="lock", fix="WAL")
    attempts: dict[str, Callable[[], object]] = {
        "fix": lambda: memory.failures.add(NPM, fix=" "),
        "insight": lambda: memory.patterns.add("A build breaks", ""),
        "objective": lambda: memory.campaigns.create("\n"),
        "description": lambda: memory.lessons.add("  "),
        "approach": lambda: memory.experiences.add("bug", "d", approach="", outcome="success", lessons=["l"]),
        "trigger": lambda: memory.failures.add(" "),
    }
    for field, attempt in attempts.items():
        with pytest.raises(BadInput, match=f"{field} is empty"):
            attempt()
    with pytest.raises(BadInput, match="fix is empty") as error:
        memory.edit("lock", {"fix": ""})
    assert "--unset fix" in str(error.value.hint)
    with pytest.raises(BadInput, match="insight is empty"):
        memory.add_rows([row(kind="pattern", trigger="t", insight=" ")])
    assert memory.list().total == 1


def test_an_empty_fix_in_a_file_counts_as_none(memory: Memory, tmp_path: Path) -> None:
    line = row(created_at="2026-01-01T00:00:00.000Z", fix=" ", kind="failure", name="a", trigger="boom")
    data(tmp_path, "failure").write_bytes(line + b"\n")
    assert failure(memory, "a").fix is None
    assert memory.stats().connectivity.unsolved_failures == 1
    assert memory.add_rows([row(kind="failure", name="b", trigger="bang", fix="")]).created == 1
    assert failure(memory, "b").fix is None


# --- NFC ----------------------------------------------------------------------------------------------------------


def test_an_entity_is_one_however_its_accents_were_typed(memory: Memory, tmp_path: Path) -> None:
    memory.types.add_entity("module")
    composed, apart = (unicodedata.normalize(form, "café.menü") for form in ("NFC", "NFD"))
    memory.entities.add("module", apart, value="one")
    assert memory.entities.add("module", composed, value="two").action == "updated"
    memory.failures.add("boom", name="boom")
    memory.relations.link(f"module/{apart}", "causes", "failure/boom")
    assert memory.get(f"module/{apart}").ref == memory.get(f"module/{composed}").ref == f"module/{composed}"
    answer = memory.add_rows([
        row(kind="entity", type="module", name=unicodedata.normalize("NFD", "naïve")),
        row(kind="relation", type="causes", to="module/naïve", **{"from": f"module/{apart}"}),
    ])  # fmt: skip
    assert (answer.created, answer.relations) == (1, 1)
    assert {found.ref for found in memory.related(f"module/{apart}").results} == {"failure/boom", "module/naïve"}
    assert memory.cypher("MATCH (m:Module)-[:CAUSES]->(n) RETURN count(n)").rows == [[2]]
    with pytest.raises(NotFound):
        memory.get("module/cafe.menu")


def test_a_row_typed_in_another_form_is_still_its_entity(memory: Memory, tmp_path: Path) -> None:
    memory.types.add_entity("module")
    apart = unicodedata.normalize("NFD", "café")
    line = row(created_at="2026-01-01T00:00:00.000Z", kind="entity", name=apart, type="module")
    data(tmp_path, "entities/module").write_bytes(line + b"\n")
    memory.failures.add("boom", name="boom")
    memory.relations.link("module/café", "causes", "failure/boom")
    assert [found.ref for found in memory.related("boom").results] == ["module/café"]
    assert memory.cypher("MATCH (m:Module)-[:CAUSES]->(f:Failure) RETURN m.name").rows == [["café"]]
    assert memory.store.validate().ok


# --- what is answered under a name ----------------------------------------------------------------------------------


def test_a_name_that_two_records_have_is_answered_with_a_warning(tmp_path: Path) -> None:
    """As after a merge: without it a report would silently go to the other record."""
    said: list[str] = []
    with open_memory(tmp_path, said=said) as memory:
        rows = [
            row(kind="failure", name="dup", key=key, trigger=key, created_at=CREATED) for key in ("boom-1", "bang-2")
        ]
        data(tmp_path, "failure").write_bytes(b"".join(line + b"\n" for line in rows))
        shown = memory.get("failure/dup").ref
        (other,) = {found.ref for found in memory.list("failure").results} - {shown}
        assert [text for text in said if other in text and "not the only record of this name" in text]
        said.clear()
        memory.get(other)
        memory.get("failure/boom-1")
        assert said == []


def test_what_was_superseded_is_refused_with_its_successor(memory: Memory) -> None:
    memory.failures.add(LOCK, name="old")
    memory.failures.add(NPM, name="new")
    memory.supersede("old", "new")
    memory.rename("new", "newer")
    with pytest.raises(Refused, match="superseded by failure/newer"):
        memory.failures.add(LOCK)
