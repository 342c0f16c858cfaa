# Type checkers read this in the place of ``__init__.py``; ``api.pyi`` is generated and imports the public names.
from graphmem.api import *  # noqa: F403

__version__: str
__all__: list[str]
