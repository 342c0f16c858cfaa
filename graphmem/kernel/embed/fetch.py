"""Fetches the default model from the hub: over https only, each file checked before it gets its name."""

import hashlib
import os
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import BaseHandler, Request, build_opener

from graphmem.constants import DEFAULT_FILES, DEFAULT_MODEL, DEFAULT_MODEL_REVISION, MODEL_COMMAND
from graphmem.errors import Unavailable
from graphmem.kernel.model_files import hub_cache
from graphmem.kernel.system import safe_files

TIMEOUT_S = 30.0  # without a byte


class HttpsOnly(BaseHandler):
    """Refuses requests of any other kind, those of a redirect too."""

    def http_request(self, request: Request) -> Request:
        raise URLError(f"{request.full_url!r} is not https")

    ftp_request = file_request = data_request = http_request


def fetch_default() -> Path:
    """
    Fetch the files of the default model that the hub's cache does not have yet, and return their folder.

    Raises:
        Unavailable: a file cannot be fetched, or is not the right one; no part of it is left.
    """
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    folder = hub_cache() / f"models--{DEFAULT_MODEL.replace('/', '--')}" / "snapshots" / DEFAULT_MODEL_REVISION
    opener = build_opener(HttpsOnly)
    for name, (size, digest) in DEFAULT_FILES.items():
        path, url = folder / name, f"{hub}/{DEFAULT_MODEL}/resolve/{DEFAULT_MODEL_REVISION}/{name}"
        try:
            if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
                continue
            with opener.open(url, timeout=TIMEOUT_S) as response:
                content = response.read(size + 1)
            if (found := hashlib.sha256(content).hexdigest()) != digest:
                raise ValueError(f"{len(content):,} bytes came, with SHA-256 {found}, not {digest}")
            path.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=folder) as fresh:  # of this call alone: others may fetch the same file
                safe_files.write(Path(fresh) / "file", content, is_flushed=True)
                os.replace(Path(fresh) / "file", path)
        except (OSError, HTTPException, ValueError) as error:  # URLError is an OSError
            raise Unavailable(
                f"{url} ({size:,} bytes) cannot be fetched: {error}; without the hub: {MODEL_COMMAND},"
                ' or the setting embedding.model = "none"'
            ) from error
    return folder
