"""Each law can be broken, and is seen to be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory import pods as binding
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from fourleaf.k8s_bridge.ledger.formats.codec import gang_body, page_body
from fourleaf.k8s_bridge.ledger.names import COMMIT, FENCE, page_name
from fourleaf.k8s_bridge.ledger.pods import pod_seen
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from fourleaf.model.devices.held_devices import DEVICES
from fourleaf.model.gang import GangKey
from tests.simulation.controllers.owner import Owner
from tests.simulation.jobs import TEAM, Job
from tests.simulation.laws import rest
from tests.simulation.story import Story
from tests.simulation.world import World
from tests.twins.virtual_clock import VirtualClock

NODE, OTHER = "n-0-0-0", "n-0-0-1"
LEAF = "leaf-0-0"
GANG = GangKey(TEAM, "g")
ALL = tuple(range(8))


class Court:
    """A cluster without schedulers: every write here plays the part of one."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.story = Story(self.clock)
        self.world = World(0, self.story, self.clock)
        self.store = self.world.store
        self.world.set_up()
        self.job = Job("g", 2, 8, spoiled=True)
        self.world.jobs.submit(self.job)

    @property
    def broken(self) -> set[str]:
        """The laws that were broken."""
        return {breach.law for breach in self.story.breaches}

    def member(self, number: int, node: str = NODE) -> Member:
        """A member as it stands, to go to `node`."""
        record = self.world.jobs.find(f"g-{number}")
        assert record is not None
        return Member(pod_seen(record.body).pod, node, ALL)

    def bind(self, member: Member, commit: str) -> None:
        """A replica binds a member."""
        said = {COMMIT: commit, DEVICES: ",".join(map(str, member.devices))}
        self.store.writer = "a1"
        binding.bind(self.store, Binding(member.pod, member.node, said), dry_run=False)
        self.store.writer = ""

    def write(self, body: Body) -> None:
        """A replica writes a record."""
        target = Target("kube-system", body["metadata"]["name"])
        body["metadata"].pop("resourceVersion", None)
        there = [r for r in self.store.records(LEASES) if r.metadata["name"] == target.name]
        if there:
            self.store.update(LEASES, there[0], body)
        else:
            self.store.create(LEASES, target.namespace, body)

    def page(self, *entries: Entry, epoch: int = 1, leaf: str = LEAF) -> None:
        """Write a page of two nodes."""
        self.write(page_body(Page(leaf, 0, (NODE, OTHER), entries, epoch), "a1"))

    def entry(self, commit: str, *members: Member, phase: Phase = Phase.COMMITTED) -> Entry:
        """An entry that is its own record."""
        return Entry(commit, GANG, members, phase=phase)


@pytest.fixture
def court() -> Court:
    """A cluster and a gang of two."""
    return Court()


def test_what_is_recorded_may_be_bound(court: Court) -> None:
    """Two members on two nodes, as their page says: no law is broken."""
    members = court.member(0), court.member(1, OTHER)
    court.page(court.entry("c", *members))
    for member in members:
        court.bind(member, "c")
    assert not court.broken
    assert not list(rest._commits(court.world))


def test_a_device_in_two_live_pods(court: Court) -> None:
    """Two pods with the same eight devices of one node, which therefore holds sixteen GPUs."""
    court.bind(court.member(0), "c")
    court.bind(court.member(1), "d")
    assert {"no device in two live pods", "no node is given twice"} <= court.broken


def test_a_device_may_be_given_again_once_its_pod_has_ended(court: Court) -> None:
    """The first pod has succeeded before the second one comes."""
    court.page(court.entry("c", court.member(0)), court.entry("d", court.member(1)))
    assert court.broken == {"a device is given once"}
    court.story.breaches.clear()
    court.bind(court.member(0), "c")
    court.world.jobs.kubelets.finish(TEAM, ["g-0"])
    court.bind(court.member(1), "d")
    assert not court.broken


def test_a_binding_without_a_record(court: Court) -> None:
    """No page holds the pod; or it says another node."""
    court.bind(court.member(0), "c")
    court.page(court.entry("d", court.member(1)))
    court.bind(court.member(1, OTHER), "d")
    assert [b.law for b in court.story.breaches] == ["a binding belongs to its commit"] * 2


def test_a_binding_by_a_commit_that_was_taken_off_its_page(court: Court) -> None:
    """A takeover has dropped the entry before the binding arrives."""
    court.page(court.entry("c", court.member(0)))
    court.page(epoch=2)
    court.bind(court.member(0), "c")
    assert court.broken == {"a binding belongs to its commit"}


def test_a_binding_of_a_pod_that_its_commit_has_fenced(court: Court) -> None:
    """The commit goes back and has fenced the pod; then its binding comes after all."""
    court.page(court.entry("c", court.member(0), phase=Phase.ROLLING_BACK))
    patch = {"metadata": {"annotations": {FENCE: "c"}}}
    court.world.patch(PODS, Target(TEAM, "g-0"), patch)
    court.bind(court.member(0), "c")
    assert court.broken == {"a binding belongs to its commit"}


