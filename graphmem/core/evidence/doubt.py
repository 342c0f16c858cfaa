"""Marks of doubt: what speaks against relying on a record (docs/guides/doubts.md; decision 23)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date

from graphmem.constants import DOUBT_FACTOR, NOTE_CHARACTERS, STALE_FACTOR
from graphmem.core.evidence.citation_contract import Cited
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.unsafe import unsafe_advice
from graphmem.kernel.model import Failure, Feedback, MemoryRecord, Record
from graphmem.kernel.model.proof import Proof, valid_proof
from graphmem.kernel.model.record import Triggered
from graphmem.kernel.versions import Used, comparable, nearest, pairs
from graphmem.names import collapsed, one_line
from graphmem.patterns import lazy_re

NAMES_OF_PLATFORMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
PLATFORMS = {  # by the tags that name them
    "linux": "Linux",
    "macos": "macOS",
    "darwin": "macOS",
    "osx": "macOS",
    "windows": "Windows",
    "win32": "Windows",
}
HASH = lazy_re(r"#[0-9a-f]{16}$")  # of a cite


def doubts(
    record: Record,
    cites: Iterable[Cited],
    versions: Mapping[str, Used] | None,
    today: date,
    dispute: Feedback | None,
    counts: tuple[int, int],
    platform: str,
) -> list[Doubt]:
    """
    Return what speaks against relying on a record.

    Args:
        cites: the code that it cites, as that is now.
        versions: what the project uses now, by the comparable name of a package; None where no file says so.
        dispute: the last report that it is wrong; None where it is not disputed.
        counts: the reports since what it says was edited: how many say that it helped, and how many that it did not.
        platform: this one, as ``sys.platform`` names it.
    """
    if not isinstance(record, MemoryRecord):
        return []
    found = [Doubt(sign="disputed", text=disputed(record, dispute))] if record.disputed else []
    found += [Doubt(sign="code", text=f"cites {cited(one)}") for one in cites if one.state in ("changed", "gone")]
    if isinstance(record, Triggered):
        if record.check_after is not None and today.isoformat() > record.check_after:
            found.append(Doubt(sign="date", text=f"to be checked after {record.check_after}"))
        found += _other_versions(record, versions) if versions is not None else ()
    if isinstance(record, Failure) and record.flaky:
        found.append(Doubt(sign="flaky", text=comes_and_goes(record)))
    if there := other_platform(record, platform):
        found.append(Doubt(sign="platform", text=f"for {there}, here {NAMES_OF_PLATFORMS[platform]}"))
    found += [Doubt(sign="unsafe", text=f"{does}: {words}") for does, words in unsafe_advice(record)]
    helped, failed = counts
    if failed > helped:
        found.append(Doubt(sign="failed", text=f"did not help in {failed} of {helped + failed} reports"))
    return found


def conditions_met(
    record: MemoryRecord,
    cites: Iterable[Cited],
    versions: Mapping[str, Used] | None,
    platform: str,
    proofs_run: Collection[str] = (),
) -> list[str]:
    """
    Return which conditions of a record hold here, a clause each; the arguments are those of ``doubts``.

    Args:
        proofs_run: the proofs that ran in this clone, as ``Proof.to_trust``.
    """
    met = [f"cites {cited(one)}" for one in cites if one.state == "fresh"]
    if proof := valid_proof(record):
        met.insert(0, _proven(proof, proof.to_trust in proofs_run))
    if isinstance(record, Triggered) and versions is not None:
        for name, version in sorted(pairs(record.versions)):
            used = versions.get(comparable(name))
            if used and version in used.versions:
                met.append(f"{name} {version}, as here")
    here = NAMES_OF_PLATFORMS.get(platform)
    return [*met, f"for {here}, as here"] if here in {PLATFORMS.get(tag.lower(), "") for tag in record.tags} else met


def _proven(proof: Proof, is_run_here: bool) -> str:
    """Return what was proven and when, in a clause; what did not run in this clone is only claimed."""
    before, after = proof.before[:12], proof.after[:12]
    what = f"fails at {before}, passes at {after}"
    if proof.files:
        what = f"fails at {after} without the change of {', '.join(proof.files)}, passes with it"
    return f"{'proven' if is_run_here else 'claims to be proven'} {proof.at:%Y-%m-%d}: {what}"


def comes_and_goes(failure: Failure) -> str:
    """Return that a failure is flaky, and how often it was seen: each source is an occasion."""
    times = max(1, len(failure.sources))
    return f"flaky: failed without a cause in the code {times:,} time{'s' * (times > 1)}"


def other_platform(record: MemoryRecord, platform: str) -> str | None:
    """Return the platforms that a record is tagged with, if this is another one."""
    named = sorted({PLATFORMS[tag.lower()] for tag in record.tags if tag.lower() in PLATFORMS})
    if not named or platform not in NAMES_OF_PLATFORMS or NAMES_OF_PLATFORMS[platform] in named:
        return None
    return " and ".join(named)


def disputed(record: MemoryRecord, dispute: Feedback | None) -> str:
    """Return that a record is disputed, when, and why."""
    times = "" if record.disputed == 1 else f"{record.disputed} times, last "
    when = f" {times}on {dispute.at:%Y-%m-%d}" if dispute is not None else ""
    note = collapsed(dispute.note)[:NOTE_CHARACTERS] if dispute is not None and dispute.note else ""
    return f"disputed{when}{f': {note}' if note else ''}"


def _other_versions(record: Triggered, versions: Mapping[str, Used]) -> Iterator[Doubt]:
    """Yield, at most once each, the packages that have another major version now, and those that differ less."""
    seen: dict[str, list[str]] = {}
    for name, version in sorted(pairs(record.versions)):
        seen.setdefault(name, []).append(version)
    far: list[str] = []
    near: list[str] = []
    for name, then in seen.items():
        used = versions.get(comparable(name))
        now = used.versions if used else ()
        apart = nearest(then, now) if now else None
        if apart == "same":
            continue
        here = f"here {' and '.join(sorted(now))}" if now else "not among the project's packages"
        (far if apart == "major" else near).append(f"{name} {' and '.join(then)}, {here}")
    if far:
        yield Doubt(sign="versions", text=f"seen with {'; '.join(far)}")
    if near:
        yield Doubt(sign="other_version", text=f"seen with {'; '.join(near)}")


def is_doubted(found: Iterable[Doubt]) -> bool:
    """Return whether anything speaks against what a record says."""
    return any(doubt.is_against for doubt in found)


def freshness(found: Iterable[Doubt]) -> float:
    """Return what a score is multiplied by for the code that a record cites."""
    return STALE_FACTOR if any(doubt.sign == "code" for doubt in found) else 1.0


def doubt_factor(found: Iterable[Doubt]) -> float:
    """Return what a score is multiplied by for marks that no other factor counts."""
    return DOUBT_FACTOR ** len(
        {doubt.sign for doubt in found} & {"versions", "date", "disputed", "platform", "other_error"}
    )


def cited(found: Cited) -> str:
    """Return a cite, without its hash, with how its code is now."""
    return f"{one_line(HASH.sub('', found.cite))} ({found.state}{f', now {found.moved_to}' if found.moved_to else ''})"
