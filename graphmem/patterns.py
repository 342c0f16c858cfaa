"""Regular expressions that are compiled when they are first used: most commands use few of them."""

TYPE_CHECKING = False  # as in ``errors``
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


class LazyPattern:
    """In the place of a ``re.Pattern``; after its first use it has the methods of that one."""

    def __init__(self, pattern: "str | bytes", flags: int) -> None:
        self.pattern, self.given_flags = pattern, flags

    def __getattr__(self, name: str) -> "Any":
        import re  # noqa: PLC0415 - the caller of a service, and the status line, use none

        compiled = re.compile(self.pattern, self.given_flags)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def lazy_re(text: "AnyStr", flags: int = 0) -> "re.Pattern[AnyStr]":
    """Return a regular expression; that it cannot be compiled shows at its first use, and in a test."""
    return LazyPattern(text, flags)  # type: ignore[return-value]
