"""What of a project counts only when this user has looked at it and trusts it."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from graphmem import constants
from graphmem.kernel import model_files
from graphmem.kernel.settings.folders import user_config

Asked = str | bool | int | float  # a value that a project asks for
Sort = Literal["commands", "extractors", "proofs"]  # of what a project may run: none vouches for one of another sort
DIGEST_CHARS = 32
# Settings that load weights, send texts away, let secrets in, start a process or show agents what nobody has read, with
# the values that a project may ask for untrusted.
NEEDS_TRUST: dict[str, tuple[Asked, ...]] = {
    "embedding.model": ("none", constants.DEFAULT_MODEL),
    "embedding.endpoint": ("",),
    "embedding.dimensions": (0,),
    "embedding.background": (False,),
    "retrieval.reranker": ("",),
    "store.secrets": ("refuse", "redact"),
    "service.autostart": (False,),
    "harvest.hand_out": (False,),
}


def asked_for(found: Mapping[str, Any]) -> dict[str, Asked]:
    """Return those of a project's settings that count only where the project is trusted."""
    asked: dict[str, Asked] = {}
    for name, harmless in NEEDS_TRUST.items():
        section, _, key = name.partition(".")
        keys = found.get(section)
        value = keys.get(key) if isinstance(keys, Mapping) else None
        of_kind = str if isinstance(harmless[0], str) else str | bool | int | float  # what the setting is read from
        if value not in harmless and isinstance(value, of_kind):
            asked[name] = value
    return asked


def untrusted(project: Path, asked: Mapping[str, Asked]) -> str | None:
    """Return why these settings of this clone do not count; None where they were trusted, with the files they load."""
    entry = _entry_of(project)
    if entry.get("settings") != dict(asked):
        entry = entry.get("before", {})  # the model was changed; another branch may name the one before
    if entry.get("settings") != dict(asked):
        return "look at it, and allow it with: graphmem trust"
    seen = dict(entry.get("seen", {}))
    for name, value in asked.items():
        was, (now, is_local) = entry.get("files", {}).get(name), _files_of(name, value, seen)
        if was != now and (is_local or was):  # what the hub gives to a name that was trusted without files is its own
            names = sorted(file for file in {*(was or {}), *now} if (was or {}).get(file) != now.get(file))
            what = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
            return f"changed since it was trusted: {what}; look at it, and allow it with: graphmem trust"
    if seen != entry.get("seen") and entry == _entry_of(project):
        with contextlib.suppress(OSError):  # it only saves reading the files again
            keep(project, {**entry, "seen": seen})
    return None


class ToTrust:
    """
    What a clone asks this user to trust at one moment: settings, the files that they load, and what it would run.

    Attributes:
        programs: what would run, by sort, as texts.
        digest: of all of it, long enough that nobody finds another content with the same one; None for nothing.
    """

    def __init__(
        self, asked: Mapping[str, Asked], programs: Mapping[Sort, Collection[str]] = MappingProxyType({})
    ) -> None:
        self.asked = dict(asked)
        self.programs = {sort: sorted(texts) for sort, texts in programs.items() if texts}
        self.seen: model_files.Seen = {}
        self.files = {name: _files_of(name, value, self.seen)[0] for name, value in asked.items()}
        whole = json.dumps([self.asked, self.files, self.programs], sort_keys=True)
        is_any = asked or self.programs
        self.digest = hashlib.sha256(whole.encode()).hexdigest()[:DIGEST_CHARS] if is_any else None

    def of(self, sort: Sort) -> list[str]:
        """Return what of one sort would run."""
        return self.programs.get(sort, [])


def trust(project: Path, wanted: ToTrust) -> None:
    """Let these settings count in this clone, as long as they and their files are the same, and its programs run."""
    found = _entry_of(project)
    if wanted.asked:
        found.pop("before", None)
        found |= {"settings": wanted.asked, "files": wanted.files, "seen": wanted.seen}
    keep(project, found | {sort: sorted({*found.get(sort, ()), *texts}) for sort, texts in wanted.programs.items()})


def trust_change(project: Path, wanted: ToTrust) -> None:
    """Let settings count that a project is about to ask for; those that count now go on: it may never come to it."""
    found = _entry_of(project)
    if wanted.asked:
        if found.get("settings") != wanted.asked:
            found["before"] = {name: found[name] for name in ("settings", "files", "seen") if name in found}
        keep(project, found | {"settings": wanted.asked, "files": wanted.files, "seen": wanted.seen})


def _entry_of(project: Path) -> dict[str, Any]:
    """Return what was trusted in a clone."""
    found = trusted().get(os.path.realpath(project))
    return found if isinstance(found, dict) else {}


def are_trusted(project: Path, texts: Collection[str], sort: Sort = "commands") -> bool:
    """Return whether each of these texts of a sort may run in a clone: the very text was trusted there."""
    return set(texts) <= set(_entry_of(project).get(sort, ()))


def proofs_run(project: Path) -> set[str]:
    """Return the proofs that ran in a clone and held."""
    return set(_entry_of(project).get("ran", ()))


def note_proof(project: Path, text: str, *, holds: bool) -> None:
    """Note how a proof ended that ran in a clone; the caller holds ``trust_lock``."""
    ran = proofs_run(project)
    if (text in ran) != holds:
        keep(project, _entry_of(project) | {"ran": sorted(ran ^ {text})})


def _files_of(setting: str, name: Asked, seen: model_files.Seen) -> tuple[dict[str, str], bool]:
    """Return the hashes of the files that a model would be loaded from now, and whether they are not the hub's."""
    found = model_files.folder_of(setting, str(name)) if setting in model_files.OWNERS else None
    return (model_files.hashes(found[0], seen), found[1]) if found else ({}, False)


def keep(project: Path, entry: Mapping[str, object]) -> None:
    """Write down what was trusted in a clone, for this user alone to read."""
    path = trust_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump({**trusted(), os.path.realpath(project): entry}, file, indent=1)
    os.replace(fresh, path)


def trust_file() -> Path:
    """Return where trusted settings are kept: beside the user's settings, where no branch can write."""
    return user_config().with_name("trust.json")


def trust_lock() -> Path:
    """Return the lock file of ``trust_file``, whose folder is made where it is missing."""
    path = trust_file().with_name("trust.lock")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def trusted() -> dict[str, object]:
    """Return what was trusted, by the path of the project's config file."""
    try:
        found = json.loads(trust_file().read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
