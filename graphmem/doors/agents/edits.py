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
import io
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphmem.doors.agents.install_contract import InstalledFile
from graphmem.errors import BadInput, Unavailable
from graphmem.kernel.settings.folders import state_folder
from graphmem.kernel.system import foreign, safe_files
from graphmem.names import visible
from graphmem.patterns import lazy_re

MOST_BYTES = 4 * 2**20  # of a configuration file that is edited
HINT = "correct it, or set it up there by hand: graphmem install CLIENT --dry-run in an empty project shows how"
LINE_END = lazy_re(r"\r?\n")
FRONT = lazy_re(r"---\r?\n.*?^---\r?\n", re.MULTILINE | re.DOTALL)  # of a page: what it says to its program
Edit = Callable[[bytes | None], bytes | None]  # what is in a file now, None where it is not there; then what will be


@dataclass(frozen=True)
class Place:
    """
    Where a file is.

    Args:
        base: the folder of a project, which may be a stranger's: no link below it is followed, neither of the file nor
            of a folder on the way. None for a file of the user's own home, where a link is the user's and is followed.
    """

    path: Path
    base: Path | None = None

    @property
    def real(self) -> Path:
        """The path of the file itself."""
        return Path(os.path.realpath(self.path)) if self.base is None else self.path

    @contextlib.contextmanager
    def folder(self, *, make: bool = False) -> Iterator[int]:
        """Yield the descriptor of the folder of the file, made where it is missing if asked for."""
        real = self.real
        start = real.parent if self.base is None else self.base
        parts = real.parent.relative_to(start).parts
        handle, is_kept = safe_files.entered(str(start), parts, make=make)
        try:
            yield handle
        finally:
            if not is_kept:
                os.close(handle)

    def is_link(self) -> bool:
        """Return whether the file, or a folder on the way that counts, is a link."""
        if self.base is None:
            return False
        below = self.path.relative_to(self.base).parts
        return any(self.base.joinpath(*below[: count + 1]).is_symlink() for count in range(len(below)))


@dataclass(frozen=True)
class Change:
    """A file with what is in it and what will be; None where it is not there."""

    place: Place
    before: bytes | None
    after: bytes | None

    @property
    def path(self) -> Path:
        """The path of the file, as it is named."""
        return self.place.path

    def shown(self) -> InstalledFile:
        """Return the change as an answer has it."""
        real = self.place.real
        link = str(real) if real != Path(os.path.abspath(self.path)) and self.path.is_symlink() else None
        if self.before == self.after:
            return InstalledFile(path=str(self.path), link=link, action="unchanged", diff="")
        action = "created" if self.before is None else "removed" if self.after is None else "changed"
        texts = [(data or b"").decode("utf-8", "replace") for data in (self.before, self.after)]
        lines = [[*io.StringIO(text, newline="\n")] for text in texts]
        base = self.place.base
        name = self.path.relative_to(base).as_posix() if base else "/".join(self.path.parts[-2:])
        found = difflib.unified_diff(lines[0], lines[1], f"a/{name}", f"b/{name}")
        diff = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)
        return InstalledFile.model_validate({"path": str(self.path), "link": link, "action": action, "diff": diff})


def planned(place: Place, edit: Edit, hint: str = HINT) -> Change:
    """
    Return what an edit makes of a file.

    Raises:
        BadInput: it is in a form that is not understood.
        Unavailable: it cannot be read, or is not a regular file.
    """
    before = read(place)
    try:
        return Change(place, before, edit(before))
    except ValueError as error:
        raise BadInput(f"{str(place.path)!r} is not changed: {error}", hint=hint) from None


