"""What each operation returns, one file per noun, for the Python API, ``--json`` and the JSON reference."""
