"""What the service did, for Prometheus; each label has few values, and none is a text of the memory or of a caller."""

from typing import Any

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from graphmem.doors.service.server import Service
from graphmem.kernel.registry import OPERATIONS, READ
from graphmem.kernel.telemetry import ObservedCall

PLAIN = "text/plain; version=0.0.4"  # the form that every version of Prometheus reads
FIRST_ERROR = 400  # status
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # upper ends of the histograms


class Metrics:
    """The metrics of a service, from its start on."""

    def __init__(self, service: Service) -> None:
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)  # memory, open files, CPU; nothing where there is no /proc
        self.operations = Histogram(
            "graphmem_operation_seconds",
            "Operations, called from the command line, HTTP, MCP or the service itself",
            ("operation", "access", "outcome"), buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.commands = Histogram(
            "graphmem_command_seconds", "Command lines that the service ran",
            ("command", "outcome"), buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.answers = Counter(
            "graphmem_http_answers", "Answers over HTTP, by route", ("route", "status"), registry=self.registry
        )
        self.connected = Gauge("graphmem_http_callers", "Callers over HTTP who wait", registry=self.registry)
        running = Gauge("graphmem_running", "Commands and calls that run now", registry=self.registry)
        running.set_function(lambda: service.running)

    def add(self, seen: ObservedCall) -> None:
        """Count an operation or a command that ended."""
        if seen.sort == "command":
            self.commands.labels(seen.name, seen.outcome).observe(seen.seconds)
        else:
            access = "read" if seen.name == "rows" or OPERATIONS[seen.name].effect == READ else "write"
            self.operations.labels(seen.name, access, seen.outcome).observe(seen.seconds)

    def answered(self, scope: Any, status: int) -> None:
        """Count an answer; unknown paths are not counted, for a caller may make up any."""
        path = scope["path"] if status < FIRST_ERROR else "none"  # of a route that FastAPI does not know, such as MCP's
        self.answers.labels(getattr(scope.get("route"), "path", path), status).inc()

    def text(self) -> bytes:
        """Return all of them in the text format of Prometheus."""
        return generate_latest(self.registry)
