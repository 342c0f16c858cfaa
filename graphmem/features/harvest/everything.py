"""Import of all that a project has at its usual places: sessions, history, notes."""

from graphmem.core.records.candidate_contract import (
    Harvested,
    HarvestedAll,
    ImportAllRequest,
    ImportGitRequest,
    ImportNotesRequest,
    ImportSessionsRequest,
)
from graphmem.core.records.candidates import queue_of
from graphmem.errors import Unavailable
from graphmem.features.harvest.haul import Haul
from graphmem.features.harvest.history import import_git
from graphmem.features.harvest.notes import import_notes
from graphmem.features.harvest.sessions import import_sessions
from graphmem.kernel.registry import operation
from graphmem.kernel.store.runtime import Client


@operation(
    "imports.all",
    writes=True,
    previews="dry_run",
    at_home=True,
    not_over_http="it reads files of the user who types it",
    example="graphmem import all --dry-run",
    help="""
    Find all of it at the usual places: sessions, git's history, notes. As an option, --all means the same.

    A second import reads only what is new: graphmem review
    """,
)
def import_all(client: Client, request: ImportAllRequest) -> HarvestedAll:
    """
    Read the sessions of coding agents, the history and the notes of this project, and put what they teach into the
    queue of candidates.
    """
    before = len(queue_of(client).read().waiting())
    parts = [
        import_sessions(client, ImportSessionsRequest(dry_run=request.dry_run)),
        _history_or_not(client, ImportGitRequest(dry_run=request.dry_run)),
        import_notes(client, ImportNotesRequest(dry_run=request.dry_run)),
    ]
    # A dry run counts from the same queue each time.
    waiting = before + sum(part.waiting - before for part in parts) if request.dry_run else parts[-1].waiting
    return HarvestedAll(parts=parts, applied=not request.dry_run, waiting=waiting)


def _history_or_not(client: Client, request: ImportGitRequest) -> Harvested:
    """Read the history; where git has none, say why."""
    try:
        return import_git(client, request)
    except Unavailable as error:
        haul = Haul()
        haul.note(client.root, "git", "skipped", str(error))
        haul.unread[str(error)] += 1
        waiting = len(queue_of(client).read().waiting())
        return haul.answer("git", waiting, is_applied=not request.dry_run)
