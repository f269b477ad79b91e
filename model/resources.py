"""Amounts of the resources that a pod takes and a node offers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.free import FreeDevices, unknown

PORT_PREFIX = "hostport/"
"""A host port is an extra resource of which every node has exactly one."""

DISK_PREFIX = "disk/"
"""A disk that pods name is an extra resource of which every node has one, whole."""

WHOLE_DISK = 1_000_000
"""The amount that a disk is: more than any node has pods that read it."""

CLASS_PREFIX = "devices of class "
"""So begins the extra resource that counts devices of a DeviceClass beside GPUs; with the spaces
in it, no resource of a container has such a name."""

ATTACH_PREFIX = "attachable-volumes-csi-"
"""Volumes of a CSI driver that a node can attach; a node that lists no limit has none."""

MOST_VOLUMES = 1_000_000
"""Stands for the volumes of a node without a limit: more than any node attaches."""


@dataclass(frozen=True, slots=True)
class Resources:
    """GPUs (devices), CPU (millicores), memory (bytes), pod slots, and named extras.

    On a node `None` means that the node does not state the amount, so it is not
    checked. `extra` holds extended resources (`rdma/hca`, `ephemeral-storage`, host
    ports as `hostport/TCP/4000`, devices of a DeviceClass by `of_class`, volumes to attach as
    `attachable-volumes-csi-ebs.csi.aws.com`), sorted by name; of what a node does not list it has
    as much as `unlisted` says.

    `wants` is what a pod demands of its GPUs beyond their number. `devices` are those of a node
    that are free; None where all are that it has, or where no pod demands anything of them.
    """

    gpus: int = 0
    cpu: int | None = 0
    memory: int | None = 0
    pods: int = 1
    extra: tuple[tuple[str, int], ...] = ()
    wants: DeviceDemand | None = None
    devices: FreeDevices | None = None

    def amount(self, name: str) -> int:
        """How much of the extra resource `name` is listed (0 where absent)."""
        return next((n for key, n in self.extra if key == name), 0)


def of_class(name: str) -> str:
    """The extra resource that counts the devices of a DeviceClass."""
    return f"{CLASS_PREFIX}{name}"


def is_extended(name: str) -> bool:
    """Whether an extra resource is one that device plugins announce, such as `rdma/hca`."""
    made_up = (PORT_PREFIX, DISK_PREFIX, CLASS_PREFIX, ATTACH_PREFIX)
    return "/" in name and not name.startswith(made_up)


def with_extra(amount: Resources, more: Iterable[tuple[str, int]]) -> Resources:
    """`amount` with `more` extra resources added to those it lists."""
    found = dict(amount.extra)
    for name, count in more:
        found[name] = found.get(name, 0) + count
    extra = tuple(sorted(found.items()))
    return amount if extra == amount.extra else replace(amount, extra=extra)


def unlisted(name: str) -> int:
    """How much a node has of an extra resource that it does not list."""
    if name.startswith(ATTACH_PREFIX):
        return MOST_VOLUMES
    if name.startswith(DISK_PREFIX):
        return WHOLE_DISK
    return 1 if name.startswith(PORT_PREFIX) else 0


def capacity_of(offer: Resources, name: str) -> int:
    """How much of the extra resource `name` an offer is of, listed or not."""
    return dict(offer.extra).get(name, unlisted(name))


def minus(offer: Resources, taken: Resources) -> Resources:
    """What is left of `offer` once `taken` is gone; may be negative where overcommitted."""
    extra = _extra_after(offer.extra, taken.extra) if taken.extra else offer.extra
    return Resources(
        offer.gpus - taken.gpus,
        None if offer.cpu is None else offer.cpu - (taken.cpu or 0),
        None if offer.memory is None else offer.memory - (taken.memory or 0),
        offer.pods - taken.pods,
        extra,
        None,
        _devices_after(offer, taken),
    )


def _extra_after(
    offered: tuple[tuple[str, int], ...], taken: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    """What is left of extra resources, also of those that are not listed."""
    left = dict(offered)
    for name, amount in taken:
        known = left.get(name)
        left[name] = (unlisted(name) if known is None else known) - amount
    # Sorted already where no name has come in.
    return tuple(left.items() if len(left) == len(offered) else sorted(left.items()))


def _devices_after(offer: Resources, taken: Resources) -> FreeDevices | None:
    """The devices of `offer` that are left; those that `taken` gives back stay unknown."""
    if offer.devices is None and taken.wants is None:
        return None
    free = free_devices(offer)
    return free.after(taken.gpus, taken.wants) if taken.gpus > 0 else free


def counted(amount: Resources) -> Resources:
    """`amount` without what is known or demanded of single devices: their number alone."""
    if amount.wants is None and amount.devices is None:
        return amount
    return replace(amount, wants=None, devices=None)


def free_devices(offer: Resources) -> FreeDevices:
    """The free devices of a node, numbered from 0 where it says nothing of them."""
    return unknown(offer.gpus) if offer.devices is None else offer.devices


def given_back(free: Resources, request: Resources) -> Resources:
    """`free` once `request` has been given back."""
    negative = Resources(
        -request.gpus,
        None if request.cpu is None else -request.cpu,
        None if request.memory is None else -request.memory,
        -request.pods,
        tuple((name, -amount) for name, amount in request.extra),
    )
    return minus(free, negative)


def plus(a: Resources, b: Resources) -> Resources:
    """The sum of two requests."""
    return Resources(
        gpus=a.gpus + b.gpus,
        cpu=(a.cpu or 0) + (b.cpu or 0),
        memory=(a.memory or 0) + (b.memory or 0),
        pods=a.pods + b.pods,
        extra=_sum_of_extra((a, b)),
    )


def _sum_of_extra(requests: Sequence[Resources]) -> tuple[tuple[str, int], ...]:
    """The extra resources of all requests together."""
    some = [one.extra for one in requests if one.extra]
    if len(some) < 2:
        return some[0] if some else ()
    found = dict(some[0])
    for extra in some[1:]:
        for name, amount in extra:
            found[name] = found.get(name, 0) + amount
    return tuple(sorted(found.items()))


def total(requests: Sequence[Resources]) -> Resources:
    """The sum of requests, of which there is at least one: `plus`, but not one by one."""
    if len(requests) == 1:
        return requests[0]
    gpus = cpu = memory = pods = 0
    for one in requests:
        gpus += one.gpus
        cpu += one.cpu or 0
        memory += one.memory or 0
        pods += one.pods
    return Resources(gpus, cpu, memory, pods, _sum_of_extra(requests))


def fits(free: Resources, request: Resources) -> int:
    """How many pods that each ask for `request` fit into `free` at once."""
    count = free.pods
    if request.gpus and count * request.gpus > free.gpus:
        count = free.gpus // request.gpus
    if request.cpu and free.cpu is not None and count * request.cpu > free.cpu:
        count = free.cpu // request.cpu
    if request.memory and free.memory is not None and count * request.memory > free.memory:
        count = free.memory // request.memory
    if request.extra:
        left = dict(free.extra)
        for name, amount in request.extra:
            if amount:
                has = left.get(name)
                count = min(count, (unlisted(name) if has is None else has) // amount)
    if count > 0 and request.wants is not None:
        count = min(count, free_devices(free).holds(request.gpus, request.wants))
    return max(count, 0)
