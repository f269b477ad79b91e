"""Members that have succeeded: which of them make others needless, and which do not."""

from __future__ import annotations

import pytest

from fourleaf.model.readers import read
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import NATIVE, gang_policy, gangs, in_native
from tests.model.readers.made import Body, group, job, node, owned, pod, reading, source


def of_job(number: int, **fields: str) -> Body:
    """Make a member of the Job g."""
    return owned(pod(f"g-{number}", **fields), "Job", "g")


@pytest.mark.parametrize("counted", [0, 1])
def test_a_success_counts_once(counted: int) -> None:
    """One of four pods of a Job has succeeded: the other three start together.

    Whether its status counts that pod already or not yet.
    """
    body = job("g", parallelism=4, completions=4) | {"status": {"succeeded": counted}}
    members = [of_job(0, nodeName="n1", phase="Succeeded"), *(of_job(i) for i in (1, 2, 3))]
    found = reading(body, *members)
    assert gangs(found) == {"ml/g": ["g-1", "g-2", "g-3"]}
    assert found.snapshot.gangs[0].hold is None


def test_a_success_that_is_gone_counts_by_the_status() -> None:
    """Six of eight completions are done, one of their pods is left: two pods run from here on."""
    body = job("g", parallelism=4, completions=8) | {"status": {"succeeded": 6}}
    members = [of_job(0, nodeName="n1", phase="Succeeded"), *(of_job(i) for i in (6, 7))]
    found = reading(body, *members)
    assert gangs(found) == {"ml/g": ["g-6", "g-7"]}
    assert found.snapshot.gangs[0].hold is None


def test_a_success_that_is_being_deleted_makes_nothing_needless() -> None:
    """A gang of three starts over, an old member is still being deleted: two new ones wait."""
    old = in_native("old-0", nodeName="n1", phase="Succeeded")
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    new = [in_native("a-0"), in_native("a-1")]
    (gang,) = reading(old, *new, group("g", NATIVE, **gang_policy(3))).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.MEMBERS_MISSING
    assert gang.hold.detail == "2 of 3 members exist"


def test_a_success_of_a_job_that_is_gone_makes_nothing_needless() -> None:
    """One group, two Jobs one after the other: what the first has done is no member of the second.

    Its pods outlive it for a while, whether nothing or another Job has its name by now.
    """
    old = owned(in_native("old-0", nodeName="n1", phase="Succeeded"), "Job", "old")
    old["metadata"]["ownerReferences"][0]["uid"] = "u-1"
    new = [owned(in_native(f"new-{i}"), "Job", "new") for i in (0, 1)]
    rest = [node(), old, *new, job("new", parallelism=2), group("g", NATIVE, **gang_policy(3))]
    again = job("old", parallelism=1)
    again["metadata"]["uid"] = "u-2"
    for more in ([], [again]):
        found = read([source(*rest, *more)], whole=True, expand=False)
        (gang,) = found.snapshot.gangs
        assert gang.hold is not None
        assert gang.hold.detail == "2 of 3 members exist"
    again["metadata"]["uid"] = "u-1"
    (gang,) = read([source(*rest, again)], whole=True, expand=False).snapshot.gangs
    assert gang.hold is None
