"""The use cases of each noun: ``memory.failures``, ``memory.lessons`` and the like."""

from collections.abc import Collection, Iterable

from graphmem.contract.campaigns import CampaignTasks, Ready
from graphmem.contract.experiences import Promoted, Recalled
from graphmem.contract.lessons import Injected, Learned
from graphmem.contract.records import Changed
from graphmem.contract.relations import Linked
from graphmem.contract.sessions import SessionContext
from graphmem.contract.vocabulary import TypeList
from graphmem.model.blackboard import TaskStage
from graphmem.model.campaign import CampaignStatus
from graphmem.model.experience import Outcome
from graphmem.model.insight import Category
from graphmem.model.vocabulary import EntityType, RelationType
from graphmem.retry import repeated
from graphmem.runtime import Store
from graphmem.usecase import campaigns, vocabulary
from graphmem.usecase.learning import experiences, sessions
from graphmem.usecase.records import change, relations


class Noun:
    """Use cases of one noun."""

    def __init__(self, store: Store) -> None:
        self.store = store


@repeated()
class Failures(Noun):
    """What went wrong, and what fixes it."""

    def add(self, trigger: str, *, name: str | None = None, dedup: bool = True, dry_run: bool = False,
            replace: bool = False, **fields: object) -> Changed:  # fmt: skip
        """Add a failure; fields: fix, match, cost, tags, sources, files, cites, flaky. A repeated one is merged."""
        return change.add(self.store, "failure", {"trigger": trigger, "name": name, **fields}, dedup=dedup,
                           dry_run=dry_run, replace=replace)  # fmt: skip


@repeated()
class Patterns(Noun):
    """What works."""

    def add(self, trigger: str, insight: str, *, name: str | None = None, dedup: bool = True, dry_run: bool = False,
            replace: bool = False, **fields: object) -> Changed:  # fmt: skip
        """Add a pattern; fields: saved, tags, sources, framework, files, cites. A repeated one is merged."""
        return change.add(self.store, "pattern", {"trigger": trigger, "insight": insight, "name": name, **fields},
                           dedup=dedup, dry_run=dry_run, replace=replace)  # fmt: skip


@repeated()
class Entities(Noun):
    """Things of the project."""

    def add(self, type_name: str, name: str, *, value: str | None = None, dry_run: bool = False,
            **fields: object) -> Changed:  # fmt: skip
        """Add an entity of a declared type, or change its value."""
        return change.add(self.store, "entity", {"type": type_name, "name": name, "value": value, **fields},
                           dry_run=dry_run)  # fmt: skip


@repeated(holds=("learn",))
class Lessons(Noun):
    """What runs taught: seen again, fading, and injected into prompts."""

    def add(self, description: str, *, name: str | None = None, dedup: bool = True, dry_run: bool = False,
            replace: bool = False, **fields: object) -> Changed:  # fmt: skip
        """Add a lesson by hand; a ``preference`` is for every prompt at once, any other once two runs saw it."""
        given = {"description": description, "name": name, **fields}
        return change.add(self.store, "lesson", given, dedup=dedup, dry_run=dry_run, replace=replace)

    def learn(self, events: Iterable[bytes], *, name: str = "<events>", run: str | None = None,
              semantic: bool = False) -> Learned:  # fmt: skip
        """
        Take from the events of a finished run which lessons it saw, and new ones; the same events change nothing.

        Args:
            events: NDJSON; the findings of each ``review.verdict`` count.
            run: what identifies the run; None for what the events or the name of the input say.
            semantic: a finding that means the same as a lesson counts too.
        """
        from graphmem.usecase.learning import lessons  # noqa: PLC0415 - no other command needs it

        return lessons.learn(self.store, events, name=name, run=run, semantic=semantic)

    def decay(self, run: str) -> Learned:
        """Record a run that saw no lesson, and say which lessons it moved."""
        from graphmem.usecase.learning import lessons  # noqa: PLC0415 - no other command needs it

        return lessons.decay(self.store, run)

    def inject(self, *, domain: str | None = None, archetype: str | None = None) -> Injected:
        """Return the lessons that belong into a prompt, at most ten, ready to be put there."""
        from graphmem.usecase.learning import lessons  # noqa: PLC0415 - no other command needs it

        return lessons.inject(self.store, domain=domain, archetype=archetype)


@repeated()
class Experiences(Noun):
    """What finished tasks taught."""

    def add(self, task_type: str, description: str, *, approach: str, outcome: Outcome, lessons: Collection[str],
            name: str | None = None, dry_run: bool = False, **fields: object) -> Changed:  # fmt: skip
        """Add what a finished task taught; the oldest of low confidence goes where there would be more than 200."""
        given = {"task_type": task_type, "description": description, "approach": approach, "outcome": outcome,
                 "lessons": list(lessons), "name": name, **fields}  # fmt: skip
        return change.add(self.store, "experience", given, dry_run=dry_run)

    def recall(self, *, task_type: str | None = None, tags: Collection[str] = ()) -> Recalled:
        """Return the newest experiences with this type of task or one of these tags, and their lessons."""
        return experiences.recall(self.store, task_type=task_type, tags=tags)

    def promote(self, *, category: Category | None = None, yes: bool = False) -> Promoted:
        """Find what experiences of different days and tasks agree on; ``yes`` writes it as insights."""
        return experiences.promote(self.store, category=category, yes=yes)


