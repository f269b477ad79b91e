"""The status of a `GpuNodeStatus`, put together from all that the agent knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.agent.conditions import conditions
from fourleaf.agent.grant_check import Mismatch
from fourleaf.agent.inventory_consistency import Examined
from fourleaf.agent.last_known_devices import known_to_the_kubelet
from fourleaf.agent.node import NodeIdentity
from fourleaf.agent.readings import Fault, Reading
from fourleaf.model.crds.api import Condition
from fourleaf.model.crds.node_status import NodeDevices

MOST_BYTES = 2**20
"""Of a status as JSON; etcd takes objects of 1.5 MiB, and what manages the fields needs room."""


def inventory(
    node: NodeIdentity,
    examined: Examined,
    mismatches: Sequence[Mismatch] | None,
    before: NodeDevices | None,
    now: float,
) -> NodeDevices:
    """The status to publish; `before` is the one that stands. `now` in seconds of the wall.

    Where it is too large, processes and then links are left out, and `Ready` says so.
    """
    standing = before.conditions if before else ()
    made = _made(node, examined, mismatches, standing, now)
    for part in ("processes", "links"):
        size = len(made.model_dump_json(by_alias=True))
        if size <= MOST_BYTES:
            break
        message = f"the inventory has {size} bytes, of {MOST_BYTES}; {part} are left out"
        without = _without(examined.reading, part)
        examined = Examined(without, (*examined.faults, Fault("TooLarge", message)))
        made = _made(node, examined, mismatches, standing, now)
    return made


def _made(
    node: NodeIdentity,
    examined: Examined,
    mismatches: Sequence[Mismatch] | None,
    standing: Sequence[Condition],
    now: float,
) -> NodeDevices:
    reading = examined.reading
    return NodeDevices(
        node_uid=node.uid,
        boot_id=node.boot_id,
        source=reading.source,
        driver_version=reading.driver_version,
        gpus=known_to_the_kubelet(reading.gpus, node.most),
        links=list(reading.links),
        processes=list(reading.processes),
        topology=reading.topology,
        conditions=conditions(reading, examined.faults, mismatches, standing, now),
    )


def _without(reading: Reading, part: str) -> Reading:
    return replace(reading, processes=()) if part == "processes" else replace(reading, links=())
