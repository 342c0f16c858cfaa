"""
Edits of other programs' configuration files: ours go in beside what is there, and come out again.

A file that does not parse is refused and stays as it is. What was in a file before is kept with the user's state, so
that taking ours out of a file that nobody changed since gives back the same bytes.
"""

import base64
import codecs
import contextlib
import difflib
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphmem.config import state_folder
from graphmem.contract.install import InstalledFile
from graphmem.errors import BadInput, Unavailable
from graphmem.names import visible

MOST_BYTES = 4 * 2**20  # of a configuration file that is edited
Edit = Callable[[bytes | None], bytes | None]  # what is in a file now, None where it is not there; then what will be


@dataclass(frozen=True)
class Change:
    """A file with what is in it and what will be; None where it is not there."""

    path: Path
    before: bytes | None
    after: bytes | None

    def shown(self) -> InstalledFile:
        """Return the change as an answer has it."""
        if self.before == self.after:
            return InstalledFile(path=str(self.path), action="unchanged", diff="")
        action = "created" if self.before is None else "removed" if self.after is None else "changed"
        lines = [
            (data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (self.before, self.after)
        ]
        diff = "".join(difflib.unified_diff(lines[0], lines[1], f"a/{self.path.name}", f"b/{self.path.name}"))
        return InstalledFile.model_validate({"path": str(self.path), "action": action, "diff": diff})


def planned(path: Path, edit: Edit) -> Change:
    """
    Return what an edit makes of a file.

    Raises:
        BadInput: it is in a form that is not understood.
        Unavailable: it cannot be read, or is not a regular file.
    """
    before = read(path)
    try:
        return Change(path, before, edit(before))
    except ValueError as error:
        hint = "correct it, or set graphmem up there by hand: docs/guides/agents.md"
        raise BadInput(f"{str(path)!r} is not changed, for it cannot be read: {error}", hint=hint) from None


def read(path: Path) -> bytes | None:
    """Return what is in a file; None where it is not there."""
    try:
        if path.exists() and not path.is_file():
            raise Unavailable(f"{str(path)!r} is not a regular file")
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"{str(path)!r} cannot be read: {(error.strerror or '').lower()}") from None
    if len(data) > MOST_BYTES:
        raise Unavailable(f"{str(path)!r} has more than {MOST_BYTES // 2**20} MiB")
    return data


def write(change: Change) -> None:
    """Write a change, all or nothing; the mode of a file stays, and a link is followed."""
    if change.before == change.after:
        return
    real = Path(os.path.realpath(change.path))
    try:
        if change.after is None:
            real.unlink()
            remove_empty(real.parent)
            return
        real.parent.mkdir(parents=True, exist_ok=True)
        fresh = real.with_name(f".{real.name}.graphmem")
        with open(fresh, "wb") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(fresh, real.stat().st_mode & 0o7777)
        os.replace(fresh, real)
    except OSError as error:
        raise Unavailable(f"{str(change.path)!r} cannot be written: {(error.strerror or '').lower()}") from None


def remove_empty(folder: Path) -> None:
    """Remove a folder that is empty now, and so on above it, as far as its name begins with a point."""
    with contextlib.suppress(OSError):
        while folder.name.startswith(".") or folder.name in ("plugins",):
            folder.rmdir()
            folder = folder.parent


# --- what was there before ------------------------------------------------------------------------------------------


def backup_of(path: Path) -> Path:
    """Return where what was in a file before is kept."""
    name = hashlib.sha256(os.fsencode(os.path.abspath(path))).hexdigest()[:32]
    return state_folder() / "installs" / f"{name}.json"


def keep(change: Change, clean: bytes | None) -> None:
    """
    Keep what was in a file before the first installation that changed it.

    Args:
        clean: what is in the file now without what an earlier installation wrote.
    """
    backup = backup_of(change.path)
    kept = kept_of(change.path)
    first = kept["before"] if kept and kept["after"] == digest(change.before) else encoded(clean)
    value = {"path": str(change.path), "before": first, "after": digest(change.after)}
    backup.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    backup.write_text(json.dumps(value), encoding="utf-8")


