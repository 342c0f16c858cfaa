"""The open store: what a process shares, one caller of it, its files taken in, the files of a commit."""
