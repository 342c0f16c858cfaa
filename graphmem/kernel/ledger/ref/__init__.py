"""A place of rows in commits of a ref of its own, beside the branches."""
