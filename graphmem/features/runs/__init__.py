"""The run state of this machine, and the build run."""
