"""Changes settings in a config file, and leaves everything else in it as it is: comments, order, other keys."""

import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from graphmem.errors import BadInput, Refused, Unavailable
from graphmem.kernel.settings.config import CONFIG_BYTES, read_toml

Value = str | int | None  # of a key; None takes it out
VALUE = r"\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|[^\s#\"'\[{]++"  # on one line
END = r"[ \t]*(?:#.*)?\r?"


def with_values(path: Path, data: bytes, section: str, values: Mapping[str, Value]) -> bytes:
    """
    Return the content of a config file with other values in a section.

    Raises:
        Refused: the file is written in a way that is not changed here, such as a table on one line.
    """
    found = read_toml(path, data)
    keys = {**found.get(section, {}), **{key: value for key, value in values.items() if value is not None}}
    wanted = found | {section: {key: value for key, value in keys.items() if values.get(key, value) is not None}}
    lines = "; ".join(f"{key} = {_written(value)}" for key, value in values.items() if value is not None)
    try:
        changed = "\n".join(_edited(data.decode().split("\n"), section, values)).encode()
        if read_toml(path, changed) == wanted:
            return changed
    except (BadInput, ValueError):
        pass
    raise Refused(
        f"{path} cannot be changed by a program: [{section}] is not one key a line, or the file would be too long",
        hint=f"write below [{section}], at most {CONFIG_BYTES:,} bytes in all: {lines}",
    )


def _edited(lines: list[str], section: str, values: Mapping[str, Value]) -> list[str]:
    """Return the lines of a config file with other values in a section, which is added where it is missing."""
    header = re.compile(rf"[ \t]*\[[ \t]*{section}[ \t]*\]{END}")
    start = next((place for place, line in enumerate(lines) if header.fullmatch(line)), None)
    if start is None:
        lines = [*lines[: -1 if lines[-1:] == [""] else None], *([""] if any(lines) else []), f"[{section}]", ""]
        start = len(lines) - 2
    after = range(start + 1, len(lines))
    stop = next((place for place in after if re.match(r"[ \t]*\[", lines[place])), len(lines))
    kept, left = list[str](), {key: value for key, value in values.items() if value is not None}
    for line in lines[start + 1 : stop]:
        known = re.fullmatch(rf"([ \t]*([\w-]+)[ \t]*=[ \t]*)(?:{VALUE})({END})", line)
        if known is None or known[2] not in values:
            kept.append(line)
        elif known[2] in left:
            kept.append(f"{known[1]}{_written(left.pop(known[2]))}{known[3]}")
    ending = "\r" if lines[start].endswith("\r") else ""
    added = [f"{key} = {_written(value)}{ending}" for key, value in left.items()]
    return [*lines[: start + 1], *added, *kept, *lines[stop:]]


def _written(value: Value) -> str:
    """Return a value as TOML."""
    return json.dumps(value, ensure_ascii=False)


def replace_user_config(path: Path, data: bytes) -> None:
    """Put a new content in the place of a config file of the user, all or nothing; a link to it stays one."""
    real = Path(os.path.realpath(path))
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(fresh, real.stat().st_mode & 0o777 if real.exists() else 0o644)
        os.replace(fresh, real)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}") from None