def test_a_binding_of_a_wide_gang_that_was_only_prepared(court: Court) -> None:
    """The page points to a gang lease that nobody has committed."""
    member = court.member(0)
    lease = GangLease("gang-g-c", "c", GANG, Phase.PREPARED, (member,), (page_name(LEAF, 0),), 1)
    court.write(gang_body(lease, "a1"))
    court.page(replace(court.entry("c", member), lease=lease.name))
    court.bind(member, "c")
    assert court.broken == {"a binding belongs to its commit"}


def test_an_epoch_that_falls(court: Court) -> None:
    """A leader that was replaced still writes a page."""
    court.page(epoch=2)
    court.page(epoch=1)
    assert court.broken == {"epochs never fall"}


def test_a_node_on_two_pages(court: Court) -> None:
    """Another page takes up a node that the first one still lists."""
    court.page()
    court.page(leaf="leaf-0-1")
    assert court.broken == {"a node is on one page"}


def test_an_eviction_of_what_goes_forward(court: Court) -> None:
    """A replica evicts a member whose commit stands."""
    member = court.member(0)
    court.page(court.entry("c", member))
    court.bind(member, "c")
    court.store.writer = "a1"
    binding.evict(court.store, member.pod)
    assert court.broken == {"only what goes back or elsewhere is evicted"}


def test_half_a_gang_is_decided(court: Court) -> None:
    """A commit holds one of two; it may where somebody has meddled, or the other one runs."""
    court.page(court.entry("c", court.member(0)))
    assert not court.broken
    court.job.spoiled = False
    court.page(court.entry("d", court.member(1, OTHER)))
    assert court.broken == {"a commit makes its gang whole"}
    court.story.breaches.clear()
    court.bind(court.member(1, OTHER), "d")
    court.page(court.entry("d", court.member(1, OTHER)), court.entry("e", court.member(0)))
    assert not court.broken


def test_a_member_that_is_committed_as_a_gang_of_its_own(court: Court) -> None:
    """One pod of a JobSet of two, as if it had no owner: half a gang, by whoever was not told."""
    court.world.jobs.submit(Job("h", 2, 8, owner=Owner("JobSet")))
    name = "h-w-0-0-00000"
    record = court.world.jobs.find(name)
    assert record is not None
    member = Member(pod_seen(record.body).pod, NODE, ALL)
    court.store.writer = "a1"
    court.page(replace(court.entry("c", member), gang=GangKey(TEAM, name)))
    assert court.broken == {"a commit makes its gang whole", "a gang waits for its owner"}


def test_a_gang_whose_owner_was_told_of_may_be_committed(court: Court) -> None:
    """Both pods of a Job, by a process that has listed it."""
    job = Job("h", 2, 8, owner=Owner("Job"))
    court.world.jobs.submit(job)
    members = [
        Member(pod_seen(record.body).pod, node, ALL)
        for record, node in zip(court.world.jobs.members(job), (NODE, OTHER), strict=True)
    ]
    assert job.owner is not None
    court.world.told["a1"].add(job.owner.uid)
    court.store.writer = "a1"
    court.page(replace(court.entry("c", *members), gang=GangKey(TEAM, "h")))
    assert not court.broken


def test_half_a_commit_is_unrest(court: Court) -> None:
    """One of two members is bound; then the other one's pod is gone, and that is a whole."""
    court.job.spoiled = False
    members = court.member(0), court.member(1, OTHER)
    court.page(court.entry("c", *members))
    court.bind(members[0], "c")
    assert len(list(rest._commits(court.world))) == 1
    assert len(list(rest._gangs(court.world))) == 1
    assert any("a page says" in one for one in rest._pages(court.world))
    record = court.world.jobs.find("g-1")
    assert record is not None
    court.store.remove(record)
    assert not list(rest._commits(court.world))


def test_a_gang_lease_that_is_left_is_unrest(court: Court) -> None:
    """It is named with its phase."""
    members = (court.member(0),)
    lease = GangLease("gang-g-c", "c", GANG, Phase.PREPARED, members, (page_name(LEAF, 0),), 1)
    court.write(gang_body(lease, "a1"))
    assert list(rest._records(court.world)) == ["gang lease gang-g-c is left over, Prepared"]


def test_a_record_that_nobody_there_can_read(court: Court) -> None:
    """A replica of the version before writes over a page of format 2."""
    court.write(page_body(Page(LEAF, 0, (NODE,), epoch=1, format=2), "a1"))
    assert not court.broken
    court.world.versions["a1"] = (1,)
    court.store.writer = "a1"
    court.write(page_body(Page(LEAF, 0, (NODE,), epoch=2), "a1"))
    assert court.broken == {"nobody touches what it cannot read"}
