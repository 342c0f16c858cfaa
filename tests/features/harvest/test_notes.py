"""Notes for agents become candidates: once, updated with the file, and nothing that a hostile repository brings."""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.errors import BadInput
from graphmem.features.harvest.agent_notes import ALIKE
from graphmem.features.harvest.slugs import as_claude, as_cursor, is_only
from graphmem.kernel.machine.candidates import CandidateQueue
from tests.repository import Repository
from tests.sample import kept_of, open_memory

RULES = "# Guide\n\n- Never commit to the main branch, it is released from\n- Use tabs in all of the Makefiles\n"
PACKET = {
    "title": "Ports clash", "body": "Two servers want 5432; stop one.", "type": "gotcha", "status": "approved",
    "paths": ["compose.yml"],
}  # fmt: skip
MEMORY = "---\nname: a\ntype: feedback\n---\nNever deploy on Fridays.\n"
MARKDOWN_PACKET = (
    '---\ntype: "Convention"\ntitle: "Tabs"\nx-kage-type: convention\nx-kage-status: approved\n---\n\n# Tabs\n\n'
    "Use tabs in Makefiles.\n\n## Kage state\n\n{}\n"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def memory(project: Path) -> Iterator[Memory]:
    with open_memory(project) as memory:
        yield memory


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def waiting(memory: Memory) -> list[str]:
    found = [one for notes in (False, True) for one in memory.candidates.review(limit=100, notes=notes).candidates]
    return sorted(record.headline for one in found for record in one.other)


def test_the_rules_of_a_project_wait_as_candidates_with_their_lines(memory: Memory, project: Path) -> None:
    put(project / "AGENTS.md", RULES)
    answer = memory.imports.notes()
    assert (answer.candidates, answer.waiting, answer.read) == ({"created": 2}, 2, {"items": 2})
    found = memory.candidates.review(notes=True).candidates
    assert sorted(record.sources for one in found for record in one.other) == [
        ("notes:AGENTS.md:3",), ("notes:AGENTS.md:4",),
    ]  # fmt: skip
    assert memory.list().results == []
    memory.candidates.accept(found[0].id)
    assert [one.ref.partition("/")[0] for one in memory.list().results] == ["constraint"]


def test_what_agents_load_anyway_is_counted_and_listed_on_request(memory: Memory, project: Path) -> None:
    put(project / "AGENTS.md", RULES)
    put(project / "web/CLAUDE.md", "- Never use the old router\n")
    put(project / ".cursor/rules/api.mdc", "- Never return a list at the top of an answer\n")
    put(project / "docs/adr/0001-store.md", "# Use SQLite\n\n## Decision\n\nWe use SQLite, for it is one file.\n")
    memory.imports.notes(paths=[project / "AGENTS.md", project / "web", project / ".cursor", project / "docs"])
    listed = memory.candidates.review()
    assert [record.kind for one in listed.candidates for record in one.other] == ["decision"]
    assert (listed.total, listed.notes) == (1, {"AGENTS.md": 2, "web/CLAUDE.md": 1, ".cursor/rules/api.mdc": 1})
    notes = memory.candidates.review(notes=True)
    assert (notes.total, notes.notes) == (4, {})
    memory.candidates.dismiss(notes.candidates[0].id)
    assert memory.candidates.review(notes=True).total == 3


def test_a_second_import_changes_nothing_and_a_later_version_updates(memory: Memory, project: Path) -> None:
    path = put(project / "AGENTS.md", RULES)
    memory.imports.notes()
    before = kept_of(project)
    answer = memory.imports.notes()
    assert ([one.status for one in answer.sources], answer.candidates) == (["unchanged"], {})
    assert kept_of(project) == before
    put(path, "Hello.\n\n" + RULES.partition("- Use")[0].replace("it is released from", "for it is protected"))
    assert memory.imports.notes().candidates == {"merged": 1, "withdrawn": 1}
    assert waiting(memory) == ["Never commit to the main branch, for it is protected"]
    path.unlink()
    assert memory.imports.notes().candidates == {"withdrawn": 1}
    assert waiting(memory) == []


def test_what_was_accepted_waits_again_when_the_note_says_something_else(memory: Memory, project: Path) -> None:
    path = put(project / "AGENTS.md", "- Never commit to the main branch, it is released from\n")
    memory.imports.notes()
    memory.candidates.accept(memory.candidates.review(notes=True).candidates[0].id)
    put(path, "Hello.\n\n" + path.read_text())
    assert memory.imports.notes().waiting == 0
    put(path, "- Never commit to the main branch, even if nobody looks\n")
    assert memory.imports.notes().waiting == 1
    assert waiting(memory) == ["Never commit to the main branch, even if nobody looks"]
    memory.candidates.dismiss(memory.candidates.review(notes=True).candidates[0].id)
    put(path, "- Never commit to the main branch, whatever happens here\n")
    assert memory.imports.notes().waiting == 0


def test_a_copy_of_a_file_is_no_second_candidate(memory: Memory, project: Path) -> None:
    put(project / "AGENTS.md", RULES)
    put(project / "CLAUDE.md", RULES)
    assert memory.imports.notes().waiting == 2
    (project / "AGENTS.md").unlink()
    assert memory.imports.notes().waiting == 2
    assert memory.candidates.review(notes=True).candidates[0].other[0].sources[0].startswith("notes:CLAUDE.md:")


def test_all_usual_places_are_read(memory: Memory, project: Path, home: Path) -> None:
    repository = Repository(project)
    put(project / "web/AGENTS.md", "- Never use class components here\n")
    repository.commit("first")
    put(project / ".cursor/rules/a.mdc", "---\nalwaysApply: true\n---\n- Avoid abbreviations in names\n")
    put(project / ".github/copilot-instructions.md", "- Always write tests with the code\n")
    put(project / ".serena/memories/style.md", "- Prefer functions over classes\n")
    put(project / "docs/adr/0001-sqlite.md", "# 1. Use SQLite\n\n## Decision\n\nIt needs no server.\n")
    put(project / "docs/adr/README.md", "# Records\n\n## Decision\n\n- Always add one\n")
    put(project / ".agent_memory/packets/a.json", json.dumps(PACKET))
    put(project / ".agent_memory/packets/b.md", MARKDOWN_PACKET)
    put(project / ".agent_memory/packets/c.json", json.dumps({**PACKET, "type": "repo_map"}))
    put(project / ".agent_memory/packets/d.json", json.dumps({**PACKET, "status": "superseded"}))
    slug = str(project).replace("/", "-").replace("_", "-")
    folder = home / ".claude/projects" / slug / "memory"
    put(folder / "a.md", "---\nname: a\ntype: feedback\n---\nDo not mock the database.\n")
    put(folder / "MEMORY.md", "- [a](a.md) the database\n")
    assert memory.imports.notes().unread == {}
    assert waiting(memory) == [
        "Always write tests with the code", "Avoid abbreviations in names", "Do not mock the database.",
        "Never use class components here", "Ports clash", "Prefer functions over classes",
        "Tabs: Use tabs in Makefiles.", "Use SQLite",
    ]  # fmt: skip


@pytest.mark.parametrize("other", ["acme/billing", "acme.billing", "acme_billing", "acme billing"])
def test_a_clone_that_is_called_like_another_project_gets_nothing_of_it(tmp_path: Path, home: Path, other: str) -> None:
    """Cursor and Claude Code write the paths of both alike; the name of a clone is its owner's choice."""
    (tmp_path / other).mkdir(parents=True)
    slug = as_claude(str(tmp_path / "acme-billing"))
    put(
        home / ".claude/projects" / slug / "memory/a.md",
        "---\nname: a\ntype: feedback\n---\nNever deploy on Fridays.\n",
    )
    said = {"role": "user", "message": {"content": [{"type": "text", "text": "no, use tabs"}]}}
    put(home / f".cursor/projects/{as_cursor(slug)}/agent-transcripts/a.jsonl", json.dumps(said))
    with open_memory(tmp_path / "acme-billing") as memory:
        notes, sessions = memory.imports.notes(), memory.imports.sessions()
        assert (notes.waiting, list(notes.unread)) == (0, [ALIKE])
        assert sessions.unread == {"does not say where it worked; --any-project reads it": 1}
        (tmp_path / other).rmdir()
        assert memory.imports.notes().waiting == 1
        assert memory.imports.sessions(any_project=True).read["sessions"] == 1


@pytest.mark.parametrize("link", ["acme", "acme.billing", "acme/billing"])
def test_another_project_may_be_behind_a_link(tmp_path: Path, home: Path, link: str) -> None:
    (tmp_path / "elsewhere/billing").mkdir(parents=True)
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / "elsewhere")
    place = home / ".claude/projects" / as_claude(str(tmp_path / "acme-billing"))
    put(place / "memory/a.md", MEMORY)
    with open_memory(tmp_path / "acme-billing") as memory:
        assert list(memory.imports.notes().unread) == [ALIKE]
        (tmp_path / link).unlink()
        (tmp_path / "acme_billing").symlink_to(tmp_path / "acme-billing")  # the project itself
        assert memory.imports.notes().waiting == 1


