"""What of a gang decides where it may stand: the keys under which static facts are kept."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.model.config.spec import Spec
from fourleaf.model.extensions import Extensions, Rule
from fourleaf.model.gang import Gang, TopologyPolicy
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.quantity import mbits
from fourleaf.model.resources import Resources

Counts = tuple[int, ...]
"""Pods per role, in rank order."""


@dataclass(frozen=True, slots=True)
class EligibilityKey:
    """What decides which nodes a gang may use, and what an empty leaf holds of it.

    Bandwidths in Mbit/s. `gang` is set only where custom rules may look at it. `held` are the
    members, per role, that run on a node which holds fewer of them when empty, or none.
    """

    asks: tuple[tuple[Resources, NodeConstraint], ...]
    one_per_node: bool = False
    bandwidth: int | None = None
    node_bandwidth: int | None = None
    domains: tuple[str, ...] | None = None
    max_nodes: int | None = None
    max_gpus: int | None = None
    rules: tuple[Rule, ...] = ()
    gang: Gang | None = None
    held: tuple[tuple[str, Counts], ...] = ()


@dataclass(frozen=True, slots=True)
class PlacementKey:
    """A ground with the sizes of the roles (bound members included) and its leaf rule.

    `exceptions` are (node count, leaves) of `topologyConstraints.rules`, `window_nodes` the most
    nodes of a gang that has to stand in a window.
    """

    ground: EligibilityKey
    sizes: Counts
    preferred: bool = False
    slack: int = 0
    window_nodes: int = 0
    exceptions: tuple[tuple[int, int], ...] = ()


def kind_of(
    spec: Spec, gang: Gang, extensions: Extensions, flat: bool, silent: bool
) -> PlacementKey:
    """Tell the kind of `gang` under `spec`; no cap of a leaf holds on a `flat` fabric.

    Of a `silent` fabric no node states its bandwidth.
    """
    default = spec.network.node_bandwidth
    unknown = silent and default is None and not spec.network.require_stated
    caps = spec.topology_constraints
    ground = EligibilityKey(
        asks=tuple((role.request, role.constraint) for role in gang.roles),
        one_per_node=gang.one_per_node,
        bandwidth=None if unknown else gang.bandwidth,
        node_bandwidth=None if default is None else mbits(default),
        domains=spec.namespace(gang.key.namespace).domains,
        max_nodes=None if flat else caps.max_nodes_per_leaf,
        max_gpus=None if flat else caps.max_gpus_per_leaf,
        rules=extensions.rules,
        gang=gang if extensions.rules else None,
    )
    return PlacementKey(
        ground=ground,
        sizes=tuple(role.size for role in gang.roles),
        preferred=gang.policy is TopologyPolicy.PREFERRED,
        slack=spec.topology.window_slack,
        window_nodes=caps.window_nodes,
        exceptions=tuple((rule.nodes, rule.leaves) for rule in caps.rules),
    )


def phantom_kind(spec: Spec, nodes: int, gpus: int, flat: bool) -> PlacementKey:
    """Tell the kind of a phantom: `nodes` pods of `gpus` GPUs, one per node, no constraints.

    It belongs to no namespace, so neither domains nor custom rules hold for it.
    """
    caps = spec.topology_constraints
    ground = EligibilityKey(
        asks=((Resources(gpus=gpus), NodeConstraint()),),
        one_per_node=True,
        max_nodes=None if flat else caps.max_nodes_per_leaf,
        max_gpus=None if flat else caps.max_gpus_per_leaf,
    )
    return PlacementKey(
        ground=ground,
        sizes=(nodes,),
        slack=spec.topology.window_slack,
        window_nodes=caps.window_nodes,
        exceptions=tuple((rule.nodes, rule.leaves) for rule in caps.rules),
    )
