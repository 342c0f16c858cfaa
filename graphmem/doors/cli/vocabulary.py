"""``type …``: the project's entity and relation types."""

from graphmem.core.vocabulary.contract import (
    AddEntityTypeRequest,
    AddRelationTypeRequest,
    BriefTypesRequest,
    DropTypeRequest,
    RenameTypeRequest,
    ShowTypeRequest,
    TypeBrief,
    TypeChanged,
    TypeList,
)
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_kind, complete_type
from graphmem.doors.cli.commands import Call, listed, noun, passes
from graphmem.kernel.ledger.files.layout import ASIDE
from graphmem.kernel.model.vocabulary import EntityType, RelationType
from graphmem.kernel.registry import Taken

app = noun("Declare and show entity and relation types.")
adding = noun("Declare an entity type or a relation type.")
app.add_typer(adding, name="add")


@adding.command(epilog='Example: graphmem type add entity class --description "A class of the code."')
@passes(
    "types.add_entity",
    AddEntityTypeRequest,
    arguments=1,
    description=Taken("D"),
    search=Taken(meaning="Keep its entities out of query"),
)
def entity(invocation: Invocation, answer: EntityType) -> None:
    """Declare an entity type."""
    invocation.answer(answer, described(answer))


@adding.command(epilog="Example: graphmem type add relation calls --from function --to function --weight 0.9")
@passes(
    "types.add_relation",
    AddRelationTypeRequest,
    arguments=1,
    sources=Taken("T,…", complete_kind, "--from"),
    targets=Taken("T,…", complete_kind, "--to"),
    weight=Taken("W"),
    description=Taken("D"),
)
def relation(invocation: Invocation, call: Call, sources: list[str], targets: list[str]) -> None:
    """Declare a relation type, and the kinds that it may connect."""
    answer: RelationType = call(sources=listed(sources), targets=listed(targets))
    invocation.answer(answer, described(answer))


@app.command("list", epilog="Example: graphmem type list")
@passes("types.list")
def list_types(invocation: Invocation, answer: TypeList) -> None:
    """List the project's types, and graphmem's own relations."""
    invocation.answer(answer, "\n".join([*map(described, answer.entities), *map(described, answer.relations)]))


@app.command(epilog="Example: graphmem type show solves")
@passes("types.show", ShowTypeRequest, name=Taken("NAME", complete_type))
def show(invocation: Invocation, answer: EntityType | RelationType) -> None:
    """Show one type."""
    invocation.answer(answer, described(answer) + (f"\n\n{answer.prose}" if answer.prose else ""))


@app.command(epilog="Example: graphmem type rename service component --yes")
@passes("types.rename", RenameTypeRequest, old=Taken("OLD", complete_type), new=Taken("NEW"))
def rename(invocation: Invocation, answer: TypeChanged) -> None:
    """
    Give a type another name in its rows, in what refers to them and in the files that name it.

    The old name is still found, also in rows that another branch brings. Without --yes it shows what would change.
    """
    show_change(invocation, answer)


@app.command(epilog="Example: graphmem type drop service --yes")
@passes("types.drop", DropTypeRequest, name=Taken("NAME", complete_type))
def drop(invocation: Invocation, answer: TypeChanged) -> None:
    """
    Take out a type with its rows, the edges and reports that name these, and its name in other types.

    A relation type that is left without an end goes too; an extractor or stored query that named no other type is put
    aside. Without --yes it shows what would go.
    """
    show_change(invocation, answer)


@app.command(epilog="Example: graphmem type brief --budget 500")
@passes("types.brief", BriefTypesRequest)
def brief(invocation: Invocation, answer: TypeBrief) -> None:
    """Print the vocabulary for a prompt: names, what they mean, what edges may connect."""
    invocation.answer(answer, answer.text.rstrip("\n"))
    if answer.omitted:
        invocation.say(f"over the budget: {', '.join(answer.omitted)}")


def show_change(invocation: Invocation, answer: TypeChanged) -> None:
    """Show what the change of a type did, or would do."""
    verbs = ("renamed ", "would rename ") if answer.now else ("dropped ", "would drop ")
    done, would = (f"{verb}{answer.type}" + (f" to {answer.now}" if answer.now else "") for verb in verbs)
    lines = [done if answer.done else would]
    lines += [
        f"  {text.count(answer.records, 'record')}, {text.count(answer.edges, 'edge')},"
        f" {text.count(answer.references, 'other row')} that named a record"
    ]
    lines += [f"  type {name} changes" for name in answer.types]
    lines += [f"  type {name} goes" for name in answer.dropped]
    lines += [f"  {file} names nothing else, and is put aside as {file}{ASIDE}" for file in answer.aside]
    lines += [f"  {file}" for file in answer.files]
    invocation.answer(answer, "\n".join(lines))
    if not answer.done:
        invocation.say("nothing was changed; do it with --yes")


def described(made: EntityType | RelationType) -> str:
    """Return a type in one line."""
    what = f"  {made.description}" if made.description else ""
    if isinstance(made, RelationType):
        arrow = "--" if made.symmetric else "->"
        ends = f"{'|'.join(made.sources)} {arrow} {'|'.join(made.targets)}"
        return f"relation {made.type}  {ends}  weight {made.weight:g}{what}"
    return f"entity {made.type}{what}"
