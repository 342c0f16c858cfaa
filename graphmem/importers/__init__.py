"""Files of other tools, read: each format in a module of its own, their table in ``formats.py``. Nothing is written."""
