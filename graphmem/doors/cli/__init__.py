"""The command line: parse, call `Memory`, print; one module a noun."""
