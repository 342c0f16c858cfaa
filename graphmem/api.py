"""
The Python API: ``Memory``, one method an operation, grouped by noun.

A method checks its parameters and returns the answer of the operation, a model of ``graphmem.contract``; what a
parameter means and which values it takes is in docs/reference/requests.md.

This file is made from the operations in the registry by ``python -m tests.generate``; a test compares.
"""
# ruff: noqa: A002, E501
# fmt: off

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphmem.kernel.handle import Handle, Operations, call_without_store

if TYPE_CHECKING:
    from graphmem.core.evidence.doubt_contract import StaleRecords
    from graphmem.core.plans.campaign_contract import (
        CampaignStanding,
        CampaignTasks,
        MergedPlan,
        Ready,
        ReplanInput,
        Similar,
    )
    from graphmem.core.records.candidate_contract import (
        CandidateList,
        Harvested,
        HarvestedAll,
        ProofsChecked,
        ReviewedList,
    )
    from graphmem.core.records.event_contract import EventList, Happened
    from graphmem.core.records.feedback_contract import BulkReported, Reported
    from graphmem.core.records.record_contract import BulkAdded, Changed, Got, Listing, Pruned, Purged, Writes
    from graphmem.core.records.relation_contract import Connection, Linked, Related, Solutions
    from graphmem.core.search.match_contract import MatchedLog
    from graphmem.core.search.query_contract import Found
    from graphmem.core.vocabulary.contract import TypeBrief, TypeChanged, TypeList
    from graphmem.core.vocabulary.scope_contract import ScopeList
    from graphmem.doors.agents.hook_contract import HookAnswer
    from graphmem.features.briefing.context_contract import ContextBlock
    from graphmem.features.briefing.prime_contract import Briefing, StoreStatus
    from graphmem.features.cypher.contract import CypherRows, QueryList
    from graphmem.features.exchange.contract import Imported
    from graphmem.features.explore.contract import ExplorationReported, ExplorationStarted, ExplorationWaited
    from graphmem.features.extractors.contract import Extracted, ExtractorAdded, ExtractorList
    from graphmem.features.history.check_contract import BranchChecked
    from graphmem.features.history.contract import Difference, History
    from graphmem.features.history.why_contract import Why
    from graphmem.features.inbox.contract import ItemChanged, ItemList
    from graphmem.features.learning.experience_contract import Promoted, Recalled
    from graphmem.features.learning.lesson_contract import Injected, Learned
    from graphmem.features.learning.session_contract import SessionContext
    from graphmem.features.ran.contract import Ran
    from graphmem.features.runs.contract import BuildResume, Required, RunShown
    from graphmem.features.stats.contract import Stats
    from graphmem.features.stats.effectiveness_contract import Loop
    from graphmem.features.stats.impact_contract import Impact
    from graphmem.features.upkeep.config_contract import ConfigShown
    from graphmem.features.upkeep.embedding_contract import EmbeddingStatus, ModelChanged
    from graphmem.features.upkeep.store_contract import (
        Dump,
        Exported,
        Initialised,
        Rebuilt,
        Reset,
        Resolved,
        Split,
        Trust,
        Vacuumed,
    )
    from graphmem.features.view.contract import PageData
    from graphmem.features.work.observation_contract import Observed
    from graphmem.features.work.phase_contract import PhaseCan, PhaseDurations, PhaseMoved, PhaseStatus
    from graphmem.features.work.task_contract import TaskChanged, TaskShown
    from graphmem.kernel.dispatch import Log
    from graphmem.kernel.finding import Checked, Doctored
    from graphmem.kernel.model.scope import Scope
    from graphmem.kernel.model.vocabulary import EntityType, RelationType


class Failures(Operations):
    """What went wrong, and what fixes it."""

    def add(
        self,
        trigger: str,
        *,
        fix: str | None = None,
        symptom: str | None = None,
        holds_for: Literal["rule", "names", "message", "frame"] | None = None,
        name: str | None = None,
        match: str | None = None,
        cost: float | None = None,
        framework: str | None = None,
        tags: Collection[str] | None = None,
        sources: Collection[str] | None = None,
        files: Collection[str] | None = None,
        cites: Collection[str] | None = None,
        versions: Mapping[str, str] | None = None,
        versions_from: Literal["lock", "auto", "none"] = "lock",
        check_after: str | None = None,
        flaky: bool | None = None,
        dedup: bool = True,
        dry_run: bool = False,
        verbatim: bool = False,
        replace: bool = False,
        supersedes: str | None = None,
    ) -> Changed:
        """
        Add a failure; one that repeats another is merged into it.

        Args:
            trigger: The error as it was observed.
            fix: What resolves the failure.
            symptom: The failure in plain words, as a person would report it: one sentence, up to 300 characters.
            holds_for: What the fix holds for: rule (any names), names (the same names), message, frame (this function).
            name: Name of the record; made from its text if not given.
            match: Regular expression that finds the failure in a log.
            cost: What the failure cost, in thousands of tokens.
            framework: Framework or tool that the record is about.
            tags: Tags of the record.
            sources: Where the record came from: a task, a run, a file, a person.
            files: Files that the record is about.
            cites: Code that the record is about: path, path:symbol or path:symbol@commit.
            versions: Versions of packages that the record was seen with.
            versions_from: Take the versions of named packages from lock files, with auto from what is installed too.
            check_after: Day after which the record is to be checked again, such as 2027-01-31.
            flaky: The failure is flaky: it comes and goes.
            dedup: Look for a record that says the same, and merge the new one into it.
            dry_run: Return what would change, and change nothing.
            verbatim: Keep paths of this machine (project, home, temporary folder) as they are.
            replace: In a merge, and under a name that is taken, make the new texts the current ones.
            supersedes: The record that the new one takes the place of; it is archived.
        """
        answer: Changed = self.call(
            "failures.add",
            trigger=trigger,
            fix=fix,
            symptom=symptom,
            holds_for=holds_for,
            name=name,
            match=match,
            cost=cost,
            framework=framework,
            tags=tags,
            sources=sources,
            files=files,
            cites=cites,
            versions=versions,
            versions_from=versions_from,
            check_after=check_after,
            flaky=flaky,
            dedup=dedup,
            dry_run=dry_run,
            verbatim=verbatim,
            replace=replace,
            supersedes=supersedes,
        )
        return answer


class Patterns(Operations):
    """What works."""

    def add(
        self,
        trigger: str,
        insight: str,
        *,
        name: str | None = None,
        saved: float | None = None,
        framework: str | None = None,
        tags: Collection[str] | None = None,
        sources: Collection[str] | None = None,
        files: Collection[str] | None = None,
        cites: Collection[str] | None = None,
        versions: Mapping[str, str] | None = None,
        versions_from: Literal["lock", "auto", "none"] = "lock",
        check_after: str | None = None,
        dedup: bool = True,
        dry_run: bool = False,
        verbatim: bool = False,
        replace: bool = False,
        supersedes: str | None = None,
    ) -> Changed:
        """
        Add a pattern; one that repeats another is merged into it.

        Args:
            trigger: When the pattern applies.
            insight: What to do when the pattern applies.
            name: Name of the record; made from its text if not given.
            saved: What the pattern saves, in thousands of tokens.
            framework: Framework or tool that the record is about.
            tags: Tags of the record.
            sources: Where the record came from: a task, a run, a file, a person.
            files: Files that the record is about.
            cites: Code that the record is about: path, path:symbol or path:symbol@commit.
            versions: Versions of packages that the record was seen with.
            versions_from: Take the versions of named packages from lock files, with auto from what is installed too.
            check_after: Day after which the record is to be checked again, such as 2027-01-31.
            dedup: Look for a record that says the same, and merge the new one into it.
            dry_run: Return what would change, and change nothing.
            verbatim: Keep paths of this machine (project, home, temporary folder) as they are.
            replace: In a merge, and under a name that is taken, make the new texts the current ones.
            supersedes: The record that the new one takes the place of; it is archived.
        """
        answer: Changed = self.call(
            "patterns.add",
            trigger=trigger,
            insight=insight,
            name=name,
            saved=saved,
            framework=framework,
            tags=tags,
            sources=sources,
            files=files,
            cites=cites,
            versions=versions,
            versions_from=versions_from,
            check_after=check_after,
            dedup=dedup,
            dry_run=dry_run,
            verbatim=verbatim,
            replace=replace,
            supersedes=supersedes,
        )
        return answer


class Entities(Operations):
    """Things of the project."""

    def add(
        self,
        type_name: str,
        name: str,
        *,
        value: str | None = None,
        sources: Collection[str] | None = None,
        dry_run: bool = False,
        verbatim: bool = False,
    ) -> Changed:
        """
        Add an entity of a declared type, or change its value.

        Args:
            type_name: A declared entity type.
            name: Name of the entity, unique in its type.
            value: What belongs to the entity itself; what links it to others is an edge.
            sources: Where the record came from: a task, a run, a file, a person.
            dry_run: Return what would change, and change nothing.
            verbatim: Keep paths of this machine (project, home, temporary folder) as they are.
        """
        answer: Changed = self.call(
            "entities.add",
            type_name=type_name,
            name=name,
            value=value,
            sources=sources,
            dry_run=dry_run,
            verbatim=verbatim,
        )
        return answer


class User(Operations):
    """The user's own store, which is in no project."""

    def promote(self, ref: str) -> Changed:
        """
        Copy a record into the user's own store, with where it came from; again it changes nothing.

        Args:
            ref: The record, as kind/name, or as its name alone.
        """
        answer: Changed = self.call("user.promote", ref=ref)
        return answer

    def adopt(self, ref: str) -> Changed:
        """
        Copy a record of the user's own store into this one; again it changes nothing.

        Args:
            ref: The record, as kind/name, or as its name alone.
        """
        answer: Changed = self.call("user.adopt", ref=ref)
        return answer


