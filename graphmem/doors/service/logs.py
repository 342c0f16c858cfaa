"""The log of the service: what it did, how long it took and how it ended; never a text of the memory or of a caller."""

import json
import logging
import os
import time
from functools import partial
from logging.handlers import RotatingFileHandler
from typing import Any, Literal

from graphmem.constants import SERVICE_LOG_BYTES

LogFormat = Literal["text", "json"]
FIELDS = ("project", "pid", "requests", "command", "status", "ms", "reason", "client", "error")  # of `extra`


class LogLines(logging.Formatter):
    """A line an entry: for people, or a JSON object."""

    def __init__(self, form: LogFormat) -> None:
        super().__init__()
        self.form = form

    def format(self, record: logging.LogRecord) -> str:
        """Return an entry as a line; for people, where an error came from is on lines of its own."""
        at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03}Z"
        fields = {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        trace = self.formatException(record.exc_info) if record.exc_info else None
        if self.form == "json":
            entry = {"at": at, "level": record.levelname.lower(), "message": record.getMessage(), **fields}
            return json.dumps({**entry, **({"trace": trace} if trace else {})}, default=str)
        said = " ".join([at, record.levelname, record.getMessage(), *(f"{name}={fields[name]}" for name in fields)])
        return f"{said}\n{trace}" if trace else said


class PrivateFile(RotatingFileHandler):
    """A log that only its user can read, whatever the umask."""

    def _open(self) -> Any:
        return open(self.baseFilename, self.mode, encoding=self.encoding, opener=partial(os.open, mode=0o600))


def log_to(path: str, form: LogFormat) -> None:
    """Write the entries of graphmem to a file, which is replaced when it is long; one older file stays."""
    handler = PrivateFile(path, maxBytes=SERVICE_LOG_BYTES, backupCount=1, encoding="utf-8")
    handler.setFormatter(LogLines(form))
    logger = logging.getLogger("graphmem")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
