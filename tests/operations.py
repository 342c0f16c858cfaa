"""What the registry holds, all of it loaded: the tests look at every operation."""

from graphmem.kernel.registry import OPERATIONS, methods, nouns
from graphmem.kernel.request import NoParameters

NOUNS = nouns()
METHODS = {operation: method for method, operation in reversed(methods().items())}  # not their other names
ROWS = tuple(OPERATIONS.values())
REQUESTS = {row.name: row.request for row in ROWS if row.request is not NoParameters}
