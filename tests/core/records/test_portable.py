"""No path of a machine gets into a committed row by itself, and what is recorded so is found in logs that have it."""

import json
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.core.logs.draft import keys_of
from graphmem.core.logs.output_problem import problem_in
from graphmem.core.records.candidates import queue_of
from graphmem.kernel.model.candidate import Candidate, candidate_id
from tests.sample import data, failure, open_memory, pattern, write

ERROR = "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '{root}/src/gone.mjs' imported from {root}/a.test.ts"
SHORT = ERROR.replace("{root}/", "")


def texts(folder: Path) -> str:
    """Return all that would be committed."""
    return "".join(path.read_text() for path in sorted((folder / ".graphmem/data").rglob("*.ndjson")))


def test_paths_of_this_machine_are_shortened_in_what_is_added_and_the_answer_says_so(tmp_path: Path) -> None:
    refs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with open_memory(tmp_path / name) as memory:
            added = memory.failures.add(ERROR.format(root=tmp_path / name), fix="see /home/ada/notes")
            assert added.notices == ["failure: shortened paths of this machine in fix, trigger; --verbatim keeps them"]
            memory.patterns.add("when /tmp/pytest-of-ada/x is gone", "look into /Users/ada/y")
            edited = memory.edit(added.ref, fix=f"edit {tmp_path / name}/src/index.mjs")
            assert edited.notices == ["edit: shortened paths of this machine in fields"]  # it has no such option
            refs.append(added.ref)
            assert "ada" not in texts(tmp_path / name) and str(tmp_path) not in texts(tmp_path / name)
            assert memory.store.validate().findings == []
    assert refs[0] == refs[1]  # the same failure of two clones is one


def test_verbatim_keeps_them_and_validate_names_what_is_there_with_a_shorter_text(memory: Memory) -> None:
    folder = memory.store.client.root
    ref = memory.failures.add("gone: /home/ada/x", fix="f", verbatim=True).ref
    write(data(folder, "pattern"), pattern("p", insight="see /tmp/a/b"))
    found = {
        one.message.partition(":")[0]: one.fix for one in memory.store.validate().findings if one.code == "machine_path"
    }
    assert found == {
        f"trigger of {ref}": f"""graphmem edit {ref} '{{"trigger":"gone: ~/x"}}'""",
        "insight of pattern/p": """graphmem edit pattern/p '{"insight":"see $TMPDIR/b"}'""",
    }
    memory.edit(ref, {"trigger": "gone: ~/x"})
    memory.edit("pattern/p", {"insight": "see $TMPDIR/b"})
    assert memory.store.validate().findings == []


@pytest.mark.parametrize("is_old", [False, True])
def test_a_log_with_the_paths_is_known_by_the_record_without_them_and_by_one_with_them(
    memory: Memory, is_old: bool
) -> None:
    folder = memory.store.client.root
    trigger = ERROR.format(root=folder)
    if is_old:
        write(data(folder, "failure"), failure("gone", trigger, fix="f"))
    else:
        memory.failures.add(trigger, name="gone", fix="f")
    log = f"> vitest run\n{trigger}\n    at {folder}/src/main.ts:3:1\nTypeError: {folder}/src/b.ts is odd\n"
    answer = memory.match(log.encode())
    assert [(one.ref, one.by, one.line) for one in answer.results] == [("failure/gone", "line", 2)]
    assert answer.unknown == ["TypeError: src/b.ts is odd"]
    assert memory.query(trigger).results[0].ref == "failure/gone"


def test_another_file_of_the_project_is_another_error(memory: Memory) -> None:
    folder = memory.store.client.root
    memory.failures.add(ERROR.format(root=folder), name="gone", fix="f")
    log = ERROR.format(root=folder).replace("gone.mjs", "other.mjs").encode()
    assert [one.verdict for one in memory.match(log).results if one.verdict == "same"] == []


def test_an_accepted_candidate_and_an_import_have_no_paths_of_this_machine(memory: Memory, tmp_path: Path) -> None:
    folder = memory.store.client.root
    trigger = ERROR.format(root=folder)
    one = Candidate(
        id=candidate_id(trigger), keys=keys_of(problem_in(trigger)), base=0.5, failure={"trigger": trigger},
        pattern={"trigger": trigger, "insight": "see /home/ada/x"}, marks=("m",), sessions=("s",),
    )  # fmt: skip
    with queue_of(memory.store.client).changing() as queue:
        queue.candidates[one.id] = one
    memory.candidates.accept(one.id)
    issues = tmp_path / "issues.jsonl"
    issues.write_text(json.dumps({"id": "bd-1", "title": "look at /home/ada/y", "status": "open", "issue_type": "bug"}))
    memory.imports.file(issues)
    assert "ada" not in texts(folder) and str(folder) not in texts(folder)
    assert SHORT.split("'")[1] in texts(folder)
