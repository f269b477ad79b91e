"""What has to hold once everything is at rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import OURS
from fourleaf.k8s_bridge.ledger.records import Phase
from tests.simulation.faults.rivals import LEASE
from tests.simulation.jobs import bound, ended

if TYPE_CHECKING:
    from tests.simulation.world import World


def unrest(world: World) -> str:
    """What does not hold yet, "" where everything is at rest."""
    return next(_problems(world), "")


def _problems(world: World) -> Iterator[str]:
    yield from _leaders(world)
    yield from _records(world)
    yield from _pages(world)
    yield from _commits(world)
    yield from _gangs(world)


def _leaders(world: World) -> Iterator[str]:
    leaders = [one.identity for one in world.replicas.values() if one.leads]
    if len(leaders) != 1:
        yield f"not one leader: {leaders}"
        return
    found = [r for r in world.store.records(LEASES) if r.metadata["name"] == LEASE.name]
    holder = found[0].body["spec"].get("holderIdentity") if found else "nobody"
    if holder != leaders[0]:
        yield f"{leaders[0]} leads, {holder} holds the lease"


def _records(world: World) -> Iterator[str]:
    for name, lease in world.books.leases.items():
        yield f"gang lease {name} is left over, {lease.phase}"
    formats = {page.format for page in world.books.pages.values()}
    if len(formats) > 1:
        yield f"pages are in formats {sorted(formats)}"
    for name, page in world.books.pages.items():
        for entry in page.entries:
            if entry.lease or entry.phase is not Phase.COMMITTED:
                yield f"page {name}: {entry.gang} is {entry.phase}, lease {entry.lease!r}"


def _pages(world: World) -> Iterator[str]:
    """Pages say exactly which pods of ours run where."""
    written = Counter(
        (member.pod.uid, member.node)
        for page in world.books.pages.values()
        for entry in page.entries
        for member in entry.members
    )
    live = Counter(
        (record.metadata["uid"], record.body["spec"]["nodeName"])
        for record in world.store.records(PODS)
        if bound(record) and not ended(record) and record.body["spec"]["schedulerName"] == OURS
    )
    for uid, node in live - written:
        seen = world.books.pods[uid]
        yield f"{seen.pod} runs on {node} and is on no page"
    for uid, node in written - live:
        known = world.books.pods.get(uid)
        yield f"a page says that {known.pod if known else uid} runs on {node}"


def _commits(world: World) -> Iterator[str]:
    """Each commit is bound as a whole, less what is gone, or not at all.

    Of one that went back nobody may be bound by it; by hand, or by a later one, they may be.
    """
    for name, members in world.books.decided.items():
        pods = world.books.pods
        there = [m for uid, m in members.items() if uid in pods and not pods[uid].finished]
        # whoever bound them: somebody may do so by hand, and an entry may take on another's pods
        on = [m for m in there if pods[m.pod.uid].node == m.node]
        if on and len(on) < len(there) and name not in world.books.undone:
            missing = [str(member.pod) for member in there if member not in on]
            yield f"commit {name}: bound {len(on)} of {len(there)}, not {missing}"
        bound_by = {world.books.bound_by[member.pod.uid] for member in there}
        if name in world.books.undone and name in bound_by:
            yield f"commit {name} went back, and a pod of it is still bound"


def _gangs(world: World) -> Iterator[str]:
    """A gang that nobody has meddled with is bound as a whole or not at all."""
    for job in world.jobs.wanted.values():
        count = sum(bound(record) for record in world.jobs.members(job))
        if not job.spoiled and count not in (0, job.size):
            yield f"{job.name}: {count} of {job.size} bound"
