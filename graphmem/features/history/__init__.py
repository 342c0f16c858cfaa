"""What changed: log, diff, the check of a branch, and why a record is there."""
