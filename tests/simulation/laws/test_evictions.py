"""The law about evictions sees those that serve nobody, and excuses what no scheduler decides."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import pods as binding
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.records import Member, Phase
from fourleaf.k8s_bridge.relocation.codec import relocation_body
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources
from tests.simulation.controllers.owner import Owner
from tests.simulation.jobs import TEAM, Job
from tests.simulation.laws.evictions import LAW, gang_of
from tests.simulation.laws.test_laws import NODE, OTHER, Court

FIT = GangKey(TEAM, "h")


@pytest.fixture
def court() -> Court:
    """`g` of two pods runs on two nodes, and `h` of one pod waits."""
    made = Court()
    made.world.jobs.submit(Job("h", 1, 8, spoiled=True))
    members = made.member(0), made.member(1, OTHER)
    made.page(made.entry("c", *members))
    for member in members:
        made.bind(member, "c")
    return made


def write(court: Court, one: Relocation) -> None:
    """A replica writes a relocation, a second after all that was before."""
    asyncio.run(court.clock.advance(1.0))
    court.write(relocation_body(one, "a1"))


def waiting(court: Court) -> Member:
    """The pod of `h`, to go where `g-0` is."""
    record = court.world.jobs.find("h-0")
    assert record is not None
    return Member(Target(TEAM, "h-0", record.metadata["uid"]), NODE, tuple(range(8)))


def making_way(court: Court, *leavers: Member) -> Relocation:
    """The preemption for `h`, by which these go; it is written."""
    member = waiting(court)
    seat = Seat(member.pod, (0, 0, 0), "", NODE, Resources(8))
    gone = tuple(Leaver(one.pod, one.node) for one in leavers)
    made = Relocation(FIT, Purpose.PREEMPTION, (seat,), gone, until=1e12, epoch=1)
    write(court, made)
    return made


def evict(court: Court, member: Member) -> None:
    """A replica evicts a member."""
    court.store.writer = "a1"
    binding.evict(court.store, member.pod)
    court.store.writer = ""


def end(court: Court) -> None:
    """The relocation is over."""
    for record in list(court.store.records(LEASES)):
        if record.metadata["name"].startswith("relocation-"):
            court.store.remove(record)


def seat(court: Court) -> None:
    """`h` is committed to its seat."""
    stays = court.entry("c", court.member(1, OTHER))
    court.page(stays, replace(court.entry("d", waiting(court)), gang=FIT))


def test_a_gang_that_comes_to_its_seat_was_worth_it(court: Court) -> None:
    """`g-0` goes, `h` is committed to its place and bound there."""
    making_way(court, court.member(0))
    evict(court, court.member(0))
    seat(court)
    end(court)
    court.world.jobs.kubelets.step()
    court.bind(waiting(court), "d")
    court.world.evictions.judge()
    assert not court.broken
    assert court.story.happened["eviction served: preemption"] == 1


def test_a_relocation_that_ends_before_its_gang_has_come(court: Court) -> None:
    """`g-0` goes, and the place is kept for `h` no longer."""
    making_way(court, court.member(0))
    evict(court, court.member(0))
    end(court)
    assert court.broken == {LAW}


def test_a_commit_that_binds_nobody(court: Court) -> None:
    """`h` is committed to its seat, and is never bound."""
    making_way(court, court.member(0))
    evict(court, court.member(0))
    seat(court)
    end(court)
    assert not court.broken
    court.world.evictions.judge()
    assert court.broken == {LAW}


def making_room(court: Court) -> Seat:
    """`g-0` has gone so that a member of `h`, which stands elsewhere, may move to its place."""
    seat = Seat(waiting(court).pod, (0, 0, 0), OTHER, NODE, Resources(8))
    leavers = (Leaver(court.member(0).pod, NODE),)
    stays = frozenset([(seat.pod.uid, OTHER)])
    write(court, Relocation(FIT, Purpose.PREEMPTION, (seat,), leavers, stays, until=1e12, epoch=1))
    evict(court, court.member(0))
    end(court)
    return seat


def test_room_that_was_made_for_a_repair_that_never_came(court: Court) -> None:
    """`g-0` went so that `h` could move, and it does not."""
    making_room(court)
    assert not court.broken
    court.world.evictions.judge()
    assert court.broken == {LAW}


def test_a_repair_answers_for_the_room_that_was_made_for_it(court: Court) -> None:
    """The repair of `h` is there, and ends before its gang has come."""
    seat = making_room(court)
    write(court, Relocation(FIT, Purpose.REPAIR, (seat,), (), until=1e12, epoch=1))
    court.world.evictions.judge()
    assert not court.broken
    end(court)
    assert court.broken == {LAW}


def test_a_relocation_that_has_evicted_nobody_may_end(court: Court) -> None:
    """It is given up before anybody has gone."""
    making_way(court, court.member(0))
    end(court)
    assert not court.broken


def test_a_victim_whose_room_is_not_asked_for(court: Court) -> None:
    """Who stands on another node makes way for nothing."""
    making_way(court, court.member(1, OTHER))
    assert court.broken == {LAW}


def test_half_a_gang_does_not_start_over(court: Court) -> None:
    """Of two that were to go one has stayed, when the relocation ends."""
    both = court.member(0), court.member(1, OTHER)
    gone = tuple(Leaver(one.pod, one.node) for one in both)
    one = Relocation(GangKey(TEAM, "g"), Purpose.RESTART, (), gone, until=1e12, epoch=1)
    write(court, one)
    evict(court, both[0])
    end(court)
    assert court.broken == {LAW}


def test_a_rollback_of_what_was_whole(court: Court) -> None:
    """All members of a commit are bound, and one is evicted because it goes back."""
    members = court.member(0), court.member(1, OTHER)
    court.page(court.entry("c", *members, phase=Phase.ROLLING_BACK))
    evict(court, members[0])
    assert LAW in court.broken


@pytest.mark.parametrize(
    "event", ["member deleted", "node changed", "node lost", "config", "refused", "under way"]
)
def test_what_no_scheduler_decides_is_an_excuse(court: Court, event: str) -> None:
    """The same after something of the sort has happened since the relocation was written."""
    making_way(court, court.member(0))
    evict(court, court.member(0))
    match event:
        case "member deleted":
            record = court.world.jobs.find("h-0")
            assert record is not None
            court.store.remove(record)
        case "node changed":
            court.world.patch(NODES, Target("", NODE), {"spec": {"unschedulable": True}})
        case "node lost":
            court.world.heartbeats.lose([NODE])
        case "config":
            court.store.remove(next(court.store.records(CONFIG_MAPS)))
        case "refused":
            court.world.evictions.refused("binding", "h-0", dry_run=False)
        case _:
            court.world.evictions.committing([GangKey(TEAM, "g")])
            court.page(court.entry("e", court.member(1, NODE)))
    end(court)
    assert court.broken <= {"a device is given once"}
    assert court.story.happened["eviction excused: preemption"] == 1


@pytest.mark.parametrize(("owner", "is_excused"), [(None, True), (Owner("Job"), False)])
def test_a_place_outlives_the_back_off_of_a_job(
    court: Court, owner: Owner | None, is_excused: bool
) -> None:
    """`i` has been promised its place for a second, and who is there takes longer to end.

    That excuses it, but not where a Job is to make its pod: then it is kept for 900 s.
    """
    court.world.jobs.submit(Job("i", 1, 8, owner=owner))
    record = next(one for one in court.store.records(PODS) if one.metadata["name"].startswith("i-"))
    pod = Target(TEAM, record.metadata["name"], record.metadata["uid"])
    seat = Seat(pod, (0, 0, 0), "", NODE, Resources(8))
    leaver = Leaver(court.member(0).pod, NODE)
    until = court.clock.wall() + 2
    one = Relocation(
        GangKey(TEAM, "i"), Purpose.PREEMPTION, (seat,), (leaver,), until=until, epoch=1
    )
    write(court, one)
    evict(court, court.member(0))
    asyncio.run(court.clock.advance(2.0))
    end(court)
    assert court.broken == (set() if is_excused else {LAW})


def test_an_owner_that_is_deleted_between_two_pods_is_an_excuse(court: Court) -> None:
    """The pod of the Job `i` is evicted, and the Job is deleted before it has made another."""
    court.world.jobs.submit(job := Job("i", 1, 8, owner=Owner("Job")))
    record = next(one for one in court.store.records(PODS) if one.metadata["name"].startswith("i-"))
    pod = Target(TEAM, record.metadata["name"], record.metadata["uid"])
    court.bind(member := Member(pod, OTHER, tuple(range(8))), "e")
    seat = Seat(pod, (0, 0, 0), "", NODE, Resources(8))
    one = Relocation(
        GangKey(TEAM, "i"), Purpose.DEFRAGMENTATION, (seat,), (Leaver(pod, OTHER),), until=1e12,
        epoch=1,
    )  # fmt: skip
    write(court, one)
    evict(court, member)
    court.store.writer = "a1"
    if (ending := court.world.jobs.find(pod.name)) is not None:
        court.store.remove(ending)
    court.store.writer = ""
    court.world.jobs.retire(job)
    end(court)
    assert LAW not in court.broken


def test_what_happened_before_is_none(court: Court) -> None:
    """Somebody has meddled with `h` before the relocation was written; who asked was told no."""
    court.world.evictions.disturbed(gang_of("h"))
    court.world.evictions.refused("binding", "h-0", dry_run=True)
    making_way(court, court.member(0))
    evict(court, court.member(0))
    court.world.evictions.refused("binding", "h-0", dry_run=False)
    end(court)
    assert court.broken == {LAW}


def test_who_was_evicted_is_none(court: Court) -> None:
    """The victim's own end, and what its kubelet says of it, change nothing for `h`."""
    making_way(court, court.member(0))
    evict(court, court.member(0))
    court.world.jobs.kubelets.step()
    court.world.patch(PODS, Target(TEAM, "g-1"), {"metadata": {"annotations": {"a": "b"}}})
    end(court)
    assert court.broken == {LAW}
