"""The files of rules in a project: whose are written, what is refused, and what comes back."""

import json
import os
from pathlib import Path

import pytest

from graphmem.doors.agents.rule_files import agents_of, keep_rules, remove_rules
from graphmem.errors import BadInput, GraphmemError, Unavailable
from graphmem.features.exchange.rule_files import RuleLine, written
from graphmem.kernel.settings.instructions import FILES

RULES = written([RuleLine("Constraints", "`be kind`"), RuleLine("Known fixes by path", "`f`", ("a.py",))], "")
OTHER = written([RuleLine("Constraints", "`be quick`")], "")
NAMES = [name for names in FILES.values() for name in names]


def tree(folder: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_files_are_those_of_agents_that_the_project_has(tmp_path: Path) -> None:
    assert agents_of(tmp_path) == ["agents-md"]
    (tmp_path / ".claude").mkdir()
    assert agents_of(tmp_path) == ["claude-code"]
    (tmp_path / ".cursor").mkdir()
    put(tmp_path, "AGENTS.md", b"")
    put(tmp_path, ".github/copilot-instructions.md", b"")
    assert agents_of(tmp_path) == [*FILES]


def test_an_agent_that_hooks_brief_is_left_alone_until_it_is_named(tmp_path: Path) -> None:
    hook = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "graphmem hook claude-code"}]}]}}
    put(tmp_path, ".claude/settings.json", json.dumps(hook).encode())
    assert agents_of(tmp_path) == ["agents-md"]
    keep_rules(tmp_path, RULES, ["claude-code"])
    assert agents_of(tmp_path) == ["claude-code"]  # what is there is kept current


def test_all_files_are_kept_current_and_come_out_to_the_same_bytes(tmp_path: Path) -> None:
    put(tmp_path, "AGENTS.md", b"\xef\xbb\xbf# Ours\r\n\r\nBe kind.")
    put(tmp_path, ".github/copilot-instructions.md", b"mine\n")
    put(tmp_path, ".claude/rules/mine.md", b"mine")
    before = tree(tmp_path)
    made = keep_rules(tmp_path, RULES, [*FILES])
    assert [file.action for file in made.files].count("created") == 5
    after = tree(tmp_path)
    assert {*NAMES} < {*after}
    again = keep_rules(tmp_path, RULES, [*FILES])
    assert {file.action for file in again.files} == {"unchanged"} and tree(tmp_path) == after
    made = keep_rules(tmp_path, OTHER, [*FILES])  # nothing is known of a path any more
    assert sorted(file.action for file in made.files) == ["changed"] * 4 + ["removed"] * 3
    assert b"be quick" in (tmp_path / "AGENTS.md").read_bytes()
    remove_rules(tmp_path)
    assert tree(tmp_path) == before
    assert not (tmp_path / ".cursor").exists() and not (tmp_path / ".github/instructions").exists()


def test_a_dry_run_shows_a_difference_that_a_patch_can_be_made_of(tmp_path: Path) -> None:
    put(tmp_path, "AGENTS.md", b"mine")
    made = keep_rules(tmp_path, RULES, dry_run=True)
    (file,) = made.files
    assert not made.applied and tree(tmp_path) == {"AGENTS.md": b"mine"}
    assert file.diff.startswith(
        "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1,17 @@\n-mine\n\\ No newline at end of file\n"
    )
    assert "+- `be kind`\n" in file.diff


def test_rules_and_instructions_of_an_installation_share_a_file(tmp_path: Path) -> None:
    mine = b"# Ours\n\n<!-- graphmem: begin -->\nask\n<!-- graphmem: end -->\n"
    path = put(tmp_path, "AGENTS.md", mine)
    keep_rules(tmp_path, RULES)
    assert path.read_bytes().startswith(mine)
    remove_rules(tmp_path)
    assert path.read_bytes() == mine


BROKEN = {
    "a begin": b"<!-- graphmem rules: begin -->\n",
    "an end": b"a\n<!-- graphmem rules: end -->\n",
    "an end before the begin": b"<!-- graphmem rules: end -->\n<!-- graphmem rules: begin -->\n",
    "two": b"<!-- graphmem rules: begin -->\n<!-- graphmem rules: end -->\n" * 2,
    "latin-1": b"caf\xe9\n",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=[*BROKEN])
def test_a_file_that_is_not_understood_is_refused_and_no_other_is_written(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, "AGENTS.md", b"mine\n")
    put(tmp_path, ".github/copilot-instructions.md", content)
    before = tree(tmp_path)
    with pytest.raises(BadInput, match=r"copilot-instructions.md' is not changed"):
        keep_rules(tmp_path, RULES)
    if b"graphmem" in content:
        with pytest.raises(BadInput, match="are not a pair of lines"):
            remove_rules(tmp_path)
    else:
        remove_rules(tmp_path)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", [name for name in NAMES if "graphmem" in name])
def test_a_file_of_this_name_that_is_not_ours_is_not_overwritten_and_stays(tmp_path: Path, name: str) -> None:
    put(tmp_path, name, b"---\npaths: [a]\n---\nmine\n")
    before = tree(tmp_path)
    with pytest.raises(BadInput, match="it was not written by graphmem"):
        keep_rules(tmp_path, RULES, [*FILES])
    remove_rules(tmp_path)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", [".claude", ".claude/rules", *NAMES, ".github", ".cursor/rules"])
@pytest.mark.parametrize("is_dangling", [False, True])
def test_no_link_is_followed(tmp_path: Path, name: str, is_dangling: bool) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    link = project / name
    link.parent.mkdir(parents=True)
    is_file = name.endswith((".md", ".mdc"))
    put(tmp_path, "outside/mine" if is_file else "outside/rules/mine.md", b"mine\n")
    link.symlink_to("nowhere" if is_dangling else outside / "mine" if is_file else outside)
    before = tree(tmp_path)
    with pytest.raises(Unavailable, match="symbolic link, which is not followed"):
        keep_rules(project, RULES, [*FILES])
    remove_rules(project)  # we wrote nothing there
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name / "x").mkdir(parents=True)
    with pytest.raises(Unavailable, match="is not a regular file"):
        keep_rules(tmp_path, RULES, [*FILES])
    assert tree(tmp_path) == {} and remove_rules(tmp_path).files == []


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    put(tmp_path, ".claude", b"mine")
    with pytest.raises(GraphmemError, match="cannot be read: not a directory"):
        keep_rules(tmp_path, RULES, ["claude-code"])
    assert tree(tmp_path) == {".claude": b"mine"}


def test_a_write_protected_file_stays_and_the_mode_of_another_too(tmp_path: Path) -> None:
    path = put(tmp_path, "AGENTS.md", b"mine\n")
    path.chmod(0o444)
    with pytest.raises(Unavailable, match=r"AGENTS.md' is write-protected"):
        keep_rules(tmp_path, RULES)
    assert path.read_bytes() == b"mine\n"
    path.chmod(0o640)
    keep_rules(tmp_path, RULES)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o444)
    keep_rules(tmp_path, RULES)  # nothing changes
    with pytest.raises(Unavailable):
        remove_rules(tmp_path)
