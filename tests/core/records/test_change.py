"""Adding, merging, changing, renaming, archiving: records.md and retrieval.md, section 6."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

from graphmem import BadInput, Conflict, Memory, NotFound, Refused
from graphmem.kernel.model import Failure, Pattern
from tests.sample import Clock, contents, data, failure, open_memory, write

ERROR = "ModuleNotFoundError: No module named 'pkg_resources' while building the wheel, line 12"
SAME = "ModuleNotFoundError: No module named 'pkg_resources' while building the wheel, line 97"
OTHER = "ModuleNotFoundError: No module named 'pkg_config' while building the wheel, line 12"


def rows(folder: Path, name: str) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in data(folder, name).read_bytes().splitlines()]


# --- add -----------------------------------------------------------------------------------------------------------


def test_a_new_record_is_created_with_the_fields_given(memory: Memory, tmp_path: Path) -> None:
    made = memory.failures.add("boom", fix="calm down", cost=12, tags=["b", "a", "b"], name="big-boom")
    assert (made.ref, made.action, made.merged_into, made.variants) == ("failure/big-boom", "created", None, [])
    assert isinstance(made.record, Failure)
    assert rows(tmp_path, "failure") == [
        {"cost": 12, "created_at": "2026-11-01T09:30:01.000Z", "fix": "calm down", "key": "boom-81f523",
         "kind": "failure", "name": "big-boom", "tags": ["a", "b"], "trigger": "boom"}
    ]  # fmt: skip


def test_a_name_that_is_not_given_is_made_from_the_trigger_and_cut_at_a_word(memory: Memory) -> None:
    made = memory.failures.add("Ünïcode: naïve  FAILURE of the (very) long-winded kind that never seems to end at all")
    assert made.ref == "failure/unicode-naive-failure-of-the-very-long-winded-kind-that"
    assert len(made.ref.removeprefix("failure/")) < 60


def test_a_trigger_without_a_letter_of_a_slug_is_named_by_its_hash(memory: Memory) -> None:
    assert memory.failures.add("记忆图谱").ref == "failure/" + sha256("记忆图谱".encode()).hexdigest()[:6]


def test_a_made_name_that_another_text_has_gets_six_hex_digits(memory: Memory) -> None:
    first = memory.failures.add("it broke", dedup=False)
    second = memory.failures.add("it broke!", fix="mend it", dedup=False)
    assert first.ref == "failure/it-broke"
    assert second.action == "created"
    assert second.ref.startswith("failure/it-broke-")
    assert len(second.ref) == len("failure/it-broke-") + 6


def test_the_same_text_without_a_name_is_the_same_record(memory: Memory) -> None:
    memory.failures.add("it broke")
    assert memory.failures.add("it broke").action == "unchanged"
    assert memory.failures.add("it broke", dedup=False).action == "unchanged"


def test_adding_a_key_again_replaces_what_is_given_keeps_the_rest_and_unites_sets(memory: Memory) -> None:
    memory.failures.add("boom", name="boom", fix="one", cost=3, tags=["a"], sources=["x"])
    made = memory.failures.add("boom", name="boom", fix="two", tags=["b"], sources=["y"])
    record = made.record
    assert isinstance(record, Failure)
    assert made.action == "updated"
    assert (record.fix, record.cost, record.tags, record.sources) == ("two", 3, ("a", "b"), ("x", "y"))
    assert set(record.edited) == {"alternates", "fix", "tags", "sources"}


def test_adding_what_is_there_changes_no_byte(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="boom", fix="one", tags=["a"])
    before = contents(tmp_path)
    assert memory.failures.add("boom", name="boom", fix="one", tags=["a"]).action == "unchanged"
    assert contents(tmp_path) == before


def test_adding_an_archived_key_is_refused_and_names_restore(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    memory.forget("failure/boom")
    with pytest.raises(Refused) as refused:
        memory.failures.add("boom", name="boom")
    assert "restore" in str(refused.value.hint)


def test_a_given_name_that_is_no_slug_is_refused_with_the_slug(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        memory.failures.add("boom", name="Big Boom!")
    assert "big-boom" in str(refused.value.hint)
    assert not data(tmp_path, "failure").exists()


def test_a_name_that_is_an_alias_of_another_record_is_taken(memory: Memory) -> None:
    memory.failures.add("boom", name="one")
    memory.rename("failure/one", "two")
    memory.rename("failure/two", "three")
    for name in ("two", "three"):
        with pytest.raises(Conflict) as refused:
            memory.failures.add("another thing", name=name)
        assert refused.value.details["ref"] == "failure/three"


def test_an_entity_of_an_undeclared_type_is_refused(memory: Memory) -> None:
    memory.types.add_entity("klass")
    with pytest.raises(BadInput) as refused:
        memory.entities.add("klas", "Store")
    assert refused.value.hint == "did you mean klass?"


@pytest.mark.parametrize("name", ["../x", 'a "quote"', "pkg.mod.Store", "🙂", "with space", "x" * 256, "a/b/c", "'"])
def test_an_entity_name_is_any_printable_text(memory: Memory, name: str) -> None:
    memory.types.add_entity("klass")
    assert memory.entities.add("klass", name, value="v").ref == f"klass/{name}"
    assert memory.get(f"klass/{name}").ref == f"klass/{name}"
    assert memory.store.validate().findings == []


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\x1b[31m", "x" * 257])
def test_an_entity_name_that_nobody_can_type_is_refused(memory: Memory, name: str) -> None:
    memory.types.add_entity("klass")
    with pytest.raises(BadInput):
        memory.entities.add("klass", name)


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    before = contents(tmp_path)
    assert memory.failures.add("boom", dry_run=True).action == "created"
    assert contents(tmp_path) == before
    memory.failures.add("boom")
    before = contents(tmp_path)
    assert memory.failures.add("boom", fix="x", name="boom", dry_run=True).action == "updated"
    assert memory.edit("boom", {"fix": "x"}, dry_run=True).action == "updated"
    assert contents(tmp_path) == before


def test_a_value_over_its_limit_is_refused_with_field_size_and_limit(memory: Memory) -> None:
    with pytest.raises(BadInput) as refused:
        memory.failures.add("x" * 16_385)
    assert refused.value.details["field"] == "trigger"
    assert "16,385" in refused.value.message
    assert "16,384" in refused.value.message


def test_limits_bind_what_a_command_takes_in_and_not_what_a_file_holds(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), failure("big", fix="x" * 20_000))
    assert memory.store.validate().findings == []
    assert memory.edit("big", {"cost": 1}).action == "updated"
    with pytest.raises(BadInput) as refused:
        memory.edit("big", {"fix": "y" * 20_000})
    assert refused.value.details["field"] == "fix"


def test_a_row_that_is_too_large_or_nested_too_deep_is_refused(memory: Memory, tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(40):
        deep = [deep]
    for fields in ({"sources": [f"{n:0250}" for n in range(2000)]}, {"later": deep}, {"later": 2**60}):
        with pytest.raises(BadInput):
            memory.add_rows([orjson.dumps({"kind": "failure", "trigger": "boom", **fields})])
    with pytest.raises(BadInput):
        memory.failures.add("boom", name="boom", sources=[f"{n:0250}" for n in range(2000)])
    assert not data(tmp_path, "failure").exists()


# --- near-duplicates -----------------------------------------------------------------------------------------------


def test_an_error_that_differs_in_a_line_number_is_the_same_with_and_without_a_model(
    memory: Memory, tmp_path: Path
) -> None:
    memory.failures.add(ERROR, name="gone", fix="pin setuptools", tags=["a"], sources=["one"], cost=3)
    made = memory.failures.add(SAME, fix="pin setuptools", tags=["b"], sources=["two"], cost=9)
    assert (made.action, made.ref, made.merged_into) == ("merged", "failure/gone", "failure/gone")
    record = made.record
    assert isinstance(record, Failure)
    assert (record.tags, record.sources, record.cost, record.trigger) == (("a", "b"), ("one", "two"), 9, ERROR)
    assert [(found.field, found.text) for found in record.alternates] == [("trigger", SAME)]
    assert record.aliases == ()  # the name was made
    assert len(rows(tmp_path, "failure")) == 1


def test_a_merge_with_the_model_says_how_similar_it_was(memory_with_model: Memory) -> None:
    memory_with_model.failures.add(ERROR, name="gone")
    made = memory_with_model.failures.add(SAME, name="gone-again")
    assert made.action == "merged"
    assert made.similarity is not None
    assert 0.85 <= made.similarity <= 1
    assert made.record.aliases == ("gone-again",)
    assert memory_with_model.get("failure/gone-again").ref == "failure/gone"


def test_what_is_near_and_about_something_else_is_no_variant(memory_with_model: Memory) -> None:
    """Cosine 0.75, for both are errors of sqlite in some way; a person would call only the third a variant."""
    mypy = 'sqlite_utils/utils.py:56: error: Incompatible return value type (got "None", expected "str")'
    memory_with_model.failures.add(mypy, name="mypy")
    assert (
        memory_with_model.failures.add('sqlite3.OperationalError: near "5": syntax error', name="five").variants == []
    )
    made = memory_with_model.failures.add('sqlite3.OperationalError: near "2": syntax error', name="two")
    assert [found.ref for found in made.variants] == ["failure/five"]


def test_another_library_is_another_record_and_a_variant(memory_with_model: Memory, tmp_path: Path) -> None:
    memory_with_model.failures.add(ERROR, name="gone")
    made = memory_with_model.failures.add(OTHER, name="other")
    assert made.action == "created"
    assert [found.ref for found in made.variants] == ["failure/gone"]
    (row,) = rows(tmp_path, "relations/variant")
    keys = sorted(memory_with_model.get(name).record.key_ref for name in ("gone", "other"))
    assert [row["from"], row["to"]] == keys
    assert row["similarity"] == pytest.approx(made.variants[0].similarity)
    assert made.variants[0].similarity >= 0.7


def test_something_else_is_novel(memory_with_model: Memory) -> None:
    memory_with_model.failures.add(ERROR)
    made = memory_with_model.failures.add("The database connection pool is exhausted after a deploy")
    assert (made.action, made.variants, made.similarity) == ("created", [], None)


def test_no_dedup_stores_a_repetition_on_its_own(memory_with_model: Memory) -> None:
    memory_with_model.failures.add(ERROR, name="one")
    assert memory_with_model.failures.add(SAME, name="two", dedup=False).action == "created"


def test_replace_puts_the_newer_texts_first_and_keeps_the_older(memory: Memory) -> None:
    memory.failures.add(ERROR, name="gone", fix="old fix")
    record = memory.failures.add(SAME, fix="new fix", replace=True).record
    assert isinstance(record, Failure)
    assert (record.trigger, record.fix) == (SAME, "new fix")
    assert {(found.field, found.text) for found in record.alternates} == {("trigger", ERROR), ("fix", "old fix")}


def test_a_merge_gives_the_older_what_it_lacked(memory: Memory) -> None:
    memory.failures.add(ERROR, name="gone")
    record = memory.failures.add(SAME, fix="pin it", match="pkg_resources").record
    assert isinstance(record, Failure)
    assert (record.fix, record.match) == ("pin it", "pkg_resources")


def test_a_pattern_that_advises_otherwise_is_another_pattern(memory: Memory) -> None:
    memory.patterns.add(ERROR, "pin setuptools below 81", name="pin")
    assert memory.patterns.add(SAME, "use importlib.metadata instead").action == "created"
    merged = memory.patterns.add(SAME, "pin setuptools below 81", saved=4)
    assert (merged.action, merged.ref) == ("merged", "pattern/pin")
    assert isinstance(merged.record, Pattern)
    assert merged.record.saved == 4


def test_a_failure_is_never_merged_into_a_pattern_nor_into_an_archived_one(memory: Memory) -> None:
    memory.patterns.add(ERROR, "pin", name="pin")
    memory.failures.add(ERROR, name="gone")
    memory.forget("failure/gone")
    assert memory.failures.add(SAME, name="back").action == "created"


def test_feedback_stays_with_what_was_merged_into(memory: Memory) -> None:
    memory.failures.add(ERROR, name="gone")
    memory.feedback("failure/gone", helped=True)
    record = memory.failures.add(SAME).record
    assert isinstance(record, Failure)
    assert (record.helped, record.failed) == (1, 0)


# --- references ----------------------------------------------------------------------------------------------------


def test_a_bare_name_is_enough_where_only_one_record_has_it(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    assert memory.get("boom").ref == "failure/boom"


def test_a_bare_name_that_two_records_have_is_ambiguous_and_both_are_named(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    memory.patterns.add("boom", "duck", name="boom")
    with pytest.raises(NotFound) as found:
        memory.get("boom")
    assert found.value.details["candidates"] == ["failure/boom", "pattern/boom"]
    assert "failure/boom, pattern/boom" in str(found.value.hint)


def test_a_name_that_nothing_has_hints_at_the_nearest(memory: Memory) -> None:
    memory.failures.add("boom", name="import-error")
    for ref in ("failure/imprt-error", "imprt-error", "failures/import-error"):
        with pytest.raises(NotFound) as found:
            memory.get(ref)
        assert "did you mean failure" in str(found.value.hint) or "did you mean import-error" in str(found.value.hint)


def test_an_entity_name_may_look_like_a_reference(memory: Memory) -> None:
    memory.types.add_entity("path")
    memory.failures.add("boom", name="x")
    memory.entities.add("path", "failure/x")
    assert memory.get("path/failure/x").ref == "path/failure/x"
    assert memory.get("failure/x").ref == "failure/x"


# --- edit ----------------------------------------------------------------------------------------------------------


def test_an_edit_replaces_fields_and_notes_the_time_of_each(memory: Memory) -> None:
    memory.failures.add("boom", name="boom", fix="one", tags=["a", "b"])
    made = memory.edit("boom", {"fix": "two", "cost": 5}, tag=["c"], untag=["a"])
    record = made.record
    assert isinstance(record, Failure)
    assert (made.action, record.fix, record.cost, record.tags) == ("updated", "two", 5, ("b", "c"))
    assert set(record.edited) == {"fix", "cost", "tags"}
    assert record.updated_at == max(record.edited.values()) > record.created_at


def test_unset_takes_a_value_away_and_the_edit_stays_known(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="boom", fix="one")
    record = memory.edit("boom", unset=["fix"]).record
    assert isinstance(record, Failure)
    assert record.fix is None
    (row,) = rows(tmp_path, "failure")
    assert "fix" not in row
    assert list(row["edited"]) == ["fix"]  # type: ignore[call-overload]  # an object


def test_an_edit_that_changes_nothing_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="boom", fix="one")
    before = contents(tmp_path)
    assert memory.edit("boom", {"fix": "one"}).action == "unchanged"
    assert contents(tmp_path) == before


@pytest.mark.parametrize("field", ["nonsense", "key", "name", "created_at", "insight"])
def test_an_edit_of_a_field_that_is_not_edited_is_refused(memory: Memory, field: str) -> None:
    memory.failures.add("boom", name="boom")
    with pytest.raises(Refused):
        memory.edit("boom", {field: "x"})


def test_a_required_field_cannot_be_unset(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    with pytest.raises(BadInput):
        memory.edit("boom", unset=["trigger"])


def test_an_edit_has_a_later_time_also_when_the_clock_went_back(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.failures.add("boom", name="boom", fix="one")
        first = memory.edit("boom", {"fix": "two"}).record.edited["fix"]
        clock.back(timedelta(days=3))
        second = memory.edit("boom", {"fix": "three"}).record.edited["fix"]
        assert second == first + timedelta(milliseconds=1)


def test_an_unknown_field_of_a_row_survives_an_edit(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        write(data(tmp_path, "failure"), failure("boom", later={"b": 1, "a": [1.5, None]}))
        memory.edit("boom", {"fix": "x"})
        (row,) = rows(tmp_path, "failure")
        assert row["later"] == {"b": 1, "a": [1.5, None]}


# --- rename --------------------------------------------------------------------------------------------------------


def test_a_renamed_record_keeps_its_key_and_every_old_name_finds_it(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="one")
    memory.failures.add("bang", name="other")
    memory.relations.link("failure/one", "causes", "failure/other")
    assert memory.rename("failure/one", "two").ref == "failure/two"
    assert memory.rename("failure/two", "three").ref == "failure/three"
    for name in ("one", "two", "three"):
        assert memory.get(f"failure/{name}").ref == "failure/three"
    row = next(row for row in rows(tmp_path, "failure") if row["name"] == "three")
    assert (row["key"], row["aliases"]) == ("boom-81f523", ["one", "two"])
    assert memory.related("failure/other").results[0].ref == "failure/three"
    assert rows(tmp_path, "relations/causes")[0]["from"] == "failure/boom-81f523"


def test_a_record_may_have_its_first_name_back(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="one")
    memory.rename("failure/one", "two")
    assert memory.rename("failure/two", "one").ref == "failure/one"
    (row,) = rows(tmp_path, "failure")
    assert (row["name"], row["aliases"]) == ("one", ["two"])


def test_a_rename_to_a_name_that_is_taken_is_refused(memory: Memory) -> None:
    memory.failures.add("boom", name="one")
    memory.failures.add("bang", name="two")
    memory.rename("failure/two", "three")
    for name in ("three", "two"):
        with pytest.raises(Conflict):
            memory.rename("failure/one", name)


def test_an_entity_may_be_renamed_to_any_text(memory: Memory) -> None:
    memory.types.add_entity("path")
    memory.entities.add("path", "src/a.py")
    assert memory.rename("path/src/a.py", "src/b c.py").ref == "path/src/b c.py"
    assert memory.get("src/a.py").ref == "path/src/b c.py"


# --- forget and restore --------------------------------------------------------------------------------------------


def test_a_forgotten_record_leaves_search_and_graph_and_comes_back(memory: Memory) -> None:
    memory.failures.add("the disk is full", name="disk")
    memory.failures.add("the log is large", name="log")
    memory.relations.link("failure/log", "causes", "failure/disk")
    made = memory.forget("failure/disk", "never again")
    assert (made.action, made.record.archive_reason) == ("archived", "never again")
    assert memory.query("the disk is full").results == [] or memory.query("the disk is full").results[0].ref != made.ref
    assert memory.related("failure/log").results == []
    assert [found.ref for found in memory.list("failure").results] == ["failure/log"]
    assert [found.ref for found in memory.list("failure", archived=True).results] == ["failure/disk"]
    assert memory.get("failure/disk").record.is_archived
    assert memory.forget("failure/disk").action == "unchanged"
    back = memory.restore("failure/disk")
    assert (back.action, back.record.archived_at, back.record.archive_reason) == ("restored", None, None)
    assert memory.related("failure/log").results[0].ref == "failure/disk"
    assert memory.query("the disk is full").results[0].ref == "failure/disk"
    assert memory.restore("failure/disk").action == "unchanged"


def test_an_archived_record_is_neither_edited_nor_linked(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    memory.failures.add("bang", name="bang")
    memory.forget("failure/boom")
    for refused in (
        lambda: memory.edit("failure/boom", {"fix": "x"}),
        lambda: memory.relations.link("failure/bang", "causes", "failure/boom"),
        lambda: memory.related("failure/boom"),
        lambda: memory.rename("failure/boom", "x"),
    ):
        with pytest.raises(Refused) as error:
            refused()
        assert "restore" in str(error.value.hint)


def test_a_merge_says_why_and_a_variant_what_tells_it_apart(memory_with_model: Memory) -> None:
    add = memory_with_model.failures.add
    add("pytest fails in src/auth/token.py on port 5432", name="a")
    again = "Pytest does not work in src/auth/token.py on port 5432", "pytest fails in  src/auth/token.py on port 5432."
    for same in again:
        answer = add(same, dry_run=True)
        assert (answer.merged_into, answer.merged_by) == ("failure/a", "similarity"), same
    for other, differs in (
        ("pytest fails in src/auth/token.py on port 6379", ["5432", "6379"]),
        ("pytest fails in src/auth/session.py on port 5432", ["src/auth/session.py", "src/auth/token.py"]),
        ("pytest does not fail in src/auth/token.py on port 5432", ["not"]),
        ("mypy fails in src/auth/token.py on port 5432", ["mypy", "pytest"]),
    ):
        (variant,) = add(other, dry_run=True).variants
        assert (variant.ref, variant.differs) == ("failure/a", differs)


def test_the_same_traceback_of_two_machines_is_one_failure(memory: Memory) -> None:
    """Both texts and both sources are kept."""
    text = "Traceback (most recent call last):\n  File \"{}/shop/price.py\", line {}, in total\n    x\nKeyError: 'id'"
    memory.failures.add(text.format("/home/ann", 3), name="a", sources=["ann"])
    answer = memory.failures.add(text.format("/ci/build/7", 8), sources=["ci"])
    assert (answer.merged_into, answer.merged_by) == ("failure/a", "signature")
    assert answer.record.sources == ("ann", "ci")
    assert [found.text for found in answer.record.alternates] == [text.format("/ci/build/7", 8)]
    other = memory.failures.add(text.format("/ci/build/7", 8).replace("total", "discount"))
    assert other.action == "created"
    rows = [failure("b", text.format("/srv", 5), sources=["srv"])]
    assert memory.add_rows(rows, dedup=True).merged == 1
