"""The graphs of many projects, in a FalkorDB server; the server is reached with the package ``falkordb``."""
