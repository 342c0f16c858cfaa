"""What people said on a forge, such as GitHub: issues, and threads of a review."""

from typing import NamedTuple


class Issue(NamedTuple):
    """
    An issue.

    Args:
        place: where in the input it stands.
        repository: owner and name, in lower case; empty where the input does not say.
        texts: its own text, and those of the people who commented on it.
        at: when it was closed, else opened, as far as the input says.
        is_closed: None where the input does not say.
        is_refused: it was closed as a duplicate, or as nothing to be done.
        pulls: the pull requests of its repository that closed it.
    """

    place: str
    number: int
    repository: str
    source: str
    title: str
    texts: tuple[str, ...] = ()
    at: str = ""
    is_closed: bool | None = None
    is_refused: bool = False
    pulls: tuple[int, ...] = ()


class ReviewThread(NamedTuple):
    """
    A thread of a review, by its first comment.

    Args:
        line: of code that it is about, as it was then.
        is_outdated: the forge says that a later commit changed the place.
    """

    place: str
    run: str
    source: str
    path: str
    line: str
    text: str
    at: str = ""
    is_bot: bool = False
    is_resolved: bool = False
    is_outdated: bool = False
