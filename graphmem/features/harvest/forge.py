"""Issues and reviews of a forge that an import read: candidates, with the commits of this project that closed them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graphmem.core.foreign.forge import Issue, ReviewThread
from graphmem.core.logs.draft import is_below
from graphmem.core.records.candidates import keep, queue_of
from graphmem.errors import GraphmemError
from graphmem.features.harvest import forge_rules as rules
from graphmem.features.harvest.history import edits_of
from graphmem.features.harvest.history_rules import is_no_fix, reverts_in
from graphmem.kernel.git import commands, messages
from graphmem.kernel.model.candidate import Candidate, CandidateEdit
from graphmem.kernel.model.commit import CommitMessage
from graphmem.kernel.store.runtime import Client
from graphmem.patterns import lazy_re

MOST_LATER = 20  # commits that changed the file of a thread, of which one is looked for
MOST_LOOKED = 1_000  # threads for which git is asked
REMOTE = lazy_re(r"(?m)\s(?:\w+://[^/\s]+/|[^\s/:]+:)([\w.-]+/[\w.-]+?)(?:\.git)?/?$")  # of a server, no folder
NOT_CHANGED = "it is not resolved, and nothing says that its place was changed since"
Skip = Callable[[str, str], None]


def put_up(
    client: Client,
    heard: Sequence[Issue | ReviewThread],
    counts: Mapping[str, Counter[str]],
    skip: Skip,
    *,
    is_real: bool,
) -> None:
    """
    Put what issues and threads teach into the queue of candidates, all in one write; count and skip the others.

    Args:
        is_real: else the queue stays as it is.
    """
    history, found = ForgeHistory.of(client.root), list[Candidate]()
    for number, one in enumerate(heard):
        made = history.of_issue(one) if isinstance(one, Issue) else history.of_thread(one)
        if isinstance(made, str):
            skip(one.place, made)
        else:
            found.append(made)
        client.runtime.progress("reading issues and reviews", number + 1, len(heard))
    queue = queue_of(client)
    if is_real:
        with queue.changing() as kept:
            actions = keep(kept, found)
            kept.mark_reverted(history.reverts)
    else:
        actions = keep(queue.read(), found)
    for action in actions:
        counts[action]["candidate"] += 1


@dataclass
class ForgeHistory:
    """The commits of a project, by what they close."""

    root: Path
    repositories: set[str] = field(default_factory=set)  # of the remotes: owner and name, in lower case
    closing: dict[rules.Reference, list[CommitMessage]] = field(default_factory=lambda: defaultdict(list))
    pulls: dict[int, list[CommitMessage]] = field(default_factory=lambda: defaultdict(list))
    reverts: dict[str, str] = field(default_factory=dict)
    edits: dict[str, list[CandidateEdit]] = field(default_factory=dict)
    looked: int = 0

    @classmethod
    def of(cls, root: Path) -> "ForgeHistory":
        """Return the commits that close something; none where git has no commit, or does not say."""
        made = cls(root)
        try:
            head = commands.commit_of(root, "HEAD")
            found = messages.commits_with(root, rules.WANTED, [head]) if head else []
            remotes = commands.output_of(root, "config", "--get-regexp", r"^remote\..*\.url$") or ""
        except GraphmemError:
            return made
        made.repositories = {name.lower() for name in REMOTE.findall(remotes)}
        made.reverts = reverts_in(found)
        for commit in found:
            if not is_no_fix(commit):
                for reference in rules.closed_by(commit.message):
                    made.closing[reference].append(commit)
                if number := rules.pull_of(commit):
                    made.pulls[number].append(commit)
        return made

    def of_issue(self, issue: Issue) -> Candidate | str:
        """Return the candidate that an issue is, or why it is passed over."""
        if issue.is_closed is False:
            return "it is open"
        commit = self.fix_of(issue)
        if commit is None and issue.is_closed is None:
            return "it does not say that it was closed: gh issue list --json has state"
        if commit is None and issue.is_refused:
            return "it was closed without a change"
        found = rules.problem_of(issue)
        if found is None:
            return "it shows no error"
        made = rules.reported(issue, *found)
        return rules.with_fix(made, commit, found[0], edits_of(self.root, commit)) if commit else made

    def fix_of(self, issue: Issue) -> CommitMessage | None:
        """Return the last commit that closed an issue and was not taken back, else the last one."""
        is_own = self.is_own(issue.repository)
        names = {issue.repository} if issue.repository else self.repositories
        found = [commit for name in sorted(names) for commit in self.closing.get((name, issue.number), ())]
        if is_own:
            found += self.closing.get(("", issue.number), ())
            found += [commit for number in issue.pulls for commit in self.pulls.get(number, ())]
        found.sort(key=lambda commit: (commit.hash not in self.reverts, commit.at))
        return found[-1] if found else None

    def is_own(self, repository: str) -> bool:
        """Return whether a plain number in this history means one of a repository; a fork keeps the name."""
        names = {one.rpartition("/")[2] for one in self.repositories}
        return not repository or not names or repository.rpartition("/")[2] in names

    def of_thread(self, thread: ReviewThread) -> Candidate | str:
        """Return the candidate that a thread is, or why it is passed over."""
        if reason := rules.why_passed_over(thread):
            return reason
        edit = self.later_edit(thread)
        is_changed = thread.is_resolved or thread.is_outdated or edit is not None
        return rules.taught(thread, edit) if is_changed else NOT_CHANGED

    def later_edit(self, thread: ReviewThread) -> CandidateEdit | None:
        """Return the edit of a later commit that took the line of a thread out; None for none."""
        if not (thread.line and thread.at and is_below(thread.path)) or self.looked >= MOST_LOOKED:
            return None
        self.looked += 1
        try:
            names = messages.commits_of(self.root, thread.path, f"{thread.at[:19]}Z", MOST_LATER)
        except GraphmemError:
            return None
        edits = (edit for name in names for edit in self.changes_of(name) if edit.file == thread.path)
        return next((one for one in edits if thread.line in map(str.strip, one.removed.split("\n"))), None)

    def changes_of(self, commit: str) -> list[CandidateEdit]:
        """Return what a commit changed, by its full hash; nothing where that is too much."""
        if commit not in self.edits:
            self.edits[commit] = edits_of(self.root, CommitMessage(commit, (), "", ""))
        return self.edits[commit]
