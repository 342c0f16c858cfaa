"""The benchmark: how good graphmem is on public data sets, measured through its own interface."""
