"""What the memory holds, how well it does, and whether learning happens."""
