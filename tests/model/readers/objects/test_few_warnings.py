"""What is told where thousands of gangs have the same that is probably not meant."""

from __future__ import annotations

from fourleaf.model.readers.objects.few_warnings import MOST_WARNED, FewWarnings
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report


def test_a_hundred_are_told_and_that_there_are_more() -> None:
    """Of 3,000 pods of one namespace 101 have a warning, and the one of another has its own."""
    report = Report()
    warnings = FewWarnings(report)
    for number in range(3_000):
        one = Manifest(report, "live", "", "Pod", "ml", f"p-{number}", {})
        warnings.warn(one, "spec", None, "prefers too much", "Let pods share it.")
    other = Manifest(report, "live", "", "Pod", "ops", "p", {})
    warnings.warn(other, "spec", None, "prefers too much", "Let pods share it.")
    *told, last, theirs = report.problems
    assert len(told) == MOST_WARNED
    assert {one.message for one in (*told, theirs)} == {"prefers too much"}
    assert last.message.endswith("and the others are not told")
    assert theirs.object == "Pod ops/p"