class Insights(Operations):
    """What several experiences agree on."""

    def add(
        self,
        category: Literal["codebase_insight", "execution_pattern", "user_behavior", "recurring_issue"],
        statement: str,
        *,
        derived_from: Collection[str],
        name: str | None = None,
        tags: Collection[str] | None = None,
        sources: Collection[str] | None = None,
        dry_run: bool = False,
        verbatim: bool = False,
        supersedes: str | None = None,
    ) -> Changed:
        """
        Add an insight by hand; it needs two experiences of different days and tasks.

        Args:
            category: Category of the insight.
            statement: The insight.
            derived_from: Experiences that support the insight; at least two, of different days.
            name: Name of the record; made from its text if not given.
            tags: Tags of the record.
            sources: Where the record came from: a task, a run, a file, a person.
            dry_run: Return what would change, and change nothing.
            verbatim: Keep paths of this machine (project, home, temporary folder) as they are.
            supersedes: The record that the new one takes the place of; it is archived.
        """
        answer: Changed = self.call(
            "insights.add",
            category=category,
            statement=statement,
            derived_from=derived_from,
            name=name,
            tags=tags,
            sources=sources,
            dry_run=dry_run,
            verbatim=verbatim,
            supersedes=supersedes,
        )
        return answer


class Relations(Operations):
    """Typed, weighted edges."""

    def link(
        self,
        source: str,
        kind: str,
        target: str,
        *,
        weight: float | None = None,
        note: str | None = None,
        sources: Collection[str] = (),
    ) -> Linked:
        """
        Add an edge, or change its weight and note; without a weight it has that of its type.

        Args:
            source: The record that the edge leads from.
            kind: Relation type of the edge.
            target: The record that the edge leads to.
            weight: Weight of the edge, above 0, at most 2; its type's if not given.
            note: Note on the edge.
            sources: Where the edge came from: a task, a run, a file, a person.
        """
        answer: Linked = self.call(
            "relations.link", source=source, kind=kind, target=target, weight=weight, note=note, sources=sources
        )
        return answer

    def unlink(self, source: str, kind: str, target: str) -> Linked:
        """
        Take an edge out.

        Args:
            source: The record that the edge leads from.
            kind: Relation type of the edge.
            target: The record that the edge leads to.
        """
        answer: Linked = self.call("relations.unlink", source=source, kind=kind, target=target)
        return answer


class Events(Operations):
    """What happened: moves of tasks and phases, verdicts, and whatever a caller records."""

    def add(self, type: str, *, subject: str | None = None, data: Mapping[str, object] | None = None) -> Happened:
        """
        Record something that happened; types that begin with ``context-`` stay on this machine.

        Args:
            type: What happened, such as review.verdict or chunk-verified.
            subject: What it happened to: a record, or words.
            data: What more there is to say, a JSON object.
        """
        answer: Happened = self.call("events.add", type=type, subject=subject, data=data)
        return answer

    def list(
        self, *, types: Collection[str] = (), subject: str | None = None, cursor: str | None = None, limit: int = 100
    ) -> EventList:
        """
        Return events in the order of time: the last ones, or the next after a cursor.

        Args:
            types: Return only events of these types; task- means all that begin so.
            subject: Return only events about this record.
            cursor: Go on after the answer that had this cursor.
            limit: Return at most this many: the last ones, or the next.
        """
        answer: EventList = self.call("events.list", types=types, subject=subject, cursor=cursor, limit=limit)
        return answer


class Types(Operations):
    """The vocabulary of the project."""

    def list(self) -> TypeList:
        """Return the project's types, and graphmem's own relations."""
        answer: TypeList = self.call("types.list")
        return answer

    def show(self, name: str) -> EntityType | RelationType:
        """
        Return one type.

        Args:
            name: An entity type or a relation type.
        """
        answer: EntityType | RelationType = self.call("types.show", name=name)
        return answer

    def add_entity(self, name: str, *, description: str = "", search: bool = True) -> EntityType:
        """
        Declare an entity type.

        Args:
            name: Name of the type: a-z 0-9 _, beginning with a letter.
            description: What belongs in the type.
            search: Let queries find its entities.
        """
        answer: EntityType = self.call("types.add_entity", name=name, description=description, search=search)
        return answer

    def add_relation(
        self,
        name: str,
        *,
        sources: Collection[str],
        targets: Collection[str],
        weight: float = 1.0,
        symmetric: bool = False,
        description: str = "",
    ) -> RelationType:
        """
        Declare a relation type, and the kinds that it may connect.

        Args:
            name: Name of the type: a-z 0-9 _, beginning with a letter.
            sources: Kinds and entity types that its edges lead from, or any.
            targets: Kinds and entity types that its edges lead to, or any.
            weight: Weight of an edge without its own, above 0, at most 2.
            symmetric: Its edges have no direction.
            description: What an edge of the type means.
        """
        answer: RelationType = self.call(
            "types.add_relation",
            name=name,
            sources=sources,
            targets=targets,
            weight=weight,
            symmetric=symmetric,
            description=description,
        )
        return answer

    def rename(self, old: str, new: str, *, yes: bool = False) -> TypeChanged:
        """
        Give a type another name in its rows, in what refers to them and in files; without ``yes`` only report that.

        Args:
            old: Type of the project to rename.
            new: New name of the type: a-z 0-9 _, beginning with a letter.
            yes: Do it; without, only report what would change.
        """
        answer: TypeChanged = self.call("types.rename", old=old, new=new, yes=yes)
        return answer

    def drop(self, name: str, *, yes: bool = False) -> TypeChanged:
        """
        Take out a type with its rows and what names them; without ``yes`` only report what would go.

        Args:
            name: Type of the project to take out, with its rows.
            yes: Do it; without, only report what would go.
        """
        answer: TypeChanged = self.call("types.drop", name=name, yes=yes)
        return answer

    def brief(self, *, budget: int = 1000) -> TypeBrief:
        """
        Return the vocabulary as Markdown for a prompt, cut to a budget of tokens.

        Args:
            budget: Largest size of the vocabulary, in tokens.
        """
        answer: TypeBrief = self.call("types.brief", budget=budget)
        return answer


class Scopes(Operations):
    """What a caller may read and write that does not get all."""

    def list(self) -> ScopeList:
        """Return the project's scopes: what a caller that is bound to one may read and write."""
        answer: ScopeList = self.call("scopes.list")
        return answer

    def show(self, name: str) -> Scope:
        """
        Return one scope.

        Args:
            name: A scope of the project.
        """
        answer: Scope = self.call("scopes.show", name=name)
        return answer

    def add(
        self, name: str, *, read: Collection[str] = (), write: Collection[str] = (), description: str = ""
    ) -> Scope:
        """
        Declare a scope, or change what it allows.

        Args:
            name: Name of the scope: a-z 0-9 _, beginning with a letter.
            read: Kinds and entity types whose records it may read, or any.
            write: Kinds and entity types whose records it may write, or any.
            description: Who is to have the scope, and for what.
        """
        answer: Scope = self.call("scopes.add", name=name, read=read, write=write, description=description)
        return answer


