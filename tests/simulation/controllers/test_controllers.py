"""The controllers of owners back off and start over as those of Kubernetes do."""

from __future__ import annotations

import asyncio

from fourleaf.k8s_bridge.cluster.kinds import JOBS
from tests.simulation.controllers.backoff import JobBackoff
from tests.simulation.controllers.owner import Owner
from tests.simulation.jobs import Job
from tests.simulation.laws.test_laws import Court


def test_a_job_waits_twice_as_long_after_each_failure() -> None:
    """10, 20, 40 ... s and six minutes at most; each pod counts once."""
    backoff = JobBackoff(per_index=False)
    assert backoff.over(0) == 0
    waits = []
    for number in range(7):
        assert backoff.count(number, f"g-{number}", now=100.0)
        assert not backoff.count(number, f"g-{number}", now=150.0)
        waits.append(backoff.over(0) - 100)
    assert waits == [10, 20, 40, 80, 160, 320, 360]


def test_a_job_that_counts_by_index_waits_for_each_alone() -> None:
    """Index 1 has failed twice, index 0 once, index 2 never."""
    backoff = JobBackoff(per_index=True)
    for index, pod in ((0, "a"), (1, "b"), (1, "c")):
        backoff.count(index, pod, now=5.0)
    assert [backoff.over(index) for index in range(3)] == [15, 25, 0]


def test_a_lost_pod_is_made_again_after_ten_seconds() -> None:
    """Nothing after 9 s, a pod of the same index and another name after 11 s."""
    court = Court()
    job = Job("h", 2, 8, owner=Owner("Job"))
    court.world.jobs.submit(job)
    record = court.world.jobs.find("h-0-00000")
    assert record is not None
    court.store.remove(record)
    seen = []
    for seconds in (0, 9, 2):
        asyncio.run(court.clock.advance(seconds))
        court.world.jobs.make_up()
        seen.append([one.metadata["name"] for one in court.world.jobs.members(job)])
    assert seen == [["h-1-00001"], ["h-1-00001"], ["h-0-00002", "h-1-00001"]]


def test_a_job_set_that_starts_over_makes_its_jobs_again() -> None:
    """Two Jobs of a pod each; one pod fails: all go, and two Jobs of the same names have pods."""
    court = Court()
    job = Job("h", 2, 8, owner=Owner("JobSet", parts=2, starts_over=True))
    court.world.jobs.submit(job)
    before = {one.metadata["name"]: one.metadata["uid"] for one in court.store.records(JOBS)}
    record = court.world.jobs.find("h-w-0-0-00000")
    assert record is not None
    court.store.remove(record)
    for _ in range(2):
        court.world.jobs.make_up()
    after = {one.metadata["name"]: one.metadata["uid"] for one in court.store.records(JOBS)}
    assert before.keys() == after.keys() == {"h-w-0", "h-w-1"}
    assert not {*before.values()} & {*after.values()}
    names = [one.metadata["name"] for one in court.world.jobs.members(job)]
    assert names == ["h-w-0-0-00002", "h-w-1-0-00003"]
    court.world.jobs.retire(job)
    assert not list(court.store.records(JOBS))
    assert court.world.jobs.find(names[0]) is None
    assert court.world.jobs.find("g-0") is not None
