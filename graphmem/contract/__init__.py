"""What each operation takes and returns, one file per noun, and ``operations.py``, the table of all of them."""
