"""
The modules of pure functions: no input, no output, no clock; every line and branch of them is reached by a test.

usage: python -m tests.rules modules|tests
"""

import sys
from pathlib import Path

# Beside kernel/model.
RULES = (
    "core/evidence/doubt.py",
    "core/evidence/fixes.py",
    "core/evidence/lock_files.py",
    "core/evidence/named_packages.py",
    "core/evidence/notes.py",
    "core/evidence/score.py",
    "core/evidence/symbols.py",
    "core/evidence/unsafe.py",
    "core/foreign/note_items.py",
    "core/logs/derivation.py",
    "core/logs/draft.py",
    "core/logs/fix_pairs.py",
    "core/logs/log_excerpt.py",
    "core/logs/own_lines.py",
    "core/logs/report.py",
    "core/logs/output_problem.py",
    "core/logs/tally.py",
    "core/logs/worth.py",
    "core/plans/cascade.py",
    "core/plans/plan.py",
    "core/records/candidate.py",
    "core/records/cycle.py",
    "core/records/dedup.py",
    "core/records/experience.py",
    "core/records/extraction.py",
    "core/records/limits.py",
    "core/records/moves.py",
    "core/records/opposed.py",
    "core/records/places.py",
    "core/records/reimport.py",
    "core/records/secrets.py",
    "core/search/bidirectional_path.py",
    "core/search/budget.py",
    "core/search/codes.py",
    "core/search/known_rules.py",
    "core/search/occasion_rules.py",
    "core/search/paths.py",
    "core/search/rank.py",
    "core/search/relevance.py",
    "core/search/sameness.py",
    "features/hooks/events.py",
    "features/extractors/python_code.py",
    "features/governance/attestation.py",
    "features/governance/globs.py",
    "features/harvest/check_pairs.py",
    "features/harvest/ci_log.py",
    "features/harvest/correction.py",
    "features/harvest/forge_rules.py",
    "features/harvest/history_rules.py",
    "features/harvest/workaround.py",
    "core/history/compare.py",
    "features/runs/workflow.py",
    "core/stats/health.py",
    "core/page/drawing.py",
    "core/plans/estimate.py",
    "features/work/worth_keeping.py",
    "kernel/settings/instructions.py",
    "kernel/suggest.py",
)
# What else reaches lines of them: without it, their own tests leave some out.
ALSO = (
    "core/evidence", "core/records/test_bulk_add.py", "core/records/test_change.py",
    "core/records/test_relations.py", "core/records/test_repeats.py", "core/records/test_telling.py",
    "core/records/test_undo.py", "core/search/test_branches.py", "core/search/test_code_rules.py",
    "core/search/test_lines.py", "core/search/test_match.py", "core/logs/test_failed_test.py",
    "doors/cli/test_errors.py", "features/exchange/importers", "features/harvest",
    "core/history/test_operations.py", "features/hooks", "features/learning/test_experiences.py",
    "features/learning/test_lessons.py",
    "core/ran/test_causes.py",
    "features/runs/test_operations.py",
    "features/upkeep/test_export.py", "features/work", "kernel/ledger/test_sync.py",
    "kernel/model", "kernel/test_versions.py", "test_golden.py",
)  # fmt: skip
TESTS = Path(__file__).parent


def main() -> None:
    """Print the modules as patterns for coverage, or the tests that reach all of their lines."""
    if sys.argv[1:] == ["modules"]:
        print(",".join(f"*/graphmem/{path}" for path in ("kernel/model/*", *RULES)))
        return
    own = [str(Path(path).with_name(f"test_{Path(path).name}")) for path in RULES]
    wanted = sorted({*ALSO, *(path for path in own if (TESTS / path).is_file())})
    inside = [path for path in wanted if any(path.startswith(f"{folder}/") for folder in ALSO)]
    print(*(f"tests/{path}" for path in wanted if path not in inside))


if __name__ == "__main__":
    main()
