"""What one can do with an open store, one function a use case; `Memory` offers them, every front end calls `Memory`."""
