"""Files of other programs, read: each form in a module of its own. Nothing is written, and nothing is trusted."""
