"""ResourceClaims: what they demand for a pod, and what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.readers.dra.classes import DeviceClasses, all_of
from fourleaf.model.readers.dra.devices import MEMORY, PRODUCT
from fourleaf.model.readers.dra.offers import GPU_DEVICES, Kinds
from fourleaf.model.readers.dra.selectors import Has, Least, NotUnderstood
from fourleaf.model.readers.objects.manifest import Body, entries_of, part_of

_REFUSED = ("adminAccess", "tolerations", "capacity")
_SHARED_PARTS = ("adminAccess", "shareID", "consumedCapacity")
"""What a result says where its device is not the claim's alone."""

MOST_RESULTS = 32
"""Devices that one claim may be given, as the API has it."""
MOST_SELECTOR_CHARACTERS = 2048
"""Of all selectors of one request for GPUs: more has never to be said of a product and memory."""
MOST_CONSUMERS = 256
"""Pods that may use one claim at a time, as the API has it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How many devices one request is for; `device_class` is "" where they are GPUs."""

    request: str
    count: int
    device_class: str = ""


@dataclass(frozen=True, slots=True)
class ClaimAsk:
    """A claim that a pod needs, and its requests with how many devices each is for.

    `held` are the devices of a claim that has them already, by request: it asks for none then.
    """

    name: str
    uid: str
    version: str
    requests: tuple[Asked, ...]
    held: tuple[tuple[str, DeviceName], ...] = ()

    @property
    def count(self) -> int:
        """GPUs of all requests."""
        return sum(one.count for one in self.requests if not one.device_class)


