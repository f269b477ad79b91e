"""ResourceClaims: what they demand for a pod, and what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.readers.dra.classes import DeviceClasses, all_of
from fourleaf.model.readers.dra.devices import MEMORY, PRODUCT
from fourleaf.model.readers.dra.selectors import Has, Least, NotUnderstood
from fourleaf.model.readers.objects.manifest import EMPTY, Body

_REFUSED = ("adminAccess", "tolerations", "capacity")


@dataclass(frozen=True, slots=True)
class ClaimAsk:
    """A claim that a pod needs, and its requests with how many devices each is for."""

    name: str
    uid: str
    version: str
    requests: tuple[tuple[str, int], ...]

    @property
    def count(self) -> int:
        """Devices of all requests."""
        return sum(count for _, count in self.requests)


class UnsupportedClaim(Exception):
    """What a claim demands that is not honoured; the text names the field."""


def requests_of(
    claim: Body, classes: DeviceClasses, names: tuple[str, ...]
) -> tuple[tuple[tuple[str, int], ...], DeviceDemand]:
    """The requests of a claim and what all of them demand of their devices.

    `names` are the classes that the config honours. Raises `UnsupportedClaim`.
    """
    devices = _mapping(_mapping(claim.get("spec")).get("devices"))
    if devices.get("constraints"):
        raise UnsupportedClaim("spec.devices.constraints")
    found: list[tuple[str, int]] = []
    demands = set()
    for i, request in enumerate(_list(devices.get("requests"))):
        field = f"spec.devices.requests[{i}]"
        exactly = request.get("exactly")
        if request.get("firstAvailable") or not isinstance(exactly, dict):
            raise UnsupportedClaim(f"{field}.firstAvailable")
        count, demand = _exactly(exactly, f"{field}.exactly", classes, names)
        found.append((str(request.get("name")), count))
        demands.add(demand)
    if len(demands) > 1:
        raise UnsupportedClaim("spec.devices.requests, which are for devices of different kinds,")
    if not demands:
        raise UnsupportedClaim("spec.devices.requests, which are empty,")
    return tuple(found), demands.pop()


def _exactly(
    body: Body, field: str, classes: DeviceClasses, names: tuple[str, ...]
) -> tuple[int, DeviceDemand]:
    for key in _REFUSED:
        if body.get(key):
            raise UnsupportedClaim(f"{field}.{key}")
    name = str(body.get("deviceClassName"))
    if name not in names:
        raise UnsupportedClaim(
            f"{field}.deviceClassName {name}, which spec.devices.deviceClasses lacks,"
        )
    if name not in classes.by_name:
        raise UnsupportedClaim(f"{field}.deviceClassName {name}, of which there is no DeviceClass,")
    refused = classes.by_name[name].refused
    if refused:
        raise UnsupportedClaim(f"the selector {refused!r} of DeviceClass {name}")
    if body.get("allocationMode", "ExactCount") != "ExactCount":
        raise UnsupportedClaim(f"{field}.allocationMode {body['allocationMode']}")
    count = body.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UnsupportedClaim(f"{field}.count {count!r}")
    return count, _demand(name, body.get("selectors"), field)


def _demand(name: str, selectors: object, field: str) -> DeviceDemand:
    """What a request demands: a product, or an amount of memory, of devices of a class."""
    products: tuple[str, ...] = ()
    memory = 0
    try:
        found = list(all_of(selectors))
    except NotUnderstood as error:
        raise UnsupportedClaim(f"{field}.selectors {str(error)!r}") from None
    for one in found:
        match one:
            case Has(_, attribute, str() as value, False) if attribute == PRODUCT and not products:
                products = (value,)
            case Least(_, capacity, amount) if capacity == MEMORY:
                memory = max(memory, -(-amount // 2**20))
            case _:
                raise UnsupportedClaim(
                    f"{field}.selectors, of which only {PRODUCT} and {MEMORY} count,"
                )
    return DeviceDemand(products=products, memory=memory, device_class=name)


def allocated(claim: Body) -> Iterator[DeviceName]:
    """The devices that a claim holds; access for administrators holds none."""
    allocation = _mapping(_mapping(claim.get("status")).get("allocation"))
    for one in _list(_mapping(allocation.get("devices")).get("results")):
        if not one.get("adminAccess"):
            yield DeviceName(str(one.get("driver")), str(one.get("pool")), str(one.get("device")))


def is_allocated(claim: Body) -> bool:
    """Whether a claim has been given its devices."""
    return bool(_mapping(claim.get("status")).get("allocation"))


def owners(claim: Body) -> set[str]:
    """The UIDs of those that a claim was made for."""
    return {str(one.get("uid")) for one in _list(claim["metadata"].get("ownerReferences"))}


def _mapping(value: object) -> Body:
    return value if isinstance(value, dict) else EMPTY


def _list(value: object) -> list[Body]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
