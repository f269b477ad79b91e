"""Tiny snapshots in which uplinks are scarce and GPUs differ: what random ones rarely have."""

from __future__ import annotations

import random
from dataclasses import replace

from fourleaf.model.gang import Gang
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.snapshot import Snapshot
from tests.instances import random_snapshot

PRODUCT = "nvidia.com/gpu.product"
PRODUCTS = ("H100", "H100", "H200")


def pressed_snapshot(seed: int) -> Snapshot:
    """The random snapshot of `seed`, every leaf with a narrow uplink and one product of GPU.

    Every gang that has no member running yet asks for bandwidth, and some for a product.
    """
    dice = random.Random(f"pressed {seed}")  # noqa: S311 - a seed for tests, not a secret
    snapshot = random_snapshot(seed)
    leaves = []
    for leaf in snapshot.fabric.leaves:
        product = dice.choice(PRODUCTS)
        nodes = tuple(
            replace(
                node,
                product=product,
                labels={**node.labels, PRODUCT: product},
                bandwidth=node.bandwidth or 100,
            )
            for node in leaf.nodes
        )
        leaves.append(replace(leaf, nodes=nodes, uplink=dice.choice([100, 150, 200, 300])))
    return replace(
        snapshot,
        fabric=replace(snapshot.fabric, leaves=tuple(leaves)),
        gangs=tuple(_demanding(dice, gang) for gang in snapshot.gangs),
    )


def _demanding(dice: random.Random, gang: Gang) -> Gang:
    bandwidth = dice.choice([50, 80, 100])
    wish = ((PRODUCT, dice.choice(PRODUCTS)),) if dice.random() < 0.3 else ()
    if any(role.bound for role in gang.roles):
        return gang

    def choosy(constraint: NodeConstraint) -> NodeConstraint:
        return replace(constraint, selector=(*constraint.selector, *wish))

    roles = tuple(replace(role, constraint=choosy(role.constraint)) for role in gang.roles)
    return replace(gang, roles=roles, bandwidth=bandwidth)
