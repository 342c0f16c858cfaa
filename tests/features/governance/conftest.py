"""What tests of guarded work get."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.governance.flow_project import FlowProject


@pytest.fixture
def project(tmp_path: Path) -> Iterator[FlowProject]:
    """A project with a flow."""
    made = FlowProject(tmp_path / "project")
    with made.memory:
        yield made
