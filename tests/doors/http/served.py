"""A service with HTTP as a process, and a caller of it."""

import http.client
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.doors.service.project import Project, wait_until


@dataclass
class Answer:
    """What came back."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def code(self) -> str:
        """The error's code; a problem has its status in the document too."""
        assert self.headers["content-type"] == "application/problem+json"
        assert self.body["status"] == self.status
        assert {"type", "title", "detail", "hint", "details"} <= self.body.keys()
        return str(self.body["code"])


@dataclass
class Served:
    """A project whose service answers HTTP."""

    project: Project
    child: "subprocess.Popen[bytes]"
    port: int
    token: str
    read_token: str
    files: list[Path]

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """Send a request with the token; a header of ``headers`` that is empty is left out."""
        given = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **(headers or {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {name: value for name, value in given.items() if value})
            answer = connection.getresponse()
            text = answer.read()
            found = {name.lower(): value for name, value in answer.getheaders()}
            is_json = found.get("content-type", "").endswith(("/json", "+json"))
            return Answer(answer.status, json.loads(text) if is_json else text, found)
        finally:
            connection.close()

    def call(self, name: str, /, *, as_reader: bool = False, **parameters: object) -> Answer:
        """Call an operation."""
        token = self.read_token if as_reader else self.token
        path = f"/v1/{name.replace('.', '/')}"
        return self.send("POST", path, json.dumps(parameters).encode(), {"Authorization": f"Bearer {token}"})


def start(project: Project, *arguments: str, environment: dict[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Start a service; its standard error is in ``said.txt`` of the runtime folder."""
    with open(project.runtime / "said.txt", "wb") as said:
        command = [sys.executable, "-m", "graphmem", "serve", "--http", *(arguments or ("127.0.0.1:0",))]
        child = subprocess.Popen(
            command, cwd=project.root, env={**project.environment, **(environment or {})}, stderr=said
        )
    project.started.append(child)
    return child


def serve(project: Project, *arguments: str, environment: dict[str, str] | None = None) -> Served:
    """Start a service, and wait until it answers."""
    child = start(project, *arguments, environment=environment)
    wait_until(lambda: child.poll() is not None or project.is_answering())
    assert child.poll() is None, said(project)
    status = project.ask({"manage": "status"})
    assert status is not None
    lines = said(project).splitlines()
    files = [Path(line.rpartition(" is in ")[2]) for line in lines if " is in " in line]
    tokens = [file.read_text().strip() for file in files]
    port = int(str(status["http"]).rpartition(":")[2])
    token, read_token = tokens[:2] or ("", "")
    return Served(project, child, port, token, read_token, files)


def said(project: Project) -> str:
    """Return what the service wrote for the person who started it."""
    return (project.runtime / "said.txt").read_text()
