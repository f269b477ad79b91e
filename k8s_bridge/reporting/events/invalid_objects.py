"""Objects that cannot be used as they stand, and the config: events where people look."""

from __future__ import annotations

from fourleaf.k8s_bridge.cache.config_watcher import ConfigState
from fourleaf.k8s_bridge.cluster import kinds
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Objects, Reported
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Outgoing, Regarding
from fourleaf.k8s_bridge.runtime.api_text import clipped, complaint


def what_is_wrong(before: Reported, facts: CycleFacts) -> list[Outgoing]:
    """An event for each error that was not there before, on its object; so for inventories.

    It is called `Invalid`, and `InventoryDoubted` on a GpuNodeStatus, whose node takes no pods for
    what is only a warning there. What is wrong with objects that are not watched, or with none in
    particular, is for logs.
    """
    if facts.problems is before.problems:
        return []
    known = frozenset(before.problems)
    outgoing: list[Outgoing] = []
    for problem in facts.problems:
        doubted = problem.object.startswith(f"{kinds.GPU_NODE_STATUSES.name} ")
        if (problem.is_error or doubted) and problem not in known:
            regarding = _regarding(problem.object, facts.objects)
            if regarding is not None:
                outgoing.append(
                    Event(
                        regarding,
                        "InventoryDoubted" if doubted else "Invalid",
                        complaint(problem),
                        "Reading",
                        topic=f"{problem.field}: {problem.message}",
                        warning=True,
                    )
                )
    return outgoing


def _regarding(title: str, objects: Objects) -> Regarding | None:
    """The watched object that problems call `title` (`Pod ml/bert-0`)."""
    name, _, where = title.partition(" ")
    namespace, _, last = where.rpartition("/")
    for kind in objects:
        if kind.name == name:
            body = objects[kind].get((namespace, last))
            if body is not None:
                return Regarding.of(kind, body)
    return None


def what_of_config(before: ConfigState, after: ConfigState, config_map: Regarding) -> list[Event]:
    """Events for a config that was read again: `ConfigInvalid`, or `ConfigReloaded`."""
    if after.problems and (after.problems, after.source) != (before.problems, before.source):
        note = "; ".join(complaint(problem) for problem in after.problems)
        kept = f"In force: {after.source}. The newest edit is not: "
        event = Event(
            config_map, "ConfigInvalid", clipped(kept + note), "Reading", note, warning=True
        )
        return [event]
    if not after.problems and (before.problems or after.config != before.config):
        note = f"In force: {after.source}"
        return [Event(config_map, "ConfigReloaded", note, "Reading", after.version)]
    return []


def config_map(namespace: str, name: str, uid: str = "") -> Regarding:
    """Name the ConfigMap of the config, which need not exist.

    Without its UID, `kubectl describe` shows no event about it.
    """
    kind: Kind = kinds.CONFIG_MAPS
    return Regarding(kind, namespace, name, uid)
