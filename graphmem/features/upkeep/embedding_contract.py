"""What operations on the model that makes vectors take and return."""

from pydantic import Field

from graphmem.kernel.answer import Answer
from graphmem.kernel.request import Request


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
