"""``embed …``: the model that makes the vectors."""

from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import noun, passes
from graphmem.features.upkeep.embedding import ChangeModelRequest, EmbeddingStatus, ModelChanged
from graphmem.kernel.registry import Taken

app = noun("Show or change the model that makes the vectors.")


@app.command(epilog="Example: graphmem embed status")
@passes("embed.status")
def status(invocation: Invocation, answer: EmbeddingStatus) -> None:
    """Show the model, and how many texts lack a vector of it."""
    if answer.fingerprint is None:
        lines = [f"model: {answer.model}; search is by words alone"]
    else:
        at = f" at {answer.endpoint}" if answer.endpoint else ""
        lines = [f"model: {answer.model}{at}, {answer.dimensions:,} dimensions, fingerprint {answer.fingerprint}"]
        about = f", about {answer.estimate_s:,.1f} s to make" if answer.missing and answer.estimate_s else ""
        lines.append(f"vectors: {answer.texts - answer.missing:,} of {text.count(answer.texts, 'text')}{about}")
    lines += [f"kept of another model: {text.count(n, 'vector')}, {found}" for found, n in answer.others.items()]
    invocation.answer(answer, "\n".join(lines))


@app.command(epilog="Example: graphmem embed change nomic-embed-text --endpoint http://127.0.0.1:11434")
@passes("embed.change", ChangeModelRequest, endpoint=Taken("URL"))
def change(invocation: Invocation, answer: ModelChanged) -> None:
    """
    Let another model make the vectors; all of them are made first.

    If that fails or is interrupted, nothing has changed, and the same command goes on. To change the model is to trust
    it in this clone. The key for the endpoint comes from GRAPHMEM_EMBEDDING_KEY, never from a file.
    """
    at = f" at {answer.endpoint}" if answer.endpoint else ""
    invocation.answer(
        answer,
        f"{answer.before} -> {answer.model}{at}: {text.count(answer.made, 'vector')} made, {answer.kept:,} kept,"
        f" in {answer.seconds:.1f} s",
    )
    invocation.say(f"the model is named in {answer.config}")
