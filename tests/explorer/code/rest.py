"""What has to hold at every moment, and at rest; and a successor who brings the cluster there."""

from __future__ import annotations

from collections import Counter

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.ledger.formats.codec import read_gang, read_page
from fourleaf.k8s_bridge.ledger.names import GANG, PAGE, RECORD
from fourleaf.k8s_bridge.ledger.pods import pod_seen
from fourleaf.k8s_bridge.ledger.records import GangLease, Page
from tests.explorer.code.door import Fate
from tests.explorer.code.ground import Ground
from tests.explorer.code.leader import Leader
from tests.explorer.code.scenario import Rest, Scenario, TakeOver
from tests.explorer.code.store import CountingStore
from tests.explorer.code.turns import Turns
from tests.k8s_bridge.ledger.harness import SYSTEM

ROUNDS = 500
"""Requests after which a successor has to be at rest."""


def always(store: CountingStore) -> str:
    """What may never be: a device of two live pods, an epoch that falls."""
    holders: dict[tuple[str, int], str] = {}
    for seen in store.seen():
        if seen.node and not seen.finished:
            for device in seen.devices:
                other = holders.setdefault((seen.node, device), seen.pod.name)
                if other != seen.pod.name:
                    return f"{other} and {seen.pod.name} both hold device {device} of {seen.node}"
    return store.fell


def at_rest(store: CountingStore, scenario: Scenario) -> str:
    """What may not be once nobody works any more: partial gangs, records that differ from pods."""
    bound = {
        seen.pod.uid: seen.node
        for record in store.pods()
        if (seen := pod_seen(record.body)).node and not seen.finished
    }
    by_gang = Counter(
        record.metadata["annotations"]["topology.scheduler/gang"]
        for record in store.pods()
        if record.metadata["uid"] in bound
    )
    for gang, size in scenario.gangs.items():
        if by_gang[gang] not in (0, size) and not scenario.replaced:
            return f"at rest {by_gang[gang]} of {size} pods of {gang} are bound"
    pages, leases = records(store)
    entries = [entry for page in pages for entry in page.entries]
    held = {member.pod.uid: member.node for entry in entries for member in entry.members}
    if held != bound or sum(len(entry.members) for entry in entries) != len(bound):
        return f"at rest the pages hold {held}, but bound is {bound}"
    if leases or any(entry.lease for entry in entries):
        return f"at rest there are gang leases: {[lease.name for lease in leases]}"
    return ""


def records(store: CountingStore) -> tuple[list[Page], list[GangLease]]:
    """All pages and all gang leases."""
    found = [(record.labels.get(RECORD), record.body) for record in store.records(LEASES, SYSTEM)]
    pages = [read_page(body) for what, body in found if what == PAGE]
    return pages, [read_gang(body) for what, body in found if what == GANG]


def after_a_crash(store: CountingStore, ground: Ground, scenario: Scenario) -> str:
    """What is wrong once everybody has died here and a third leader has come to rest."""
    store = store.copy()
    loop = Turns()
    leader = Leader("third", store, loop, [], ground.layout)
    leader.start((TakeOver(), Rest()))
    loop.settle()
    leader.check()
    for _ in range(ROUNDS):
        if why := always(store):
            return f"a third leader takes over here: {why}"
        stop_deleted(store)
        calls = sorted(leader.door.waiting)
        if not calls:
            break
        leader.asked = True
        leader.door.waiting[calls[0]].fate.set_result(Fate.DONE)
        loop.settle()
        leader.check()
    loop.end()
    if leader.end != "done":
        return f"a third leader takes over here and does not come to rest: {leader.end}"
    why = at_rest(store, scenario)
    return f"a third leader takes over here: {why}" if why else ""


def stop_deleted(store: CountingStore) -> None:
    """Do the kubelets' part for all pods that are being deleted."""
    for record in list(store.records(PODS)):
        if "deletionTimestamp" in record.metadata:
            store.finish(record.namespace, record.metadata["name"])
