"""What a user trusts is in one file for all clones: no trust is lost to another one."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graphmem.kernel.settings import trust
from tests.sample import open_memory, trust_all


def trusts(folder: Path) -> bool:
    """Trust what a project asks for, and return whether it counts."""
    with open_memory(folder) as memory:
        return trust_all(memory).trusted


def test_projects_that_are_trusted_at_once_are_all_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    projects = [tmp_path / str(number) for number in range(12)]
    for folder in projects:
        folder.mkdir()
        open_memory(folder).close()
        settings = folder / ".graphmem/config.toml"
        settings.write_text(settings.read_text() + f'[retrieval]\nreranker = "model/of-{folder.name}"\n')
    with ThreadPoolExecutor(len(projects)) as pool:
        assert all(pool.map(trusts, projects))
    assert {str(folder / ".graphmem/config.toml") for folder in projects} <= trust.trusted().keys()
