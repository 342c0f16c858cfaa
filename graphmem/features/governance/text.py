"""How answers of guarded work read on a terminal, and to a model."""

from graphmem.core.replies.reply import Reply, View, Word
from graphmem.features.governance.contract import (
    BranchMade,
    NextStage,
    ReviewItemAnswer,
    ReviewItemList,
    ReviewItemShown,
    StageBegun,
    StageChecked,
    StageEnded,
    WorkList,
    WorkShown,
)
from graphmem.features.governance.finish import WorkFinished
from graphmem.features.governance.snapshots import SnapshotChange, SnapshotDifference, SnapshotList, SnapshotShown
from graphmem.features.governance.standing import StageRun
from graphmem.features.governance.verify import WorkVerified
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import Printout, reads
from graphmem.kernel.text import count, one_line
from graphmem.names import quoted, visible


@reads(NextStage)
def _next_text(answer: NextStage) -> Printout:
    lines = [_next_line(answer), *(f"  {visible(reason)}" for reason in answer.reasons)]
    lines += [f"  targets: {', '.join(answer.targets)}"] if answer.targets else []
    lines += [f"  items: {', '.join(map(quoted, answer.items))}"] if answer.items else []
    lines += [f"  token: {answer.token}"] if answer.token else []
    return Printout("\n".join(lines))


def _next_line(answer: NextStage) -> str:
    """Return what is next in one line."""
    stage = f" {answer.stage} ({answer.kind}), iteration {answer.iteration}" if answer.stage else ""
    model = f", model {answer.model}" if answer.model else ""
    return f"{answer.action}{stage}{model}"


@reads(WorkShown)
def _work_text(answer: WorkShown) -> str:
    why = f": {visible(answer.reason)}" if answer.reason else ""
    lines = [
        f"{quoted(answer.ref)}  [{answer.status}{why}]  {one_line(answer.objective)}",
        *([f"goal: {one_line(answer.goal)}"] if answer.goal else []),
        f"cycle: {' → '.join(answer.cycles)}, iteration {answer.iteration}",
        f"branch: {answer.branch}, from {answer.base_branch} at {answer.base_commit[:10]}",
    ]
    lines += [f"  {_stage_line(one)}" for one in answer.stages]
    lines += [f"  {_stage_line(answer.active)}"] if answer.active else []
    lines += [_item_line(one) for one in answer.items]
    if answer.next is not None:
        lines.append(f"next: {_next_line(answer.next)}: {'; '.join(map(visible, answer.next.reasons))}")
    return "\n".join(lines)


def _stage_line(one: StageRun) -> str:
    """Return a stage that ended or is active."""
    when = (
        f"active until {format_time(one.until)}" if one.until else f"ended {format_time(one.ended_at or one.begun_at)}"
    )
    files = f", {count(one.files, 'file')}" if one.files else ""
    return f"{one.cycle}/{one.stage} ({one.kind}) {one.iteration}: {when}{files}"


@reads(WorkList)
def _works_text(answer: WorkList) -> Printout:
    lines = [
        f"{quoted(one.ref)}  [{one.status}, {one.cycle} {one.iteration}, {count(one.unresolved, 'item')} open,"
        f" next: {one.next or 'unknown'}]  {one_line(one.objective)}"
        for one in answer.works
    ]
    return Printout("\n".join(lines), "" if lines else "no work is under way; --all shows those that ended")


@reads(ReviewItemList)
def _items_text(answer: ReviewItemList) -> Printout:
    return Printout("\n".join(map(_item_line, answer.items)), "" if answer.items else "no item is unresolved")


@reads(ReviewItemAnswer)
def _item_text(answer: ReviewItemAnswer) -> str:
    found = answer.item
    lines = [_item_line(found), f"  {visible(found.text)}"]
    lines += [f"  file: {quoted(found.file)}"] if found.file else []
    for move in found.history:
        why = f": {one_line(move.reason)}" if move.reason else ""
        lines.append(f"  {format_time(move.at)}  {move.before} → {move.after} by {move.stage or move.who}{why}")
    return "\n".join(lines)


def _item_line(found: ReviewItemShown) -> str:
    rounds = f", round {found.rounds}" if found.rounds else ""
    return f"{quoted(found.ref)}  [{found.state}, {visible(found.source)}{rounds}]  {one_line(found.text)}"


@reads(BranchMade)
def _branch_text(answer: BranchMade) -> str:
    return f"on {answer.branch}, from {answer.base}"