class Imports(Operations):
    """Files of other programs."""

    def file(
        self,
        path: Path | str,
        *,
        format: str | None = None,
        map: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> Imported:
        """
        Make records and edges of a file or a folder of another tool, all or none; the same file changes nothing.

        Args:
            path: A file or a folder of another tool.
            format: The format it is in; recognised from what it holds if not given.
            map: Of a table: the column for each field of the records; kind=NAME says which kind they are.
            dry_run: Return what would change, and change nothing.

        Raises:
            BadInput: its format is not known, or not sure.
            NotFound: there is no such file or folder, or no such format.
            Refused: it is too large, or a link, or tasks would wait for each other.
        """
        answer: Imported = self.call("imports.file", path=path, format=format, map=map, dry_run=dry_run)
        return answer

    def sessions(
        self,
        *,
        paths: Collection[Path | str] = (),
        client: str | None = None,
        since: str | None = None,
        any_project: bool = False,
        dry_run: bool = False,
    ) -> Harvested:
        """
        Read the transcripts of coding agents on this machine, and put what they teach into the queue of candidates.

        Args:
            paths: Files or folders; the usual places of all clients if none is given.
            client: Read the transcripts of this client only, such as codex.
            since: Leave out sessions before this day, as 2026-11-01.
            any_project: Read sessions of other projects too.
            dry_run: Return what would change, and change nothing.
        """
        answer: Harvested = self.call(
            "imports.sessions", paths=paths, client=client, since=since, any_project=any_project, dry_run=dry_run
        )
        return answer

    def notes(self, *, paths: Collection[Path | str] = (), dry_run: bool = False) -> Harvested:
        """
        Read the notes for agents and the decision records of this project, and put what they say into the queue of candidates.

        Args:
            paths: Files or folders; those at the usual places of this project if none is given.
            dry_run: Return what would change, and change nothing.
        """
        answer: Harvested = self.call("imports.notes", paths=paths, dry_run=dry_run)
        return answer

    def git(self, *, since: str | None = None, dry_run: bool = False) -> Harvested:
        """
        Read the history and the comments of this project, and put what was taken back, what was fixed and what is there only for now into the queue of candidates.

        Args:
            since: Leave out commits before this day, as 2026-11-01.
            dry_run: Return what would change, and change nothing.
        """
        answer: Harvested = self.call("imports.git", since=since, dry_run=dry_run)
        return answer

    def ci(self, paths: Collection[Path | str], *, commit: str | None = None, dry_run: bool = False) -> Harvested:
        """
        Read reports and logs of CI, and put which checks failed, and passed later, into the queue of candidates.

        Args:
            paths: Reports and logs, or folders that hold some.
            commit: The commit that reports are of which do not name one.
            dry_run: Return what would change, and change nothing.
        """
        answer: Harvested = self.call("imports.ci", paths=paths, commit=commit, dry_run=dry_run)
        return answer

    def all(self, *, dry_run: bool = False) -> HarvestedAll:
        """
        Read the sessions of coding agents, the history and the notes of this project, and put what they teach into the queue of candidates.

        Args:
            dry_run: Return what would change, and change nothing.
        """
        answer: HarvestedAll = self.call("imports.all", dry_run=dry_run)
        return answer


class Explorations(Operations):
    """Several agents look at a project at the same time; what they find becomes one record."""

    def start(self) -> ExplorationStarted:
        """Begin a session."""
        answer: ExplorationStarted = self.call("explorations.start")
        return answer

    def report(
        self, session: str, mode: Literal["structure", "pattern", "memory", "delta"], text: str
    ) -> ExplorationReported:
        """
        Keep what an agent found; after the wait has ended it is kept as late.

        Args:
            session: Id of the exploration session.
            mode: What was looked for.
            text: What was found.
        """
        answer: ExplorationReported = self.call("explorations.report", session=session, mode=mode, text=text)
        return answer

    def wait(self, session: str, *, required: int = 3, timeout: float = 300.0, poll: float = 2.0) -> ExplorationWaited:
        """
        Wait until enough is reported, or structure and delta are, or the time is up.

        Args:
            session: Id of the exploration session.
            required: Number of reports that are enough.
            timeout: Seconds to wait at most.
            poll: Seconds between two looks.
        """
        answer: ExplorationWaited = self.call(
            "explorations.wait", session=session, required=required, timeout=timeout, poll=poll
        )
        return answer

    def aggregate(self, session: str, objective: str) -> Changed:
        """
        Keep what was found in a session as one record.

        Args:
            session: Id of the exploration session.
            objective: What was explored.
        """
        answer: Changed = self.call("explorations.aggregate", session=session, objective=objective)
        return answer


class Extractors(Operations):
    """Programs that print entities and edges of the project, which are written as theirs."""

    def list(self) -> ExtractorList:
        """Return the extractors of the project, and whether each may run in this clone."""
        answer: ExtractorList = self.call("extractors.list")
        return answer

    def add(self, name: str) -> ExtractorAdded:
        """
        Set up an extractor that comes with graphmem: its file, the types that it writes, and trust in this clone.

        Args:
            name: An extractor that comes with graphmem: python.
        """
        answer: ExtractorAdded = self.call("extractors.add", name=name)
        return answer

    def run(self, names: Collection[str], *, dry_run: bool = False) -> Extracted:
        """
        Run extractors one after the other, each in one write; what it wrote before and no longer finds is removed.

        Args:
            names: Names of extractors.
            dry_run: Return what would change, and change nothing.

        Raises:
            Refused: this clone does not trust the extractor, or it printed what the caller may not write.
            Unavailable: it failed, or took too long; nothing of it was written.
            BadInput: it printed what cannot be written; nothing of it was written.
        """
        answer: Extracted = self.call("extractors.run", names=names, dry_run=dry_run)
        return answer


class Candidates(Operations):
    """Records that wait to be accepted, and what speaks for them."""

    def review(self, *, limit: int = 10, dismissed: bool = False, notes: bool = False) -> CandidateList:
        """
        Return the candidates that wait, the most worth first.

        Args:
            limit: At most this many.
            dismissed: Return the dismissed candidates instead.
            notes: Return what the files say that agents load anyway instead.
        """
        answer: CandidateList = self.call("candidates.review", limit=limit, dismissed=dismissed, notes=notes)
        return answer

    def show(self, id: str) -> CandidateList:
        """
        Return one candidate with all its evidence.

        Args:
            id: Id of the candidate, or its first characters.
        """
        answer: CandidateList = self.call("candidates.show", id=id)
        return answer

    def accept(
        self,
        id: str | None = None,
        *,
        trigger: str | None = None,
        fix: str | None = None,
        symptom: str | None = None,
        insight: str | None = None,
        name: str | None = None,
        tags: Collection[str] | None = None,
        into: str | None = None,
        at_least: Literal["repeated", "proven"] | None = None,
        dry_run: bool = False,
    ) -> ReviewedList:
        """
        Write a candidate as records, in one write; or all that were repeated or proven.

        Args:
            id: Id of the candidate, or its first characters.
            trigger: The error as it was observed; the constraint, or the decision.
            fix: What resolves the failure.
            symptom: The failure in plain words, as a person would report it: one sentence.
            insight: What to do then; the reasoning of a decision.
            name: Name of the failure, or of the only record.
            tags: Tags.
            into: Add it to this record instead of making new ones.
            at_least: Without an id: accept all that the same edit fixed in two sessions, or for two authors; or proven.
            dry_run: Return what would change, and change nothing.
        """
        answer: ReviewedList = self.call(
            "candidates.accept",
            id=id,
            trigger=trigger,
            fix=fix,
            symptom=symptom,
            insight=insight,
            name=name,
            tags=tags,
            into=into,
            at_least=at_least,
            dry_run=dry_run,
        )
        return answer

    def dismiss(self, id: str, *, reason: str | None = None) -> ReviewedList:
        """
        Dismiss a candidate: what is about the same does not come back.

        Args:
            id: Id of the candidate, or its first characters.
            reason: Why it is of no use.
        """
        answer: ReviewedList = self.call("candidates.dismiss", id=id, reason=reason)
        return answer

    def prove(self, id: str, *, yes: str | None = None) -> ReviewedList:
        """
        Run the command of a candidate at the commits before and after the fix: it must fail, then pass.

        Args:
            id: Id of the candidate, or its first characters.
            yes: Run the command that the answer with this digest showed; without it, only show.
        """
        answer: ReviewedList = self.call("candidates.prove", id=id, yes=yes)
        return answer

    def check_proofs(self) -> ProofsChecked:
        """Run again what was proven of records, as far as its commands are trusted in this clone."""
        answer: ProofsChecked = self.call("candidates.check_proofs")
        return answer


class Inbox(Operations):
    """What is to be looked at later; it is committed, and several writers lose nothing."""

    def add(self, content: str, *, type: Literal["evolve", "reference", "feature"] = "feature") -> ItemChanged:
        """
        Add an item.

        Args:
            content: What is to be looked at.
            type: What it is.
        """
        answer: ItemChanged = self.call("inbox.add", content=content, type=type)
        return answer

    def items(self, *, everything: bool = False) -> ItemList:
        """
        Return the items that are not processed, or all, the oldest first.

        Args:
            everything: Return processed items too.
        """
        answer: ItemList = self.call("inbox.items", everything=everything)
        return answer

    def take(self, id: str | None = None) -> ItemChanged:
        """
        Begin to work on an item, by its id; the oldest that is pending if not given.

        Args:
            id: Id of the item, or its first characters; the oldest pending if not given.
        """
        answer: ItemChanged = self.call("inbox.take", id=id)
        return answer

    def dismiss(self, id: str) -> ItemChanged:
        """
        Set an item aside without working on it.

        Args:
            id: Id of the item, or its first characters.
        """
        answer: ItemChanged = self.call("inbox.dismiss", id=id)
        return answer

    def finish(self, id: str, *, error: str | None = None) -> ItemChanged:
        """
        Note that an item was worked on, or what went wrong.

        Args:
            id: Id of the item, or its first characters.
            error: What went wrong, if it did.
        """
        answer: ItemChanged = self.call("inbox.finish", id=id, error=error)
        return answer


class Lessons(Operations):
    """What runs taught: seen again, fading, and injected into prompts."""

    def add(
        self,
        description: str,
        *,
        type: Literal["pattern", "preference", "archetype_hint", "anti_pattern"] | None = None,
        name: str | None = None,
        domain: str | None = None,
        severity: Literal["bug", "warning", "info", "recommendation"] | None = None,
        archetype: str | None = None,
        source: str | None = None,
        tags: Collection[str] | None = None,
        sources: Collection[str] | None = None,
        files: Collection[str] | None = None,
        cites: Collection[str] | None = None,
        dedup: bool = True,
        dry_run: bool = False,
        verbatim: bool = False,
        replace: bool = False,
        supersedes: str | None = None,
    ) -> Changed:
        """
        Add a lesson by hand; a ``preference`` is injected at once, any other type after two runs saw it.

        Args:
            description: The lesson.
            type: Type of lesson; a preference is injected at once, others after two runs.
            name: Name of the record; made from its text if not given.
            domain: Domain where the lesson applies; general if not given.
            severity: Severity of ignoring the lesson; info if not given.
            archetype: Kind of project that an archetype_hint is for.
            source: Who raised the lesson.
            tags: Tags of the record.
            sources: Where the record came from: a task, a run, a file, a person.
            files: Files that the record is about.
            cites: Code that the record is about: path, path:symbol or path:symbol@commit.
            dedup: Look for a record that says the same, and merge the new one into it.
            dry_run: Return what would change, and change nothing.
            verbatim: Keep paths of this machine (project, home, temporary folder) as they are.
            replace: In a merge, and under a name that is taken, make the new texts the current ones.
            supersedes: The record that the new one takes the place of; it is archived.
        """
        answer: Changed = self.call(
            "lessons.add",
            description=description,
            type=type,
            name=name,
            domain=domain,
            severity=severity,
            archetype=archetype,
            source=source,
            tags=tags,
            sources=sources,
            files=files,
            cites=cites,
            dedup=dedup,
            dry_run=dry_run,
            verbatim=verbatim,
            replace=replace,
            supersedes=supersedes,
        )
        return answer

    def learn(self, events: Log, *, name: str = "<events>", run: str | None = None, semantic: bool = False) -> Learned:
        """
        Take from the events of a finished run which lessons it saw, and new ones; the same events change nothing.

        Args:
            events: The events, one JSON object a line.
            name: Name of the input, for messages.
            run: Id of the run; taken from the events or the input's name if not given.
            semantic: Count a finding that means the same as a lesson, in other words.
        """
        answer: Learned = self.call("lessons.learn", events, name=name, run=run, semantic=semantic)
        return answer

    def decay(self, run: str) -> Learned:
        """
        Record a run that saw no lesson, and report which lessons it moved.

        Args:
            run: Id of the run.
        """
        answer: Learned = self.call("lessons.decay", run=run)
        return answer

    def inject(self, *, domain: str | None = None, archetype: str | None = None) -> Injected:
        """
        Return the lessons that belong into a prompt, at most ten, ready to be put there.

        Args:
            domain: Domain of the task, such as code or writing.
            archetype: Kind of project that the task belongs to.
        """
        answer: Injected = self.call("lessons.inject", domain=domain, archetype=archetype)
        return answer


class Experiences(Operations):
    """What finished tasks taught."""

    def add(
        self,
        task_type: Literal["feature", "bug", "refactor", "investigation", "configuration", "documentation", "test", "deploy"],
        description: str,
        *,
        approach: str,
        outcome: Literal["success", "partial", "failure"],
        lessons: Collection[str],
        name: str | None = None,
        time_taken: float | None = None,
        complexity_estimated: Literal["trivial", "low", "medium", "high", "very_high"] | None = None,
        complexity_actual: Literal["trivial", "low", "medium", "high", "very_high"] | None = None,
        capabilities_used: Collection[str] | None = None,
        confidence: Literal["low", "medium", "high"] | None = None,
        tags: Collection[str] | None = None,
        sources: Collection[str] | None = None,
        dry_run: bool = False,
        verbatim: bool = False,
        supersedes: str | None = None,
    ) -> Changed:
        """
        Add what a finished task taught; above 200 experiences, the oldest of low confidence is archived.

        Args:
            task_type: Type of the task.
            description: What the task was.
            approach: Approach that was taken.
            outcome: Outcome of the task.
            lessons: Lessons that the task taught, for the next time.
            name: Name of the record; made from its text if not given.
            time_taken: Minutes that the task took.
            complexity_estimated: Estimated complexity of the task.
            complexity_actual: Complexity of the task as it turned out.
            capabilities_used: Tools and skills that the task was done with.
            confidence: Confidence in the experience; low while there are few experiences.
            tags: Tags of the record.
            sources: Where the record came from: a task, a run, a file, a person.
            dry_run: Return what would change, and change nothing.
            verbatim: Keep paths of this machine (project, home, temporary folder) as they are.
            supersedes: The record that the new one takes the place of; it is archived.
        """
        answer: Changed = self.call(
            "experiences.add",
            task_type=task_type,
            description=description,
            approach=approach,
            outcome=outcome,
            lessons=lessons,
            name=name,
            time_taken=time_taken,
            complexity_estimated=complexity_estimated,
            complexity_actual=complexity_actual,
            capabilities_used=capabilities_used,
            confidence=confidence,
            tags=tags,
            sources=sources,
            dry_run=dry_run,
            verbatim=verbatim,
            supersedes=supersedes,
        )
        return answer

    def recall(
        self,
        *,
        task_type: Literal["feature", "bug", "refactor", "investigation", "configuration", "documentation", "test", "deploy"] | None = None,
        tags: Collection[str] = (),
    ) -> Recalled:
        """
        Return the newest experiences with this type of task or one of these tags, and their lessons.

        Args:
            task_type: Type of the task.
            tags: Tags of the task.
        """
        answer: Recalled = self.call("experiences.recall", task_type=task_type, tags=tags)
        return answer

    def promote(
        self,
        *,
        category: Literal["codebase_insight", "execution_pattern", "user_behavior", "recurring_issue"] | None = None,
        yes: bool = False,
    ) -> Promoted:
        """
        Find what experiences of different days and tasks agree on; ``yes`` writes it as insights.

        Args:
            category: Category of the insights; the likely one if not given.
            yes: Make the change; without it, only return what would change.
        """
        answer: Promoted = self.call("experiences.promote", category=category, yes=yes)
        return answer


class Decisions(Operations):
    """What was decided, and why."""

    def add(
        self,
        decision: str,
        name: str | None = None,
        *,
        reasoning: str | None = None,
        task: str | None = None,
        key: str | None = None,
    ) -> Changed:
        """
        Record a decision; ``key`` is its name, made from the text if not given.

        Args:
            decision: What was decided.
            name: Name of a session; the project's own if not given.
            reasoning: Why it was decided.
            task: Task that it was decided in; the current one if not given.
            key: Name of the decision; made from its text if not given.
        """
        answer: Changed = self.call(
            "sessions.decide", decision=decision, name=name, reasoning=reasoning, task=task, key=key
        )
        return answer


class Constraints(Operations):
    """Rules that hold until a time or for ever."""

    def add(
        self,
        constraint: str,
        name: str | None = None,
        *,
        source: str | None = None,
        expires_at: str | None = None,
        key: str | None = None,
    ) -> Changed:
        """
        Record a constraint, for everybody or for a named session, until a time if one is given.

        Args:
            constraint: The constraint.
            name: Name of a session; the project's own if not given.
            source: Who set the constraint.
            expires_at: When it ends: a time with its zone; never if not given.
            key: Name of the constraint; made from its text if not given.
        """
        answer: Changed = self.call(
            "sessions.constrain", constraint=constraint, name=name, source=source, expires_at=expires_at, key=key
        )
        return answer


class Sessions(Operations):
    """The current task, decisions, constraints and preferences; without a name, of the whole project."""

    def show(self, name: str | None = None) -> SessionContext:
        """
        Return what is current; the empty answer where nothing is.

        Args:
            name: Name of a session; the project's own if not given.
        """
        answer: SessionContext = self.call("sessions.show", name=name)
        return answer

    def start(
        self, name: str | None = None, *, conversation: str | None = None, task: str | None = None
    ) -> SessionContext:
        """
        Begin a new session; the preferences of the user stay.

        Args:
            name: Name of a session; the project's own if not given.
            conversation: Id of the agent's conversation.
            task: What the session is about; becomes the current task.
        """
        answer: SessionContext = self.call("sessions.start", name=name, conversation=conversation, task=task)
        return answer

    def work_on(
        self,
        description: str | None = None,
        name: str | None = None,
        *,
        id: str | None = None,
        type: str | None = None,
        status: Literal["pending", "in_progress", "blocked", "complete"] | None = None,
    ) -> SessionContext:
        """
        Set what is being worked on, or its state; a new description begins a new task.

        Args:
            description: What is being worked on.
            name: Name of a session; the project's own if not given.
            id: Id of the task, such as auth/001-setup.
            type: Type of the task, such as bug or feature.
            status: Status of the task.
        """
        answer: SessionContext = self.call(
            "sessions.work_on", description=description, name=name, id=id, type=type, status=status
        )
        return answer

    def decide(
        self,
        decision: str,
        name: str | None = None,
        *,
        reasoning: str | None = None,
        task: str | None = None,
        key: str | None = None,
    ) -> Changed:
        """
        Record a decision; ``key`` is its name, made from the text if not given.

        Args:
            decision: What was decided.
            name: Name of a session; the project's own if not given.
            reasoning: Why it was decided.
            task: Task that it was decided in; the current one if not given.
            key: Name of the decision; made from its text if not given.
        """
        answer: Changed = self.call(
            "sessions.decide", decision=decision, name=name, reasoning=reasoning, task=task, key=key
        )
        return answer

    def constrain(
        self,
        constraint: str,
        name: str | None = None,
        *,
        source: str | None = None,
        expires_at: str | None = None,
        key: str | None = None,
    ) -> Changed:
        """
        Record a constraint, for everybody or for a named session, until a time if one is given.

        Args:
            constraint: The constraint.
            name: Name of a session; the project's own if not given.
            source: Who set the constraint.
            expires_at: When it ends: a time with its zone; never if not given.
            key: Name of the constraint; made from its text if not given.
        """
        answer: Changed = self.call(
            "sessions.constrain", constraint=constraint, name=name, source=source, expires_at=expires_at, key=key
        )
        return answer

    def prefer(
        self,
        name: str | None = None,
        *,
        communication_style: str | None = None,
        approval_gates: str | None = None,
        default_model_profile: str | None = None,
    ) -> SessionContext:
        """
        Note how the user wants to work.

        Args:
            name: Name of a session; the project's own if not given.
            communication_style: How to communicate with the user.
            approval_gates: What to ask the user before.
            default_model_profile: The usual model profile.
        """
        answer: SessionContext = self.call(
            "sessions.prefer",
            name=name,
            communication_style=communication_style,
            approval_gates=approval_gates,
            default_model_profile=default_model_profile,
        )
        return answer

    def note(
        self,
        name: str | None = None,
        *,
        messages: int | None = None,
        conversation: str | None = None,
        skills: Collection[str] = (),
        used: Collection[str] = (),
    ) -> SessionContext:
        """
        Note how far the session has come, the skills it invoked and the records it used.

        Args:
            name: Name of a session; the project's own if not given.
            messages: Number of messages so far.
            conversation: Id of the agent's conversation.
            skills: Skills that were invoked.
            used: Records that the session used.
        """
        answer: SessionContext = self.call(
            "sessions.note", name=name, messages=messages, conversation=conversation, skills=skills, used=used
        )
        return answer

    def end(self, name: str | None = None) -> Changed:
        """
        End the session: what it was and used becomes a record.

        Args:
            name: Name of a session; the project's own if not given.
        """
        answer: Changed = self.call("sessions.end", name=name)
        return answer


class Runs(Operations):
    """What is going on now on this machine, and the build run; it outlives the process that writes it."""

    def show(self) -> RunShown:
        """Return the run state."""
        answer: RunShown = self.call("runs.show")
        return answer

    def set(self, fields: Mapping[str, object]) -> RunShown:
        """
        Change fields of the run state: objects are merged, ``None`` clears, all other fields stay.

        Args:
            fields: Fields as a JSON object: objects are merged, null clears.
        """
        answer: RunShown = self.call("runs.set", fields=fields)
        return answer

    def done(self, step: str) -> RunShown:
        """
        Note that a step of the workflow is complete.

        Args:
            step: The step.
        """
        answer: RunShown = self.call("runs.done", step=step)
        return answer

    def change(
        self,
        action: Literal["add", "done"],
        file: str,
        *,
        section: str | None = None,
        section_number: int | str | None = None,
    ) -> RunShown:
        """
        Note a file that was changed outside of the plan, or take it away; the others stay.

        Args:
            action: Note the file, or take it away.
            file: Path of the file, below the root of the project.
            section: Section of the specification that it belongs to.
            section_number: Number of that section.
        """
        answer: RunShown = self.call(
            "runs.change", action=action, file=file, section=section, section_number=section_number
        )
        return answer

    def require(self, step: str, *, workflow: str | None = None, skip: bool = False) -> Required:
        """
        Return whether what a step needs is complete; ``skip`` goes on without, which is recorded.

        Args:
            step: The step that is to begin.
            workflow: Name of the workflow; that of the run state if not given.
            skip: Go on without what is missing; it is recorded.
        """
        answer: Required = self.call("runs.require", step=step, workflow=workflow, skip=skip)
        return answer

    def begin(self, plan: Mapping[str, object]) -> RunShown:
        """
        Begin a build run with the chunks of a plan.

        Args:
            plan: The plan as a JSON object with chunks, spec_version, priorities, priority_source; a chunk has id,
                name, sections, scenarios, depends_on.
        """
        answer: RunShown = self.call("runs.begin", plan=plan)
        return answer

    def chunk(self, id: str, status: Literal["active", "completed", "failed", "retrying"]) -> RunShown:
        """
        Move a chunk of the build run to its next status.

        Args:
            id: Id of the chunk.
            status: Its next status.
        """
        answer: RunShown = self.call("runs.chunk", id=id, status=status)
        return answer

    def checkpoint(self, *, phase: str | None = None) -> RunShown:
        """
        Note that the build run got so far.

        Args:
            phase: Phase of convergence.
        """
        answer: RunShown = self.call("runs.checkpoint", phase=phase)
        return answer

    def end(self) -> RunShown:
        """End the build run: cleared where every chunk is completed, else visible as partial."""
        answer: RunShown = self.call("runs.end")
        return answer

    def resume(self, *, choose: Literal["resume", "fresh", "cancel"] | None = None) -> BuildResume:
        """
        Return what is left of a build run that was cut off, and how to go on; a choice does it.

        Args:
            choose: What to do.
        """
        answer: BuildResume = self.call("runs.resume", choose=choose)
        return answer


class Embed(Operations):
    """The model that makes the vectors."""

    def status(self) -> EmbeddingStatus:
        """Return which model makes the vectors, and how many texts lack one of it."""
        answer: EmbeddingStatus = self.call("embed.status")
        return answer

    def change(self, model: str, *, endpoint: str = "", user: bool = False) -> ModelChanged:
        """
        Let another model make the vectors: all are made first, then the settings name it.

        Args:
            model: A sentence-transformers name, a local folder, none, or what the endpoint calls it.
            endpoint: Address of an OpenAI-compatible server that has the model.
            user: Change your own settings, for all projects, not those of this project.
        """
        answer: ModelChanged = self.call("embed.change", model=model, endpoint=endpoint, user=user)
        return answer


class Campaigns(Operations):
    """Pieces of work that are more than one task."""

    def create(
        self,
        objective: str,
        *,
        name: str | None = None,
        framework: str | None = None,
        tags: Collection[str] | None = None,
        sources: Collection[str] | None = None,
        sections: int | None = None,
        framework_level: int | None = None,
        failure_cost_k: float | None = None,
    ) -> Changed:
        """
        Begin a campaign.

        Args:
            objective: What the campaign is for.
            name: Name of the record; made from its text if not given.
            framework: Framework or tool that the work is built with.
            tags: Tags of the record.
            sources: Where the record came from: a task, a run, a file, a person.
            sections: Sections of the specification, for an estimate of its size.
            framework_level: How unknown the framework is: 0 for well known.
            failure_cost_k: Thousands of tokens that known failures cost; with sections, what the memory knows if not
                given.
        """
        answer: Changed = self.call(
            "campaigns.create",
            objective=objective,
            name=name,
            framework=framework,
            tags=tags,
            sources=sources,
            sections=sections,
            framework_level=framework_level,
            failure_cost_k=failure_cost_k,
        )
        return answer

    def ready(self, ref: str) -> Ready:
        """
        Return the tasks that can start now.

        Args:
            ref: The campaign.
        """
        answer: Ready = self.call("campaigns.ready", ref=ref)
        return answer

    def status(self, ref: str) -> CampaignStanding:
        """
        Return where a campaign is: its tasks, which of them cannot run and why, and what it took so far.

        Args:
            ref: The campaign.
        """
        answer: CampaignStanding = self.call("campaigns.status", ref=ref)
        return answer

    def complete(
        self, ref: str, *, outcome: str | None = None, status: Literal["complete", "partial", "failed"] | None = None
    ) -> CampaignTasks:
        """
        Finish a campaign, complete or partly, and keep its fingerprint for ``similar``.

        Args:
            ref: The campaign.
            outcome: Outcome of the campaign, in words.
            status: How the campaign ended; partial or failed where tasks are open.
        """
        answer: CampaignTasks = self.call("campaigns.complete", ref=ref, outcome=outcome, status=status)
        return answer

    def add_tasks(self, ref: str, plan: object) -> CampaignTasks:
        """
        Add the tasks of a plan (a list, or ``{"tasks": […]}``), all or none; cycles are refused with their path.

        Args:
            ref: The campaign.
            plan: Tasks in JSON: a list, or {"tasks": […]}; a task has seq, objective, depends, slug, type, delta,
                verify, verify_source, budget, framework, framework_confidence, idioms, code_contexts, preflight, tags.
        """
        answer: CampaignTasks = self.call("campaigns.add_tasks", ref=ref, plan=plan)
        return answer

    def propagate(self, ref: str) -> CampaignStanding:
        """
        Mark the tasks that cannot run as unreachable, and those that can again as pending.

        Args:
            ref: The campaign.
        """
        answer: CampaignStanding = self.call("campaigns.propagate", ref=ref)
        return answer

    def replan_input(self, ref: str) -> ReplanInput:
        """
        Return what a planner needs to plan the unfinished part again.

        Args:
            ref: The campaign.
        """
        answer: ReplanInput = self.call("campaigns.replan_input", ref=ref)
        return answer

    def merge_plan(self, ref: str, plan: object) -> MergedPlan:
        """
        Put the tasks of a plan in the place of the unfinished part, all or none; what is complete stays as it is.

        Args:
            ref: The campaign.
            plan: Tasks in JSON: a list, or {"tasks": […]}; a task has seq, objective, depends, slug, type, delta,
                verify, verify_source, budget, framework, framework_confidence, idioms, code_contexts, preflight, tags.
        """
        answer: MergedPlan = self.call("campaigns.merge_plan", ref=ref, plan=plan)
        return answer


class Tasks(Operations):
    """The tasks of campaigns: each is started with what the project knows, and teaches by how it ends."""

    def start(self, ref: str, *, budget: int = 2000, session: str | None = None) -> TaskChanged:
        """
        Start a task whose parents are complete; the answer's workspace is a prompt to begin with.

        Args:
            ref: The task: its name, or its campaign and number, such as auth/001.
            budget: Largest size of the workspace, in tokens.
            session: Name of a session; the project's own if not given.
        """
        answer: TaskChanged = self.call("tasks.start", ref=ref, budget=budget, session=session)
        return answer

    def complete(
        self,
        ref: str,
        *,
        delivered: str | None = None,
        used: Collection[str] = (),
        failed: Collection[str] = (),
        solved_by: Collection[str] = (),
        spent: float | None = None,
        session: str | None = None,
    ) -> TaskChanged:
        """
        Complete a task, report what helped, and link the patterns that solved what it was blocked by.

        Args:
            ref: The task: its name, or its campaign and number, such as auth/001.
            delivered: What the task delivered, in words.
            used: Memories that helped.
            failed: Memories that did not help.
            solved_by: Patterns that solved what the task was blocked by; they helped.
            spent: How much of its budget the task took.
            session: Name of a session; the project's own if not given.
        """
        answer: TaskChanged = self.call(
            "tasks.complete",
            ref=ref,
            delivered=delivered,
            used=used,
            failed=failed,
            solved_by=solved_by,
            spent=spent,
            session=session,
        )
        return answer

    def block(
        self,
        ref: str,
        reason: str,
        *,
        by: Collection[str] = (),
        failed: Collection[str] = (),
        session: str | None = None,
    ) -> TaskChanged:
        """
        Block a task; the answer has the known failures that the reason reports, with what fixes them.

        Args:
            ref: The task: its name, or its campaign and number, such as auth/001.
            reason: What stops it: the error, as it was reported.
            by: Failures that stop it; those that the reason reports are found by themselves.
            failed: Memories that did not help.
            session: Name of a session; the project's own if not given.
        """
        answer: TaskChanged = self.call("tasks.block", ref=ref, reason=reason, by=by, failed=failed, session=session)
        return answer

    def reopen(self, ref: str, *, reason: str | None = None, session: str | None = None) -> TaskChanged:
        """
        Make a task pending again, from whatever state it is in.

        Args:
            ref: The task: its name, or its campaign and number, such as auth/001.
            reason: Why; kept with the move.
            session: Name of a session; the project's own if not given.
        """
        answer: TaskChanged = self.call("tasks.reopen", ref=ref, reason=reason, session=session)
        return answer

    def show(self, ref: str, *, budget: int = 2000) -> TaskShown:
        """
        Return a task with its workspace, what became of what it was handed out, and its moves.

        Args:
            ref: The task: its name, or its campaign and number, such as auth/001.
            budget: Largest size of the workspace, in tokens.
        """
        answer: TaskShown = self.call("tasks.show", ref=ref, budget=budget)
        return answer


class Phases(Operations):
    """Where the project, or a campaign, is in its work."""

    def status(self, *, campaign: str | None = None) -> PhaseStatus:
        """
        Return the current phase, and which may follow.

        Args:
            campaign: Campaign whose phase it is; the project's own if not given.
        """
        answer: PhaseStatus = self.call("phases.status", campaign=campaign)
        return answer

    def can(
        self,
        phase: Literal["none", "explore", "plan", "build", "observe", "complete", "error"],
        *,
        campaign: str | None = None,
    ) -> PhaseCan:
        """
        Return whether a phase may follow the current one.

        Args:
            phase: The next phase.
            campaign: Campaign whose phase it is; the project's own if not given.
        """
        answer: PhaseCan = self.call("phases.can", phase=phase, campaign=campaign)
        return answer

    def move(
        self,
        phase: Literal["none", "explore", "plan", "build", "observe", "complete", "error"],
        *,
        campaign: str | None = None,
    ) -> PhaseMoved:
        """
        Go on to another phase; one that may not follow is refused with those that may.

        Args:
            phase: The next phase.
            campaign: Campaign whose phase it is; the project's own if not given.
        """
        answer: PhaseMoved = self.call("phases.move", phase=phase, campaign=campaign)
        return answer

    def reset(self, *, campaign: str | None = None) -> PhaseMoved:
        """
        Begin again, from whatever phase it is.

        Args:
            campaign: Campaign whose phase it is; the project's own if not given.
        """
        answer: PhaseMoved = self.call("phases.reset", campaign=campaign)
        return answer

    def duration(self, *, campaign: str | None = None) -> PhaseDurations:
        """
        Return how long each phase took.

        Args:
            campaign: Campaign whose phase it is; the project's own if not given.
        """
        answer: PhaseDurations = self.call("phases.duration", campaign=campaign)
        return answer


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
        models: those of another memory, ``other.runtime.models``: each is loaded once for both.
        scope: the scope of the project that says what may be read and written; None looks at ``GRAPHMEM_SCOPE``, an
            empty text is for all.

    Raises:
        Unavailable: there is no store; make one with ``Memory.init``.
        NotFound: ``at`` names no commit with a store, or there is no such scope.
    """

    @cached_property
    def failures(self) -> Failures:
        """What went wrong, and what fixes it."""
        return Failures(self.runtime, self.caller)

    @cached_property
    def patterns(self) -> Patterns:
        """What works."""
        return Patterns(self.runtime, self.caller)

    @cached_property
    def entities(self) -> Entities:
        """Things of the project."""
        return Entities(self.runtime, self.caller)

    @cached_property
    def user(self) -> User:
        """The user's own store, which is in no project."""
        return User(self.runtime, self.caller)

    @cached_property
    def insights(self) -> Insights:
        """What several experiences agree on."""
        return Insights(self.runtime, self.caller)

    @cached_property
    def relations(self) -> Relations:
        """Typed, weighted edges."""
        return Relations(self.runtime, self.caller)

    @cached_property
    def events(self) -> Events:
        """What happened: moves of tasks and phases, verdicts, and whatever a caller records."""
        return Events(self.runtime, self.caller)

    @cached_property
    def types(self) -> Types:
        """The vocabulary of the project."""
        return Types(self.runtime, self.caller)

    @cached_property
    def scopes(self) -> Scopes:
        """What a caller may read and write that does not get all."""
        return Scopes(self.runtime, self.caller)

    @cached_property
    def imports(self) -> Imports:
        """Files of other programs."""
        return Imports(self.runtime, self.caller)

    @cached_property
    def explorations(self) -> Explorations:
        """Several agents look at a project at the same time; what they find becomes one record."""
        return Explorations(self.runtime, self.caller)

    @cached_property
    def extractors(self) -> Extractors:
        """Programs that print entities and edges of the project, which are written as theirs."""
        return Extractors(self.runtime, self.caller)

    @cached_property
    def candidates(self) -> Candidates:
        """Records that wait to be accepted, and what speaks for them."""
        return Candidates(self.runtime, self.caller)

    @cached_property
    def inbox(self) -> Inbox:
        """What is to be looked at later; it is committed, and several writers lose nothing."""
        return Inbox(self.runtime, self.caller)

    @cached_property
    def lessons(self) -> Lessons:
        """What runs taught: seen again, fading, and injected into prompts."""
        return Lessons(self.runtime, self.caller)

    @cached_property
    def experiences(self) -> Experiences:
        """What finished tasks taught."""
        return Experiences(self.runtime, self.caller)

    @cached_property
    def decisions(self) -> Decisions:
        """What was decided, and why."""
        return Decisions(self.runtime, self.caller)

    @cached_property
    def constraints(self) -> Constraints:
        """Rules that hold until a time or for ever."""
        return Constraints(self.runtime, self.caller)

    @cached_property
    def sessions(self) -> Sessions:
        """The current task, decisions, constraints and preferences; without a name, of the whole project."""
        return Sessions(self.runtime, self.caller)

    @cached_property
    def runs(self) -> Runs:
        """What is going on now on this machine, and the build run; it outlives the process that writes it."""
        return Runs(self.runtime, self.caller)

    @cached_property
    def embed(self) -> Embed:
        """The model that makes the vectors."""
        return Embed(self.runtime, self.caller)

    @cached_property
    def campaigns(self) -> Campaigns:
        """Pieces of work that are more than one task."""
        return Campaigns(self.runtime, self.caller)

    @cached_property
    def tasks(self) -> Tasks:
        """The tasks of campaigns: each is started with what the project knows, and teaches by how it ends."""
        return Tasks(self.runtime, self.caller)

    @cached_property
    def phases(self) -> Phases:
        """Where the project, or a campaign, is in its work."""
        return Phases(self.runtime, self.caller)

    def stale(self) -> StaleRecords:
        """Return the records that may no longer hold: of changed code, past their day, of another major version."""
        answer: StaleRecords = self.call("stale")
        return answer

    def similar(self, text: str, *, threshold: float | None = None, limit: int = 3) -> Similar:
        """
        Return campaigns that have ended in any way and resemble a campaign or an objective.

        Args:
            text: A campaign, or an objective in words.
            threshold: Return only campaigns at least this similar; the setting (0.5) if not given.
            limit: Return at most this many campaigns.
        """
        answer: Similar = self.call("similar", text=text, threshold=threshold, limit=limit)
        return answer

    def edit(
        self,
        ref: str,
        fields: Mapping[str, object] | None = None,
        *,
        tag: Collection[str] = (),
        untag: Collection[str] = (),
        unset: Collection[str] = (),
        dry_run: bool = False,
        **changes: object,
    ) -> Changed:
        """
        Change fields of a record; lists replace, ``tag`` and ``untag`` change single tags, ``unset`` takes away.

        Args:
            ref: The record, as kind/name, or as its name alone.
            fields: New values by field; a list replaces the old list.
            tag: Add these tags.
            untag: Remove these tags.
            unset: Remove the values of these fields.
            dry_run: Return what would change, and change nothing.
            changes: Items of ``fields``, as keywords.
        """
        answer: Changed = self.call(
            "edit",
            ref=ref,
            tag=tag,
            untag=untag,
            unset=unset,
            dry_run=dry_run,
            fields={**(fields or {}), **changes} if changes else fields,
        )
        return answer

    def rename(self, ref: str, name: str) -> Changed:
        """
        Give a record another name; the old one is still found.

        Args:
            ref: The record, as kind/name, or as its name alone.
            name: The new name: a-z 0-9 - _ . for most kinds.
        """
        answer: Changed = self.call("rename", ref=ref, name=name)
        return answer

    def forget(self, ref: str, reason: str | None = None) -> Changed:
        """
        Archive a record: it leaves search and graph, and comes back with ``restore``.

        Args:
            ref: The record, as kind/name, or as its name alone.
            reason: Why; kept with the archived record.
        """
        answer: Changed = self.call("forget", ref=ref, reason=reason)
        return answer

    def restore(self, ref: str) -> Changed:
        """
        Bring an archived record back.

        Args:
            ref: The record, as kind/name, or as its name alone.
        """
        answer: Changed = self.call("restore", ref=ref)
        return answer

    def pin(self, ref: str) -> Changed:
        """
        Pin a record: the briefing begins with it, it goes before its equals, and nothing archives it.

        Args:
            ref: The record, as kind/name, or as its name alone.
        """
        answer: Changed = self.call("pin", ref=ref)
        return answer

    def unpin(self, ref: str) -> Changed:
        """
        Take the pin from a record.

        Args:
            ref: The record, as kind/name, or as its name alone.
        """
        answer: Changed = self.call("unpin", ref=ref)
        return answer

    def add_rows(
        self,
        lines: Log,
        *,
        name: str = "input",
        dedup: bool = False,
        skip_invalid: bool = False,
        verbose: bool = False,
        purges: bool = False,
    ) -> BulkAdded:
        """
        Add NDJSON rows of any kind, in any order, all or none.

        Args:
            lines: Lines of any number and length, as a file opened in binary gives them, or all of them as one text.
            name: Name of the input, for messages.
            dedup: Merge rows that say the same as a record.
            skip_invalid: Add the valid rows, and put the invalid ones aside in a file.
            verbose: Return what became of each row.
            purges: Take rows of kind purge too: they destroy records for good.

        Raises:
            BadInput: rows that do not check out; ``details["findings"]`` names each, nothing was changed.
        """
        answer: BulkAdded = self.call(
            "add_rows", lines, name=name, dedup=dedup, skip_invalid=skip_invalid, verbose=verbose, purges=purges
        )
        return answer

    def get(self, ref: str) -> Got:
        """
        Return a record with its edges, by reference or unambiguous name; an archived one too.

        Args:
            ref: The record, as kind/name, or as its name alone.
        """
        answer: Got = self.call("get", ref=ref)
        return answer

    def list(
        self,
        kind: str | None = None,
        *,
        tags: Collection[str] = (),
        archived: bool = False,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing:
        """
        Return records of a kind or entity type with all of ``tags``; ``sort`` is a field, ``-field`` reversed.

        Args:
            kind: Return only this kind or entity type.
            tags: Return only records with all of these tags.
            archived: Return the archived records instead of the live ones.
            sort: Sort by this field, with - before it in reverse; by name if not given.
            limit: Return at most this many records; all if not given.
            cursor: Go on after the answer that had this cursor.
        """
        answer: Listing = self.call(
            "list", kind=kind, tags=tags, archived=archived, sort=sort, limit=limit, cursor=cursor
        )
        return answer

    def names(self, prefix: str = "", limit: int = 50) -> Sequence[str]:
        """
        Return references that begin with ``prefix``, in name order: what a shell completes.

        Args:
            prefix: Return only references that begin with this.
            limit: Return at most this many references.
        """
        answer: Sequence[str] = self.call("names", prefix=prefix, limit=limit)
        return answer

    def supersede(self, old: str, new: str, reason: str | None = None) -> Changed:
        """
        Archive a record that another one of its kind takes the place of.

        Args:
            old: The record that is out of date; it is archived.
            new: The record that takes its place.
            reason: Why; kept with the archived record.
        """
        answer: Changed = self.call("supersede", old=old, new=new, reason=reason)
        return answer

    def undo(self, number: int = 1) -> Writes:
        """
        Take back the last ``number`` writes of this clone, all or none; return them, the last first.

        Args:
            number: Number of writes to take back.
        """
        answer: Writes = self.call("undo", number=number)
        return answer

    def undoable(self) -> Writes:
        """Return the writes of this clone that can be taken back, the last first."""
        answer: Writes = self.call("undoable")
        return answer

    def purge(
        self,
        refs: Collection[str] = (),
        *,
        archived: bool = False,
        yes: bool = False,
        history_script: Path | str | None = None,
    ) -> Purged:
        """
        Destroy records with every row that names them; without ``yes`` only report what would go.

        Args:
            refs: Records to destroy.
            archived: Destroy every archived record.
            yes: Make the change; without it, only return what would change.
            history_script: File to write: a program that removes the rows, or those of all purges, from git's history.
        """
        answer: Purged = self.call("purge", refs=refs, archived=archived, yes=yes, history_script=history_script)
        return answer

    def prune(
        self, *, max_failures: int = 500, max_patterns: int = 200, min_importance: float = 0.1, yes: bool = False
    ) -> Pruned:
        """
        Archive the least important memories over a cap, and old ones worth next to nothing; preview without yes.

        Args:
            max_failures: Number of failures that may stay.
            max_patterns: Number of patterns that may stay.
            min_importance: Archive records of less importance that are older than 30 days.
            yes: Make the change; without it, only return what would change.
        """
        answer: Pruned = self.call(
            "prune", max_failures=max_failures, max_patterns=max_patterns, min_importance=min_importance, yes=yes
        )
        return answer

    def feedback(
        self,
        ref: str,
        *,
        helped: bool,
        wrong: bool = False,
        note: str | None = None,
        task: str | None = None,
        question: str | None = None,
        asked: str | None = None,
    ) -> Reported:
        """
        Report that a memory helped or did not; with a task, reporting again replaces the report.

        Args:
            ref: The record, as kind/name, or as its name alone.
            helped: The memory helped; false: it did not.
            wrong: What the memory says is not true; it is marked until it is edited.
            note: Why the memory helped, did not help, or is wrong.
            task: Task that the report is for; a second report for it replaces the first.
            question: What was asked when the memory was found, at most 2 KiB.
            asked: Id of the question, from the answer that showed the memory.

        Raises:
            NotFound: no such memory, or nothing with this id was asked here in the last 30 days.
        """
        answer: Reported = self.call(
            "feedback", ref=ref, helped=helped, wrong=wrong, note=note, task=task, question=question, asked=asked
        )
        return answer

    def feedback_rows(self, lines: Log, *, name: str = "input") -> BulkReported:
        """
        Store a batch of reports, NDJSON lines ``{ref, helped, task?, question?, asked?, at?, id?}``, all or none.

        Args:
            lines: Lines of any number and length, as a file opened in binary gives them, or all of them as one text.
            name: Name of the input, for messages.
        """
        answer: BulkReported = self.call("feedback_rows", lines, name=name)
        return answer

    def query(
        self,
        text: str,
        *,
        kinds: Collection[str] | None = None,
        limit: int | None = None,
        min_similarity: float | None = None,
        profile: Literal["classic", "learned"] | None = None,
        strict: bool = False,
        candidates: bool = False,
    ) -> Found:
        """
        Return the records that a text is about, best first; the answer's ``asked`` names the question in reports.

        Args:
            text: An error message, a symbol, or a sentence.
            kinds: Return only these kinds and entity types.
            limit: Return at most this many records; 10 if not given.
            min_similarity: Return only records at least this similar.
            profile: How relevance becomes a score; the setting retrieval.profile if not given.
            strict: Leave out every record that has a mark of doubt.
            candidates: Return candidates too, where no record surely answers.
        """
        answer: Found = self.call(
            "query",
            text=text,
            kinds=kinds,
            limit=limit,
            min_similarity=min_similarity,
            profile=profile,
            strict=strict,
            candidates=candidates,
        )
        return answer

    def context(
        self,
        objective: str,
        *,
        tags: Collection[str] = (),
        files: Collection[str] = (),
        framework: str | None = None,
        tiers: Collection[Literal["critical", "productive", "exploration", "background"]] = (),
        complexity: Literal["trivial", "low", "medium", "high", "very_high"] | None = None,
        domain: str | None = None,
        archetype: str | None = None,
        task_type: Literal["feature", "bug", "refactor", "investigation", "configuration", "documentation", "test", "deploy"] | None = None,
        session: str | None = None,
        budget: int = 2000,
        profile: Literal["classic", "learned"] | None = None,
        strict: bool = False,
        explain: bool = False,
    ) -> ContextBlock:
        """
        Return what the project remembers for an objective, as a block for a prompt, cut to a budget of tokens.

        Args:
            objective: What is to be done, in words.
            tags: Tags of the task.
            files: Files and folders that the task is about.
            framework: Framework or tool that the work is built with; that of the current task if not given.
            tiers: Take these tiers instead of the usual ones.
            complexity: Complexity of the task; for a hard one more is taken.
            domain: Domain whose lessons to take, beside the general ones.
            archetype: Kind of project whose hints to take.
            task_type: Type of task whose experiences to take.
            session: Session whose decisions and constraints to take, by name.
            budget: Largest size of the block, in tokens.
            profile: How relevance becomes a score; the setting retrieval.profile if not given.
            strict: Leave out every record that has a mark of doubt.
            explain: Show what each score is made of, and what is left out.
        """
        answer: ContextBlock = self.call(
            "context",
            objective=objective,
            tags=tags,
            files=files,
            framework=framework,
            tiers=tiers,
            complexity=complexity,
            domain=domain,
            archetype=archetype,
            task_type=task_type,
            session=session,
            budget=budget,
            profile=profile,
            strict=strict,
            explain=explain,
        )
        return answer

    def match(self, lines: Log, *, strict: bool = False, explain: bool = False, all: bool = False) -> MatchedLog:
        """
        Return the known failures that a log reports, with the lines and what fixes them.

        Args:
            lines: Lines of any number and length, as a file opened in binary gives them, or all of them as one text.
            strict: Leave out every record that has a mark of doubt.
            explain: Also how the log was read: each problem, by which format, and its names.
            all: Also what is alike and another problem, with what the two differ in.
        """
        answer: MatchedLog = self.call("match", lines, strict=strict, explain=explain, all=all)
        return answer

    def solutions(self, ref: str, *, limit: int | None = None, strict: bool = False) -> Solutions:
        """
        Return the patterns that solve a failure, then those that solve a variant or a cause of it.

        Args:
            ref: The record, as kind/name, or as its name alone.
            limit: Return at most this many; all if not given.
            strict: Leave out every record that has a mark of doubt.
        """
        answer: Solutions = self.call("solutions", ref=ref, limit=limit, strict=strict)
        return answer

    def related(
        self,
        ref: str,
        *,
        max_hops: int = 2,
        types: Collection[str] | None = None,
        kinds: Collection[str] | None = None,
        direction: Literal["out", "in", "both"] = "both",
        min_strength: float | None = None,
        limit: int | None = None,
    ) -> Related:
        """
        Return what a record is related to, strongest path first, each path edge by edge.

        Args:
            ref: The record, as kind/name, or as its name alone.
            max_hops: Largest number of edges in a path.
            types: Walk only edges of these relation types.
            kinds: Return only records of these kinds and entity types.
            direction: Which way edges are walked.
            min_strength: Cut a path where its strength falls below this; the setting (0.5) if not given.
            limit: Return at most this many; all if not given.
        """
        answer: Related = self.call(
            "related",
            ref=ref,
            max_hops=max_hops,
            types=types,
            kinds=kinds,
            direction=direction,
            min_strength=min_strength,
            limit=limit,
        )
        return answer

    def path(
        self,
        source: str,
        target: str,
        *,
        max_hops: int = 6,
        types: Collection[str] | None = None,
        direction: Literal["out", "in", "both"] = "both",
    ) -> Connection:
        """
        Return the strongest chain of edges between two records, however weak; strength 0 without one.

        Args:
            source: The record where the path begins.
            target: The record where the path ends.
            max_hops: Largest number of edges in the path.
            types: Walk only edges of these relation types.
            direction: Which way edges are walked.
        """
        answer: Connection = self.call(
            "path", source=source, target=target, max_hops=max_hops, types=types, direction=direction
        )
        return answer

    def prime(self, *, session: str | None = None, budget: int = 1000, instructions: bool = False) -> Briefing:
        """
        Return what an agent needs to begin: what is pinned, constraints, decisions, tasks, what helped, how to ask.

        Args:
            session: Name of a session; the project's own if not given.
            budget: Largest size of the briefing, in tokens.
            instructions: Return the lines for AGENTS.md instead, the same in every project.
        """
        answer: Briefing = self.call("prime", session=session, budget=budget, instructions=instructions)
        return answer

    def status(self) -> StoreStatus:
        """Return where one is: the store, this clone, the current task, active campaigns, and what to do next."""
        answer: StoreStatus = self.call("status")
        return answer

    def cypher(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        timeout_s: float | None = None,
        limit: int | None = None,
    ) -> CypherRows:
        """
        Run a Cypher query, read-only and bounded in time, memory and rows.

        Args:
            query: One reading statement, or a stored query's name.
            parameters: Values of the query's parameters, by name.
            timeout_s: Seconds that the query may take; the setting (10) if not given.
            limit: Return at most this many rows; the setting (1,000) if not given.

        Raises:
            Refused: a statement that is not allowed; the hint names the command that does it.
            Usage: a parameter that is missing or that the query does not have.
            BadInput: the engine does not understand it.
            Unavailable: it ran out of time or memory.
        """
        answer: CypherRows = self.call("cypher", query=query, parameters=parameters, timeout_s=timeout_s, limit=limit)
        return answer

    def cypher_named(
        self,
        name: str,
        parameters: Mapping[str, object] | None = None,
        *,
        timeout_s: float | None = None,
        limit: int | None = None,
    ) -> CypherRows:
        """
        Run a stored query by its name, such as ``failure/solutions``.

        Args:
            name: Name of a stored query, such as failure/solutions.
            parameters: Values of the query's parameters, by name.
            timeout_s: Seconds that the query may take; the setting (10) if not given.
            limit: Return at most this many rows; the setting (1,000) if not given.
        """
        answer: CypherRows = self.call(
            "cypher_named", name=name, parameters=parameters, timeout_s=timeout_s, limit=limit
        )
        return answer

    def queries(self) -> QueryList:
        """Return the stored queries that read, with their parameters and columns."""
        answer: QueryList = self.call("queries")
        return answer

    def dump(
        self,
        format: Literal["ndjson", "csv", "markdown", "mcp-memory", "beads", "okf", "graphml", "dot", "mermaid", "jsonld", "html", "rules"] = "ndjson",
        *,
        kinds: Collection[str] = (),
        budget: int | None = None,
    ) -> Dump:
        """
        Return all rows, or those of kinds and types, one JSON object a line, or in the form of another program.

        Args:
            format: The form to return them in.
            kinds: A kind, an entity type or a relation type; all that the form can hold if not given.
            budget: Largest size of the rules for an agent, in tokens; 1,000 if not given.
        """
        answer: Dump = self.call("dump", format=format, kinds=kinds, budget=budget)
        return answer

    def log(self, ref: str, *, limit: int | None = None) -> History:
        """
        Return the commits that changed a record, newest first, and what happened to it; git is asked.

        Args:
            ref: The record, as kind/name, or as its name alone.
            limit: Return at most this many; all if not given.
        """
        answer: History = self.call("log", ref=ref, limit=limit)
        return answer

    def diff(self, revisions: str | None = None) -> Difference:
        """
        Return what changed in the memory.

        Args:
            revisions: Two commits A..B or A...B, or one A against the files as they are; HEAD if not given.
        """
        answer: Difference = self.call("diff", revisions=revisions)
        return answer

    def why(self, ref: str, *, query: str | None = None) -> Why:
        """
        Return where a record comes from, what was merged into it, how it did, and why a query finds it.

        Args:
            ref: The record, as kind/name, or as its name alone.
            query: Say too why the record is in its place for this query.
        """
        answer: Why = self.call("why", ref=ref, query=query)
        return answer

    def check(self, *, base: str | None = None) -> BranchChecked:
        """
        Return what a branch does to the memory since it left another one, and what speaks against merging it.

        Args:
            base: Branch or commit that this one goes into; the default branch of the remote if not given.
        """
        answer: BranchChecked = self.call("check", base=base)
        return answer

    def ran(
        self,
        command: Sequence[str],
        *,
        status: int,
        log: Log = (),
        folder: Path | str | None = None,
        session: str | None = None,
        task: str | None = None,
        began: float | None = None,
        name: str | None = None,
    ) -> Ran:
        """
        Take the end of a run of a command, such as a test suite: what fails is matched, what passes after it counts.

        Args:
            log: The output of the command, as lines or as one text; read only where the command failed.
            command: The command with its arguments.
            status: Exit status of the command.
            folder: Folder where the command was run; the current one if not given.
            session: Name of a session; the project's own if not given.
            task: Task that reports of what helped are for.
            began: Second since 1970 at which it began; what changed later is its own.
            name: Name of the command; a pass counts for runs of this name.
        """
        answer: Ran = self.call(
            "ran",
            log,
            command=command,
            status=status,
            folder=folder,
            session=session,
            task=task,
            began=began,
            name=name,
        )
        return answer

    def stats(self, *, objective: str | None = None) -> Stats:
        """
        Return counts, capacity, worth, connectivity, and estimates; with an objective also the tiers for it.

        Args:
            objective: Also count how near the memories are to this objective.
        """
        answer: Stats = self.call("stats", objective=objective)
        return answer

    def impact(self) -> Impact:
        """Return what the hooks put into sessions of agents here, what of it was used, and what answers cost."""
        answer: Impact = self.call("impact")
        return answer

    def verify_loop(self, *, last: int = 10) -> Loop:
        """
        Report whether learning happens, over the last so many campaigns and runs, and where the loop is broken.

        Args:
            last: Number of campaigns and runs to look back over.
        """
        answer: Loop = self.call("verify_loop", last=last)
        return answer

    @staticmethod
    def init(folder: Path | str, *, nested: bool = False) -> Initialised:
        """
        Prepare a project: make ``.graphmem`` in ``folder``, or complete it; run again it changes nothing.

        Args:
            folder: The project's folder.
            nested: Make a memory of its own below a folder that has one.
        """
        answer: Initialised = call_without_store("init", folder=folder, nested=nested)
        return answer

    def export(self, *, to: Path | str | None = None) -> Exported:
        """
        Bring every file into canonical form, or write a canonical copy to another folder.

        Args:
            to: Folder to write a copy to; the store's own files if not given.
        """
        answer: Exported = self.call("export", to=to)
        return answer

    def export_check(self) -> Checked:
        """Report where a file is not canonical or does not check out; nothing is written."""
        answer: Checked = self.call("export_check")
        return answer

    def rebuild(self, *, embed: bool = True) -> Rebuilt:
        """
        Rebuild everything derived from the files; ``embed=False`` makes no vectors.

        Args:
            embed: Make the vectors that are missing.
        """
        answer: Rebuilt = self.call("rebuild", embed=embed)
        return answer

    def resolve(self) -> Resolved:
        """Merge what is between git's conflict markers, row by row, in every data file that has them."""
        answer: Resolved = self.call("resolve")
        return answer

    def split(self, kind: str, files: Literal[1, 16, 256] = 16) -> Split:
        """
        Put the rows of a kind into 16 or 256 files by the hash that orders them, or into one again.

        Args:
            kind: A kind, an entity type or a relation type.
            files: How many files its rows are to be in.
        """
        answer: Split = self.call("split", kind=kind, files=files)
        return answer

    def vacuum(self, *, dry_run: bool = False) -> Vacuumed:
        """
        Remove what is derived and not needed now: old vectors, past states, graphs of scopes, unused room.

        Args:
            dry_run: Only report what would be removed.
        """
        answer: Vacuumed = self.call("vacuum", dry_run=dry_run)
        return answer

    def reset(self, *, yes: bool = False) -> Reset:
        """
        Take all rows out of the memory, in one write; types, scopes and settings stay. Without ``yes`` count them.

        Args:
            yes: Take all rows out; without it they are only counted.
        """
        answer: Reset = self.call("reset", yes=yes)
        return answer

    def validate(self) -> Checked:
        """Check files, vocabulary, graph and search index against each other."""
        answer: Checked = self.call("validate")
        return answer

    def doctor(self, *, fix: bool = False) -> Doctored:
        """
        Check all that ``validate`` does, the clone, and what is derived; ``fix`` repairs what a program can.

        Args:
            fix: Repair what can be repaired automatically.
        """
        answer: Doctored = self.call("doctor", fix=fix)
        return answer

    def trust(self, *, yes: str | None = None) -> Trust:
        """
        Return what of the project needs trust; ``yes``, the digest of that answer, lets it count in this clone.

        Args:
            yes: Let in this clone count what the answer with this digest showed; without it, only show.
        """
        answer: Trust = self.call("trust", yes=yes)
        return answer

    def config(self, *, name: str | None = None) -> ConfigShown:
        """
        Return the settings that hold here, and what gave each.

        Args:
            name: Return this setting only, or those of this section.
        """
        answer: ConfigShown = self.call("config", name=name)
        return answer

    def view(self, *, most: int = 10000) -> PageData:
        """
        Return what the page of the memory shows: records with their places, edges, what waits, what happened.

        Args:
            most: Show at most this many records.
        """
        answer: PageData = self.call("view", most=most)
        return answer

    def observe(self, ref: str | None = None, *, run_verify: bool = False, yes: bool = False) -> Observed:
        """
        Turn the finished and blocked tasks of a campaign into failures, patterns, edges and reports.

        Args:
            ref: The campaign; the only active one if not given.
            run_verify: Run the verify commands of blocked tasks, which must be trusted.
            yes: Write the patterns that are offered.
        """
        answer: Observed = self.call("observe", ref=ref, run_verify=run_verify, yes=yes)
        return answer

    def hook(
        self,
        client: Literal["claude-code", "codex", "gemini", "opencode", "cursor"],
        event: str,
        *,
        until: float | None = None,
    ) -> HookAnswer:
        """
        Answer an event of a coding agent, and keep what its session was shown.

        Args:
            client: The client that reports it.
            event: The event as the client sends it: a JSON object.
            until: Second since 1970 after which the client waits no longer.
        """
        answer: HookAnswer = self.call("hook", client=client, event=event, until=until)
        return answer
