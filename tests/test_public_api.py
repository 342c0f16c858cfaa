"""What the package offers is what it says."""

import graphmem
from graphmem import errors


def test_all_is_what_resolves() -> None:
    assert sorted(graphmem.__all__) == graphmem.__all__
    for name in graphmem.__all__:
        assert getattr(graphmem, name) is not None
    public = {name for name, value in vars(graphmem).items() if not name.startswith("_") and isinstance(value, type)}
    assert public <= set(graphmem.__all__)


def test_every_exception_is_public_and_has_a_status_and_a_code() -> None:
    found = {
        name: (made.exit_status, made.code)
        for name, made in vars(errors).items()
        if isinstance(made, type) and issubclass(made, errors.GraphmemError)
    }
    assert set(found) <= set(graphmem.__all__)
    assert found == {
        "GraphmemError": (1, "error"),
        "NotFound": (1, "not_found"),
        "Usage": (2, "usage"),
        "Refused": (3, "refused"),
        "BadInput": (3, "bad_input"),
        "ReadOnly": (3, "read_only"),
        "Conflict": (3, "conflict"),
        "FileReplaced": (3, "conflict"),
        "Unavailable": (4, "unavailable"),
        "AlreadyDone": (0, "already_done"),
        "Locked": (4, "locked"),
        "Damaged": (5, "damaged"),
        "DamagedCatalog": (5, "damaged"),
    }