def read(place: Place) -> bytes | None:
    """Return what is in a file; None where it is not there."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        with place.folder() as folder:
            handle = os.open(place.real.name, flags, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise Unavailable(f"{str(place.path)!r} is not a regular file")
        with open(handle, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed(place, "read", error) from None
    if len(data) > MOST_BYTES:
        raise Unavailable(f"{str(place.path)!r} has more than {MOST_BYTES // 2**20} MiB")
    return data


def write(change: Change) -> None:
    """Write a change, all or nothing; the mode of a file stays."""
    if change.before == change.after:
        return
    place, name = change.place, change.place.real.name
    try:
        if change.after is None:
            with place.folder() as folder:
                os.unlink(name, dir_fd=folder)
            _remove_empty(place.real.parent)
            return
        with place.folder(make=True) as folder:
            fresh = f".{name}.{secrets.token_hex(8)}"
            mode = _mode_of(name, folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                with open(os.open(fresh, flags, 0o666 if mode is None else 0o600, dir_fd=folder), "wb") as file:
                    file.write(change.after)
                    file.flush()
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                    os.fsync(file.fileno())
                os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(fresh, dir_fd=folder)
                raise
    except OSError as error:
        raise _failed(place, "written", error) from None


def _mode_of(name: str, folder: int) -> int | None:
    """Return the mode of a file; None where it is not there."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o7777
    except FileNotFoundError:
        return None


def _failed(place: Place, verb: str, error: OSError) -> Unavailable:
    """Return the error for a file that cannot be read or written."""
    if place.is_link():
        hint = "a link that a branch can bring leads anywhere: put a file or a folder in its place"
        return Unavailable(f"{str(place.path)!r} is, or is behind, a symbolic link, which is not followed", hint=hint)
    return Unavailable(f"{str(place.path)!r} cannot be {verb}: {(error.strerror or '').lower()}")


def _remove_empty(folder: Path) -> None:
    """Remove a folder that is empty now, and so on above it, as far as its name begins with a point."""
    with contextlib.suppress(OSError):
        while folder.name.startswith(".") or folder.name in ("plugins", "rules", "instructions"):
            folder.rmdir()
            folder = folder.parent


# --- what was there before ------------------------------------------------------------------------------------------


def _backup_of(path: Path) -> Path:
    """Return where what was in a file before is kept."""
    name = hashlib.sha256(os.fsencode(os.path.abspath(path))).hexdigest()[:32]
    return state_folder() / "installs" / f"{name}.json"


def keep(change: Change, clean: bytes | None) -> None:
    """
    Keep what was in a file before the first installation that changed it.

    Args:
        clean: what is in the file now without what an earlier installation wrote.
    """
    backup = _backup_of(change.path)
    kept = _kept_of(change.path)
    first = kept["before"] if kept and kept["after"] == _digest(change.before) else _encoded(clean)
    value = {"path": str(change.path), "before": first, "after": _digest(change.after)}
    backup.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(Change(Place(backup), None, json.dumps(value).encode()))
    backup.chmod(0o600)  # a client's settings may hold keys


