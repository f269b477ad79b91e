"""Silent nodes: where a binding of a gang got no answer, it is planned elsewhere first.

A dry run may pass where the binding itself gets no answer on one node. Planned by the same
objective, the gang would come to that node again and again while others are free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.node_constraint import NODE_NAME_FIELD, NodeConstraint, Operator, Requirement
from fourleaf.model.plan import Plan
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot, placed

SILENT_NODE_SECONDS = 1800.0
"""Seconds for which a gang is planned elsewhere first."""

MOST_NODES = 4
"""Silent nodes of one gang, at most: the oldest is forgotten first."""

NO_PLACE = frozenset(
    {
        ReasonKind.NO_MATCHING_NODES,
        ReasonKind.TOO_LARGE,
        ReasonKind.NO_FREE_CAPACITY,
        ReasonKind.NO_ADJACENT_LEAVES,
        ReasonKind.UPLINK_FULL,
    }
)
"""Reasons that say of a gang that there is no place elsewhere; by others it is not its turn."""

MOST_GANGS = 1000
"""Gangs of which silent nodes are known, at most: the oldest is forgotten first."""


@dataclass(slots=True, eq=False)
class SilentNodes:
    """Of each gang, the nodes that it is kept off for now, until when on the monotonic clock."""

    clock: Clock
    _until: dict[GangKey, dict[str, float]] = field(default_factory=dict)
    _known: dict[GangKey, tuple[Gang, frozenset[str], Gang]] = field(default_factory=dict)
    """The same object as before where nothing has changed: others go by that."""

    def note(self, gang: GangKey, nodes: Iterable[str]) -> None:
        """Bindings of the gang to these nodes got no answer, and it goes back."""
        known = self._until.pop(gang, {})
        for node in sorted(nodes):
            known.pop(node, None)
            known[node] = self.clock.monotonic() + SILENT_NODE_SECONDS
        self._until[gang] = dict(list(known.items())[-MOST_NODES:])
        while len(self._until) > MOST_GANGS:
            del self._until[next(iter(self._until))]

    def kept_off(self, snapshot: Snapshot) -> Snapshot:
        """`snapshot`, in which such gangs may not use these nodes."""
        if not self._until:
            self._known = {}
            return snapshot
        off = self._off()
        self._known = {key: one for key, one in self._known.items() if key in off}
        gangs = (self._without(gang, off.get(gang.key)) for gang in snapshot.gangs)
        return snapshot.with_gangs(tuple(gangs))

    def not_elsewhere(self, snapshot: Snapshot, plan: Plan) -> Snapshot | None:
        """What is to be solved again for gangs that have no place elsewhere; None without any.

        `snapshot` has them as they are. They are kept off no node from now on.
        """
        if not self._until:
            return None
        found = {one.gang for one in plan.waiting if one.reason.kind in NO_PLACE}
        waiting = found & self._until.keys()
        again = tuple(gang for gang in snapshot.gangs if gang.key in waiting and gang.hold is None)
        for gang in again:
            del self._until[gang.key]
        if not again:
            return None
        return replace(snapshot, running=(*snapshot.running, *placed(snapshot, plan)), gangs=again)

    def _off(self) -> dict[GangKey, frozenset[str]]:
        now = self.clock.monotonic()
        for gang, known in list(self._until.items()):
            left = {node: until for node, until in known.items() if until > now}
            self._until[gang] = left
            if not left:
                del self._until[gang]
        return {gang: frozenset(known) for gang, known in self._until.items()}

    def _without(self, gang: Gang, nodes: frozenset[str] | None) -> Gang:
        if nodes is None:
            return gang
        known = self._known.get(gang.key)
        if known is None or known[0] is not gang or known[1] != nodes:
            known = self._known[gang.key] = (gang, nodes, _without(gang, nodes))
        return known[2]


def _without(gang: Gang, nodes: frozenset[str]) -> Gang:
    off = Requirement(NODE_NAME_FIELD, Operator.NOT_IN, tuple(sorted(nodes)), is_field=True)

    def constrained(one: NodeConstraint) -> NodeConstraint:
        # A term without requirements is met by no node, and stays so.
        terms = tuple((*term, off) if term else () for term in one.affinity)
        return replace(one, affinity=terms or ((off,),))

    roles = (replace(role, constraint=constrained(role.constraint)) for role in gang.roles)
    return replace(gang, roles=tuple(roles))
