"""Pods as the ledger has to know them, and the Protocol of what lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.names import COMMIT, FENCE
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.devices.held_devices import DEVICES, devices_in
from fourleaf.model.gang import GangKey


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A pod as it was last seen. `node` is "" while it is unbound; `fence` a commit's name.

    `devices` are those that its binding named, `commit` is the commit that bound it, "" where
    not stated. `controller` is the UID of what made it, "" where nothing did.
    """

    pod: Target
    node: str = ""
    finished: bool = False
    deleting: bool = False
    fence: str = ""
    devices: tuple[int, ...] = ()
    commit: str = ""
    controller: str = ""


class PodLister(Protocol):
    """The pods of the cluster, as new as all that the ledger has read of them.

    A pod that was there once and is missing now is gone for good: that is the proof on which
    what it held is freed.
    """

    def seen(self, uid: str) -> PodSeen | None:
        """The pod, None where it is gone."""

    def usable(self, node: str) -> bool:
        """Whether the node exists and is ready."""

    def is_doubted(self, node: str) -> bool:
        """Whether a node is not usable for now, while nothing says that its pods are lost."""

    def running_on(self, node: str) -> Iterable[tuple[GangKey, Member]]:
        """The pods of ours that are bound to `node`, with the gangs that they belong to."""


def pod_seen(body: Body) -> PodSeen:
    """What a pod's object says."""
    metadata = body["metadata"]
    annotations = metadata.get("annotations") or {}
    phase = (body.get("status") or {}).get("phase")
    return PodSeen(
        pod=Target(
            metadata.get("namespace", ""),
            metadata["name"],
            metadata["uid"],
            metadata["resourceVersion"],
        ),
        node=(body.get("spec") or {}).get("nodeName") or "",
        finished=phase in ("Succeeded", "Failed"),
        deleting=metadata.get("deletionTimestamp") is not None,
        fence=annotations.get(FENCE, ""),
        devices=devices_in(annotations.get(DEVICES, "")),
        commit=annotations.get(COMMIT, ""),
        controller=controller_of(metadata),
    )


def controller_of(metadata: Body) -> str:
    """The UID of the controller that made an object, "" where there is none."""
    owners = metadata.get("ownerReferences") or ()
    return next((str(one.get("uid", "")) for one in owners if one.get("controller")), "")


def is_gone(pods: PodLister, member: Member) -> bool:
    """Whether the member is proven to hold nothing: it is gone, ended, or dies unbound."""
    seen = pods.seen(member.pod.uid)
    return seen is None or seen.finished or (seen.deleting and not seen.node)


def is_bound(pods: PodLister, member: Member) -> bool:
    """Whether the member stands on its node."""
    seen = pods.seen(member.pod.uid)
    return seen is not None and seen.node == member.node


def is_ending(pods: PodLister, member: Member) -> bool:
    """Whether the member is bound, and told to end."""
    seen = pods.seen(member.pod.uid)
    return seen is not None and bool(seen.node) and seen.deleting


def is_elsewhere(pods: PodLister, member: Member) -> bool:
    """Whether another scheduler has bound the member to another node."""
    seen = pods.seen(member.pod.uid)
    return seen is not None and seen.node not in ("", member.node)


def is_bound_by_another(pods: PodLister, commit: str, member: Member) -> bool:
    """Whether another commit than `commit` is known to have bound the member since."""
    seen = pods.seen(member.pod.uid)
    return seen is not None and bool(seen.node) and seen.commit not in ("", commit)
