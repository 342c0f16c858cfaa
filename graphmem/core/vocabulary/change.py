"""The types of a project: rename one, or drop it, with all that is of it and names it."""

from graphmem.core.vocabulary.contract import DropTypeRequest, RenameTypeRequest, TypeChanged
from graphmem.core.vocabulary.retyping import commit, names_of, retyping
from graphmem.core.vocabulary.types import refuse_form, refuse_name
from graphmem.errors import NotFound, Refused
from graphmem.kernel.ledger.types import has_file
from graphmem.kernel.model.vocabulary import EntityType, RelationType, Vocabulary
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.suggest import did_you_mean


@operation(
    "types.rename",
    writes=True,
    previews="yes",
    example="graphmem type rename service component --yes",
    takes={"old": Taken("OLD", "type")},
    help="""
    Give a type another name in its rows, in what refers to them and in the files that name it.

    The old name is still found, also in rows that another branch brings. Without --yes it shows what would
    change.
    """,
)
def rename_type(snapshot: Snapshot, request: RenameTypeRequest) -> TypeChanged:
    """
    Give a type another name in its rows, in what refers to them and in files; without ``yes`` only report that.

    These are other types, scopes, extractors and stored queries.

    What still has the old name, such as a row of another branch, means the type all the same. Without ``yes`` nothing
    is changed.
    """
    made, vocabulary, new = _own_type(snapshot.vocabulary, request.old), snapshot.vocabulary, request.new
    refuse_form("type", new)
    if new == made.type:
        raise Refused(f"type {new!r} is called so already", hint="graphmem type rename OLD NEW, two names")
    others = vocabulary.with_types({made.type: None})
    refuse_name(others, made.model_copy(update={"type": new}))
    if new in vocabulary.drifted and vocabulary.renamed.get(new) != made.type:
        raise Refused(f"rows of a type {new!r} are there already", hint="take another name; see: graphmem validate")
    for group in ("entities", "relations"):
        if has_file(snapshot.layout, group, new):
            raise Refused(f"types/{group}/{new}.md is there already and cannot be read", hint="see: graphmem validate")
    return _changed(snapshot, made, new, yes=request.yes)


@operation(
    "types.drop",
    writes=True,
    positional=1,
    previews="yes",
    example="graphmem type drop service --yes",
    takes={"name": Taken("NAME", "type")},
    help="""
    Take out a type with its rows, the edges and reports that name these, and its name in other types.

    A relation type that is left without an end goes too; an extractor or stored query that named no other type
    is put aside. Without --yes it shows what would go.
    """,
)
def drop_type(snapshot: Snapshot, request: DropTypeRequest) -> TypeChanged:
    """
    Take out a type with its rows and what names them; without ``yes`` only report what would go.

    A relation type that is left without an end goes too. An extractor or a stored query that is left with nothing to
    write or to match is put aside. What happened stays: events are not changed. Without ``yes`` nothing is changed.
    """
    return _changed(snapshot, _own_type(snapshot.vocabulary, request.name), None, yes=request.yes)


def _own_type(vocabulary: Vocabulary, name: str) -> EntityType | RelationType:
    """Return a type that the project declares and graphmem does not, or raise an error that says what to do."""
    if name in vocabulary.shadowing:
        raise Refused(
            f"type {name!r} is graphmem's own too, and edges of both are in one file",
            hint=f"remove types/relations/{name}.md, and its edges are of graphmem's own type",
        )
    declared = vocabulary.declared
    if name not in declared:
        now = vocabulary.renamed.get(name)
        known = {*vocabulary.record_types, *vocabulary.relations} - {*declared, *vocabulary.drifted}
        if name in known:
            raise Refused(f"type {name!r} is graphmem's own", hint="only the types of the project can be changed")
        hint = f"it is {now!r} now" if now else did_you_mean(name, declared) or "see: graphmem type list"
        raise NotFound(f"no type {name!r} is declared", hint=hint)
    return declared[name]


def _changed(snapshot: Snapshot, made: EntityType | RelationType, new: str | None, *, yes: bool) -> TypeChanged:
    """Work out what follows for a type with another name, or that goes; write it where the store is held for that."""
    plan = retyping(snapshot, names_of(snapshot.vocabulary, made.type, new))
    changes, goes = plan.other_types
    answer = TypeChanged(
        done=yes,
        type=made.type,
        now=new,
        records=plan.records,
        edges=plan.edges,
        references=plan.references,
        types=changes,
        dropped=goes,
        aside=plan.aside,
        files=plan.files,
    )
    if isinstance(snapshot, Writing):
        commit(snapshot, plan)
    return answer
