"""The request of each operation that takes parameters, by the name of its method: ``failures.add``, ``query``."""

from graphmem.contract.query import QueryRequest
from graphmem.contract.request import Request

REQUESTS: dict[str, type[Request]] = {
    "query": QueryRequest,
}
