"""What the page of the memory shows."""
