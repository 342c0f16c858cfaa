"""Reports of CI: JUnit XML, pytest's report log, and logs of GitHub Actions and GitLab."""
