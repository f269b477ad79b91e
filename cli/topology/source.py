"""What the verbs about topologies read: a description, and nodes to match it with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.config_in_force import config_objects
from fourleaf.cli.cluster.connection import refused
from fourleaf.cli.cluster.read_cluster import CLUSTER, typed
from fourleaf.cli.input.files import open_files

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import ClusterAccess
    from fourleaf.cli.topology.options import SourceFormat
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
    from fourleaf.model.readers import Source
    from fourleaf.model.readers.objects.inventory import Inventory
    from fourleaf.model.topology_import.cluster_nodes import ClusterNode
    from fourleaf.model.topology_import.description import Description
    from fourleaf.model.topology_import.host_names import Match

LIVE = "live"


def description_of(path: str, wanted: SourceFormat | None, flat: bool = False) -> Description:
    """The fabric that the file `path` describes. Raises `BadInput`.

    With `flat`, nodes of which none names a leaf will do.
    """
    from fourleaf.model.topology_import.description import DescriptionFormat
    from fourleaf.model.topology_import.formats import read_description

    return read_description(
        open_files([path])[0], DescriptionFormat(wanted.value) if wanted else None, flat
    )


def live_inventory(reach: ClusterAccess, discovered: bool = False) -> Inventory:
    """The nodes of the cluster and the scheduler's config. Raises `BadInput`.

    With `discovered` also what agents tell of the nodes.
    """
    from fourleaf.model.readers import Source

    objects = reach.ask(lambda cluster: read_objects(cluster, reach, discovered))
    return _inventory([Source(CLUSTER, objects=objects)])


def live_description(reach: ClusterAccess) -> Description:
    """The fabric as the scheduler reads it, from labels and what agents discovered.

    Raises `BadInput`.
    """
    from fourleaf.model.readers import Source
    from fourleaf.model.topology_import.kubernetes import read_kubernetes

    return read_kubernetes(Source(reach.name), live_inventory(reach, discovered=True), flat=True)


def nodes_of(where: str, reach: ClusterAccess) -> list[ClusterNode]:
    """The nodes of a file, or of the cluster where `where` is `live`. Raises `BadInput`."""
    from fourleaf.model.topology_import.kubernetes import known_nodes

    live = where == LIVE
    nodes = known_nodes(live_inventory(reach) if live else _inventory(open_files([where])))
    if not nodes:
        advice = "Give what `kubectl get nodes -o json` prints, or live."
        raise bad_input(where, "no node is there", advice, about="Node")
    return nodes


def matched(one: Description, nodes: Sequence[ClusterNode]) -> tuple[Description, Match]:
    """`one` with the names of `nodes`, and what matched; nodes without GPUs are not missed."""
    from fourleaf.model.topology_import.host_names import match_names, renamed

    match = match_names([p.node for p in one.positions], [node.name for node in nodes])
    with_gpus = {node.name for node in nodes if node.has_gpus} or {node.name for node in nodes}
    left = tuple(name for name in match.nodes_left if name in with_gpus)
    return renamed(one, match), type(match)(match.nodes, match.hosts_left, left)


def _inventory(sources: Sequence[Source]) -> Inventory:
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers.objects.inventory import Inventory
    from fourleaf.model.readers.objects.report import Report

    report = Report()
    inventory = Inventory(report)
    inventory.take(sources)
    if report.errors:
        raise BadInput(report.errors)
    return inventory


async def read_objects(
    cluster: Cluster, reach: ClusterAccess, discovered: bool = False
) -> list[Body]:
    """All nodes of `cluster`, and the scheduler's config where there is one. Raises `BadInput`.

    With `discovered` also what agents tell of the nodes.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
    from fourleaf.k8s_bridge.cluster.kinds import GPU_NODE_STATUSES, NODES
    from fourleaf.model.problems import BadInput

    found: list[Body] = []
    for kind in (NODES, GPU_NODE_STATUSES) if discovered else (NODES,):
        try:
            found += typed(kind, (await cluster.list(kind)).items)
        except NotFound:
            # Without its CRD there is no agent.
            continue
        except ClusterError as error:
            raise BadInput([refused(error, reach.name, "list", kind)]) from error
    return found + await config_objects(cluster, reach.name, await reach.home(cluster))