@reads(StageBegun)
def _begun_text(answer: StageBegun) -> str:
    lines = [f"{answer.work}: {answer.stage} ({answer.kind}), iteration {answer.iteration}, until {answer.until}"]
    lines.append(f"may write: {answer.may}")
    lines += [f"files: {', '.join(map(quoted, answer.files))}"] if answer.files else []
    lines += [f"items: {', '.join(map(quoted, answer.items))}"] if answer.items else []
    return "\n".join(lines)


@reads(StageChecked)
def _checked_text(answer: StageChecked) -> Printout:
    lines = [f"{one.name}: {'passed' if one.passed else 'failed'} in {one.seconds:g} s" for one in answer.checks]
    lines += [f"extracted: {one.get('name', '')}" for done in answer.extracted for one in done.get("extractions", ())]
    lines += [f"items: {', '.join(map(quoted, answer.items))}"] if answer.items else []
    lines += [f"failed: {visible(answer.failed)}"] if answer.failed else []
    return Printout("\n".join(lines), "" if lines else "there was nothing to run", status=1 if answer.failed else 0)


@reads(StageEnded)
def _ended_text(answer: StageEnded) -> Printout:
    lines = [f"{answer.work}: {answer.stage} {answer.result}"]
    lines += [f"commit {answer.commit[:10]}, {count(len(answer.files), 'file')}"] if answer.commit else []
    lines += [f"unexpected: {quoted(path)}" for path in answer.unexpected_files]
    lines += [visible(answer.reason)] if answer.reason and not answer.unexpected_files else []
    return Printout("\n".join(lines), status=0 if answer.result == "done" else 1)


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(NextStage, WorkShown, StageBegun, StageChecked, StageEnded, ReviewItemAnswer, ReviewItemList, to="model")
def _reply(answer: NextStage, view: View) -> Reply:
    """Return an answer with all that it says: an object, and a line for each item."""
    found = answer.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"items"})
    items = [one if isinstance(one, dict) else {"ref": one} for one in answer.model_dump(mode="json").get("items", [])]
    words = {name: Word(value) if isinstance(value, str) and name in PLAIN else value for name, value in found.items()}
    return Reply(words, items)


PLAIN = frozenset({"action", "kind", "result", "status"})


# --- finished work ----------------------------------------------------------------------------------------------------


@reads(WorkFinished)
def finished_text(answer: WorkFinished) -> Printout:
    """Return what a work became."""
    note = "" if answer.complete else "it is attested as not complete"
    if answer.snapshot is not None:
        return Printout(f"{answer.work} was a dry run: .snapshots/{answer.snapshot} on {answer.base_branch}", note)
    text = (
        f"{answer.work} is commit {(answer.commit or '')[:10]} on {answer.base_branch}; its branch is {answer.archive}"
    )
    return Printout(text, note)


@reads(WorkVerified)
def verified_text(answer: WorkVerified) -> Printout:
    """Return whether an attestation is true, and where it is not."""
    lines = [f"commit {answer.commit[:10]}{f' of {visible(answer.work)}' if answer.work else ''}"]
    if (found := answer.mismatch) is not None:
        lines.append(f"{visible(found.path)}: attested {_value(found.attested)}, found {_value(found.found)}")
    lines += [f"seal: {answer.seal}", "attested as it is" if answer.ok else "not as attested"]
    if answer.complete is False:
        lines.append("the work is attested as not complete")
    return Printout("\n".join(lines), status=0 if answer.ok else 1)


def _value(value: object) -> str:
    return "nothing" if value is None else visible(one_line(str(value)))


@reads(SnapshotList)
def snapshots_text(answer: SnapshotList) -> Printout:
    """Return a line for each snapshot."""
    return Printout("\n".join(map(_line, answer.snapshots)), "" if answer.snapshots else "no snapshots")


def _line(one: SnapshotShown) -> str:
    state = "complete" if one.complete else "not complete"
    return f"{one.id}  [{state}, {count(one.iterations, 'iteration')}] {visible(one_line(one.objective))}"


@reads(SnapshotShown)
def snapshot_text(answer: SnapshotShown) -> str:
    """Return what is kept of a dry run."""
    items = (f"{visible(ref)}: {visible(state)}" for ref, state in answer.items.items())
    return "\n".join(
        [_line(answer), f"in .snapshots/{answer.id}", *items, *(f"changed: {visible(path)}" for path in answer.files)]
    )


@reads(SnapshotDifference)
def difference_text(answer: SnapshotDifference) -> Printout:
    """Return what differs between two snapshots."""
    lines = [
        *map(_difference, (*answer.fields, *answer.items)),
        *(f"differs: {visible(path)}" for path in answer.files),
    ]
    return Printout("\n".join(lines), "" if lines else "no difference")


def _difference(one: SnapshotChange) -> str:
    return f"{visible(one.name)}: {_value(one.first)} → {_value(one.second)}"
