"""Claims that hold devices without a pod of ours that counts with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fourleaf.model.devices.names import DeviceName
from fourleaf.model.readers.dra.claims import allocated
from fourleaf.model.readers.dra.published import Published
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod

Address = tuple[str, str]
STANDS_IN = " (claim)"
"""What follows the name of a claim that stands for a pod; no pod has a space in its name."""


class Places:
    """Where devices are: node and number of each GPU, and the amounts that others come to."""

    def __init__(self, on_node: Mapping[str, Sequence[DeviceName]], drivers: Published) -> None:
        self._drivers = drivers
        self._at = {
            name: (node, number)
            for node, names in on_node.items()
            for number, name in enumerate(names)
        }

    def of(self, names: Iterable[DeviceName]) -> dict[str, list[int]]:
        """Node -> the numbers of `names` there; devices that no driver lists are left out."""
        found: dict[str, list[int]] = {}
        for name in names:
            if name in self._at:
                node, number = self._at[name]
                found.setdefault(node, []).append(number)
        return found

    def held(self, claim: Body) -> Iterator[tuple[str, Resources, tuple[int, ...]]]:
        """Each node that a claim holds something of: how much, and which GPUs."""
        names = list(allocated(claim))
        if not names:
            return
        numbers, beside = self.of(names), self._drivers.taken(names)
        for node in sorted(numbers.keys() | beside.keys()):
            gpus = tuple(sorted(numbers.get(node, ())))
            yield node, Resources(gpus=len(gpus), pods=0, extra=beside.get(node, ())), gpus


def holders(
    claims: Iterable[tuple[Address, Body]], running: Iterable[RunningPod], places: Places
) -> Iterator[RunningPod]:
    """A stand-in for each claim that holds devices where no pod of ours counts with them.

    Whatever made it, and whether or not its pod has started or ended: its devices are taken for
    as long as it says so.
    """
    counted = {(pod.namespace, claim, pod.node) for pod in running for claim in pod.resource_claims}
    for (namespace, name), body in claims:
        for node, request, numbers in places.held(body):
            if (namespace, name, node) not in counted:
                yield RunningPod(namespace, f"{name}{STANDS_IN}", node, request, devices=numbers)
