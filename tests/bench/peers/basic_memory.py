"""basic-memory: notes in a folder, its hybrid search, through its MCP server."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import orjson

from graphmem.errors import Unavailable
from tests.bench.mcp import server
from tests.bench.peers import Encode, Search

NEEDS = "basic-memory"
INSTALL = "uv tool install basic-memory"  # a program: it wants Python 3.12 and exact versions of much else
SETTINGS = {
    "BASIC_MEMORY_AUTO_UPDATE": "false",
    "BASIC_MEMORY_DISABLE_PERMALINKS": "true",  # they would be the numbers, set before each text
    "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "true",
    "BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER": "openai",
    "BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL": "given",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "NO_PROXY": "127.0.0.1",
    "OPENAI_API_KEY": "none",
}


@contextmanager
def opened(folder: Path, texts: Sequence[str], encode: Encode) -> Iterator[Search]:
    """
    Yield the search of a folder of notes: their full text and the best of their pieces, fused as it does by default.

    The pieces are its own, the first with the title before it, so it asks for their vectors; those of the same model
    are given to it by a server that speaks as OpenAI's does, on this machine.
    """
    notes = folder / "notes"
    notes.mkdir()
    for number, text in enumerate(texts):
        title = orjson.dumps(text.partition("\n")[0]).decode()
        (notes / f"{number}.md").write_text(f"---\ntitle: {title}\n---\n\n{text}\n", encoding="utf-8")
    with vectors(encode) as address:
        variables = SETTINGS | {
            "BASIC_MEMORY_CONFIG_DIR": str(folder / "config"),
            "BASIC_MEMORY_HOME": str(notes),
            "BASIC_MEMORY_SEMANTIC_EMBEDDING_DIMENSIONS": str(len(encode(""))),
            "OPENAI_BASE_URL": address,
        }
        made = subprocess.run([NEEDS, "reindex"], env=os.environ | variables, capture_output=True, check=False)
        if made.returncode:
            told = (made.stdout + made.stderr).decode("utf-8", "replace")
            raise Unavailable(f"{NEEDS} did not make its index: {told[-500:]!r}")
        with server([NEEDS, "mcp"], variables) as memory:

            def search(text: str, limit: int) -> list[int]:
                asked = {"query": text, "page_size": limit, "min_similarity": 0.0, "output_format": "json"}
                found = memory.call("search_notes", **asked)["result"]
                if isinstance(found, str):  # advice, as for a query of nothing but an asterisk
                    return []
                return [int(Path(row["file_path"]).stem) for row in found["results"]]

            yield search


@contextmanager
def vectors(encode: Encode) -> Iterator[str]:
    """Yield the address of a server of vectors."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            rows = [{"index": number, "embedding": encode(text).tolist()} for number, text in enumerate(texts)]
            body = orjson.dumps({"model": "given", "data": rows})
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Answer) as served:
        Thread(target=served.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{served.server_port}/v1"
        finally:
            served.shutdown()