@repeated()
class Insights(Noun):
    """What several experiences agree on."""

    def add(self, category: Category, statement: str, *, derived_from: Collection[str], name: str | None = None,
            dry_run: bool = False, **fields: object) -> Changed:  # fmt: skip
        """Add an insight by hand; it needs two experiences of different days and tasks."""
        given = {"category": category, "statement": statement, "derived_from": list(derived_from), "name": name}
        return change.add(self.store, "insight", {**given, **fields}, dry_run=dry_run)


@repeated()
class Sessions(Noun):
    """What is current, what was decided, and what has to be kept to; ``name`` is of a session, None the project's."""

    def show(self, name: str | None = None) -> SessionContext:
        """Return what is current; the empty answer where nothing is."""
        return sessions.show(self.store, name)

    def start(self, name: str | None = None, *, conversation: str | None = None,
              task: str | None = None) -> SessionContext:  # fmt: skip
        """Begin a session anew; the preferences of the user stay."""
        return sessions.start(self.store, name, conversation=conversation, task=task)

    def work_on(self, description: str | None = None, name: str | None = None, *, id: str | None = None,  # noqa: A002
                type: str | None = None, status: TaskStage | None = None) -> SessionContext:  # noqa: A002  # fmt: skip
        """Say what is being worked on, or how it stands; a new description begins a new task."""
        fields = {"description": description, "id": id, "type": type, "status": status}
        return sessions.work_on(self.store, name, fields)

    def decide(self, decision: str, name: str | None = None, *, reasoning: str | None = None, task: str | None = None,
               key: str | None = None) -> Changed:  # fmt: skip
        """Record a decision; ``key`` is its name, made from the text if not given."""
        return sessions.decide(self.store, name, decision, reasoning=reasoning, task=task, key=key)

    def constrain(self, constraint: str, name: str | None = None, *, source: str | None = None,
                  expires_at: str | None = None, key: str | None = None) -> Changed:  # fmt: skip
        """Record a constraint, for everybody or for a named session, until a time if one is given."""
        return sessions.constrain(self.store, name, constraint, source=source, expires_at=expires_at, key=key)

    def prefer(self, name: str | None = None, **values: str | None) -> SessionContext:
        """Note how the user wants to work: communication_style, approval_gates, default_model_profile."""
        return sessions.prefer(self.store, name, values)

    def note(self, name: str | None = None, *, messages: int | None = None, conversation: str | None = None,
             skills: Collection[str] = (), used: Collection[str] = ()) -> SessionContext:  # fmt: skip
        """Note how far the session has come, the skills it invoked and the records it used."""
        return sessions.note(self.store, name, messages=messages, conversation=conversation, skills=skills, used=used)

    def end(self, name: str | None = None) -> Changed:
        """End the session: what it was and used becomes a record."""
        return sessions.end(self.store, name)


@repeated()
class Relations(Noun):
    """Typed, weighted edges."""

    def link(self, source: str, kind: str, target: str, *, weight: float | None = None, note: str | None = None,
             sources: Collection[str] = ()) -> Linked:  # fmt: skip
        """Add an edge, or change its weight and note; without a weight it has that of its type."""
        return relations.link(self.store, source, kind, target, weight=weight, note=note, sources=sources)

    def unlink(self, source: str, kind: str, target: str) -> Linked:
        """Take an edge out."""
        return relations.unlink(self.store, source, kind, target)


@repeated()
class Campaigns(Noun):
    """Pieces of work that are more than one task."""

    def create(self, objective: str, *, name: str | None = None, framework: str | None = None,
               **fields: object) -> Changed:  # fmt: skip
        """Begin a campaign."""
        return change.add(
            self.store, "campaign", {"objective": objective, "name": name, "framework": framework, **fields}
        )

    def add_tasks(self, ref: str, plan: object) -> CampaignTasks:
        """Add the tasks of a plan (a list, or ``{"tasks": […]}``), all or none; cycles are refused with their path."""
        return campaigns.add_tasks(self.store, ref, plan)

    def ready(self, ref: str) -> Ready:
        """Return the tasks that can start now."""
        return campaigns.ready(self.store, ref)

    def complete(self, ref: str, *, outcome: str | None = None, status: CampaignStatus | None = None) -> CampaignTasks:
        """Finish a campaign, complete or partly, and keep its fingerprint for ``similar``."""
        return campaigns.complete(self.store, ref, outcome=outcome, status=status)


@repeated()
class Types(Noun):
    """The vocabulary of the project."""

    def list(self) -> TypeList:
        """Return the project's types, and graphmem's own relations."""
        return vocabulary.type_list(self.store)

    def show(self, name: str) -> EntityType | RelationType:
        """Return one type."""
        return vocabulary.type_show(self.store, name)

    def add_entity(self, name: str, *, description: str = "", search: bool = True) -> EntityType:
        """Declare an entity type."""
        made = vocabulary.type_add(
            self.store, vocabulary.new_type(EntityType, type=name, description=description, search=search)
        )
        assert isinstance(made, EntityType)
        return made

    def add_relation(self, name: str, *, sources: Collection[str], targets: Collection[str], weight: float = 1.0,
                     symmetric: bool = False, description: str = "") -> RelationType:  # fmt: skip
        """Declare a relation type and between what it may stand."""
        made = vocabulary.type_add(self.store, vocabulary.new_type(
            RelationType, type=name, sources=tuple(sources), targets=tuple(targets), weight=weight, symmetric=symmetric,
            description=description,
        ))  # fmt: skip
        assert isinstance(made, RelationType)
        return made
