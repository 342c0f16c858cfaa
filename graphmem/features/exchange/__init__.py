"""Import and dump: the files of other programs."""
