"""Trust the settings of a project in this clone."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain

from graphmem.errors import Refused
from graphmem.features.upkeep.store_contract import Trust, TrustRequest
from graphmem.kernel.ledger.extractors import read_extractors, text_to_trust
from graphmem.kernel.model import Task
from graphmem.kernel.model.proof import valid_proof
from graphmem.kernel.registry import Taken, extensions, operation
from graphmem.kernel.settings.config import needs_trust
from graphmem.kernel.settings.trust import Sort, ToTrust, are_trusted, trust_lock, untrusted
from graphmem.kernel.settings.trust import trust as trust_all
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.lock import locked
from graphmem.kernel.system.shell import command
from graphmem.names import inert

WORDS_ALONE = " (it names no file of the project: the words alone are trusted)"
SHOWN, LINE = 3, 80  # things that a refusal names, and characters of each


@operation(
    "trust",
    writes=True,
    previews="yes",
    at_home=True,
    not_over_http="a person decides what to trust, on this machine",
    example="graphmem trust",
    takes={"yes": Taken("DIGEST")},
    help="""
    Show which settings load other weights, and which commands, proofs and extractors run; let them count here.

    They come with the branch, so they count only when you have looked at them, and as long as they, the files
    of their models and the scripts that extractors name are the same.

    The digest covers all that is shown; with any other digest nothing is trusted.
    """,
)
def trust(client: Client, request: TrustRequest) -> Trust:
    """
    Return what of the project needs trust; ``yes``, the digest of that answer, lets it count in this clone.

    What is trusted is kept outside of the store, under a lock of its own.

    Raises:
        Refused: ``yes`` is another digest: what needs trust now is not what was shown with it.
    """
    config = client.layout.config
    programs: dict[Sort, list[str]] = {
        "commands": sorted({*_verify_commands(client), *chain(*(found(client) for found in extensions("commands")))}),
        "proofs": proofs(client),
        "extractors": [
            text_to_trust(client.layout, name, one) for name, one in read_extractors(client.layout)[0].items()
        ],
    }
    wanted = ToTrust(needs_trust(config), programs)
    if request.yes is not None and request.yes != wanted.digest:
        raise _refusal(request.yes, wanted)
    if wanted.digest and request.yes:
        keep(client, wanted)
    reason = untrusted(config, wanted.asked) if wanted.asked else None
    are_all = all(are_trusted(config, texts, sort) for sort, texts in wanted.programs.items())
    if reason is None and not are_all:
        reason = f"look at the commands, and allow them with: {allowing(wanted.digest)}"
    return Trust(
        settings=dict(wanted.asked),
        commands=wanted.of("commands"),
        proofs=wanted.of("proofs"),
        extractors=wanted.of("extractors"),
        digest=wanted.digest,
        trusted=reason is None,
        reason=reason,
    )


def keep(client: Client, wanted: ToTrust) -> None:
    """Let it count in this clone; one process at a time writes the file that has what the user trusts in all clones."""
    with locked(trust_lock(), timeout_s=client.lock_timeout_s):
        trust_all(client.layout.config, wanted)


def lines_of(
    settings: Mapping[str, object], commands: Sequence[str], proofs: Sequence[str], extractors: Sequence[str]
) -> list[str]:
    """Return what needs trust, each thing on one line, its value as JSON with all that is invisible as escapes."""
    named = [(f"{name} =", value) for name, value in settings.items()]
    named += [("verify command:", one) for one in commands]
    shown = [f"{name} {inert(json.dumps(value, ensure_ascii=False))}" for name, value in named]
    shown += [f"proof: {inert(one)}" for one in proofs]
    return shown + [f"extractor: {inert(one)}{'' if json.loads(one)['files'] else WORDS_ALONE}" for one in extractors]


def _refusal(given: str, wanted: ToTrust) -> Refused:
    """Return the error for a digest of something else; it says what needs trust now."""
    now = lines_of(wanted.asked, wanted.of("commands"), wanted.of("proofs"), wanted.of("extractors"))
    more = f" and {len(now) - SHOWN:,} more" if len(now) > SHOWN else ""
    found = ", ".join(one if len(one) <= LINE else f"{one[:LINE]}…" for one in now[:SHOWN]) or "nothing"
    return Refused(
        f"{given[:LINE]!r} is not the digest of what needs trust now, which is {found}{more}; nothing was trusted",
        hint="look at all of it, and at the digest for it, with: graphmem trust",
        details={
            "digest": wanted.digest,
            "settings": dict(wanted.asked),
            "commands": wanted.of("commands"),
            "proofs": wanted.of("proofs"),
            "extractors": wanted.of("extractors"),
        },
    )


def allowing(digest: str | None) -> str:
    """Return the command that trusts what has this digest."""
    return command("graphmem", "trust", "--yes", str(digest))


def _verify_commands(client: Client) -> list[str]:
    """Return the verify commands of blocked tasks."""
    with client.reading() as snapshot:
        tasks = snapshot.catalog.of_kind(Task).values()
        return sorted({task.verify for task in tasks if task.verify and task.status == "blocked"})


def proofs(client: Client) -> list[str]:
    """Return what was proven of records, which ``stale --prove`` runs again."""
    with client.reading() as snapshot:
        proven = snapshot.catalog.records(snapshot.catalog.with_field("proven")).values()
        return sorted({proof.to_trust for record in proven if (proof := valid_proof(record)) is not None})
