"""What claims ask for, kept for as long as they and the classes of devices say the same."""

from __future__ import annotations

from typing import NamedTuple

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.readers.dra.claims import Asked, Honoured, UnsupportedClaim, requests_of
from fourleaf.model.readers.dra.offers import Amounts
from fourleaf.model.readers.objects.manifest import Manifest

_Address = tuple[str, str, str]


class Asks(NamedTuple):
    """All requests of a claim: `gpus` that `demand` says more of, `amounts` of other classes."""

    requests: tuple[Asked, ...]
    demand: DeviceDemand | None
    gpus: int
    amounts: Amounts


class KeptAsks:
    """What was read of claims and of their templates, by the very spec that it was read of.

    Every member that comes has its whole gang read again.
    """

    def __init__(self) -> None:
        self._under: tuple[object, ...] = ()
        self._kept: dict[_Address, tuple[object, Asks | UnsupportedClaim]] = {}

    def of(self, claim: Manifest, honoured: Honoured) -> Asks:
        """What a claim asks for. Raises `UnsupportedClaim`."""
        under = honoured.gpus, honoured.others, honoured.kinds, honoured.mode
        if len(under) != len(self._under) or any(map(_differ, under, self._under)):
            self._kept.clear()
            self._under = under
        at, spec = (claim.kind, claim.namespace, claim.name), claim.body.get("spec")
        read_of, asks = self._kept.get(at, (None, None))
        if asks is None or read_of is not spec:
            try:
                asks = _asks_of(claim, honoured)
            except UnsupportedClaim as refused:
                asks = refused
            self._kept[at] = spec, asks
        if isinstance(asks, UnsupportedClaim):
            raise UnsupportedClaim(str(asks), asks.advice)
        return asks

    def forget(self, kind: str, namespace: str, name: str) -> None:
        """A claim has gone, or says something else."""
        self._kept.pop((kind, namespace, name), None)


def _asks_of(claim: Manifest, honoured: Honoured) -> Asks:
    requests, demand = requests_of(claim.body, honoured)
    counts: dict[str, int] = {}
    for one in requests:
        counts[one.device_class] = counts.get(one.device_class, 0) + one.count
    gpus = counts.pop("", 0)
    kinds = honoured.kinds
    amounts = (pair for name, count in counts.items() for pair in kinds.asked(name, count))
    return Asks(requests, demand, gpus, tuple(amounts))


def _differ(one: object, other: object) -> bool:
    return one is not other
