"""Fabrics whose leaves are all worth the same are proven too, not only distinct ones."""

from decimal import Decimal

from fourleaf.model.config.spec import Fragmentation, MixEntry, SchedulerConfig, Solver, Spec
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.plan import PlanStatus
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import validate
from fourleaf.solver.batch.solve import solve

OFFER = Resources(gpus=8, cpu=64_000, memory=1 << 40, pods=110)
POD = Resources(gpus=8, cpu=4_000, memory=1 << 33, pods=1)


def test_a_fabric_of_equal_leaves_is_proven() -> None:
    """On 64 equal leaves the odd nodes left over keep every bound from closing by itself.

    256 nodes less 13 * (1 + 2 + 4 + 8) leave 61: thirty pairs, and one node that helps nobody.
    """
    leaves = tuple(
        Leaf(
            f"l{i:02d}",
            f"s{i // 8}",
            tuple(Node(f"n{i:02d}{j}", f"l{i:02d}", f"s{i // 8}", OFFER) for j in range(4)),
        )
        for i in range(64)
    )
    gangs = tuple(
        Gang(GangKey("ml", f"g{i}-{n}"), (Role(tuple(f"g{i}-{n}-{k}" for k in range(n)), POD),))
        for i in range(13)
        for n in (1, 2, 4, 8)
    )
    mix = (MixEntry(nodes=2, share=Decimal("0.5")),)
    spec = Spec(fragmentation=Fragmentation(mix=mix), solver=Solver(time_limit_seconds=20))
    snapshot = Snapshot(Fabric(leaves), gangs=gangs, config=SchedulerConfig(spec=spec))
    plan = solve(snapshot)
    assert plan is not None
    assert not validate(snapshot, plan)
    assert plan.status is PlanStatus.OPTIMAL
    assert len(plan.placements) == 52
    assert len(plan.phantoms) == 30
