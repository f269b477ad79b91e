"""What is told of an object with more wrong than a reader can use."""

from __future__ import annotations

from fourleaf.model.problems import Problem
from fourleaf.model.readers.objects.report import MOST_OF_ONE_OBJECT, Report


def _warn(report: Report, number: int, title: str = "Pod ml/a") -> None:
    report.warn("cluster", title, f"metadata.annotations[a{number}]", "x", "unknown", "drop it")


def _told(report: Report, title: str = "Pod ml/a") -> list[Problem]:
    return [one for one in report.problems if one.object == title]


def test_as_many_as_fit_are_told_in_full() -> None:
    """Twenty problems of an object are twenty lines, and repeating one of them adds none."""
    report = Report(MOST_OF_ONE_OBJECT)
    for number in (*range(MOST_OF_ONE_OBJECT), 3):
        _warn(report, number)
    assert len(_told(report)) == 20
    assert all(one.message == "unknown" for one in _told(report))


def test_of_thousands_twenty_are_told_and_that_there_are_more() -> None:
    """A pod of 3,000 wrong annotations has twenty lines, and one that says that it has more."""
    report = Report(MOST_OF_ONE_OBJECT)
    for number in range(3_000):
        _warn(report, number)
    *first, last = _told(report)
    assert [one.field for one in first] == [f"metadata.annotations[a{k}]" for k in range(20)]
    assert last.message == "it has more warnings than the 20 that are told"


def test_one_object_takes_nothing_from_another() -> None:
    """What is told of other objects, and errors beside warnings, are counted by themselves."""
    report = Report(MOST_OF_ONE_OBJECT)
    for number in range(3_000):
        _warn(report, number)
    _warn(report, 1, "Pod ml/b")
    report.error("cluster", "Pod ml/a", "spec", None, "missing", "state it")
    assert len(_told(report, "Pod ml/b")) == 1
    assert [one.message for one in report.errors] == ["missing"]


def test_a_file_of_one_object_has_all_of_it_told() -> None:
    """A map of a thousand wrong lines has each told: nothing is left out unless that is wanted."""
    report = Report()
    for number in range(1_000):
        _warn(report, number)
    assert len(_told(report)) == 1_000
