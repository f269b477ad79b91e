"""What another tenant submits, and what its API server does meanwhile: a load by name."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.tenants import pods
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.actors import gang
from fourleaf.k8s_bridge.cluster.protocol import Body

NEAR = 1.2
"""At most so many times the median without a load, where gangs are hopeless or writes refused."""

TWICE = 2.0
"""The same beside every other load."""


FLAP_SECONDS = 0.1
"""How long pods that come and go are there, and are not."""


@dataclass(frozen=True, slots=True)
class Load:
    """`bodies` come first, in turn into so many `namespaces`; `standing` run before.

    `objects` are there before them, in the first namespace, and `nodes` beside those of the fabric.

    `refused`: a policy forbids all its bindings. `throttled`: of so many writes one is answered
    429. `busy`: so many of its pods change each second. `flapping` come in the first namespace, go
    `FLAP_SECONDS` later, and come again after as long.
    """

    bodies: Sequence[Body] = ()
    standing: Sequence[Body] = ()
    objects: Sequence[tuple[Kind, Body]] = ()
    namespaces: int = 1
    refused: bool = False
    throttled: int = 0
    busy: int = 0
    nodes: Sequence[Body] = ()
    flapping: Sequence[Body] = ()
    goal: float = TWICE


def _rnd() -> random.Random:
    return random.Random(1)  # noqa: S311 - a load that can be repeated


def _small(count: int, size: int = 2) -> list[Body]:
    return [body for i in range(count) for body in gang(f"g-{i}", size, 1)]


LOADS: dict[str, Callable[[], Load]] = {
    "none": Load,
    "500 hopeless gangs": lambda: Load(pods.hopeless(500, 2), goal=NEAR),
    "10,000 hopeless gangs": lambda: Load(pods.hopeless(10_000), goal=NEAR),
    "100,000 hopeless pods": lambda: Load(pods.hopeless(100_000), goal=NEAR),
    "a pod of 10^9 GPUs": lambda: Load([pods.one("e", 10**9)], goal=NEAR),
    "105 commits that a policy refuses": lambda: Load(_small(105), refused=True, goal=NEAR),
    "one write of ten is throttled": lambda: Load(throttled=10, goal=NEAR),
    "450 pods that fit, each elsewhere": lambda: Load(pods.picky(_rnd())),
    "120 odd gangs": lambda: Load(pods.odd_gangs(_rnd())),
    "499 impossible pods": lambda: Load(pods.hopeless(499)),
    "500 impossible pods": lambda: Load(pods.hopeless(500)),
    "3,000 pods of 12 wrong annotations": lambda: Load(pods.mistaken()),
    "100 pods of 100 anti-affinity terms": lambda: Load(pods.terms_apart(100)),
    "200 pods of 100 anti-affinity terms": lambda: Load(pods.terms_apart(200)),
    "500 pods of 100 anti-affinity terms": lambda: Load(pods.terms_apart(500)),
    "100 pods of 300 terms of node affinity": lambda: Load(
        [pods.one(f"t-{i}", affinity=pods.many_terms(i)) for i in range(100)]
    ),
    "6,000 pods of 9 GPUs": lambda: Load([pods.one(f"f-{i}", 9) for i in range(6000)]),
    "a gang of 150 pods that differ": lambda: Load(pods.differing(150)),
    "a gang of 1,200 pods that differ": lambda: Load(pods.differing(1200)),
    "2,000 replicas that repel each other, 2,000 run": lambda: Load(
        pods.repelling(2000, "w"), pods.repelling(2000, "r")
    ),
    "4,000 replicas that spread": lambda: Load(pods.spreading(4000)),
    "1,000 pods that repel any with a label": lambda: Load(pods.all_repel()),
    "500 pods, each for 40 hosts of its own": lambda: Load(pods.own_hosts(_rnd())),
    "2,000 hopeless pods of 20 namespaces": lambda: Load(pods.hopeless(2000), namespaces=20),
    "a gang of 4,000 pods": lambda: Load(gang("big", 4000, 1)),
    "100 gangs of 65 whole nodes": lambda: Load(pods.wide(65, 100)),
    "1,000 gangs without their last pod": lambda: Load(_small(1000)[::2]),
    "400 pods of 51 containers": lambda: Load(pods.many_containers()),
    "500 pods of 100 tolerations": lambda: Load(pods.tolerant()),
    "100 gangs of 4 pods of 100 tolerations each": lambda: Load(pods.tolerant_gangs()),
    "a gang of 1,500 pods of 32 anti-affinity terms": lambda: Load(pods.members_apart(1500)),
    "2,000 pods of 32 anti-affinity terms of their own": lambda: Load(pods.own_terms(2000)),
    "20 pods of 500 disks of their own": lambda: Load(pods.with_disks(20, 500)),
    "60 pods of 30 disks of their own": lambda: Load(pods.with_disks(60, 30)),
    "a gang of 100 pods that name 500 claims each, 10 changes a second": lambda: Load(
        pods.claiming(100, 500), objects=pods.claims(500), busy=10
    ),
    "300 budgets of 9,000 values, 60 pods": lambda: Load(
        pods.hopeless(60), pods.repelling(3, "b"), objects=pods.budgets(300, 9_000)
    ),
    "500 pods near pods that are not there": lambda: Load(pods.followers()),
    "a bound pod that comes and goes in a gang of 4,000": lambda: Load(
        gang("big", 4000, 1), flapping=[pods.bound("big")]
    ),
    "a bound pod that comes and goes, of the name of a gang of 4,000": lambda: Load(
        gang("big", 4000, 1), flapping=[pods.bound("")]
    ),
    "a gang of 2,000 pods without GPUs on any leaves": lambda: Load(pods.anywhere(2000)),
    "a device map that comes and goes, 5,000 hopeless pods": lambda: Load(
        pods.hopeless(5000),
        nodes=[pods.without_plugin("without")],
        flapping=[pods.mapped("without")],
    ),
    "a device map that comes and goes, 2,000 hopeless pods that differ": lambda: Load(
        pods.hopeless_each(2000),
        nodes=[pods.without_plugin("without")],
        flapping=[pods.mapped("without")],
    ),
    "10,000 pods that share out lines of device maps": lambda: Load(pods.sharing_lines(10_000)),
    "500 pods of 30 spread constraints of their own": lambda: Load(pods.own_spreads(500, 30)),
    "2,000 pods of 100 labels beside one that repels": lambda: Load(
        pods.many_labels(2_000, 100), pods.repelling(1, "r")
    ),
    "500 bound pods of 100 foreign terms": lambda: Load(standing=pods.foreign_terms(500, 100)),
    "1,900 pods of 60 preferred terms": lambda: Load(pods.preferring(1_900, 60)),
    "1,000 bound pods of 400 resources of their own": lambda: Load(
        standing=pods.own_resources(1_000, 400)
    ),
    "1,000 bound pods of 400 host ports": lambda: Load(standing=pods.own_ports(1_000, 400)),
    "200 pods that repel by selectors of 1,000 entries, 10 changes a second": lambda: Load(
        pods.long_selectors(200, 1_000), pods.runners(300), busy=10
    ),
    "200 pods near pods of 32 sorts at once, 10 changes a second": lambda: Load(
        pods.near_all(200, 32), pods.runners(300), busy=10
    ),
    "300 hopeless pods, 100 changes a second": lambda: Load(pods.hopeless(300), busy=100),
}
"""Each load, made when it is wanted."""
