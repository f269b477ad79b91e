"""Where a scenario begins: nodes, waiting gangs, and empty pages of the first epoch."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.formats.codec import page_body, read_page
from fourleaf.k8s_bridge.ledger.page_layout import laid_out
from fourleaf.k8s_bridge.ledger.records import Page
from fourleaf.model.readers import Source, read
from tests.explorer.code.leader import StandingClock
from tests.explorer.code.scenario import Scenario
from tests.explorer.code.store import CountingStore
from tests.explorer.code.turns import Turns
from tests.k8s_bridge.ledger.harness import SYSTEM, TEAM

FIRST_EPOCH = 1


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """A store to be copied, and what everybody knows of it."""

    store: CountingStore
    layout: tuple[Page, ...]
    pages: tuple[Body, ...]


def ground(scenario: Scenario) -> Ground:
    """Two leaves of two nodes with one device each, and the scenario's gangs."""
    store = CountingStore(StandingClock())
    cluster = MemoryCluster(store)
    loop = Turns()
    loop.create_task(_fill(cluster, scenario))
    loop.settle()
    loop.end()
    objects = [
        {"apiVersion": "v1", "kind": "Node", **record.whole()} for record in store.records(NODES)
    ]
    layout = tuple(laid_out(read([Source("ground", objects=objects)]).snapshot.fabric))
    for page in layout:
        first = Page(page.leaf, page.part, page.nodes, epoch=FIRST_EPOCH)
        store.create(LEASES, SYSTEM, page_body(first, "old"))
    pages = tuple(record.whole() for record in store.records(LEASES))
    if len(pages) != 2 or len(list(store.records(PODS))) != sum(scenario.gangs.values()):
        raise RuntimeError(f"scenario {scenario.name}: the ground was not laid")
    for body in pages:
        read_page(body)
    return Ground(store, layout, pages)


async def _fill(cluster: MemoryCluster, scenario: Scenario) -> None:
    await add_namespace(cluster, SYSTEM)
    for body in nodes(1, 2, 2, gpus=1):
        await cluster.create(NODES, "", body)
    for name, size in scenario.gangs.items():
        await submit(cluster, TEAM, gang(name, size, gpus=1))
