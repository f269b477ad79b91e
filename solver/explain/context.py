"""What all questions about one plan share: the fabric, what is free, who holds the rest."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.resources import Resources, minus
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.cpsat.constraints.quota import new_gpus, quota_left
from fourleaf.solver.explain.free_room import FreeRoom
from fourleaf.solver.explain.holders import Holders
from fourleaf.solver.explain.left_out import may_be_left_out
from fourleaf.solver.explain.not_in_batch import NotInBatch
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_classes import GangGroups, gang_groups_for
from fourleaf.solver.objective.scorer import Scorer


class Context:
    """One plan for one snapshot; the moves of the plan count as made."""

    def __init__(
        self,
        snapshot: Snapshot,
        plan: Plan,
        extensions: Extensions,
        factory: GangGroups | None = None,
    ) -> None:
        self.snapshot = snapshot.moved(plan.moves) if plan.moves else snapshot
        self.plan = plan
        self.gangs = {gang.key: gang for gang in snapshot.gangs}
        self.factory = factory or gang_groups_for(snapshot, extensions)
        self.fabric = self.factory.fabric
        self.spec = self.fabric.spec
        self.state = CycleState(self.snapshot, self.fabric)
        self.scorer = Scorer(self.state)
        self.holders = Holders(self.snapshot, plan, self.fabric)

    @cached_property
    def shut(self) -> list[int]:
        """The nodes, by index, that a cordon, no readiness or a taint could keep a gang off."""
        return [i for i, node in enumerate(self.fabric.nodes) if may_be_left_out(node)]

    @cached_property
    def not_in_batch(self) -> NotInBatch:
        """Who was in no batch that the plan was made for, and why."""
        return NotInBatch(self.snapshot)

    @cached_property
    def now(self) -> FreeRoom:
        """What is free before anything of the plan is placed."""
        return FreeRoom(self.state, self.scorer)

    @cached_property
    def after(self) -> FreeRoom:
        """What the plan leaves free."""
        after = FreeRoom(self.state, self.scorer)
        for placement in self.plan.placements:
            self._book(after, placement)
        return after

    @cached_property
    def after_without_uplinks(self) -> FreeRoom:
        """What the plan leaves free if uplinks had no limit."""
        return self.after.without_uplinks()

    @cached_property
    def quota_now(self) -> dict[str, int]:
        """Namespace -> GPUs that its running pods leave of its quota."""
        return quota_left(self.snapshot)

    @cached_property
    def placed_gpus(self) -> dict[str, int]:
        """Namespace -> GPUs that the plan places."""
        total: dict[str, int] = {}
        for placement in self.plan.placements:
            gang = self.gangs[placement.gang]
            namespace = gang.key.namespace
            total[namespace] = total.get(namespace, 0) + new_gpus(gang)
        return total

    @cached_property
    def with_slack(self) -> Context:
        """The same plan where a gang may take one leaf more than the fewest.

        With a factory of its own: the one kept for the next cycle stays.
        """
        wider = self.spec.topology.model_copy(update={"window_slack": 1})
        spec = self.spec.model_copy(update={"topology": wider})
        config = self.snapshot.config.model_copy(update={"spec": spec})
        extensions = self.fabric.extensions
        return Context(
            replace(self.snapshot, config=config),
            replace(self.plan, moves=()),
            extensions,
            GangGroups(FabricIndex(self.snapshot.fabric, spec, extensions)),
        )

    def but_for(self, gang: Gang) -> FreeRoom:
        """The empty fabric but for the members of `gang` that run already."""
        free: list[Resources] = [node.allocatable for node in self.fabric.nodes]
        for role in gang.roles:
            for _, host in role.bound:
                node = self.fabric.index.get(host)
                if node is not None:
                    free[node] = minus(free[node], role.request)
        return FreeRoom(self.state, self.scorer, free).without_uplinks()

    def _book(self, standing: FreeRoom, placement: Placement) -> None:
        gang = self.gangs[placement.gang]
        index = self.fabric.index
        if gang.bandwidth:
            hosts = {pod: index[host] for pod, host in placement.pods}
            nodes = [[hosts[pod] for pod in role.pods] for role in gang.roles]
            standing.book(self.factory.of(gang), nodes)
            return
        requests = gang.requests
        for pod, host in placement.pods:
            node = index[host]
            standing.free[node] = minus(standing.free[node], requests[pod])
