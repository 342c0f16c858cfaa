"""
The Python API: ``Memory``, one method an operation, grouped by noun.

A method checks its parameters and returns the answer of the operation; what a parameter means and which values it takes
is in docs/reference/requests.md. The methods are made from the registry; ``api.pyi`` has their types for type checkers
and editors, and is written by ``python -m tests.generate``.
"""

from graphmem.kernel.handle import Handle, with_operations


@with_operations
class Memory(Handle):
    """
    The memory of one project; any number of threads may use it.

    Each thread gets its own connection when it first calls a method. A change of the settings, of what is trusted and
    of the types by another process counts from the next call on.

    Args:
        folder: the folder that holds ``.graphmem``; None looks at ``GRAPHMEM_DIR``, then from here upwards.
        lock_timeout_s: seconds to wait for another writer; None for what the settings say.
        now: the clock.
        new_id: makes the ids of reports.
        on_message: takes a line for people, such as a bad line of a file; each reported once.
        progress: shows long work.
        at: a commit, or a date that means the last commit before it: the memory as it was then, only to be read.
        command: what ``undo --list`` is to call the writes.
        models: those of another memory, ``other.store.runtime.models``: each is loaded once for both.
        scope: the scope of the project that says what may be read and written; None looks at ``GRAPHMEM_SCOPE``, an
            empty text is for all.

    Raises:
        Unavailable: there is no store; make one with ``Memory.init``.
        NotFound: ``at`` names no commit with a store, or there is no such scope.
    """
