"""What managing the service returns."""

from graphmem.kernel.answer import Answer
from graphmem.kernel.model.field import Time


class Done(Answer):
    """The answer to a request that came again, was carried out before, and whose own answer was not kept."""

    done: bool = True


class ServedPage(Answer):
    """Where a browser finds the page of the memory; the address holds the token for everything."""

    address: str


class ServiceStatus(Answer):
    """
    The service of a project; ``ok`` says whether it answers, and without it nothing else is known.

    ``model`` is the one that it has loaded, ``clients`` how many commands it runs right now, ``requests`` how many it
    has run since ``since``, ``log`` its log file, and ``http`` where it answers HTTP, if it does; ``token_file`` and
    ``read_token_file`` hold the tokens that it made for that, ``scope_token_files`` those of scopes, by name.
    """

    ok: bool
    store: str
    version: str | None = None
    pid: int | None = None
    since: Time | None = None
    model: str | None = None
    clients: int | None = None
    requests: int | None = None
    log: str | None = None
    http: str | None = None
    token_file: str | None = None
    read_token_file: str | None = None
    scope_token_files: dict[str, str] | None = None
