"""Seeded instances: a fabric, what runs on it, and a batch of gangs with every term on.

Leaves of four nodes, eight leaves a spine, eight GPUs a node, occupancy 20 to 90 %; a random
failure rate per leaf (so every leaf is worth something else), two GPU products by spine,
three priorities, four ages, all strategies, preferred leaves and spines, and a job mix.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal

from fourleaf.model.config.spec import Batch, Fragmentation, MixEntry, SchedulerConfig, Solver, Spec
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role, Strategy
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import ANY_NODE, NodeConstraint
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.simulator.fabric_shape import OFFER, Shape

PRODUCT = "nvidia.com/gpu.product"
PRODUCTS = ("H100", "A100")
SIZES, SHARES = (1, 2, 4, 8, 16), (0.30, 0.25, 0.20, 0.15, 0.10)
AGE_STEP = 600.0
LIMIT = 10.0
MIX = tuple(
    MixEntry(nodes=nodes, share=Decimal(share))
    for nodes, share in ((4, "0.3"), (8, "0.2"), (16, "0.1"))
)


def request(gpus: int) -> Resources:
    """A pod's request in proportion to its GPUs."""
    return Resources(gpus=gpus, cpu=gpus * 12_000, memory=gpus << 35, pods=1)


def fabric(shape: Shape, dice: random.Random) -> Fabric:
    """The fabric of `shape` with a failure rate per leaf."""
    leaves: list[Leaf] = []
    for s, sizes in enumerate(shape.spines):
        product = PRODUCTS[s % 2]
        for size in sizes:
            name, rate = f"leaf-{len(leaves)}", dice.randint(0, 1000)
            nodes = tuple(
                Node(
                    f"{name}-{i}",
                    name,
                    f"spine-{s}",
                    OFFER,
                    product=product,
                    failure_permille=rate,
                    labels={PRODUCT: product},
                )
                for i in range(size)
            )
            leaves.append(Leaf(name, f"spine-{s}", nodes))
    return Fabric(tuple(leaves))


def running(on: Fabric, dice: random.Random, parts: bool) -> tuple[RunningPod, ...]:
    """Pods on 20 to 90 % of the nodes, wholly or (`parts`) in part; some leaves stay free."""
    share = dice.uniform(0.2, 0.9)
    pods: list[RunningPod] = []
    for leaf in on.leaves:
        if dice.random() < (1 - share) * 0.6:
            continue
        for node in leaf.nodes:
            if dice.random() < share:
                gpus = dice.randint(1, 8) if parts else 8
                pods.append(RunningPod("other", f"p{len(pods)}", node.name, request(gpus)))
    return tuple(pods)


def gangs(
    on: Fabric, dice: random.Random, count: int, parts: bool, sizes: Sequence[int] = ()
) -> tuple[Gang, ...]:
    """A batch; with `parts` half of the gangs are one pod of 1, 2 or 4 GPUs."""
    spines = list(on.spines)
    out = []
    for number in range(count):
        pods = dice.choice(sizes) if sizes else dice.choices(SIZES, SHARES)[0]
        gpus = 8
        if parts and dice.random() < 0.5:
            pods, gpus = 1, dice.choice((1, 1, 2, 4))
        product = dice.choice((None, None, *PRODUCTS))
        strategy = dice.choice(list(Strategy))
        wish = dice.choice((None, None, dice.choice(on.leaves).name, dice.choice(spines)))
        constraint = NodeConstraint(((PRODUCT, product),)) if product else ANY_NODE
        names = tuple(f"g{number}-{i}" for i in range(pods))
        out.append(
            Gang(
                GangKey("ml", f"g{number:04d}"),
                (Role(names, request(gpus), constraint),),
                priority=dice.randint(0, 2),
                created=-AGE_STEP * dice.randint(0, 3),
                strategy=strategy,
                preferred_domain=wish,
                one_per_node=strategy is Strategy.DISTRIBUTED,
            )
        )
    return tuple(out)


def snapshots(
    seed: int, shape: Shape, count: int, parts: bool, sizes: Sequence[int] = ()
) -> tuple[Snapshot, Snapshot]:
    """Two cycles on one fabric: the first to warm up, the second to time."""
    dice = random.Random(seed)  # noqa: S311 - an instance, not a secret
    on = fabric(shape, dice)
    spec = Spec(
        fragmentation=Fragmentation(mix=MIX),
        solver=Solver(time_limit_seconds=LIMIT),
        batch=Batch(size=max(500, count), age_step_seconds=int(AGE_STEP)),
    )
    config = SchedulerConfig(spec=spec)
    first, second = (
        Snapshot(on, running(on, dice, parts), gangs(on, dice, count, parts, sizes), config)
        for _ in range(2)
    )
    return first, second
