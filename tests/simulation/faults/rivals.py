"""A second leader: somebody takes the Lease away from whoever leads."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.names import LEADER
from tests.simulation.faults.fault import Act, Family, Scene
from tests.simulation.faults.machines import moments

if TYPE_CHECKING:
    from tests.simulation.world import World

LEASE = Target("kube-system", LEADER)
_PATCHES: dict[str, Body] = {
    "cleared": {"spec": {"holderIdentity": ""}},
    "given to nobody": {"spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 2}},
    "mangled": {"spec": {"holderIdentity": None, "leaseTransitions": 0}},
}


@dataclass(frozen=True, slots=True)
class _Tampered:
    how: str

    async def __call__(self, world: World) -> None:
        try:
            if self.how == "deleted":
                await world.admin.delete(LEASES, LEASE)
            else:
                await world.admin.patch(LEASES, LEASE, _PATCHES[self.how])
        except ClusterError:
            return
        world.story.struck("leader's lease tampered with", self.how)


class SecondLeader(Family):
    """The leader's Lease is deleted, cleared or mangled while its holder works on."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        ways = ("deleted", *_PATCHES)
        self._acts = [
            Act(moment, _Tampered(chance.choice(ways))) for moment in moments(chance, scene, 4)
        ]

    def acts(self) -> Sequence[Act]:
        """At each of the moments."""
        return self._acts
