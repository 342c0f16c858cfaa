"""What a service says of itself to Prometheus."""

import re
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.doors.http.served import Served, serve
from tests.doors.service.project import shared_project

SECRET = "wombat"  # a word of the memory and of callers: it is in no metric


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with shared_project(tmp_path_factory) as made:
        yield serve(made)


def samples(served: Served) -> dict[tuple[str, ...], float]:
    """Return the metrics by name and the values of their labels; of histograms, the counts and sums."""
    answer = served.send("GET", "/metrics", headers={"Authorization": f"Bearer {served.read_token}"})
    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
        if not sample.name.endswith("_bucket")
    }


@pytest.mark.long
def test_operations_are_counted_and_timed_by_name_and_outcome(served: Served) -> None:
    served.call("failures.add", trigger=f"the {SECRET} broke", name=SECRET)
    served.call("get", ref=SECRET)
    served.call("get", ref=f"{SECRET}-2")
    found = samples(served)
    assert found["graphmem_operation_seconds_count", "write", "failures.add", "ok"] == 1
    assert found["graphmem_operation_seconds_count", "read", "get", "ok"] == 1
    assert found["graphmem_operation_seconds_count", "read", "get", "not_found"] == 1
    assert 0 < found["graphmem_operation_seconds_sum", "read", "get", "ok"] < 60


@pytest.mark.long
def test_commands_that_the_service_runs_are_counted_without_their_texts(served: Served) -> None:
    for line in (["add", "failure", "--trigger", f"{SECRET} again"], ["get", f"no-{SECRET}"], [SECRET]):
        served.project.run(*line)
    found = samples(served)
    assert found["graphmem_command_seconds_count", "add failure", "ok"] == 1
    assert found["graphmem_command_seconds_count", "get", "exit 1"] == 1
    assert found["graphmem_command_seconds_count", "unknown", "exit 2"] == 1
    assert found["graphmem_operation_seconds_count", "write", "failures.add", "ok"] >= 1


def test_answers_are_counted_by_route_and_none_of_a_callers_texts_is_a_label(served: Served) -> None:
    served.send("POST", f"/v1/{SECRET}", b"{}")
    served.send("POST", "/v1/query", b"{}", {"Authorization": f"Bearer {SECRET}"})
    served.call("query", text=SECRET, limit=0)
    served.send("GET", "/openapi.json")
    found = samples(served)
    assert found["graphmem_http_answers_total", "/openapi.json", "200"] == 1
    assert found["graphmem_http_answers_total", "none", "404"] == 1
    assert found["graphmem_http_answers_total", "none", "401"] == 1
    assert found["graphmem_http_answers_total", "/v1/query", "422"] == 1
    assert SECRET not in str(found)


def test_memory_open_files_and_callers_are_shown(served: Served) -> None:
    found = samples(served)
    assert found["process_resident_memory_bytes",] > 2**20
    assert found["process_open_fds",] > 3
    assert found["graphmem_http_callers",] == 1  # this one
    assert found["graphmem_running",] == 0


@pytest.mark.long
def test_the_metrics_need_a_token(served: Served) -> None:
    assert served.send("GET", "/metrics", headers={"Authorization": ""}).code == "unauthorized"
    assert re.search(r"^# HELP graphmem_", served.send("GET", "/metrics").body.decode(), re.MULTILINE)