def kept_of(path: Path) -> dict[str, Any] | None:
    """Return what is kept of a file; None where nothing is."""
    try:
        found = json.loads(backup_of(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"before", "after"} <= found.keys() else None


def restored(path: Path, edit: Edit) -> Change:
    """Return a file as it was before an installation; where it was changed since, without what ``edit`` takes out."""
    now, kept = read(path), kept_of(path)
    if now is not None and kept is not None and kept["after"] == digest(now):
        return Change(path, now, None if kept["before"] is None else base64.b64decode(kept["before"]))
    return planned(path, edit)


def forget(path: Path) -> None:
    """Forget what was in a file."""
    with contextlib.suppress(OSError):
        backup_of(path).unlink()


def digest(data: bytes | None) -> str | None:
    """Return the hash of what is in a file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def encoded(data: bytes | None) -> str | None:
    """Return what is in a file as text."""
    return None if data is None else base64.b64encode(data).decode("ascii")


# --- forms ----------------------------------------------------------------------------------------------------------


def json_edit(change: Callable[[dict[str, Any]], None]) -> Edit:
    """Return an edit of a JSON object; its order and indentation stay, and an object that is empty then goes."""

    def edit(before: bytes | None) -> bytes | None:
        text = before.decode("utf-8-sig") if before else ""
        try:
            value = json.loads(text, object_pairs_hook=without_doubles) if text.strip() else {}
            if not isinstance(value, dict):
                raise ValueError("it is not a JSON object")
            found = json.dumps(value)
            change(value)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        except (AttributeError, KeyError, TypeError):
            raise ValueError("its entries have another form than the client's") from None
        if json.dumps(value) == found:
            return before
        if not value:
            return None
        indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
        made = json.dumps(value, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"
        return in_form_of(before, made)

    return edit


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, or raise ``ValueError`` for one in which a key is there twice: a new text would lose one."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has a key twice")
    return made


def in_form_of(before: bytes | None, text: str) -> bytes:
    """Return a text as bytes with the line ends and the byte order mark of what was there."""
    lines = text.replace("\n", "\r\n") if before and b"\r\n" in before else text
    return (codecs.BOM_UTF8 if before and before.startswith(codecs.BOM_UTF8) else b"") + lines.encode()


def marked_edit(
    lines: str | None,
    begin: str,
    end: str,
    refuse: Callable[[str], None] = lambda text: None,
    check: Callable[[str], None] = lambda text: None,
) -> Edit:
    """
    Return an edit that puts lines between two markers at the end of a file, or with None takes them out.

    Args:
        refuse: raises ``ValueError`` for a text without our lines that they cannot be put into.
        check: raises ``ValueError`` for a text with our lines that its program cannot read.
    """
    block = re.compile(rf"\n?^{re.escape(begin)}$.*?^{re.escape(end)}$\n?", re.MULTILINE | re.DOTALL)

    def edit(before: bytes | None) -> bytes | None:
        text = (before or b"").decode("utf-8-sig").replace("\r\n", "\n")
        if text.count(begin) != text.count(end) or text.count(begin) > 1:
            raise ValueError(f"the markers {visible(begin)} and {visible(end)} are not a pair")
        rest = block.sub("", text)
        refuse(rest)
        if lines is None:
            return before if rest == text else in_form_of(before, rest) if rest else None
        ours = f"{begin}\n{lines}\n{end}\n"
        if (found := block.search(text)) is not None:
            gap = "\n" if found[0].startswith("\n") else ""
            made = text[: found.start()] + gap + ours + text[found.end() :]
        else:
            made = text + ("" if not text else "\n" if text.endswith("\n") else "\n\n") + ours
        check(made)
        return before if made == text else in_form_of(before, made)

    return edit


def refuse_toml_with(table: str) -> Callable[[str], None]:
    """Return what refuses a text that is not TOML, or has a table of ours that we did not write."""

    def refuse(text: str) -> None:
        found: Any = tomllib.loads(text)
        for name in table.split("."):
            found = found.get(name) if isinstance(found, Mapping) else found
        if found is not None:
            raise ValueError(f"[{table}] is there already, and was not written by graphmem")

    return refuse


def text_edit(text: str | None, mark: str) -> Edit:
    """Return an edit of a file that is ours alone, which its first line says: its text, or with None its removal."""

    def edit(before: bytes | None) -> bytes | None:
        is_ours = before is None or before.startswith(mark.encode())
        if text is None:
            return None if is_ours else before
        if not is_ours:
            raise ValueError("it was not written by graphmem")
        return text.encode()

    return edit
