"""The model that makes the vectors: how it is, and the change to another one."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from graphmem.constants import ENDPOINT_WAIT_S, FORMAT
from graphmem.errors import Refused, Unavailable, Usage
from graphmem.kernel.answer import Answer
from graphmem.kernel.catalog import vectors
from graphmem.kernel.catalog.vectors import AHEAD, FEW_TEXTS, VectorStore
from graphmem.kernel.ledger.files.journal import replace_files
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import Request
from graphmem.kernel.settings.config import CONFIG_BYTES, Embedding, read_toml, web_address
from graphmem.kernel.settings.config_file import Value, replace_user_config, with_values
from graphmem.kernel.settings.folders import user_config
from graphmem.kernel.settings.trust import ToTrust, asked_for, trust_change, trust_lock, untrusted
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked
from graphmem.kernel.text import count


class ChangeModelRequest(Request):
    """Which model is to make the vectors from now on."""

    model: str = Field(
        description="A sentence-transformers name, a local folder, none, or what the endpoint calls it",
        min_length=1,
        max_length=1_000,
    )
    endpoint: str = Field("", description="Address of an OpenAI-compatible server that has the model", max_length=1_000)
    user: bool = Field(False, description="Change your own settings, for all projects, not those of this project")


class EmbeddingStatus(Answer):
    """
    The model that makes the vectors, and which texts have one.

    ``texts`` counts what is found by meaning: the texts of live records, and what was asked; ``missing`` those of them
    without a vector of this model, which it takes about ``estimate_s`` seconds to make (null where that is not known).
    ``others`` are the vectors of other models that are kept, by fingerprint. ``dimensions`` and ``fingerprint`` are
    null where no model is at hand.
    """

    model: str
    endpoint: str | None
    dimensions: int | None
    fingerprint: str | None
    texts: int
    missing: int
    estimate_s: float | None
    others: dict[str, int]


class ModelChanged(Answer):
    """
    What the change of the model did: ``made`` vectors were made, and ``kept`` ones were there from before.

    ``config`` is the file of settings that names the model now.
    """

    before: str
    model: str
    endpoint: str | None
    dimensions: int | None
    fingerprint: str | None
    made: int
    kept: int
    config: str
    seconds: float


if TYPE_CHECKING:
    from graphmem.kernel.embed.model import Embedder

SECTION = "embedding"
NAMES = ("embedding.model", "embedding.endpoint", "embedding.dimensions")  # settings that a change writes
SHOWN_S = 5.0  # seconds from which it is said how long it takes


@operation("embed.status", example="graphmem embed status")
def status(client: Client) -> EmbeddingStatus:
    """Return which model makes the vectors, and how many texts lack one of it."""
    client.sync()
    setting, embedder = client.settings.embedding, client.embedder
    texts, kept = vectors.text_count(client.catalog), vectors.kept(client.catalog)
    missing, estimate_s = texts, None
    if embedder is not None:
        missing, estimate_s = _measured(client, _store_of(client, embedder))
    return EmbeddingStatus(
        model=embedder.name if embedder else setting.model,
        endpoint=setting.endpoint or None,
        dimensions=embedder.dimensions if embedder else None,
        fingerprint=embedder.fingerprint if embedder else None,
        texts=texts,
        missing=missing,
        estimate_s=estimate_s,
        others={model: number for model, number in kept.items() if not embedder or model != embedder.fingerprint},
    )


def _measured(client: Client, store: VectorStore) -> tuple[int, float | None]:
    """Return how many texts lack a vector, and how long it takes to make them, as the first few do."""
    start = time.monotonic()
    try:
        made = store.make_ahead(most=FEW_TEXTS)
    except Unavailable as error:
        client.notify_once(error.message)
        return store.unmade(), None
    return store.lacking, (time.monotonic() - start) / made * store.lacking if store.lacking else 0.0


@operation(
    "embed.change",
    writes=True,
    at_home=True,
    not_over_http="chooses what is loaded on this machine, or where texts are sent",
    example="graphmem embed change nomic-embed-text --endpoint http://127.0.0.1:11434",
    takes={"endpoint": Taken("URL")},
    help="""
    Let another model make the vectors; all of them are made first.

    If that fails or is interrupted, nothing has changed, and the same command goes on. To change the model is
    to trust it in this clone. The key for the endpoint comes from GRAPHMEM_EMBEDDING_KEY, never from a file.
    """,
)
def change(client: Client, request: ChangeModelRequest) -> ModelChanged:
    """
    Let another model make the vectors: all are made first, then the settings name it.

    What names the model is one file that is replaced, so on any failure before that nothing has changed; the vectors
    that were made are kept, and are not made again.

    Raises:
        Unavailable: the model is not at hand, or does not answer.
        Refused: the settings cannot be changed, or other settings would win over them.
    """
    start, before = time.monotonic(), client.settings.embedding.model
    path = user_config() if request.user else client.layout.config
    _refuse_overruled(client, path)
    with client.writing():  # whatever cannot be written is refused before hours of work
        _new_content(client, path, {"model": "none", "endpoint": None, "dimensions": None})
    setting, embedder = _model_of(client, request)
    made = _make_all(client, _store_of(client, embedder)) if embedder is not None else 0
    with client.writing():
        _switch(client, path, setting)
    client.refresh_settings()
    client.embed_missing(seconds=0)  # the index takes the vectors that are there
    kept = vectors.kept(client.catalog).get(embedder.fingerprint, 0) if embedder is not None else 0
    return ModelChanged(
        before=before,
        model=setting.model,
        endpoint=setting.endpoint or None,
        dimensions=embedder.dimensions if embedder else None,
        fingerprint=embedder.fingerprint if embedder else None,
        made=made,
        kept=max(kept - made, 0),
        config=str(path),
        seconds=time.monotonic() - start,
    )


def _store_of(client: Client, embedder: "Embedder") -> VectorStore:
    """Return the vectors of a model, whichever model the settings name."""
    return VectorStore(client.catalog, client.local / "vectors", embedder)


def _model_of(client: Client, request: ChangeModelRequest) -> "tuple[Embedding, Embedder | None]":
    """Return the settings of the model that is asked for, and the model; None for none."""
    name, endpoint = request.model, web_address(request.endpoint)
    if name == "none" and endpoint:
        raise Usage(f"none is without a model, and {endpoint!r} has one", hint="name the model of the endpoint")
    dimensions = 0
    if endpoint:
        from graphmem.kernel.embed.endpoint import dimensions_of  # noqa: PLC0415 - an HTTP client, which few need

        dimensions = dimensions_of(endpoint, name)
    elif Path(name).expanduser().is_dir():
        name = os.path.abspath(Path(name).expanduser())
    setting = Embedding(model=name, endpoint=endpoint, dimensions=dimensions)
    if name == "none":
        return setting, None
    found = client.runtime.models.embedder(setting, client.local)
    if found.embedder is None:
        raise Unavailable("; ".join(found.warnings), hint="nothing was changed")
    return setting.model_copy(update={"model": found.embedder.name}), found.embedder


def _make_all(client: Client, store: VectorStore) -> int:
    """Make the vectors that are missing; one that has too much to do is asked again, for as long as it gets on."""
    start, first, made, waited_s = time.monotonic(), 0, 0, 0.0

    def progress(done: int, total: int) -> None:
        nonlocal first, made, waited_s
        first = max(first, total)
        if done:
            made, waited_s = first - total + done, 0.0
            left_s = (time.monotonic() - start) / made * (total - done)
            if left_s > SHOWN_S and made <= AHEAD:
                client.show_once(f"embedding {count(first, 'text')}, about {left_s:,.0f} s")
        client.runtime.progress("embedding", done, total)

    client.sync()
    while True:
        try:
            store.make_ahead(progress)
            return made
        except Unavailable as error:
            pause_s = error.details.get("retry_after_s")
            if not isinstance(pause_s, float) or waited_s + pause_s > ENDPOINT_WAIT_S:
                raise
            time.sleep(pause_s)
            waited_s += pause_s


def _refuse_overruled(client: Client, path: Path) -> None:
    """Raise ``Refused`` where something else names the model and would win over the file that is to be changed."""
    winners: list[tuple[str, Mapping[str, object]]] = [
        ("the environment", client.runtime.environment.get(SECTION, {})),
        ("an option", client.runtime.options.get(SECTION, {})),
    ]
    if path != client.layout.config:
        winners.append((str(client.layout.config), content(client.layout.config).get(SECTION, {})))
    for where, found in winners:
        for name in NAMES:
            if name.removeprefix(f"{SECTION}.") in found:
                raise Refused(
                    f"{where} sets {name}, which wins over {path}",
                    hint="nothing was changed; take it out there",
                )


def content(path: Path) -> dict[str, dict[str, object]]:
    """Return the settings in a file; nothing where it is missing."""
    return read_toml(path, _raw(path))


def _raw(path: Path) -> bytes:
    """Return the bytes of a file of settings; none where it is missing."""
    try:
        return safe_files.read(Path(os.path.realpath(path)) if path == user_config() else path, most=CONFIG_BYTES + 1)
    except FileNotFoundError:
        return b"" if path == user_config() else f"format = {FORMAT}\n".encode()


def _new_content(client: Client, path: Path, values: Mapping[str, Value]) -> tuple[bytes, ToTrust]:
    """
    Return the new content of a file of settings, and what of it needs trust.

    Raises:
        Refused: the project asks for something else that is not trusted, which is not to be trusted on the way.
    """
    data = with_values(path, _raw(path), SECTION, values)
    asked, old = asked_for(read_toml(path, data)), asked_for(content(path))
    others = [name for name in asked if name not in NAMES]
    if path == client.layout.config and others and untrusted(path, old):
        raise Refused(
            f"the project asks for {', '.join(others)} too, which is not trusted; nothing was changed",
            hint="look at it with: graphmem trust",
        )
    return data, ToTrust(asked if path == client.layout.config else {})


def _switch(client: Client, path: Path, setting: Embedding) -> None:
    """Let the settings name a model; who changes the model trusts it. The caller holds the lock of the store."""
    values = {"model": setting.model, "endpoint": setting.endpoint or None, "dimensions": setting.dimensions or None}
    data, wanted = _new_content(client, path, values)
    if data == _raw(path):
        return
    if path == client.layout.config:
        with locked(trust_lock(), timeout_s=client.lock_timeout_s):
            trust_change(path, wanted)
        replace_files({path: data}, client.layout)
    else:
        replace_user_config(path, data)
