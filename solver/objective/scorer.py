"""Points: what a place is worth to the gangs of a group, term by term."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from fourleaf.model.gang import Gang
from fourleaf.model.resources import Resources
from fourleaf.model.weights import gang_weights, milli
from fourleaf.solver.instance.candidates import Candidates
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.instance.gang_type import Counts
from fourleaf.solver.instance.preferred_nodes import profile_of
from fourleaf.solver.instance.spread_sets import Crowds, SpreadSet, spread_set
from fourleaf.solver.objective.terms import (
    bandwidth,
    domain,
    domain_utilization,
    historical_performance,
    preferences,
    resource_availability,
    topology_alignment,
)

FEWEST_NODES = "fewestNodes"
"""The name of the penalty for nodes that a strategy would rather do without."""

SPREAD = "spread"
"""The name of the penalty for pods that a strategy keeps apart and that stand together."""

Points = Sequence[int] | Mapping[int, int]
"""Points by score class or by leaf."""


class Scorer:
    """Points per unit of pod weight, split by what they depend on: node, leaf, gang."""

    def __init__(self, state: CycleState) -> None:
        self.state = state
        extensions = state.fabric.extensions
        self._penalty = milli(state.spec.penalties.bandwidth)
        self._preferences = milli(state.spec.penalties.preferences)
        self._outside = milli(state.spec.penalties.domain)
        named = state.spec.scoring_weights
        self._node_terms = [t for t in extensions.node_terms if t.name in named]
        self._leaf_terms = [t for t in extensions.leaf_terms if t.name in named]
        self._weights: dict[tuple[str, bool], Mapping[str, int]] = {}
        self._node_points: dict[object, Points] = {}
        self._leaf_points: dict[tuple[str, bool, int, int], list[int]] = {}

    def weights(self, gang: Gang) -> Mapping[str, int]:
        """Weights of the gang's terms, in thousandths."""
        key = (gang.strategy, gang.latency_sensitive)
        if key not in self._weights:
            self._weights[key] = gang_weights(self.state.spec, *key)
        return self._weights[key]

    def node_terms(self, gang: Gang, role: int, node: int) -> dict[str, int]:
        """Points of the terms that depend on the node, for one pod of `role`."""
        state, weights = self.state, self.weights(gang)
        request = gang.roles[role].request
        facts = state.fabric.nodes[node]
        values = {
            resource_availability.NAME: resource_availability.comfort(
                facts.allocatable, state.free[node], request
            ),
            historical_performance.NAME: historical_performance.value(facts),
        }
        if request.wants is not None:
            values[topology_alignment.NAME] = topology_alignment.links(state.free[node], request)
        for term in self._node_terms:
            values[term.name] = term.value(gang, gang.roles[role], facts, state.free[node])
        points = {name: weights.get(name, 0) * value // 1000 for name, value in values.items()}
        profile = profile_of(gang.roles[role], state.fabric)
        if profile is not None:
            lack = preferences.value(gang.roles[role], state.preferred.unmet(profile)[node])
            points[preferences.NAME] = -(self._preferences * lack // 1000)
        packing = state.packing.profile_of(gang, role)
        if packing is not None:
            cost = milli(state.spec.strategy(gang.strategy).fewest_nodes)
            points[FEWEST_NODES] = -(cost * state.packing.values(packing)[node] // 1000)
        return points

    def node_points(self, group: GangGroup, role: int) -> Points:
        """The sum of `node_terms` by score class: the same for nodes of one score class."""
        gang, request = group.gang, group.kind.requests[role]
        key = (
            gang.strategy,
            gang.latency_sensitive,
            id(request),
            gang.key if self._node_terms else None,
            profile := profile_of(gang.roles[role], self.state.fabric),
            packing := self.state.packing.profile_of(gang, role),
        )
        points = self._node_points.get(key)
        if points is None:
            plain = not self._node_terms and request.wants is None and not (profile or packing)
            node_of = self.state.node_of_score_class
            points = (
                self._plain_points(gang, request)
                if plain
                else LazyPoints(lambda i: sum(self.node_terms(gang, role, node_of[i]).values()))
            )
            self._node_points[key] = points
        return points

    def _plain_points(self, gang: Gang, request: Resources) -> list[int]:
        """The points of all score classes, where these follow from amounts and failures alone."""
        weights = self.weights(gang)
        availability = weights.get(resource_availability.NAME, 0)
        history = weights.get(historical_performance.NAME, 0)
        amounts, numbers = self.state.amounts_of_score_class
        available = [
            availability * resource_availability.comfort(full, free, request) // 1000
            for full, free in amounts
        ]
        return [
            available[number] + history * value // 1000
            for number, value in zip(numbers, self._history, strict=True)
        ]

    @cached_property
    def _history(self) -> list[int]:
        """Score class -> how rarely its nodes have failed, 0..1000."""
        nodes = self.state.fabric.nodes
        return [historical_performance.value(nodes[i]) for i in self.state.node_of_score_class]

    def leaf_terms(
        self, group: GangGroup, leaf: int, counts: Counts, spans: bool
    ) -> dict[str, int]:
        """Points of the terms that depend on the leaf and on what the gang puts there.

        `counts` are its members in the leaf, bound ones included; `spans`: it has members
        in other leaves as well. `topologyAlignment` stands apart: it differs by gang class.
        """
        state, gang, weights = self.state, group.gang, self.weights(group.gang)
        new = group.new_pods(leaf, counts)
        gpus = sum([n * r.gpus for n, r in zip(new, group.kind.requests, strict=True)])
        used, total = state.leaf_gpus[leaf]
        values = self._gpu_values(used, total, gpus, self._empty(gang))
        points = {name: weights.get(name, 0) * value // 1000 for name, value in values}
        for term in self._leaf_terms:
            value = term.value(gang, state.fabric.leaves[leaf], gpus)
            points[term.name] = weights.get(term.name, 0) * value // 1000
        demand = self.demand(group, leaf, counts) if spans else 0
        if demand:
            penalty = bandwidth.value(demand, state.fabric.uplinks[leaf])
            points[bandwidth.NAME] = -(self._penalty * penalty // 1000)
        return points

    def leaf_points(self, group: GangGroup, counts: Counts, spans: bool) -> Points:
        """By leaf, the sum of `leaf_terms` times the weight of the new pods there."""
        gang = group.gang
        if group.bound or self._leaf_terms or (spans and gang.bandwidth):
            return LazyPoints(
                lambda leaf: (
                    sum(self.leaf_terms(group, leaf, counts, spans).values())
                    * self.leaf_weight(group, leaf, counts)
                )
            )
        pods = self.pods_weight(group, counts)
        gpus = pods if gang.gpus else 0
        key = (gang.strategy, gang.latency_sensitive, gpus, pods)
        known = self._leaf_points.get(key)
        if known is None:
            weights, empty = self.weights(gang), self._empty(gang)
            fillings, numbers = self.state.fillings
            points = [
                pods
                * sum(
                    weights.get(name, 0) * value // 1000
                    for name, value in self._gpu_values(used, total, gpus, empty)
                )
                for used, total in fillings
            ]
            known = self._leaf_points[key] = [points[number] for number in numbers]
        return known

    @staticmethod
    def _gpu_values(used: int, total: int, new: int, empty: bool) -> tuple[tuple[str, int], ...]:
        """The terms that look at the GPUs of a leaf, by name."""
        return (
            (domain_utilization.NAME, domain_utilization.value(used, total, new, empty)),
            (resource_availability.NAME, resource_availability.fit(used, total, new, empty)),
        )

    def _empty(self, gang: Gang) -> bool:
        """Whether its strategy favours empty leaves."""
        return self.state.spec.strategy(gang.strategy).leaves == "empty"

    def spread_set(self, group: GangGroup, gang: Gang) -> SpreadSet | None:
        """The pods with which those of `gang` are kept apart."""
        return spread_set(self.state.snapshot, self.state.fabric, gang, group.kind)

    def compactness(self, candidates: Candidates, gang: Gang, used: int) -> int:
        """Points for standing on `used` leaves and spines, the same for every pod."""
        weight = self.weights(gang).get(topology_alignment.NAME, 0)
        alignment = topology_alignment
        value = alignment.looseness if candidates.loose_spines else alignment.compactness
        return weight * value(candidates.fewest, used) // 1000

    def preference(self, gang: Gang, leaf: int | None) -> int:
        """Points for the preferred domain, for a pod in `leaf` (`None`: in that domain).

        Those of `topologyAlignment` where it is met, the penalty where it is not.
        """
        weight = self.weights(gang).get(topology_alignment.NAME, 0)
        inside = self.state.fabric.domain(gang.preferred_domain)
        met = leaf is None or inside is None or leaf in inside
        return weight * topology_alignment.preference(met) // 1000 if met else self.outside(gang)

    def outside(self, gang: Gang) -> int:
        """Points for a pod outside of the preferred domain: 0 or less."""
        return -self._outside if self.state.fabric.domain(gang.preferred_domain) else 0

    def leaf_weight(self, group: GangGroup, leaf: int, counts: Counts) -> int:
        """Weight of the new pods among `counts` in a leaf."""
        return self.pods_weight(group, group.new_pods(leaf, counts))

    def pods_weight(self, group: GangGroup, pods: Counts) -> int:
        """Weight of so many pods per role."""
        gang = group.gang
        if len(pods) == 1:
            return pods[0] * gang.pod_weight(gang.roles[0])
        return sum([n * gang.pod_weight(r) for n, r in zip(pods, gang.roles, strict=True)])

    def new_weight(self, group: GangGroup) -> int:
        """Weight of all pods that are still to be placed."""
        gang = group.gang
        return sum([len(role.pods) * gang.pod_weight(role) for role in gang.roles])

    def demand(self, group: GangGroup, leaf: int, counts: Counts) -> int:
        """Mbit/s that a gang which spans leaves takes from the uplink of `leaf`."""
        asked = group.gang.bandwidth
        if not asked or self.state.fabric.uplinks[leaf] is None:
            return 0
        return asked * group.kind.nodes_for(leaf, counts)

    def terms(
        self,
        group: GangGroup,
        gang: Gang,
        nodes: Sequence[Sequence[int]],
        before: Crowds | None = None,
    ) -> dict[str, int]:
        """Points by term of a placed gang; `nodes` of the unbound pods, by role.

        `before` are the pods that were placed before it, and takes in its own.
        """
        fabric, score_class = self.state.fabric, self.state.score_class_of
        leaf_of = fabric.leaf_of
        counts: dict[int, list[int]] = {
            leaf: list(bound) for leaf, bound in group.bound.items() if leaf >= 0
        }
        alike: dict[tuple[int, int, int], int] = {}
        for role, members in enumerate(nodes):
            for node in members:
                leaf = leaf_of[node]
                if leaf not in counts:
                    counts[leaf] = [0] * len(nodes)
                counts[leaf][role] += 1
                key = (role, leaf, score_class[node])
                alike[key] = alike.get(key, 0) + 1
        spines = len({fabric.spine_of[leaf] for leaf in counts})
        compact = self.compactness(group.class_of(gang).candidates, gang, len(counts) + spines)
        by_leaf = {
            leaf: self.leaf_terms(group, leaf, tuple(here), len(counts) > 1)
            for leaf, here in counts.items()
        }
        inside = self.state.fabric.domain(gang.preferred_domain)
        met = self.preference(gang, None)
        weights = [gang.pod_weight(role) for role in gang.roles]
        total: dict[str, int] = {}
        for (role, leaf, kind), pods in alike.items():
            node = self.state.node_of_score_class[kind]
            points = self.node_terms(gang, role, node)
            for name, value in by_leaf[leaf].items():
                points[name] = points.get(name, 0) + value
            links = points.get(topology_alignment.NAME, 0)
            is_met = inside is None or leaf in inside
            points[topology_alignment.NAME] = compact + links + (met if is_met else 0)
            points[domain.NAME] = 0 if is_met else self.outside(gang)
            for name, value in points.items():
                total[name] = total.get(name, 0) + pods * weights[role] * value
        apart = self.spread_set(group, gang)
        if apart is not None:
            crowds = Crowds() if before is None else before
            placed = [node for members in nodes for node in members]
            total[SPREAD] = -apart.points * crowds.add(apart, placed, leaf_of)
        return total


class LazyPoints(dict[int, int]):
    """Points by score class or by leaf, each worked out when first asked for."""

    def __init__(self, points_of: Callable[[int], int]) -> None:
        super().__init__()
        self._points_of = points_of

    def __missing__(self, number: int) -> int:
        points = self[number] = self._points_of(number)
        return points
