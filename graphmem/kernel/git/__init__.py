"""Git: its commands, the merge driver, the text for ``git diff``."""
