"""``type …``: the project's entity and relation types."""

from graphmem.cli.caller import Invocation, complete_kind, complete_type
from graphmem.cli.commands import Call, Taken, listed, noun, passes
from graphmem.contract.vocabulary import AddEntityTypeRequest, AddRelationTypeRequest, ShowTypeRequest, TypeList
from graphmem.model.vocabulary import EntityType, RelationType

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


def described(made: EntityType | RelationType) -> str:
    """Return a type in one line."""
    what = f"  {made.description}" if made.description else ""
    if isinstance(made, RelationType):
        arrow = "--" if made.symmetric else "->"
        ends = f"{'|'.join(made.sources)} {arrow} {'|'.join(made.targets)}"
        return f"relation {made.type}  {ends}  weight {made.weight:g}{what}"
    return f"entity {made.type}{what}"
