"""A git repository of a test: real git, and nothing of this machine's settings."""

import os
import shutil
import subprocess
from copy import copy
from pathlib import Path

WHEN = "2026-11-0{}T10:00:00Z"  # a commit a day


class Repository:
    """A repository in ``folder``; each commit is of the next day of November 2026, at 10:00 UTC."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.day = 0
        folder.mkdir(parents=True, exist_ok=True)
        self("init", "-q", "-b", "main")

    def __call__(self, *arguments: str) -> str:
        """Run git and return what it prints, without the last line end."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", WHEN.format(self.day)))},
        }  # fmt: skip
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

    def copied(self, folder: Path) -> "Repository":
        """Return a copy of it in another folder."""
        made = copy(self)
        made.folder = shutil.copytree(self.folder, folder)
        return made

    def commit(self, subject: str) -> str:
        """Commit everything and return the commit's hash."""
        self.day += 1
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "-m", subject)
        return self("rev-parse", "HEAD")

    def change(self, message: str, **files: str) -> str:
        """Write Python files, commit everything and return the commit's hash; ``a__b`` means the file ``a/b.py``."""
        for name, text in files.items():
            path = self.folder / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self.commit(message)
