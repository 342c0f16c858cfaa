"""``graphmem`` and ``python -m graphmem``."""

import gc
import os
import sys


def main() -> None:
    """Run the command line and end the process without tearing down what the operating system frees anyway."""
    if sys.argv[1:2] == ["merge-driver"]:
        gc.disable()
        from graphmem.driver import main as merge  # noqa: PLC0415 - git waits for it at every file

        sys.exit(merge(sys.argv[2:]))
    gc.set_threshold(100_000, 20, 20)  # start-up makes very many objects, all of them to stay
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # nobody's models are built here: spare the look-up
    # Threads that wait for work spin and cost more CPU than they save on a few short texts (engine-notes, "Traps").
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from graphmem.cli.app import run  # noqa: PLC0415 - numpy reads the variables above when it is first imported

    status = run(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
