"""A program changes settings in a file and leaves everything else in it as it was."""

import tomllib
from pathlib import Path

import pytest

from graphmem.errors import Refused
from graphmem.kernel.settings.config_file import Value, replace_user_config, with_values

PATH = Path("config.toml")
ENDPOINT: dict[str, Value] = {"model": "m", "endpoint": "http://h", "dimensions": 8}
NONE: dict[str, Value] = {"model": "none", "endpoint": None, "dimensions": None}
WRITTEN = 'model = "m"\nendpoint = "http://h"\ndimensions = 8\n'


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        ("", ENDPOINT, f"[embedding]\n{WRITTEN}"),
        ("format = 1\n", NONE, 'format = 1\n\n[embedding]\nmodel = "none"\n'),
        ("format = 1", NONE, 'format = 1\n\n[embedding]\nmodel = "none"\n'),
        (
            "# mine\nformat = 1\n\n[embedding] # which\nwait = 1 # s\nmodel = 'x' # why\n\n[cypher]\nlimit = 5\n",
            ENDPOINT,
            "# mine\nformat = 1\n\n[embedding] # which\nendpoint = \"http://h\"\ndimensions = 8\nwait = 1 # s\n"
            'model = "m" # why\n\n[cypher]\nlimit = 5\n',
        ),
        (f"[embedding]\n{WRITTEN}wait = 2\n", NONE, '[embedding]\nmodel = "none"\nwait = 2\n'),
        ("[ embedding ]\r\nmodel=\"a\\\"b\"\r\n", NONE, '[ embedding ]\r\nmodel="none"\r\n'),
        ('[retrieval]\nreranker = "x"\n[embedding]\n# model = "y"\n', NONE,
         '[retrieval]\nreranker = "x"\n[embedding]\nmodel = "none"\n# model = "y"\n'),
    ],
)  # fmt: skip
def test_only_the_values_that_change_do(before: str, values: dict[str, Value], after: str) -> None:
    assert with_values(PATH, before.encode(), "embedding", values).decode() == after


def test_any_name_is_written_so_that_it_is_read() -> None:
    for name in ('a"b\\c', "é\u2028x", "tab\tand\nline", "[embedding]", "'''"):
        data = with_values(PATH, b"", "embedding", {"model": name})
        assert tomllib.loads(data.decode())["embedding"] == {"model": name}


@pytest.mark.parametrize(
    "before",
    [
        'embedding = { model = "x" }\n',
        'embedding.model = "x"\n',
        '["embedding"]\nmodel = "x"\n',
        '[embedding]\n"model" = "x"\n',
        '[embedding]\nmodel = """\nx"""\n',
        '[embedding]\nmodel = "x"\nendpoint = """\nmodel = "y"\n"""\n',
        "# " + "x" * 8_180 + "\n",
    ],
)
def test_a_file_that_a_program_cannot_change_is_refused_with_what_to_write(before: str) -> None:
    with pytest.raises(Refused, match=r"config\.toml cannot be changed by a program") as error:
        with_values(PATH, before.encode(), "embedding", ENDPOINT)
    assert 'model = "m"; endpoint = "http://h"; dimensions = 8' in (error.value.hint or "")


def test_a_link_to_the_users_file_stays_one_and_its_rights_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.toml", tmp_path / "graphmem/config.toml"
    link.parent.mkdir()
    link.symlink_to(real)
    replace_user_config(link, b"a = 1\n")
    real.chmod(0o600)
    replace_user_config(link, b"a = 2\n")
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"a = 2\n", 0o600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dotfiles.toml", "graphmem"]
