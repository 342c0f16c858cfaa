"""How types and scopes read on a terminal."""

from graphmem.core.vocabulary.contract import TypeBrief, TypeChanged, TypeList
from graphmem.core.vocabulary.scopes import ScopeList
from graphmem.kernel.ledger.files.layout import ASIDE
from graphmem.kernel.model.scope import Scope
from graphmem.kernel.model.vocabulary import EntityType, RelationType
from graphmem.kernel.registry import Printout, reads
from graphmem.kernel.text import count


@reads(ScopeList)
def _scope_list_text(answer: ScopeList) -> Printout:
    return Printout(
        "\n".join(map(described, answer.results)),
        "no scopes yet; to add one: graphmem scope add NAME --read pattern" if not answer.results else "",
    )


@reads(TypeList)
def _type_list_text(answer: TypeList) -> str:
    return "\n".join([*map(_described_type, answer.entities), *map(_described_type, answer.relations)])


@reads("types.show")
def _type_show_text(answer: EntityType | RelationType) -> str:
    return _described_type(answer) + (f"\n\n{answer.prose}" if answer.prose else "")


@reads(TypeChanged)
def _type_rename_text(answer: TypeChanged) -> Printout:
    return Printout(_change_lines(answer), "nothing was changed; do it with --yes" if not answer.done else "")


@reads(TypeBrief)
def _type_brief_text(answer: TypeBrief) -> Printout:
    return Printout(answer.text.rstrip("\n"), f"over the budget: {', '.join(answer.omitted)}" if answer.omitted else "")


@reads(Scope)
def described(scope: Scope) -> str:
    """Return a scope in one line."""
    what = f"  {scope.description}" if scope.description else ""
    rights = (
        f"{verb}: {', '.join(names) or 'nothing'}" for verb, names in (("reads", scope.read), ("writes", scope.write))
    )
    return f"{scope.name}  {'  '.join(rights)}{what}"


def _change_lines(answer: TypeChanged) -> str:
    """Return what the change of a type did, or would do."""
    verbs = ("renamed ", "would rename ") if answer.now else ("dropped ", "would drop ")
    done, would = (f"{verb}{answer.type}" + (f" to {answer.now}" if answer.now else "") for verb in verbs)
    lines = [done if answer.done else would]
    lines += [
        f"  {count(answer.records, 'record')}, {count(answer.edges, 'edge')},"
        f" {count(answer.references, 'other row')} that named a record"
    ]
    lines += [f"  type {name} changes" for name in answer.types]
    lines += [f"  type {name} goes" for name in answer.dropped]
    lines += [f"  {file} names nothing else, and is put aside as {file}{ASIDE}" for file in answer.aside]
    lines += [f"  {file}" for file in answer.files]
    return "\n".join(lines)


@reads(EntityType, RelationType)
def _described_type(made: EntityType | RelationType) -> str:
    """Return a type in one line."""
    what = f"  {made.description}" if made.description else ""
    if isinstance(made, RelationType):
        arrow = "--" if made.symmetric else "->"
        ends = f"{'|'.join(made.sources)} {arrow} {'|'.join(made.targets)}"
        return f"relation {made.type}  {ends}  weight {made.weight:g}{what}"
    return f"entity {made.type}{what}"