def _kept_of(path: Path) -> dict[str, Any] | None:
    """Return what is kept of a file; None where nothing is."""
    try:
        found = json.loads(_backup_of(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"before", "after"} <= found.keys() else None


def restored(place: Place, edit: Edit) -> Change:
    """Return a file as it was before an installation; where it was changed since, without what ``edit`` takes out."""
    now, kept = read(place), _kept_of(place.path)
    if now is not None and kept is not None and kept["after"] == _digest(now):
        return Change(place, now, None if kept["before"] is None else base64.b64decode(kept["before"]))
    return planned(place, edit)


def forget(path: Path) -> None:
    """Forget what was in a file."""
    with contextlib.suppress(OSError):
        _backup_of(path).unlink()


def _digest(data: bytes | None) -> str | None:
    """Return the hash of what is in a file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def _encoded(data: bytes | None) -> str | None:
    """Return what is in a file as text."""
    return None if data is None else base64.b64encode(data).decode("ascii")


# --- forms ----------------------------------------------------------------------------------------------------------


def json_edit(change: Callable[[dict[str, Any]], None]) -> Edit:
    """Return an edit of a JSON object; its order and indentation stay, and an object that is empty then goes."""

    def edit(before: bytes | None) -> bytes | None:
        text = before.decode("utf-8-sig") if before else ""
        try:
            value = foreign.json(text, load=_in_order) if text.strip() else {}
            if not isinstance(value, dict):
                raise ValueError("it is not a JSON object")
            found = json.dumps(value)
            change(value)
        except RecursionError:
            raise ValueError("it is nested too deep") from None
        except (AttributeError, KeyError, TypeError):
            raise ValueError("its entries have another form than the client's") from None
        if json.dumps(value) == found:
            return before
        if not value:
            return None
        indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
        made = json.dumps(value, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"
        lines = made.replace("\n", "\r\n") if before and b"\r\n" in before else made
        return (codecs.BOM_UTF8 if before and before.startswith(codecs.BOM_UTF8) else b"") + lines.encode()

    return edit


def _in_order(text: str) -> Any:
    """Return a JSON value as it is written, with every number as it is."""
    try:
        return json.loads(text, object_pairs_hook=_without_doubles)
    except json.JSONDecodeError as error:
        if text.startswith(("//", "/*"), error.pos):
            raise ValueError(f"line {error.lineno} is a comment, which a change by graphmem would lose") from None
        raise


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, or raise ``ValueError`` for one in which a key is there twice: a new text would lose one."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has a key twice")
    return made


def marked_edit(
    lines: str | None,
    begin: str,
    end: str,
    refuse: Callable[[str], None] = lambda text: None,
    check: Callable[[str], None] = lambda text: None,
    front: str | None = None,
) -> Edit:
    """
    Return an edit that puts lines between two markers at the end of a file, or with None takes them out.

    What is outside the markers stays byte for byte, and a file that only this edit changed comes back to its bytes: one
    that ended without a line end does so with our lines too.

    Args:
        refuse: raises ``ValueError`` for a text without our lines that they cannot be put into.
        check: raises ``ValueError`` for a text with our lines that its program cannot read.
        front: of a file that is ours, what is before the markers; a file of others is refused.
    """
    block = re.compile(
        rf"(?P<gap>(?<=\n)\r?\n)?^(?P<body>{re.escape(begin)}\r?$.*?^{re.escape(end)})(?P<tail>\r?\n|\Z)",
        re.MULTILINE | re.DOTALL,
    )

    def edit(before: bytes | None) -> bytes | None:
        if lines is None and not any(one.encode() in (before or b"") for one in (begin, end)):
            return before
        mark = codecs.BOM_UTF8 if before and before.startswith(codecs.BOM_UTF8) else b""
        text = _as_text((before or b"")[len(mark) :])
        is_there = begin in text
        head = FRONT.match(text) if front and is_there else None
        text = text[head.end() :] if head else text
        pair = text.count(begin), text.count(end)
        found = block.search(text) if pair == (1, 1) else None
        if pair != (0, 0) and not found:
            raise ValueError(f"the markers {visible(begin)} and {visible(end)} are not a pair of lines")
        first = LINE_END.search(found["body"] if found else text)
        line_end = first[0] if first else "\n"
        rest = text
        if found:
            rest = text[: found.start()] + text[found.end() :]
            rest = rest if found["tail"] else rest.removesuffix(line_end)
        refuse(rest)
        if front is not None and text and not is_there and lines is not None:
            raise ValueError("it was not written by graphmem")
        if lines is None:
            kept = (head[0] if head and rest else "") + rest
            return mark + kept.encode() if kept or not (found and found["tail"]) else None
        ours = line_end.join([begin, *lines.split("\n"), end])
        if found:
            made = text[: found.start("body")] + ours + text[found.end("body") :]
        elif not text:
            made = ours + ("\n" if before is None else "")
        else:
            made = text + (f"{line_end}{ours}{line_end}" if text.endswith("\n") else f"{line_end * 2}{ours}")
        check(made)
        return mark + ((front or "").replace("\n", line_end) + made).encode()

    return edit


def _as_text(data: bytes) -> str:
    """Return the text of a file, or raise ``ValueError`` for one that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 from byte {error.start:,} on") from None


def refuse_toml_with(table: str) -> Callable[[str], None]:
    """Return a check that refuses invalid TOML, and a table of our name that graphmem did not write."""

    def refuse(text: str) -> None:
        found: Any = foreign.toml(text)
        for name in table.split("."):
            found = found.get(name) if isinstance(found, Mapping) else found
            if found is not None and not isinstance(found, Mapping):
                raise ValueError(f"{name} holds something else than a table")
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