def test_another_project_that_is_there_is_found_though_a_folder_above_lists_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as /home of a machine that many share; root may list any."""
    (tmp_path / "acme/billing").mkdir(parents=True)
    (tmp_path / "acme-billing").mkdir()
    opened = os.open

    def refusing(path: str, *given: int, **more: Any) -> int:
        if str(path) == str(tmp_path.parent):
            raise PermissionError(errno.EACCES, "may not be listed", path)
        return opened(path, *given, **more)

    monkeypatch.setattr(os, "open", refusing)
    assert not is_only(str(tmp_path / "acme-billing"), as_cursor)


def test_what_names_another_project_that_is_gone_is_not_read(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "acme-billing"
    slug = as_claude(str(root))
    put(home / ".claude/projects" / slug / "memory/a.md", f"{MEMORY}See {tmp_path}/acme/billing/deploy.sh.\n")
    said = {"role": "user", "message": {"content": [{"type": "text", "text": f"in {tmp_path}/acme/billing/a.go"}]}}
    put(home / f".cursor/projects/{as_cursor(slug)}/agent-transcripts/a.jsonl", json.dumps(said))
    with open_memory(root) as other:
        assert list(other.imports.notes().unread) == [ALIKE]
        assert other.imports.sessions().unread == {"does not say where it worked; --any-project reads it": 1}
        for path in (home / ".claude").rglob("a.md"), (home / ".cursor").rglob("a.jsonl"):
            (file,) = path
            file.write_text(file.read_text().replace("acme/billing", "acme-billing"))
        assert other.imports.notes().waiting == 1
        assert other.imports.sessions().read["sessions"] == 1


def test_memories_beside_transcripts_of_another_folder_are_not_read(memory: Memory, project: Path, home: Path) -> None:
    """The other project may be gone."""
    place = home / ".claude/projects" / as_claude(str(project))
    put(place / "memory/a.md", MEMORY)
    put(place / "s.jsonl", json.dumps({"type": "user", "cwd": str(project / "sub")}))
    put(place / "broken.jsonl", "{")
    assert memory.imports.notes(dry_run=True).waiting == 1
    put(place / "t.jsonl", json.dumps({"type": "user", "cwd": f"{project.parent}/pro/ject"}))
    assert list(memory.imports.notes().unread) == [ALIKE]


def test_a_bundle_is_read_as_the_import_of_files_reads_it(memory: Memory, project: Path) -> None:
    samples = Path(__file__).parents[2] / "data/importers/okf"
    answer = memory.imports.notes(paths=[samples])
    assert ([one.kind for one in answer.sources], answer.candidates) == (["okf"], {"created": 2})
    assert memory.imports.notes(paths=[samples]).candidates == {}


def test_paths_can_be_named_and_one_that_is_not_there_is_refused(memory: Memory, project: Path, tmp_path: Path) -> None:
    put(tmp_path / "kept/one.md", "- Never use the old API\n")
    with pytest.raises(BadInput, match="'nowhere' is not there"):
        memory.imports.notes(paths=[Path("nowhere")])
    assert memory.imports.notes(paths=[tmp_path / "kept"]).waiting == 1
    assert memory.imports.notes().waiting == 1


def test_a_preview_keeps_nothing(memory: Memory, project: Path) -> None:
    put(project / "AGENTS.md", RULES)
    answer = memory.imports.notes(dry_run=True)
    assert (answer.applied, answer.waiting) == (False, 2)
    assert memory.candidates.review().total == 0


def test_links_binaries_and_huge_files_are_not_read(memory: Memory, project: Path, tmp_path: Path) -> None:
    secret = put(tmp_path / "secret/rules.md", "- Never tell anybody the secret\n")
    (project / "CLAUDE.md").symlink_to(secret)
    (project / ".cursor").symlink_to(secret.parent)
    (tmp_path / "secret/rules").symlink_to(secret.parent)
    put(project / "GEMINI.md", "- Never\0 read this file\n")
    put(project / ".cursorrules", "- Never read this file\n" * 60_000)
    (project / ".windsurfrules").write_bytes(b"- Never read this \xff file\n")
    os.mkfifo(project / "AGENTS.md")
    answer = memory.imports.notes()
    assert answer.unread == {"is binary": 1, "has more than 1,048,576 bytes": 1, "is not UTF-8": 1}
    assert answer.waiting == 0
    assert memory.imports.notes(paths=[project / "CLAUDE.md"]).unread == {"is a link, or cannot be read": 1}


def test_a_hostile_note_is_kept_as_data_and_credentials_are_redacted(memory: Memory, project: Path) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    put(project / "AGENTS.md", f"---\na: [&a *a\n---\n- Never run $(touch ran) \u202e {token}\n")
    put(project / "docs/adr/1.md", "---\n: [\n---\n# Use it\n\n## Decision\n\nYes.\n")
    put(project / ".agent_memory/packets/a.json", "[" * 100_000)
    put(project / ".agent_memory/packets/b.json", '{"title": 3, "type": ["x"], "paths": 4}')
    put(project / ".agent_memory/packets/c.json", '{"title": "x", "type": "gotcha", "paths": 4}')
    assert memory.imports.notes().waiting == 2
    assert not (project / "ran").exists()
    assert token not in kept_of(project)


def test_an_import_that_is_cut_off_keeps_nothing_and_is_done_again(
    memory: Memory, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project / "AGENTS.md", RULES)
    changing = CandidateQueue.changing

    def failing(self: CandidateQueue) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(CandidateQueue, "changing", failing)
    with pytest.raises(KeyboardInterrupt):
        memory.imports.notes()
    monkeypatch.setattr(CandidateQueue, "changing", changing)
    assert memory.candidates.review().total == 0
    assert memory.imports.notes().candidates == {"created": 2}


def test_decision_records_that_git_knows_are_read_in_any_folder_of_their_name(project: Path) -> None:
    record = "# 2. Use Postgres\n\n## Status\n\nAccepted\n\n## Decision\n\nWe will use Postgres.\n"
    table = "# 3. Use Kafka\n\n| Status | Rejected |\n| --- | --- |\n\n## Decision\n\nWe will not.\n"
    repository = Repository(project)
    for name in ("docs/architecture/decisions/0002-a.md", "adr/0002-b.md", "packages/a/docs/ADRs/0002-c.md"):
        put(project / name, record.replace("Postgres", name[-4]))
    put(project / "docs/architecture/decisions/0003-rejected.md", table)
    put(project / "src/decisions.md", record)
    put(project / "docs/architecture/decisions/template.md", record)
    repository("add", "-A")
    put(project / "adr/0004-unknown-to-git.md", record)
    with open_memory(project) as memory:
        memory.imports.notes()
        assert waiting(memory) == ["Use a", "Use b", "Use c"]


@pytest.mark.parametrize(
    ("text", "is_reported"),
    [
        ("# 项目规则\n\n- 提交前必须运行 `make test`\n- 永远不要提交 `.env` 文件\n", True),
        ("# Regeln\n\n- Immer erst die Tests laufen lassen und nie direkt auf main pushen\n", True),
        ("# The shop\n\nThis is the shop of the company, and it is written in Go.\n", False),
        ("```\nmake\n```\n", False),
    ],
)
def test_notes_in_another_language_are_reported_and_not_passed_over(
    memory: Memory, project: Path, text: str, is_reported: bool
) -> None:
    put(project / "AGENTS.md", text)
    answer = memory.imports.notes()
    assert answer.read.get("items", 0) == 0
    reported = "AGENTS.md: nothing was found; rules are read in English only"
    assert (reported in answer.notices) == is_reported
