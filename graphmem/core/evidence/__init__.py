"""Evidence: citations, versions, and what speaks against a record."""
