"""``graphmem`` and ``python -m graphmem``."""

import _signal  # type: ignore[import-not-found] # `signal` takes 5 ms to import, and an interrupt then is a traceback
import gc
import os
import sys

SHOW_CURSOR = "\r\x1b[K\x1b[?25h"  # a progress display hides it


def _interrupted(number: int, frame: object) -> None:
    """
    End the process at Ctrl-C, whatever it is doing: with one line and exit status 130.

    A process may die at any moment without harm to the store (docs/guarantees.md), so nothing has to be unwound, and no
    exception can come up where one is not expected.
    """
    line = '{"error":{"code":"interrupted","message":"interrupted","hint":null,"details":{}}}'
    text = line if "--json" in sys.argv else "error: interrupted"
    try:
        os.write(2, f"{SHOW_CURSOR if os.isatty(2) else ''}{text}\n".encode())
    finally:
        os._exit(130)


def _project_of(options: list[str]) -> str | None:
    """Return the folder that ``mcp`` is to work on, empty for the usual one; None where the command line has to see."""
    has_folder = len(options) == 2 and options[0] == "--dir" and not options[1].startswith("-")
    return options[1] if has_folder else None if options else ""


def without_plugins() -> None:
    """Keep pydantic from looking for plugins: the models of graphmem need none, and the look takes 15 ms."""
    none = type(sys)("pydantic.plugin._loader")
    none.get_plugins = tuple  # type: ignore[attr-defined]
    sys.modules[none.__name__] = none


def print_help() -> None:
    """
    Print the first page of the help and end the process.

    Where that cannot be done, or the features are not those that it was made of, its first line, the command line does.
    """
    home = os.path.dirname(__file__)
    try:
        with open(os.path.join(home, "doors", "cli", "help.txt"), "rb") as page:
            features, _, text = page.read().partition(b"\n")
        folders = [name for name in os.listdir(os.path.join(home, "features")) if name[0] != "_"]
        if features.decode().split() != sorted(folders):
            return
        while text:
            text = text[os.write(1, text) :]
    except OSError:
        return
    os._exit(0)


def main() -> None:
    """Run the command line and end the process without tearing down what the operating system frees anyway."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # what is ignored, as under nohup, stays so
        _signal.signal(_signal.SIGINT, _interrupted)
    if sys.argv[1:2] == ["merge-driver"]:
        gc.disable()
        from graphmem.kernel.git.merge_driver import main as merge  # noqa: PLC0415 - git waits for it at every file

        sys.exit(merge(sys.argv[2:]))
    if sys.argv[1:2] == ["textconv"] and len(sys.argv) == 3 and not sys.argv[2].startswith("-"):
        gc.disable()
        from graphmem.kernel.git.textconv import main as tell  # noqa: PLC0415 - git calls it twice for every file of a diff

        sys.exit(tell(sys.argv[2]))
    if sys.argv[1:] in (["--help"], ["-h"]):
        print_help()  # without typer, pydantic and all that the commands need
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from graphmem.doors.service.hook import main as answer_hook  # noqa: PLC0415 - an agent waits for it at every event

        answer_hook(sys.argv[2:])
        os._exit(0)
    if sys.argv[1:2] == ["statusline"] and not {"-h", "--help"} & set(sys.argv):
        from graphmem.doors.service.statusline import main as print_line  # noqa: PLC0415 - a shell waits at every prompt

        sys.exit(print_line(sys.argv[2:]))
    from graphmem.doors.service.caller import served  # noqa: PLC0415 - what a running service answers needs no more than this

    request_id = os.urandom(16).hex()
    is_repeat, status = served(sys.argv[1:], request_id)
    if status is not None:
        os._exit(status)
    gc.set_threshold(100_000, 20, 20)  # start-up makes very many objects, all of them to stay
    without_plugins()
    from graphmem.kernel.embed.threads import ask_for_one  # noqa: PLC0415 - not before the service was asked

    ask_for_one()
    if sys.argv[1:2] == ["mcp"] and (folder := _project_of(sys.argv[2:])) is not None:
        from graphmem.doors.mcp.front import serve  # noqa: PLC0415 - the first answer is due before typer is imported

        os._exit(serve(folder or None))
    from graphmem.doors.cli.app import run_here  # noqa: PLC0415 - numpy reads the variables above when it is first imported

    status = run_here(sys.argv[1:], request_id, is_repeat=is_repeat)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
