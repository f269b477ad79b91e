"""Where a story begins: nodes, gangs that stand as a first leader has bound them, others."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import LEASES, NAMESPACES, NODES, PRIORITY_CLASSES
from fourleaf.k8s_bridge.cluster.memory.actors import node
from fourleaf.k8s_bridge.ledger.names import PAGE, RECORD
from fourleaf.k8s_bridge.ledger.page_layout import laid_out
from fourleaf.model.readers import Source, read
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.explorer.code.door import Fate
from tests.explorer.code.ground import Ground
from tests.explorer.code.leader import Leader, StandingClock
from tests.explorer.code.scenario import Place, Rest, TakeOver
from tests.explorer.code.turns import Turns
from tests.explorer.relocation.others import make, missing
from tests.explorer.relocation.store import JudgingStore
from tests.explorer.relocation.story import Story
from tests.k8s_bridge.ledger.harness import SYSTEM, TEAM


def ground(story: Story) -> Ground:
    """Nodes of one device each, pages, and all gangs but those that come later."""
    store = JudgingStore(StandingClock(), story.is_hurried)
    store.create(NAMESPACES, "", {"metadata": {"name": TEAM}})
    for name, value in (("low", 1), ("high", 10)):
        store.create(PRIORITY_CLASSES, "", {"metadata": {"name": name}, "value": value})
    for leaf, size in enumerate(story.leaves):
        for number in range(size):
            store.create(NODES, "", node(f"n-0-{leaf}-{number}", f"leaf-{leaf}", "spine", gpus=1))
    for job in story.jobs:
        for name in () if job.late else missing(store, job):
            make(store, job, name)
    objects = [
        {"apiVersion": "v1", "kind": "Node", **record.whole()} for record in store.records(NODES)
    ]
    layout = tuple(laid_out(read([Source("ground", objects=objects)]).snapshot.fabric))
    _bind(store, story, Leader("first", store, Turns(), [], layout))
    for name in sorted(story.draining):
        record = next(r for r in store.records(NODES) if r.metadata["name"] == name)
        body = record.whole()
        body["metadata"]["annotations"] = {DRAIN: "true"}
        body["spec"] = {"unschedulable": True}
        store.update(NODES, record, body)
    found = store.records(LEASES, SYSTEM)
    pages = tuple(record.whole() for record in found if record.labels.get(RECORD) == PAGE)
    return Ground(store, layout, pages)


def _bind(store: JudgingStore, story: Story, leader: Leader) -> None:
    standing = [Place(job.name, job.nodes) for job in story.jobs if job.nodes]
    leader.start((TakeOver(), *standing, Rest()))
    leader.loop.settle()
    while leader.door.waiting:
        call = leader.door.waiting[min(leader.door.waiting)]
        leader.asked = True
        call.fate.set_result(Fate.DONE)
        leader.loop.settle()
    leader.check()
    leader.loop.end()
    bound = {seen.pod.name: seen.node for seen in store.seen() if seen.node}
    if leader.end != "done" or len(bound) != sum(len(job.nodes) for job in story.jobs):
        raise RuntimeError(f"story {story.name}: the ground was not laid: {leader.end}, {bound}")
