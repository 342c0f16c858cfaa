"""What people type who know other tools, and what it is called here: one table for the hints of unknown words."""

# A command that there is not, and the one that does it.
COMMANDS = {
    "archive": "forget", "ask": "query", "backup": "export", "cat": "get", "change": "edit", "check": "validate",
    "connect": "link", "create": "add", "delete": "forget", "destroy": "purge", "disconnect": "unlink",
    "dump": "export", "find": "query", "fixes": "solutions", "grep": "query", "history": "log",
    "import": "add --ndjson",
    "info": "stats", "insert": "add", "lint": "validate", "load": "add --ndjson", "lookup": "query", "ls": "list",
    "merge": "resolve", "modify": "edit", "new": "add", "prime": "context", "read": "get", "ready": "campaign ready",
    "recall": "context", "record": "add", "reindex": "rebuild", "relate": "link", "remember": "add",
    "remove": "forget", "repair": "doctor", "report": "feedback", "revert": "undo", "rm": "forget",
    "rollback": "undo", "run": "ran", "save": "add", "search": "query", "set": "edit", "show": "get",
    "solve": "solutions", "status": "stats", "sync": "rebuild", "test": "ran", "unarchive": "restore",
    "update": "edit", "view": "get", "vote": "feedback",
}  # fmt: skip

# An option that there is not, and those that may mean it; the hint names the ones that the command has.
OPTIONS = {
    "--because": ("--because", "--reason", "--note"),
    "--body": ("--value", "--description"),
    "--comment": ("--note", "--reason", "--because"),
    "--count": ("--limit",),
    "--error": ("--trigger",),
    "--force": ("--yes", "--replace"),
    "--format": ("--json",),
    "--message": ("--trigger", "--description", "--reason"),
    "--max": ("--limit",),
    "--output": ("--json", "--to"),
    "--path": ("--file",),
    "--project": ("--dir",),
    "--reason": ("--because", "--note"),
    "--regex": ("--match",),
    "--root": ("--dir",),
    "--solution": ("--fix", "--insight"),
    "--tags": ("--tag",),
    "--text": ("--trigger", "--description"),
    "--title": ("--name",),
    "--top": ("--limit",),
    "--type": ("--kind",),
    "--why": ("--because", "--reason", "--note"),
}

# What an option of another command would do here.
INSTEAD = {
    ("list", "--kind"): "the kind is an argument: graphmem list failure",
    ("list", "--type"): "the type is an argument: graphmem list module",
    ("prune", "--dry-run"): "without --yes it only shows what would go",
    ("purge", "--dry-run"): "without --yes it only shows what would go",
    ("promote", "--dry-run"): "without --yes it only shows what would be written",
    ("doctor", "--dry-run"): "--fix without --yes only says what would be done",
    ("add entity", "--cite"): "an entity has no cites; --source says where it comes from",
    ("add entity", "--file"): "an entity has no files; --source says where it comes from",
    ("add entity", "--tag"): "an entity has no tags; its type and its value say what it is",
    ("add entity", "--name"): "the name is an argument: graphmem add entity TYPE NAME",
    ("query", "--tag"): "tags are for: graphmem context TEXT --tag TAG, and graphmem list --tag TAG",
}
