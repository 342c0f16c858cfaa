"""``type …``: the project's entity and relation types."""

from typing import Annotated

import typer

from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_kind, complete_type, invocation_of
from graphmem.cli.options import argument, option
from graphmem.contract.vocabulary import AddEntityTypeRequest, AddRelationTypeRequest, ShowTypeRequest
from graphmem.model.vocabulary import EntityType, RelationType

app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)
adding = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)
app.add_typer(adding, name="add")


@app.callback()
def types() -> None:
    """Declare and show entity and relation types."""


@adding.callback()
def add() -> None:
    """Declare an entity type or a relation type."""


@adding.command(epilog='Example: graphmem type add entity class --description "A class of the code."')
def entity(
    ctx: typer.Context,
    name: str = argument(AddEntityTypeRequest, "name", metavar="NAME"),
    description: str = option(AddEntityTypeRequest, "description", metavar="D"),
    no_search: Annotated[bool, typer.Option("--no-search", help="Keep its entities out of query.")] = False,
) -> None:
    """Declare an entity type."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.types.add_entity(name, description=description, search=not no_search)
    invocation.answer(answer, described(answer))


@adding.command(epilog="Example: graphmem type add relation calls --from function --to function --weight 0.9")
def relation(
    ctx: typer.Context,
    name: str = argument(AddRelationTypeRequest, "name", metavar="NAME"),
    source: list[str] = option(
        AddRelationTypeRequest, "sources", "--from", metavar="T,…", autocompletion=complete_kind
    ),
    target: list[str] = option(AddRelationTypeRequest, "targets", "--to", metavar="T,…", autocompletion=complete_kind),
    weight: float = option(AddRelationTypeRequest, "weight", metavar="W"),
    symmetric: bool = option(AddRelationTypeRequest, "symmetric"),
    description: str = option(AddRelationTypeRequest, "description", metavar="D"),
) -> None:
    """Declare a relation type, and the kinds that it may connect."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.types.add_relation(
        name,
        sources=listed(source),
        targets=listed(target),
        weight=weight,
        symmetric=symmetric,
        description=description,
    )
    invocation.answer(answer, described(answer))


def listed(values: list[str]) -> list[str]:
    """Return the names of an option that takes several, separated by commas or given again."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


@app.command("list", epilog="Example: graphmem type list")
def list_types(ctx: typer.Context) -> None:
    """List the project's types, and graphmem's own relations."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.types.list()
    invocation.answer(answer, "\n".join([*map(described, answer.entities), *map(described, answer.relations)]))


@app.command(epilog="Example: graphmem type show solves")
def show(
    ctx: typer.Context,
    name: str = argument(ShowTypeRequest, "name", metavar="NAME", autocompletion=complete_type),
) -> None:
    """Show one type."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.types.show(name)
    invocation.answer(answer, described(answer) + (f"\n\n{answer.prose}" if answer.prose else ""))


def described(made: EntityType | RelationType) -> str:
    """Return a type in one line."""
    what = f"  {made.description}" if made.description else ""
    if isinstance(made, RelationType):
        arrow = "--" if made.symmetric else "->"
        ends = f"{'|'.join(made.sources)} {arrow} {'|'.join(made.targets)}"
        return f"relation {made.type}  {ends}  weight {made.weight:g}{what}"
    return f"entity {made.type}{what}"
