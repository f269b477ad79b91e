"""What the verbs about device maps read: nodes, pods and the objects that carry maps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.config_in_force import config_objects
from fourleaf.cli.cluster.connection import refused
from fourleaf.cli.cluster.read_cluster import CLUSTER, typed
from fourleaf.cli.input.files import open_files

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import ClusterAccess
    from fourleaf.k8s_bridge.cluster.kinds import Kind
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
    from fourleaf.model.device_maps.map_annotations import AnnotatedMap
    from fourleaf.model.device_maps.nodes import MapNodes
    from fourleaf.model.problems import Problem
    from fourleaf.model.readers import Source

ALIASES = {
    "pod": "Pod",
    "pods": "Pod",
    "po": "Pod",
    "statefulset": "StatefulSet",
    "statefulsets": "StatefulSet",
    "sts": "StatefulSet",
    "deployment": "Deployment",
    "deployments": "Deployment",
    "deploy": "Deployment",
    "job": "Job",
    "jobs": "Job",
}
CONFLICTS = 10
"""How often a change is tried again because something else of the object was written."""


@dataclass(frozen=True, slots=True)
class MapTarget:
    """The object that the command line names: kind and name, both "" for all of them."""

    kind: str = ""
    name: str = ""
    namespace: str | None = None

    def matches(self, stated: AnnotatedMap) -> bool:
        """Whether it is that object."""
        one = stated.manifest
        return (
            self.kind in ("", one.kind)
            and self.name in ("", one.name)
            and self.namespace in (None, one.namespace)
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace or 'default'}/{self.name}"


@dataclass(frozen=True)
class MapInput:
    """The nodes, the maps that are meant, and where both come from.

    `known`: what is meant is there, with a map or without.
    """

    source: str
    ground: MapNodes
    maps: tuple[AnnotatedMap, ...] = ()
    known: bool = True


def wanted_of(text: str | None, namespace: str | None) -> MapTarget:
    """What `text` (KIND/NAME) names; a usage error where it is no kind that carries a map."""
    import typer

    if text is None:
        return MapTarget(namespace=namespace)
    kind, slash, name = text.partition("/")
    if not (slash and name and kind.lower() in ALIASES):
        raise typer.BadParameter(
            f"'{text}' is not KIND/NAME with one of {', '.join(ALIASES)}", param_hint="OBJECT"
        )
    return MapTarget(ALIASES[kind.lower()], name, namespace or "default")


def scene_of(reach: ClusterAccess, files: Sequence[str] | None, wanted: MapTarget) -> MapInput:
    """What `files` hold; without any, what the cluster holds. Raises `BadInput`."""
    from fourleaf.model.readers import Source

    if files:
        return _scene(", ".join(files), open_files(files), wanted)
    objects = reach.ask(lambda cluster: read_objects(cluster, reach))
    return _scene(reach.name, [Source(CLUSTER, objects=objects)], wanted)


def _scene(name: str, sources: Sequence[Source], wanted: MapTarget) -> MapInput:
    from fourleaf.model.device_maps.map_annotations import annotated_maps
    from fourleaf.model.device_maps.nodes import ground_of
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers.objects.inventory import Inventory
    from fourleaf.model.readers.objects.report import Report

    report = Report()
    inventory = Inventory(report)
    inventory.take(sources)
    unreadable = [one for one in report.errors if not one.object or "document" in one.object]
    if unreadable:
        raise BadInput(unreadable)
    maps = tuple(one for one in annotated_maps(inventory) if wanted.matches(one))
    space = wanted.namespace or ""
    known = any(
        kind == wanted.kind and inventory.get(group, kind, space, wanted.name)
        for group, kind in inventory.kinds
    )
    return MapInput(name, ground_of(inventory), maps, known)


def need_nodes(scene: MapInput) -> None:
    """Raise `BadInput` where the input holds no node."""
    if not scene.ground.nodes:
        advice = "Add them: kubectl get nodes,pods -A -o json > now.json, then -f now.json."
        raise bad_input(scene.source, "the input holds no node", advice, about="Node")


def need_maps(scene: MapInput, wanted: MapTarget) -> None:
    """Raise `BadInput` where nothing that is meant carries a map."""
    if not scene.maps:
        from fourleaf.model.readers.pods.device_map import DEVICE_MAP

        advice = "Name KIND/NAME and its namespace (-n); `fourleaf map generate` makes a map."
        if not wanted.name:
            raise bad_input(scene.source, f"no object carries an annotation {DEVICE_MAP}", advice)
        message = f"carries no annotation {DEVICE_MAP}" if scene.known else "is not there"
        raise bad_input(scene.source, message, advice, about=str(wanted))


async def read_objects(cluster: Cluster, reach: ClusterAccess) -> list[Body]:
    """Nodes with their inventories, pods, what carries maps, and the scheduler's config.

    Raises `BadInput`.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
    from fourleaf.k8s_bridge.cluster.kinds import GPU_NODE_STATUSES, NODES, PODS, REPLICA_SETS
    from fourleaf.model.problems import BadInput

    kinds = (NODES, PODS, REPLICA_SETS, GPU_NODE_STATUSES, *carriers())
    answers = await asyncio.gather(*map(cluster.list, kinds), return_exceptions=True)
    problems: list[Problem] = []
    found: list[Body] = []
    for kind, answer in zip(kinds, answers, strict=True):
        if kind is GPU_NODE_STATUSES and isinstance(answer, NotFound):
            continue
        if isinstance(answer, ClusterError):
            problems.append(refused(answer, reach.name, "list", kind))
        elif isinstance(answer, BaseException):
            raise answer
        else:
            found += typed(kind, answer.items)
    if problems:
        raise BadInput([one for one in problems if not one.object][:1] or problems)
    return found + await config_objects(cluster, reach.name, await reach.home(cluster))


