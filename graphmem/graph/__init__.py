"""The graph in Kuzu: derived from the ledger, rebuilt at any time."""
