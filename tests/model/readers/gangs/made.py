"""Members and groups to read, and what was read of them."""

from __future__ import annotations

from typing import Any

from fourleaf.model.gang import Gang
from fourleaf.model.readers import InputReading
from tests.model.readers.made import Body, pod, reading

NATIVE = "scheduling.k8s.io/v1alpha2"
OLD_LABEL = "pod-group.scheduling.sigs.k8s.io"


def gangs(found: InputReading) -> dict[str, list[str]]:
    """Gang -> names of the pods to place, in rank order."""
    return {
        str(gang.key): [name for role in gang.roles for name in role.pods]
        for gang in found.snapshot.gangs
    }


def only(*bodies: Body) -> Gang:
    """The one gang of `bodies`."""
    (gang,) = reading(*bodies).snapshot.gangs
    return gang


def gang_policy(least: int) -> Body:
    """Make the spec of a native PodGroup."""
    return {"schedulingPolicy": {"gang": {"minCount": least}}}


def in_native(name: str, **fields: Any) -> Body:
    """Make a pod of the native group g."""
    return pod(name, schedulingGroup={"podGroupName": "g"}, **fields)