class UnsupportedClaim(Exception):
    """What a claim demands that is not honoured; the text names the field."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Honoured:
    """The classes that claims may name: those of `gpus` where GPUs are claimed, and `others`.

    `mode` is `spec.devices.mode` of the config.
    """

    gpus: DeviceClasses
    others: DeviceClasses
    kinds: Kinds
    mode: str

    def names_gpus(self, claim: Body) -> bool:
        """Whether a claim asks for GPUs, or has some."""
        return any(name in self.gpus.names for name in _class_names(claim)) or any(
            name.driver in self.gpus.names for _, name in results_of(claim)
        )


def requests_of(claim: Body, honoured: Honoured) -> tuple[tuple[Asked, ...], DeviceDemand | None]:
    """The requests of a claim, and what those for GPUs demand, None where none are for GPUs.

    Raises `UnsupportedClaim`.
    """
    devices = part_of(claim, "spec", "devices")
    if devices.get("constraints"):
        raise UnsupportedClaim("spec.devices.constraints")
    found: list[Asked] = []
    demands = set()
    for i, request in enumerate(entries_of(devices, "requests")):
        field = f"spec.devices.requests[{i}]"
        exactly = request.get("exactly")
        if request.get("firstAvailable") or not isinstance(exactly, dict):
            raise UnsupportedClaim(f"{field}.firstAvailable")
        name, count = _exactly(exactly, f"{field}.exactly", honoured)
        if name in honoured.gpus.names:
            demands.add(_demand(name, exactly.get("selectors"), f"{field}.exactly"))
            name = ""
        found.append(Asked(str(request.get("name")), count, name))
    total = sum(one.count for one in found)
    if total > MOST_RESULTS:
        what = f"which are for {total:,} devices, above the {MOST_RESULTS} of one claim,"
        raise UnsupportedClaim(f"spec.devices.requests, {what}", "Split it into several claims.")
    if len(demands) > 1:
        raise UnsupportedClaim("spec.devices.requests, which are for devices of different kinds,")
    if not found:
        raise UnsupportedClaim("spec.devices.requests, which are empty,")
    return tuple(found), demands.pop() if demands else None


def _exactly(body: Body, field: str, honoured: Honoured) -> tuple[str, int]:
    """The class and the count of a request."""
    for key in _REFUSED:
        if body.get(key):
            raise UnsupportedClaim(f"{field}.{key}")
    name = str(body.get("deviceClassName"))
    at = f"{field}.deviceClassName {name}"
    if name in honoured.gpus.names and honoured.mode != "dra":
        raise UnsupportedClaim(
            f"{at}, whose GPUs are not claimed in devices.mode {honoured.mode},",
            "Ask for GPUs in the resources of a container, or set spec.devices.mode to dra.",
        )
    classes = honoured.gpus if name in honoured.gpus.names else honoured.others
    if name not in classes.by_name:
        raise UnsupportedClaim(f"{at}, of which there is no DeviceClass,")
    if refused := classes.by_name[name].refused:
        raise UnsupportedClaim(f"the selector {refused} of DeviceClass {name}")
    if classes is honoured.others:
        _check_beside_gpus(name, body, field, honoured.kinds)
    if body.get("allocationMode", "ExactCount") != "ExactCount":
        raise UnsupportedClaim(f"{field}.allocationMode {body['allocationMode']}")
    count = body.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UnsupportedClaim(f"{field}.count {count!r}")
    return name, count


def _check_beside_gpus(name: str, body: Body, field: str, kinds: Kinds) -> None:
    """Raise `UnsupportedClaim` where devices of a class beside GPUs cannot be counted."""
    if body.get("selectors"):
        raise UnsupportedClaim(
            f"{field}.selectors, of which a request for class {name} can have none,",
            "Make a DeviceClass that has the selector, and name that.",
        )
    if why := kinds.unfit.get(name):
        advice = "Name a class of devices that are on one node each and can be given away whole."
        if why == GPU_DEVICES:
            advice = f"Add {name} to spec.devices.deviceClasses of the config."
        raise UnsupportedClaim(f"{field}.deviceClassName {name}, which {why},", advice)


def _class_names(claim: Body) -> Iterator[str]:
    """The classes that the requests of a claim name, also as one of several that would do."""
    for request in entries_of(part_of(claim, "spec", "devices"), "requests"):
        for one in (part_of(request, "exactly"), *entries_of(request, "firstAvailable")):
            yield str(one.get("deviceClassName"))


def _demand(name: str, selectors: object, field: str) -> DeviceDemand:
    """What a request demands: a product, or an amount of memory, of devices of a class."""
    products: tuple[str, ...] = ()
    memory = 0
    # By length alone: to look at what a tenant can write there takes seconds.
    if _characters(selectors) > MOST_SELECTOR_CHARACTERS:
        raise UnsupportedClaim(
            f"{field}.selectors, which are longer than {MOST_SELECTOR_CHARACTERS:,} characters,",
            "Make a DeviceClass that has the selectors, and name that.",
        )
    try:
        found = list(all_of(selectors))
    except NotUnderstood as error:
        raise UnsupportedClaim(f"{field}.selectors {error}") from None
    for one in found:
        match one:
            case Has(_, attribute, str() as value, False) if attribute == PRODUCT and not products:
                products = (value,)
            case Least(_, capacity, amount) if capacity == MEMORY:
                memory = max(memory, -(-amount // 2**20))
            case _:
                raise UnsupportedClaim(
                    f"{field}.selectors, of which only {PRODUCT} and {MEMORY} count,",
                    "Make a DeviceClass that has the selector, and name that.",
                )
    return DeviceDemand(products=products, memory=memory, device_class=name)


def _characters(selectors: object) -> int:
    """How long the expressions of selectors are together."""
    listed = selectors if isinstance(selectors, list) else ()
    held = (part_of(one, "cel") for one in listed if isinstance(one, dict))
    return sum(len(str(one.get("expression"))) for one in held)


def allocated(claim: Body) -> Iterator[DeviceName]:
    """The devices that a claim holds; access for administrators holds none."""
    for one in _results(claim):
        if not one.get("adminAccess"):
            yield _name(one)


def results_of(claim: Body) -> tuple[tuple[str, DeviceName], ...]:
    """What a claim was given, by request."""
    return tuple((str(one.get("request")), _name(one)) for one in _results(claim))


def shared_part(claim: Body) -> str:
    """The field by which a claim was given less than whole devices, "" where there is none."""
    found = (key for one in _results(claim) for key in _SHARED_PARTS if one.get(key))
    return next((f"status.allocation.devices.results[*].{key}" for key in found), "")


def node_selector(claim: Body) -> Body:
    """The nodes that reach what a claim was given; empty where all do."""
    return part_of(claim, "status", "allocation", "nodeSelector")


def consumers(claim: Body) -> set[str]:
    """The UIDs of those that a claim is reserved for."""
    return {str(one.get("uid")) for one in entries_of(part_of(claim, "status"), "reservedFor")}


def _results(claim: Body) -> list[Body]:
    return entries_of(part_of(claim, "status", "allocation", "devices"), "results")


def _name(result: Body) -> DeviceName:
    return DeviceName(*(str(result.get(key)) for key in ("driver", "pool", "device")))


def is_allocated(claim: Body) -> bool:
    """Whether a claim has been given its devices."""
    return bool(part_of(claim, "status", "allocation"))


def owners(claim: Body) -> set[str]:
    """The UIDs of those that a claim was made for."""
    return {str(one.get("uid")) for one in entries_of(claim["metadata"], "ownerReferences")}
