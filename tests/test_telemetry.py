"""Spans of OpenTelemetry: one an operation and one a command, without a text, and none where nobody loaded its API."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from graphmem import Memory
from graphmem.errors import NotFound
from graphmem.kernel.telemetry import observed
from tests.sample import open_memory

SECRET = "wombat"
ROOT = str(Path(__file__).parents[1])


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Where the spans of a test go."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield kept
    provider.shutdown()


def facts(span: ReadableSpan) -> tuple[str, str]:
    assert span.attributes is not None
    return span.name, str(span.attributes["graphmem.outcome"])


def test_an_operation_is_a_span_with_its_outcome_and_no_text(tmp_path: Path, spans: InMemorySpanExporter) -> None:
    with open_memory(tmp_path) as memory:
        spans.clear()
        memory.failures.add(f"the {SECRET} broke", name=SECRET)
        memory.query(SECRET)
        with pytest.raises(NotFound):
            memory.get(f"{SECRET}-2")
    found = spans.get_finished_spans()
    assert [facts(span) for span in found] == [("failures.add", "ok"), ("query", "ok"), ("get", "not_found")]
    assert [span.status.is_ok for span in found] == [True, True, False]
    assert all(SECRET not in span.to_json() for span in found)


def test_an_operation_of_a_command_is_a_child_of_its_span(tmp_path: Path, spans: InMemorySpanExporter) -> None:
    with open_memory(tmp_path) as memory:
        spans.clear()
        with observed("command", "unknown") as seen:
            memory.stats()
            seen.name, seen.outcome = "stats", "exit 1"
    inner, outer = spans.get_finished_spans()
    assert (facts(outer), facts(inner)) == (("stats", "exit 1"), ("stats", "ok"))
    assert inner.parent is not None and outer.context is not None
    assert inner.parent.span_id == outer.context.span_id


def test_an_error_that_is_no_ones_is_a_fault_and_still_raised(spans: InMemorySpanExporter) -> None:
    for error, outcome in (
        (ValueError(SECRET), "bug"),
        (OSError(SECRET), "unavailable"),
        (MemoryError(), "unavailable"),
    ):
        with pytest.raises(type(error)), observed("operation", "get"):
            raise error
        assert facts(spans.get_finished_spans()[-1]) == ("get", outcome)


def test_a_command_loads_nothing_of_opentelemetry_by_itself(tmp_path: Path) -> None:
    Memory.init(tmp_path)
    code = (
        "import sys; from graphmem.doors.cli.app import run; assert run(['list']) == 0;"
        "assert not [name for name in sys.modules if name.startswith(('opentelemetry', 'prometheus'))]"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": ROOT}, check=True)