def carriers() -> tuple[Kind, ...]:
    """The kinds that make pods and may carry a map."""
    from fourleaf.k8s_bridge.cluster.kinds import DEPLOYMENTS, JOBS, STATEFUL_SETS

    return (STATEFUL_SETS, DEPLOYMENTS, JOBS)


def put_map(reach: ClusterAccess, stated: AnnotatedMap, text: str) -> None:
    """Write `text` where `stated` stands, only if that map has not changed. Raises `BadInput`."""
    reach.ask(lambda cluster: replace_map(cluster, reach, stated, text))


async def replace_map(
    cluster: Cluster, reach: ClusterAccess, stated: AnnotatedMap, text: str
) -> None:
    """Write `text` where `stated` stands. Raises `BadInput` where that map has changed.

    Controllers write the status of the object at any moment, so a conflict alone says nothing: it
    is tried again while the object is the same and carries the map that was looked at.
    """
    from fourleaf.cli.cluster.patches import patch_all
    from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict
    from fourleaf.k8s_bridge.cluster.kinds import PODS
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.model.device_maps.map_annotations import map_at
    from fourleaf.model.readers.pods.device_map import DEVICE_MAP

    one = stated.manifest
    kind = next(kind for kind in (PODS, *carriers()) if kind.name == one.kind)
    metadata = one.body["metadata"]
    target = Target(one.namespace, one.name, metadata["uid"], metadata["resourceVersion"])
    patch: Body = {"metadata": {"annotations": {DEVICE_MAP: text}}}
    if stated.prefix:
        patch = {"spec": {"template": patch}}
    for _ in range(CONFLICTS):
        try:
            await cluster.patch(kind, target, patch)
            return
        except Conflict:
            with suppress(ClusterError):
                now = await cluster.get(kind, target)
                if map_at(now, stated.prefix) == stated.text:
                    target = replace(target, version=now["metadata"]["resourceVersion"])
                    continue
            break
        except ClusterError:
            break
    # Once more, for what it says of why not.
    await patch_all(cluster, reach, kind, [target], patch)
