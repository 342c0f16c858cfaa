"""What a scope allows, and which names it can have."""

import pytest
from pydantic import ValidationError

from graphmem.kernel.model.scope import Scope


def test_any_is_everything_and_nothing_named_is_nothing() -> None:
    made = Scope(name="clerk", read=("any", "failure"), write=("failure",))
    assert (made.reads, made.writes) == (None, frozenset({"failure"}))
    assert Scope(name="guest").reads == Scope(name="guest").writes == frozenset()


@pytest.mark.parametrize(
    "given", [{"name": "../x"}, {"name": "Clerk"}, {"name": "x", "read": ("a b",)}, {"name": "x", "write": ("",)}]
)
def test_a_name_that_no_file_or_type_could_have_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=r"lower-case letter|at least 1 character"):
        Scope.model_validate(given)
