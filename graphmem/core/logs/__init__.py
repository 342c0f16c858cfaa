"""What tools print: which problems an output reports, and whether two problems are the same."""
