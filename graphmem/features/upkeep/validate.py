"""Check: files, vocabulary, graph and search index against each other."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import NamedTuple

import orjson
from pydantic import ValidationError

from graphmem.constants import CLOCK_SKEW_S, MOST_TRIES, REPAIR_COMMAND
from graphmem.core.evidence.versions import packages_in
from graphmem.core.logs.project_formats import format_findings
from graphmem.core.records.cycle import cycles
from graphmem.core.records.kingfisher import finder, is_suspect
from graphmem.core.records.places import Places, shortened_fields
from graphmem.core.records.screening import places
from graphmem.core.records.secrets import new_secrets
from graphmem.errors import BadInput, Locked, Unavailable
from graphmem.features.upkeep.conflicts import left, out_of_place
from graphmem.features.upkeep.export import stale_vocabulary
from graphmem.kernel.catalog.database import CatalogError
from graphmem.kernel.catalog.vectors import damaged
from graphmem.kernel.catalog.words import LexicalIndex
from graphmem.kernel.finding import Checked, Code, Finding
from graphmem.kernel.ledger.extractors import read_extractors, undeclared_in
from graphmem.kernel.ledger.parts import holds, usual_file
from graphmem.kernel.ledger.scopes import read_scopes
from graphmem.kernel.ledger.types import read_bounded, type_files
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.field import format_time, instant
from graphmem.kernel.model.proof import proof_of
from graphmem.kernel.model.record import Triggered
from graphmem.kernel.ndjson import Row
from graphmem.kernel.registry import extensions, operation
from graphmem.kernel.store.in_git import SHARED, not_on_disk
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command
from graphmem.kernel.versions import Used, comparable
from graphmem.names import DEVICE, label, relation_label, split_ref, visible
from graphmem.patterns import lazy_re

WORD = lazy_re(r"[A-Za-z][\w-]*")
FACT_EDGES = frozenset({"used", "seen_in", "about"})  # what facts make
SCARCE = ("memory", "time", "busy")  # what a look at the graph may lack; that is no damage
NO_SECRET = "no secret in a file of git"
SECRET_FIX = "revoke it; take it out with graphmem edit, or graphmem purge, which also says how git forgets it"


class FindingDraft(NamedTuple):
    """A finding about a row, with its ``line`` if its file is known."""

    file: str
    line: bytes | None
    code: Code
    message: str
    expected: str
    fix: str | None


@operation(
    "validate",
    scoped=True,
    example="graphmem validate",
    is_report=True,
    help="Check files, vocabulary and graph against each other; errors exit 1, warnings alone exit 0.",
)
def validate(client: Client) -> Checked:
    """
    Check files, vocabulary, graph and search index against each other.

    It begins again at another moment where the graph, which has a lock of its own, has gone on since.
    """
    if client.whole is not None:  # of some rows alone, most would seem to be missing
        return checked([found for found in validate(client.whole).findings if client.may_see(found.file)])
    client.refuse_unusable()
    damage = client.catalog.damage()
    if damage:  # then nothing else can be checked
        return checked([_derived("catalog.sqlite", Code.CATALOG_DAMAGED, f"the catalog is damaged: {damage}")])
    for _ in range(MOST_TRIES):
        client.sync(is_thorough=True)
        index = _index_damage(client.lexical)
        with client.reading() as snapshot:
            graph = _graph_findings(client, snapshot.catalog.position)
            if graph is None:
                continue  # another process has gone on since; the two are to be of one moment
            rows = [
                *_dangling(client),
                *_doubled_names(snapshot),
                *_circles(snapshot),
                *_versions_of_words(snapshot),
                *_bad_proofs(snapshot),
                *_lost_successors(client),
                *_ahead(snapshot),
                *_odd_texts(snapshot),
            ]
            findings = (
                linked(snapshot) + _misnamed(snapshot) + _unmerged(snapshot) + _misplaced(snapshot) + purged(client)
            )
            findings += [*not_on_disk(snapshot.layout), *_named_as_devices(snapshot)]
            findings += (
                _exposing_types(snapshot)
                + _unusable_extractors(snapshot)
                + format_findings(snapshot.layout)
                + client.ledger.findings()
                + _placed(snapshot, rows)
                + read_scopes(snapshot.layout, snapshot.vocabulary.record_types)[1]
            )
            findings += (
                _shadowing(snapshot)
                + stale_vocabulary(snapshot)
                + _vectors_damaged(client)
                + _catalog_differences(client)
            )
            found = findings + (index or _index_differences(snapshot)) + graph
        found += [one for check in extensions("check") for one in check(client)]
        files = {one: "config.toml" if one.is_of_project else one.where for one in client.settings.wrong}
        return checked(
            found + [Finding.of(file, Code.BAD_SETTING, one.message, one.right) for one, file in files.items()]
        )
    raise Unavailable("the store changes all the time", hint="validate again when less is going on")


def linked(snapshot: Snapshot) -> list[Finding]:
    """Report where the store has symbolic links: what they hide is not read, and the store is not written."""
    return [
        Finding.of(
            _shown_path(path.relative_to(snapshot.layout.store).as_posix()),
            Code.LINK,
            "a symbolic link, which is not followed; nothing is written while it is there",
            "a file or a folder",
        )
        for path in safe_files.links(snapshot.layout.store)
    ]


def _misnamed(snapshot: Snapshot) -> list[Finding]:
    """Report which files are not read for their names, which a branch can make anything."""
    what, right = "a file of this name is not read", "a path of letters, digits and _ . - alone"
    return [
        Finding.of(_shown_path(file), Code.BAD_NAME, what, right) for file in snapshot.layout.look_at_rows().misnamed
    ]


def _named_as_devices(snapshot: Snapshot) -> list[Finding]:
    """Report which files Windows takes for devices: a repository with one cannot be checked out there."""
    what = "on Windows no file or folder can be called so, and the repository cannot be checked out there"
    folders = (snapshot.layout.store / name for name in SHARED)
    return [
        Finding.of(_shown_path(file), Code.WINDOWS_NAME, what, "another name", "another name, then git rm the file")
        for file in snapshot.layout.look(*folders).files
        if any(DEVICE.fullmatch(part) for part in file.split("/"))
    ]


def _unusable_extractors(snapshot: Snapshot) -> list[Finding]:
    """Report which extractors cannot run: their files cannot be read, or they write what no type declares."""
    extractors, findings = read_extractors(snapshot.layout)
    lacking = {name: undeclared_in(one, snapshot.vocabulary) for name, one in extractors.items()}
    return findings + [
        Finding.of(
            f"extractors/{name}.md",
            Code.BAD_EXTRACTOR,
            f"it writes {types[0]!r}, which is not a declared type",
            "declared types",
            line=1,
        )
        for name, types in lacking.items()
        if types
    ]


def _shown_path(file: str) -> str:
    """Return the path of a file as a text: a name may have bytes that are not UTF-8."""
    return visible(os.fsencode(file).decode("utf-8", "backslashreplace")).replace("\n", "\\n")


def _unmerged(snapshot: Snapshot) -> list[Finding]:
    """Report which files lack what the other side of a merge under way has."""
    what = "git's merge is not finished, and rows of the other side are missing"
    return [Finding.of(file, Code.UNMERGED, what, "both sides' rows", "graphmem resolve") for file in left(snapshot)]


def _misplaced(snapshot: Snapshot) -> list[Finding]:
    """Report which files of split kinds hold rows that belong in another one."""
    return [
        Finding.of(file, Code.MISPLACED, f"rows that belong in another file: {number:,}", "none", REPAIR_COMMAND)
        for file, number in out_of_place(snapshot).items()
    ]


def purged(client: Client) -> list[Finding]:
    """Report which files hold rows that were purged, and that a merge or an old branch brought back."""
    return [
        Finding.of(
            file,
            Code.PURGED_ROW,
            f"rows that had been purged came back: {number:,}; they are not read",
            "the file without them",
            REPAIR_COMMAND,
        )
        for file, number in client.catalog.purged_rows().items()
    ]


def _catalog_differences(client: Client) -> list[Finding]:
    """Report where the catalog does not hold the lines of the files, byte for byte."""
    aside = {finding.file for finding in client.ledger.findings()} | client.catalog.purged_rows().keys()
    differing = []
    for file in client.ledger.place.parts() if client.ledger.is_in_files else ():
        if file in aside:
            continue
        with safe_files.opened(client.layout.store / file) as handle:
            lines = {line for line in client.ledger.files.lines_in(file, handle) if line.strip()}
        if lines != client.catalog.lines(file).keys():
            differing.append(
                _derived("catalog.sqlite", Code.CATALOG_DIFFERS, f"{file} has other rows than the catalog")
            )
    return differing


def _vectors_damaged(client: Client) -> list[Finding]:
    """Report when vectors are not as they were written."""
    found = damaged(client.catalog, client.local / "vectors")
    what = f"{len(found):,} vectors are not as they were written"
    return [_derived("vectors", Code.VECTORS_DAMAGED, what)] if found else []


def checked(findings: list[Finding]) -> Checked:
    """Return findings as an answer; it is ok without errors."""
    return Checked(ok=not any(finding.severity == "error" for finding in findings), findings=findings)


def _placed(snapshot: Snapshot, suspects: Iterable[FindingDraft]) -> list[Finding]:
    """Return suspects with the numbers of their lines, in the order of files and lines; each file is read once."""
    wanted: dict[str, dict[bytes, int | None]] = {}
    suspects = list(suspects)
    for found in suspects:
        if found.line is not None:
            wanted.setdefault(found.file, {})[found.line] = None
    for file, lines in wanted.items() if snapshot.ledger.is_in_files else ():
        with safe_files.opened(snapshot.layout.store / file) as handle:
            for place, line in enumerate(snapshot.ledger.files.lines_in(file, handle), 1):
                if line in lines and lines[line] is None:
                    lines[line] = place
    findings = []
    for found in suspects:
        number = wanted[found.file][found.line] if found.line is not None else None
        findings.append(Finding.of(found.file, found.code, found.message, found.expected, found.fix, line=number))
    return sorted(findings, key=lambda found: (found.file, found.line or 0))


# --- rows ----------------------------------------------------------------------------------------------------------


def _dangling(client: Client) -> Iterator[FindingDraft]:
    """Yield the edges and reports whose records are missing or archived: they wait until these are there."""
    catalog, unread = client.catalog, _unreadable(client)
    for _, file, source, kind, target, src, dst, line in catalog.edges_without_effect():
        if file is None and (src is None or kind in FACT_EDGES):
            continue  # of a record that is archived itself; or of a fact, which stays true when its subject goes
        waiting = [ref for ref, number in ((source, src), (target, dst)) if number is None]
        missing = [ref for ref in waiting if catalog.lookup(*split_ref(ref)) is None]
        what = f"{' and '.join(missing)} missing" if missing else "both ends are one record"
        code: Code
        fix: str | None
        code, fix, expected = Code.DANGLING, REPAIR_COMMAND, "two live records"
        if _has_wrong_ends(src, dst):
            made = catalog.vocabulary.relations[kind]
            what = f"a {kind} edge goes from {' or '.join(made.sources)} to {' or '.join(made.targets)}"
            expected, unlink = "ends that the type allows", command("graphmem", "unlink", source, kind, target)
            is_own = kind in catalog.vocabulary.declared
            code, fix = (Code.NARROWED, f"{unlink}, or {REPAIR_COMMAND}") if is_own else (Code.NOT_ALLOWED, unlink)
        elif unread.intersection(split_ref(ref)[0] for ref in missing):
            code, fix = Code.UNREADABLE_END, None
            what = f"{' and '.join(missing)} cannot be read, or {'is' if len(missing) == 1 else 'are'} missing"
        elif file is None:
            code, fix = Code.DANGLING_FIELD, f"edit the row of {source}"
        if waiting and not missing:
            code, what, fix = (
                Code.WAITING,
                f"{' and '.join(waiting)} archived",
                command("graphmem", "restore", waiting[0]),
            )
        home = file or usual_file(split_ref(source)[0], None)
        yield FindingDraft(home, line if file else None, code, f"{source} {kind} {target}: {what}", expected, fix)
    for _, file, ref, line in catalog.reports_without_record():
        if split_ref(ref)[0] in unread:
            yield FindingDraft(
                file,
                line,
                Code.UNREADABLE_END,
                f"a report on {ref}: it cannot be read, or is missing",
                "a record that is there",
                None,
            )
        else:
            what = f"a report on {ref}: missing"
            yield FindingDraft(file, line, Code.DANGLING, what, "a record that is there", REPAIR_COMMAND)


def _unreadable(client: Client) -> set[str]:
    """
    Return the kinds and entity types of which records may be there that cannot be read: what names one of these waits.

    A file has bad lines, is of a type that no readable file declares or of a kind that this version does not know, or
    lies behind a link.
    """
    layout = client.layout
    files = {finding.file for finding in client.ledger.findings() if finding.code != Code.DRIFT}
    files |= {file for file in layout.data_files() if holds(file)[0] not in MODELS}
    files |= set(layout.look_at_rows().misnamed)
    linked = {path.relative_to(layout.store).as_posix() for path in safe_files.links(layout.store)}
    found = {PurePath(file).stem for file in files | linked if file.startswith("types/entities/")}
    for file in files | linked:
        if file.startswith("data/"):
            kind, type_name = holds(file)
            found.add(type_name or kind)
    return found


def _has_wrong_ends(src: int | None, dst: int | None) -> bool:
    """Return whether an edge without an effect has two ends, which its type does not allow."""
    return src is not None and dst is not None and src != dst


def dangling_rows(client: Client) -> dict[str, list[int]]:
    """Return the numbers of the rows that ``doctor`` takes out, by file: those that name what is missing."""
    catalog, unread = client.catalog, _unreadable(client)
    found: dict[str, list[int]] = {}
    for number, file, ref, _ in catalog.reports_without_record():
        if split_ref(ref)[0] not in unread:
            found.setdefault(file, []).append(number)
    for number, home, source, _, target, src, dst, _ in catalog.edges_without_effect():
        if home is None:
            continue
        waiting = [ref for ref, end in ((source, src), (target, dst)) if end is None]
        if _has_wrong_ends(src, dst):
            continue  # the type file may be what is wrong
        missing = [ref for ref in waiting if catalog.lookup(*split_ref(ref)) is None]
        if unread.isdisjoint(split_ref(ref)[0] for ref in missing) and (missing or not waiting):
            found.setdefault(home, []).append(number)
    return found


def _doubled_names(snapshot: Snapshot) -> Iterator[FindingDraft]:
    """Yield the records that are not shown by the name they hold, for another one of their record type holds it too."""
    for file, record_type, name, shown, line in snapshot.catalog.renamed_apart():
        yield FindingDraft(
            file,
            line,
            Code.DOUBLED_NAME,
            f"{record_type}/{name} is the name of another record too; this one is shown as {shown}",
            "one record a name",
            command("graphmem", "rename", f"{record_type}/{shown}", "NEW-NAME"),
        )


def _versions_of_words(snapshot: Snapshot) -> Iterator[FindingDraft]:
    """Yield the records with the version of a package that is a plain word of their texts: once that was taken."""
    catalog = snapshot.catalog
    for number, record in catalog.records(catalog.with_field("versions")).items():
        if not isinstance(record, Triggered):
            continue
        words = {comparable(word) for word in WORD.findall(record.search_text)}
        packages = {comparable(name): Used(name, frozenset({"0"})) for name in record.versions}
        named = packages_in(record.model_dump(), packages)
        odd = [name for name in record.versions if name not in named and comparable(name) in words]
        if odd:
            yield FindingDraft(
                *catalog.place_of(number),
                Code.WORD_VERSION,
                f"{record.ref} has the version of {', '.join(odd)}, which is only a word of its texts",
                "versions of the packages that it is about",
                command("graphmem", "edit", record.ref, '{"versions": {}}'),
            )


def _bad_proofs(snapshot: Snapshot) -> Iterator[FindingDraft]:
    """Yield the records whose field ``proven`` is not a proof."""
    catalog = snapshot.catalog
    for number, record in catalog.records(catalog.with_field("proven")).items():
        try:
            proof_of(record)
        except ValidationError as error:
            first = error.errors()[0]
            what = ".".join(map(str, ("proven", *first["loc"])))
            yield FindingDraft(
                *catalog.place_of(number),
                Code.BAD_PROOF,
                f"{what} of {record.ref} is not a proof: {first['msg']}",
                "the command, the full hashes of both commits, the time, and plain paths",
                command("graphmem", "edit", record.ref, "--unset", "proven"),
            )


def _circles(snapshot: Snapshot) -> Iterator[FindingDraft]:
    """Yield the tasks that wait for each other, one for each circle: two branches can make one together."""
    catalog = snapshot.catalog
    needs: dict[str, list[str]] = {}
    edges = catalog.live_ends("depends_on")
    refs = catalog.refs({number for edge in edges for number in edge})
    for source, target in edges:
        needs.setdefault(refs[source], []).append(refs[target])
    for around in cycles(needs) if needs else ():
        file, line = catalog.place_of(catalog.known([around[0]])[around[0]])
        yield FindingDraft(
            file,
            line,
            Code.CYCLE,
            f"the plan has a cycle: {' → '.join(around)}",
            "a plan that can be finished",
            "take one of these out of a task's depends",
        )


def _lost_successors(client: Client) -> Iterator[FindingDraft]:
    """Yield the records that are superseded by one that is missing."""
    catalog, unread = client.catalog, _unreadable(client)
    for number, ref in catalog.refs(catalog.with_field("superseded_by", is_live=False)).items():
        file, line = catalog.place_of(number)
        successor = orjson.loads(line).get("superseded_by")
        is_named = isinstance(successor, str) and split_ref(successor)[0] not in unread
        if is_named and catalog.lookup(*split_ref(successor)) is None:
            yield FindingDraft(
                file,
                line,
                Code.LOST_SUCCESSOR,
                f"{ref} is superseded by {successor}, which is missing",
                "a record that is there",
                command("graphmem", "restore", ref),
            )


def _ahead(snapshot: Snapshot) -> Iterator[FindingDraft]:
    """Yield the rows that say they were made or changed in the future: the clock of a machine is ahead."""
    bound = snapshot.now + timedelta(seconds=CLOCK_SKEW_S)
    for file, line in snapshot.catalog.all_lines():
        last = max(_times_of(orjson.loads(line)), default=None)
        if last is not None and last > bound:
            yield FindingDraft(
                file,
                line,
                Code.FUTURE,
                f"it is of {format_time(last)}, which is in the future",
                "a time that has been",
                "correct the system clock, then edit the time of the row",
            )


def _odd_texts(snapshot: Snapshot) -> Iterator[FindingDraft]:
    """
    Yield the rows with texts that no command lets in: written by hand, by a merge, on request, or before the rule.

    All rows are read once for what looks like a secret and for paths of a machine.
    """
    is_asked, kept = snapshot.settings.store.secrets != "allow", places(snapshot)
    for file, line in snapshot.catalog.all_lines():
        if is_asked and is_suspect(line):
            for found in new_secrets(orjson.loads(line), {}, finder()):
                message = f"{found.field} looks like it holds a secret: {found.rule}"
                yield FindingDraft(file, line, Code.SECRET, message, NO_SECRET, SECRET_FIX)
        if kept.may_be_in(line):
            yield from _machine_paths(file, line, kept)


def _machine_paths(file: str, line: bytes, kept: Places) -> Iterator[FindingDraft]:
    """Yield that the texts of a row have paths of a machine, with the edit that shortens them."""
    row: dict[str, object] = orjson.loads(line)
    short = {name: new for name, value in row.items() if (new := shortened_fields(value, kept, name)) is not value}
    if short:
        ref = f"{row.get('type') if row.get('kind') == 'entity' else row.get('kind')}/{row.get('name')}"
        fix = command("graphmem", "edit", ref, orjson.dumps(short).decode()) if "name" in row else None
        message = f"{', '.join(short)}{f' of {ref}' if fix else ''}: a path of a machine"
        yield FindingDraft(file, line, Code.MACHINE_PATH, message, "a path from the project's root, or from ~", fix)


def _shadowing(snapshot: Snapshot) -> list[Finding]:
    """Report the relation types of the project whose names graphmem has too, mostly since a later version."""
    what = "graphmem has a relation type of this name; the project's own is used"
    return [
        Finding.of(f"types/relations/{name}.md", Code.SHADOWING, what, "a name of its own", line=1)
        for name in snapshot.vocabulary.shadowing
    ]


def _exposing_types(snapshot: Snapshot) -> list[Finding]:
    """Report the lines of type files that hold what looks like a secret."""
    if snapshot.settings.store.secrets == "allow":
        return []
    findings = []
    for path in type_files(snapshot.layout):
        try:
            text = read_bounded(path).decode("utf-8", "replace")
        except (OSError, ValueError):  # it is reported as a type that cannot be read
            continue
        for found in finder()(text):
            file, line = path.relative_to(snapshot.layout.store).as_posix(), text.count("\n", 0, found.start) + 1
            message = f"looks like it holds a secret: {found.rule}"
            findings.append(Finding.of(file, Code.SECRET, message, NO_SECRET, SECRET_FIX, line=line))
    return findings


def _times_of(row: Row) -> Iterator[datetime]:
    """Yield when a row was made and changed; under these names a row of another version may hold other things."""
    edited = row.get("edited")
    for value in (row.get("created_at"), row.get("at"), *(edited.values() if isinstance(edited, dict) else ())):
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                yield instant(value)


# --- what is derived -----------------------------------------------------------------------------------------------


def _index_damage(lexical: LexicalIndex) -> list[Finding]:
    """Bring the search index up to date; report where that cannot be."""
    try:
        lexical.catch_up()
    except CatalogError as error:
        return [_derived("catalog.sqlite", Code.INDEX_DIFFERS, f"the search index cannot be written: {error}")]
    return []


def _index_differences(snapshot: Snapshot) -> list[Finding]:
    """Report where the search index does not hold the records that the files have."""
    missing, extra = snapshot.lexical.differences()
    return [
        _derived("catalog.sqlite", Code.INDEX_DIFFERS, f"{number:,} records {what}")
        for number, what in ((missing, "are not in the search index"), (extra, "too many are in the search index"))
        if number
    ]


def _derived(file: str, code: Code, message: str) -> Finding:
    """Return what is wrong with something that can be made again."""
    return Finding.of(f"local/{file}", code, message, "what the files say", "graphmem rebuild")


def _graph_findings(client: Client, position: tuple[int, int]) -> list[Finding] | None:
    """Report where the graph differs from the files; None where it is of another moment. No graph is made for this."""
    if not (extensions("graph") and client.graph.exists):
        return []
    try:
        reached, counts = client.graph.counts()
        return _graph_differences(client, counts) if reached == position else None
    except Locked:
        raise
    except (BadInput, Unavailable) as error:
        if error.details.get("cause") not in SCARCE:
            return [_derived(client.graph.location, Code.GRAPH_DAMAGED, f"the graph cannot be read: {error.message}")]
        found = _derived(client.graph.location, Code.GRAPH_UNCHECKED, f"the graph was not compared: {error.message}")
        return [found.model_copy(update={"fix": None})]


def _graph_differences(client: Client, found: Mapping[str, int]) -> list[Finding]:
    """Report where the graph does not hold as many nodes and edges as the files."""
    catalog = client.catalog
    counts, edges = catalog.counts_by_type(), catalog.edge_counts()
    wanted = {label(record_type): counts.get(record_type, 0) for record_type in catalog.vocabulary.record_types}
    wanted |= {relation_label(kind): edges.get(kind, 0) for kind in catalog.vocabulary.relations}
    return [
        _derived(
            client.graph.location,
            Code.GRAPH_DIFFERS,
            f"{name}: {found.get(name, 0)} in the graph, {number} in the files",
        )
        for name, number in wanted.items()
        if found.get(name, 0) != number
    ]
