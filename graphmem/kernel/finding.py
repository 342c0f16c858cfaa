"""What a check found, and where."""

from enum import StrEnum
from typing import Literal, Self

from graphmem.kernel.answer import Answer, Part

Severity = Literal["error", "warning"]


class Code(StrEnum):
    """What a finding is about, with its usual severity and its meaning; the page of errors is made from these."""

    severity: Severity
    meaning: str

    def __new__(cls, value: str, severity: Severity = "error", meaning: str = "") -> Self:
        made = str.__new__(cls, value)
        made._value_, made.severity, made.meaning = value, severity, meaning
        return made

    # Lines of a file or of an input.
    BAD_JSON = "bad_json", "error", "The line is not a JSON object, or holds a number that not every reader keeps."
    BAD_UTF8 = "bad_utf8", "error", "The line has bytes or characters that are not UTF-8."
    TOO_DEEP = "too_deep", "error", "A value is nested too deeply."
    TOO_LARGE = "too_large", "error", "The line is larger than a row may be."
    REPEATED_KEY = "repeated_key", "error", "A key appears twice in one object."
    CONFLICT_MARKER = "conflict_marker", "error", "Git left a conflict in the file."
    UNKNOWN_KIND = "unknown_kind", "error", "The row is of a kind that this version does not know."
    BAD_ROW = "bad_row", "error", "A field of the row is missing or has a value that it cannot have."
    WRONG_FILE = "wrong_file", "error", "The row belongs in another file."
    DUPLICATE_KEY = "duplicate_key", "error", "Another row has the same key; one of them is not read."
    MORE_BAD_LINES = "more_bad_lines", "error", "The file has more bad lines than are listed."
    FILE_TOO_LARGE = "file_too_large", "error", "The file is too large to be read."
    # Rows of an input that a rule refuses, by the code of the error.
    REFUSED = "refused", "error", "A rule refuses the row of the input."
    CONFLICT = "conflict", "error", "The row of the input takes a name that another record has."
    # Types.
    BAD_TYPE = "bad_type", "error", "The file of a type cannot be read."
    UNKNOWN_TYPE = "unknown_type", "error", "Rows or a relation type name a type that no file declares."
    DRIFT = "drift", "error", "Rows are of a type that no file declares; they are read, and not written."
    SHADOWING = (
        "shadowing",
        "warning",
        "The project's relation type has the name of a built-in one; it is used.",
    )
    STALE_SCHEMA = "stale_schema", "warning", "`schema.json` differs from the types; for `export --check` an error."
    BAD_SCOPE = "bad_scope", "error", "The file of a scope cannot be read; a caller with the scope gets nothing."
    UNKNOWN_IN_SCOPE = "unknown_in_scope", "warning", "A scope names a type that no file declares."
    BAD_EXTRACTOR = "bad_extractor", "error", "The file of an extractor cannot be read, or names an undeclared type."
    BAD_FORMAT = "bad_format", "error", "A format of what a tool prints cannot be used; its file is left out."
    BAD_QUERY = "bad_query", "error", "A stored query of the project cannot be run; the message says why."
    # Definitions of guarded work.
    BAD_DEFINITION = "bad_definition", "error", "The file of a flow, a cycle or an artefact type cannot be read."
    UNDEFINED = "undefined", "error", "A definition names another one, a scope or an extractor that has no file."
    SHARED_FILES = "shared_files", "error", "An artefact type can have a file that is not its own; it is left out."
    UNREACHED = "unreached", "warning", "A cycle can follow in no flow."
    # The files as a whole.
    LINK = "link", "error", "The store has a symbolic link, which is not followed."
    BAD_NAME = "bad_name", "error", "The name of a file cannot be that of a file of the store; it is not read."
    WINDOWS_NAME = (
        "windows_name",
        "warning",
        "Windows cannot check out a repository with a file of this name.",
    )
    UNMERGED = "unmerged", "error", "A merge of git is not finished, and rows of the other side are missing."
    NOT_ON_DISK = "not_on_disk", "error", "Git has a data file that is not on the disk; its rows are not read."
    LFS_POINTER = "lfs_pointer", "error", "The file is a pointer of Git LFS; its rows are not here."
    NOT_CANONICAL = "not_canonical", "error", "The file is not as `export` writes it; only of `export --check`."
    MISPLACED = "misplaced", "warning", "Rows of a kind that is split are in another file than where they belong."
    PURGED_ROW = "purged_row", "warning", "A merge brought purged rows back; they are not read."
    # Rows beside each other.
    DANGLING = "dangling", "warning", "An edge or a report names a record that is missing; of an input, an error."
    DANGLING_FIELD = "dangling_field", "warning", "A field of a record names a record that is missing."
    WAITING = "waiting", "warning", "An edge names a record that is archived."
    UNREADABLE_END = "unreadable_end", "warning", "An edge or a report names a record that may be in an unread file."
    NOT_ALLOWED = "not_allowed", "warning", "The type of an edge does not allow the records that it connects."
    NARROWED = "narrowed", "warning", "The file of a type no longer allows the records that an edge of it connects."
    DOUBLED_NAME = "doubled_name", "warning", "Two records have one name; one of them is shown by another."
    LOST_SUCCESSOR = "lost_successor", "warning", "The record that superseded another one is missing."
    CYCLE = "cycle", "error", "Tasks of a plan wait for each other."
    WORD_VERSION = (
        "word_version",
        "warning",
        "A record has the version of a package that its texts only have as a word.",
    )
    BAD_PROOF = (
        "bad_proof",
        "warning",
        "The field `proven` of a record is not a proof; it is neither shown nor run.",
    )
    FUTURE = "future", "warning", "A row has a time in the future."
    SECRET = "secret", "warning", "A text looks like it holds a secret; of an input, an error."
    MACHINE_PATH = "machine_path", "warning", "A text has a path of a machine: a home, or a temporary folder."
    # What is derived from the files.
    CATALOG_DAMAGED = "catalog_damaged", "error", "The catalog is damaged; nothing else could be checked."
    CATALOG_DIFFERS = "catalog_differs", "error", "The catalog has other rows than a file."
    INDEX_DIFFERS = "index_differs", "error", "The search index has other records than the files."
    VECTORS_DAMAGED = "vectors_damaged", "error", "Stored vectors are not as they were written."
    GRAPH_DAMAGED = "graph_damaged", "error", "The graph cannot be read."
    GRAPH_DIFFERS = "graph_differs", "error", "The graph has other nodes or edges than the files."
    GRAPH_UNCHECKED = "graph_unchecked", "warning", "The graph was not compared, for lack of memory or time."
    BAD_SETTING = "bad_setting", "error", "A setting is unknown or has no valid value, or a config file cannot be read."
    # This clone and this machine; only `doctor` looks at these.
    NOT_SET_UP = "not_set_up", "warning", "`graphmem init` was not run in this clone."
    TRACKED = "tracked", "error", "Git tracks what belongs to this machine alone."
    MISSING_FOLDER = "missing_folder", "warning", "A folder of the store is missing."
    MISSING_ENTRY = "missing_entry", "warning", "A file of git lacks lines that `graphmem init` writes."
    UNREGISTERED = "unregistered", "warning", "The configuration of git in this clone lacks a setting."
    NO_WORKING_TREE = "no_working_tree", "warning", "The store is in no working tree of git: no commit can hold it."
    KEPT_OUT = "kept_out", "warning", "An ignore rule of git keeps files of the store out of every commit."
    ATTRIBUTES = "attributes", "warning", "Attributes of git change the data files, or how they are merged."
    UNCOMMITTED = "uncommitted", "warning", "Another worktree of the repository has memory that is in no commit."
    NOT_ADDED = "not_added", "warning", "Data files are new to git, so that `git commit -a` leaves them out."
    STATE_DAMAGED = "state_damaged", "warning", "What this machine keeps beside the rows cannot be read."
    LARGE_KIND = "large_kind", "warning", "The rows of a kind are so many that writing one takes long; see `split`."
    LEFTOVER = "leftover", "warning", "A process that died left a file."
    UNTRUSTED = "untrusted", "warning", "A setting of the project has no effect until it is trusted."
    NO_MODEL = "no_model", "warning", "The embedding model cannot be loaded; search is by words alone."
    CLIENT = "client", "warning", "The files of a coding agent lack what `graphmem install` writes."


class Finding(Part):
    """
    One thing that a check found, and where.

    ``expected`` names what would be right there, empty where the message says all; ``fix`` is what to do.
    """

    file: str
    line: int | None
    column: int | None
    code: Code
    severity: Severity
    message: str
    expected: str
    fix: str | None

    @classmethod
    def of(
        cls,
        file: str,
        code: Code,
        message: str,
        expected: str,
        fix: str | None = None,
        *,
        line: int | None = None,
        severity: Severity | None = None,
    ) -> Self:
        """Return a finding about a file, or about the beginning of a line of it."""
        return cls(
            file=file,
            line=line,
            column=line and 1,
            code=code,
            severity=severity or code.severity,
            message=message,
            expected=expected,
            fix=fix,
        )

    def with_fix(self, label: str) -> str:
        """Return the finding as one line, with what to do behind a label."""
        return f"{self} ({label}: {self.fix})" if self.fix else str(self)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}" + (f", expected {self.expected}" if self.expected else "")


class Checked(Answer):
    """What a check found; ``ok`` is false where there is an error."""

    ok: bool
    findings: list[Finding]


class Doctored(Checked):
    """What ``doctor`` found, and with ``--fix --yes`` what is left; ``mended`` lists the repairs."""

    mended: list[Finding]
