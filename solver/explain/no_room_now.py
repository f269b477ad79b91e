"""The reasons that lie in what is busy: who came first, the leaf rule, plain lack of room."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from fourleaf.model.gang import Gang, GangKey, TopologyPolicy
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.resources import Resources, counted, fits, unlisted
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.explain.blockers import Blockers, shares_nodes
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.free_room import NO_LIMIT
from fourleaf.solver.explain.near_miss import ReachedCandidate, Spot, SpotReach, spots_of
from fourleaf.solver.explain.quota_and_uplinks import uplink_full, waiting_steps
from fourleaf.solver.instance.gang_classes import GangGroup

MOST_RIVALS = 3
PREFERRED_NOW = "topology-policy Preferred would place it now"
SLACK_NOW = "topology.windowSlack: 1 would place it now"


class NoRoomNow:
    """One group on the fabric as the plan leaves it. Gangs of the same group share it."""

    def __init__(self, context: Context, group: GangGroup) -> None:
        self.context = context
        self.group = group
        self.obstacles = Blockers(context, group)
        self._outranked: dict[int, Reason] = {}

    def reason(self, gang: Gang) -> Reason:
        """Why the gang is not placed, quota and the empty fabric being no hindrance."""
        if self.fits_after:
            return Reason(ReasonKind.NOT_PROVEN, unblock=("raise solver.timeLimitSeconds",))
        if self.fits_now:
            if gang.priority not in self._outranked:
                self._outranked[gang.priority] = self._outrank(gang)
            return self._outranked[gang.priority]
        return self._room

    @cached_property
    def spots(self) -> list[Spot]:
        """The group's legal places."""
        return spots_of(self.group)

    @cached_property
    def reach(self) -> SpotReach:
        """How far it gets on what the plan leaves."""
        return SpotReach(self.group, self.context.after)

    @cached_property
    def fits_after(self) -> bool:
        """Whether it fits into what the plan leaves."""
        reach = self.reach
        if max(reach.measure(self.spots), default=0) < reach.needed:
            return False
        return self.context.after.finds(self.group)

    @cached_property
    def _measured_now(self) -> list[int]:
        return SpotReach(self.group, self.context.now).measure(self.spots)

    @cached_property
    def fits_now(self) -> bool:
        """Whether it would fit if nothing of the plan were placed."""
        if max(self._measured_now, default=0) < self.reach.needed:
            return False
        return self.context.now.finds(self.group)

    @cached_property
    def _nearest(self) -> ReachedCandidate | None:
        return self.reach.nearest(self.spots, self.obstacles.in_the_way)

    @cached_property
    def _near(self) -> tuple[tuple[NearMiss, ...], tuple[str, ...]]:
        place = self._nearest
        return ((), ()) if place is None else self._near_to(place)

    def _near_to(self, place: ReachedCandidate) -> tuple[tuple[NearMiss, ...], tuple[str, ...]]:
        near, ends = self.obstacles.near(self.reach, place)
        return near, waiting_steps(self.context, self.group, place.takes, ends)

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """The gangs, and pods of none, whose end would clear the nearest place."""
        place = self._nearest
        return () if place is None else self.obstacles.near(self.reach, place)[1] or ()

    @cached_property
    def as_preferred(self) -> GangGroup | None:
        """The group of the same gang under the policy `Preferred`, where that differs."""
        gang = self.group.gang
        if self.group.loose or gang.policy is TopologyPolicy.PREFERRED:
            return None
        if sum(self.group.kind.sizes) < 2:
            return None
        group = self.context.factory.of(replace(gang, policy=TopologyPolicy.PREFERRED))
        return group if group.loose else None

    @cached_property
    def _preferred_now(self) -> tuple[str, ...]:
        """The advice to ask for `Preferred`, where it would place the gang now."""
        if self.scope_free < self.reach.needed:
            return ()
        group = self.as_preferred
        if group is None or not self.context.after.finds_loose(group):
            return ()
        return (PREFERRED_NOW,)

    @cached_property
    def _slack_now(self) -> tuple[str, ...]:
        """The advice to allow one leaf more, where that would place the gang now.

        It can only where leaves differ: one that is larger has made the fewest fewer
        (docs/decisions/0022).
        """
        sizes = {n for n in self.group.kind.capacity if n}
        slack = self.context.spec.topology.window_slack
        if slack or len(sizes) < 2 or self.scope_free < self.reach.needed:
            return ()
        wider = self.context.with_slack
        return (SLACK_NOW,) if wider.after.finds(wider.factory.of(self.group.gang)) else ()

    @cached_property
    def _labelled_now(self) -> tuple[str, ...]:
        """The advice to label nodes that name no leaf, where together they have the room."""
        fabric = self.context.fabric.source
        if not fabric.unlabelled or fabric.flat:
            return ()
        row = self.reach.room[0]
        apart = tuple(
            i
            for i, leaf in enumerate(fabric.leaves)
            if leaf.nodes[0].name in fabric.unlabelled and row[i]
        )
        if self.reach.pods(apart, self.reach.new) < self.reach.needed:
            return ()
        names = [node.name for i in apart for node in fabric.leaves[i].nodes]
        return (matching_advice.label_step(names),)

    @cached_property
    def _scopes(self) -> list[tuple[int, ...]]:
        """The leaves that the gang could use if only spines bound it."""
        fabric = self.context.fabric
        required = self.group.candidates.required
        if required and min(place.spines for place in required) > 1:
            return [tuple(range(len(fabric.leaves)))]
        bound = {fabric.spine_of[leaf] for leaf in self.group.bound if leaf >= 0}
        return [leaves for s, leaves in enumerate(fabric.spine_leaves) if not bound or s in bound]

    @cached_property
    def scope_free(self) -> int:
        """Unbound pods of the gang that fit into one spine, wherever there."""
        return max((self.reach.pods(leaves, self.reach.new) for leaves in self._scopes), default=0)

    @cached_property
    def _free(self) -> tuple[int, int]:
        """Pods of the gang's size, however many, that fit into one spine, and anywhere."""
        row = self.reach.room[0]
        if len(self.reach.new) > 1:
            everywhere = tuple(range(len(self.context.fabric.leaves)))
            return self.scope_free, self.reach.pods(everywhere, self.reach.new)
        return max((sum([row[i] for i in s]) for s in self._scopes), default=0), sum(row)

    def _counts(self) -> list[tuple[str, int]]:
        spine, anywhere = self._free
        best = 0 if self._nearest is None else self._nearest.pods
        counts = [("needed", self.reach.needed), ("free", spine), ("anywhere", anywhere)]
        counts.append(("best", best))
        if shares_nodes(self.group):
            counts.append(("pods", self.reach.needed))
        return counts

    @cached_property
    def _room(self) -> Reason:
        """Uplinks, the leaf rule, or plain lack of room; none of it depends on priority."""
        full = uplink_full(self.context, self.group, self.reach, self.spots)
        if full is not None:
            return full
        near, waits = self._near
        steps = waits + self._labelled_now + self._preferred_now + self._slack_now
        if not self.group.loose and self.scope_free >= self.reach.needed:
            leaves = min((len(spot.takes) for spot in self.spots), default=0)
            counts = (("leaves", leaves), *self._counts())
            return Reason(ReasonKind.NO_ADJACENT_LEAVES, "", counts, near, steps)
        counts = tuple(self._counts())
        return Reason(ReasonKind.NO_FREE_CAPACITY, self._short(), counts, near, steps)

    def _short(self) -> str:
        """The resource without which it would fit; else all that the nearest place lacks."""
        if self._nearest is None or self._nearest.pods == self.reach.needed:
            return ""
        if self._lacks_devices():
            return "devices as it demands them"
        names = ["GPUs", "CPU", "memory", "pod slots"]
        requests = self.group.kind.requests
        names += list(dict.fromkeys(name for one in requests for name, _ in one.extra))
        alone = [name for name in names if self._fits_without(name)]
        if alone:
            return " or ".join(alone)
        return " and ".join(name for name in names if self._lacking(name))

    def _fits_without(self, name: str) -> bool:
        standing = self.context.after
        before = standing.amounts[0]
        amounts = [unlimited(amount, name) for amount in before]
        if all(
            fits(more, one) == fits(less, one)
            for more, less in zip(amounts, before, strict=True)
            for one in self.group.kind.requests
        ):
            return False
        reach = SpotReach(self.group, standing, amounts)
        return max(reach.measure(self.spots), default=0) >= reach.needed

    @cached_property
    def _free_where_blocked(self) -> list[Resources]:
        """What is left on each node of the nearest place where others hold room."""
        leaves = () if self._nearest is None else self._nearest.leaves
        free = self.context.after.free
        return [free[i] for leaf in leaves for i in self.obstacles.blocked(leaf)]

    def _lacks_devices(self) -> bool:
        """Whether a node of the nearest place has the number, but not such devices."""
        return any(
            fits(counted(free), counted(request)) > fits(free, request)
            for request in self.group.kind.requests
            if request.wants is not None
            for free in self._free_where_blocked
        )

    def _lacking(self, name: str) -> bool:
        least = min(amount_of(request, name) for request in self.group.kind.requests)
        return any(amount_of(free, name) < least for free in self._free_where_blocked)

    def _outrank(self, gang: Gang) -> Reason:
        """The gangs of the plan on the nearest place that fits now.

        Places that gangs of lower priority took come last: those did not decide it.
        """
        placed_in = self.context.holders.placed_in
        fabric = self.context.fabric
        best: tuple[tuple[int, int, int], Spot, frozenset[GangKey]] | None = None
        after = self.reach.measure(self.spots)
        for spot, pods, left in zip(self.spots, self._measured_now, after, strict=True):
            if pods < self.reach.needed:
                continue
            leaves = (
                [leaf for leaf, _ in spot.takes]
                if spot.spine is None
                else fabric.spine_leaves[spot.spine]
            )
            rivals = frozenset[GangKey]().union(*(placed_in[leaf] for leaf in leaves))
            lower = sum(self.context.holders.priority(one) < gang.priority for one in rivals)
            rank = (lower, -left, len(rivals))
            if rivals and (best is None or rank < best[0]):
                best = (rank, spot, rivals)
        if best is None:
            return Reason(ReasonKind.OUTRANKED, "", tuple(self._counts()))
        (_, left, _), spot, rivals = best
        place = self.reach.reached(spot, -left)
        near, waits = self._near_to(place)
        blocking = {name for leaf in place.leaves for name in self.obstacles.in_the_way(leaf)}
        rivals = frozenset(one for one in rivals if str(one) in blocking) or rivals
        priority = self.context.holders.priority
        ordered = sorted(rivals, key=lambda one: (-priority(one), one))
        detail = ", ".join(f"{one} (priority {priority(one)})" for one in ordered[:MOST_RIVALS])
        highest = priority(ordered[0])
        raised = (f"raise its priority above {highest}",) if highest >= gang.priority else ()
        counts = (*self._counts(), ("rivals", len(rivals)))
        steps = self._labelled_now + self._preferred_now + self._slack_now + raised + waits
        return Reason(ReasonKind.OUTRANKED, detail, counts, near, steps)


def unlimited(amount: Resources, name: str) -> Resources:
    """A free amount in which one resource never runs out."""
    match name:
        case "GPUs":
            return replace(amount, gpus=NO_LIMIT)
        case "CPU":
            return replace(amount, cpu=None)
        case "memory":
            return replace(amount, memory=None)
        case "pod slots":
            return replace(amount, pods=NO_LIMIT)
    extra = tuple((key, n) for key, n in amount.extra if key != name)
    return replace(amount, extra=tuple(sorted((*extra, (name, NO_LIMIT)))))


def amount_of(amount: Resources, name: str) -> int:
    """One resource of an amount; what is not stated never runs out."""
    match name:
        case "GPUs":
            return amount.gpus
        case "CPU":
            return NO_LIMIT if amount.cpu is None else amount.cpu
        case "memory":
            return NO_LIMIT if amount.memory is None else amount.memory
        case "pod slots":
            return amount.pods
    return dict(amount.extra).get(name, unlisted(name))
