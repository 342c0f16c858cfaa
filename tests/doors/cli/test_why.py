"""``why`` on one screen."""

import re

from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture

TRIGGER = "ImportError: cannot import name 'url_quote' from 'werkzeug.urls'"


def test_one_screen_says_where_a_record_comes_from_and_why_it_is_found(graphmem: Graphmem) -> None:  # noqa: F811
    graphmem("add", "failure", "--name", "first", "--trigger", TRIGGER, "--source", "codex:s1#3")
    graphmem("rename", "first", "second")
    for number in range(7):
        graphmem("feedback", "second", "--helped", "--task", f"t{number}")
    out = graphmem("why", "second", "--query", "cannot import name 'url_quote'").out
    assert re.sub(r"20\d\d-\S+Z", "DAY", out).splitlines()[:12] == [
        f"failure/second  {TRIGGER}",
        "  created:        DAY",
        "  seen in:        codex:s1#3",
        "  committed:      not yet",
        "  renamed from:   first",
        "  reports:        DAY  helped  in t6",
        *(f"                  DAY  helped  in t{number}" for number in (5, 4, 3, 2)),
        "                  … and 2 more: --json",
        "  query:          place 1 of 1 for: cannot import name 'url_quote'",
    ]
    assert "    score " in out
