"""What everything is built on: the records, the files, the index, the open store; it knows no feature."""
