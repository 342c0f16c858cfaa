"""Logs of GitHub Actions and GitLab: raw, or as `gh run view --log` prints those of several jobs."""

from graphmem.core.foreign.reading import time_of
from graphmem.core.logs.draft import excerpt
from graphmem.features.harvest.check_pairs import plain_text
from graphmem.features.harvest.ci_log import COLUMNS, LoggedJob, reasons
from graphmem.features.harvest.reports.report import NO_REASON, CheckReport, Unreadable
from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

LINE = 4_096  # bytes of a line that are read
MOST_JOBS = 100  # of one log
TOO_MANY, NO_END = "the log has more jobs than are read", "a log does not say how its job ended"
NUMBERS = lazy_re(r"[0-9a-f]{7,40}|\d+")  # of a run or a job, in the name of its log


def read(report: CheckReport) -> None:
    """Read a log; raise ``Unreadable`` where it is binary."""
    jobs: dict[str, LoggedJob] = {}
    usual = NUMBERS.sub("", report.path.stem).strip("_-. ") or "job"
    with safe_files.opened(report.path) as file:
        is_start = True
        while data := file.readline(LINE):
            if b"\0" in data:
                raise Unreadable("the log is binary")
            if is_start:
                take(report, jobs, data.decode("utf-8", "replace").rstrip("\r\n"), usual)
            is_start = data.endswith(b"\n")
    for job in jobs.values():
        _ended(report, job)


def take(report: CheckReport, jobs: dict[str, LoggedJob], line: str, usual: str) -> None:
    """Take one line of a log, for its job."""
    columns = COLUMNS.match(line)
    name = columns["job"] if columns else usual
    if name not in jobs and len(jobs) >= MOST_JOBS:
        report.unread[TOO_MANY] += 1
        return
    jobs.setdefault(name, LoggedJob(name)).add(line[columns.end() :] if columns else line)


def _ended(report: CheckReport, job: LoggedJob) -> None:
    """Take a job that is complete."""
    job.flush()
    run = report.run(time_of(job.at), job.commit)
    found = reasons(job)
    if job.outcome == "passed":
        report.add(job.name, "passed", run)
    elif found:
        output = plain_text(job.output)
        report.add(job.name, "failed", run, found[0], excerpt(output, found[0]), found[0].file)
    else:
        report.unread[NO_REASON if job.outcome == "failed" else NO_END] += 1
