"""Where device maps stand: on pods, and on what makes pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fourleaf.model.readers.objects.annotations import field_of
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import Body, Manifest, part_of
from fourleaf.model.readers.objects.owners import Owners
from fourleaf.model.readers.pods.device_map import DEVICE_MAP, BadLine, Pin, parse_map

CARRIERS = (
    ("apps", "StatefulSet"),
    ("apps", "Deployment"),
    ("batch", "Job"),
    ("", "Pod"),
)
"""The kinds that may carry a map, what makes pods first."""
TEMPLATE = "spec.template."


@dataclass(frozen=True, slots=True)
class AnnotatedMap:
    """A map as it stands on an object.

    `prefix` is where the metadata stands, `metadata` or that of the pod template. `pods` is
    how many pods the map is for, and None where that is not stated.
    """

    manifest: Manifest
    prefix: str
    text: str
    pins: Mapping[int, Pin]
    bad: tuple[BadLine, ...]
    pods: int | None

    @property
    def field(self) -> str:
        """The path of the annotation."""
        return self.prefix + field_of(DEVICE_MAP)


def annotated_maps(inventory: Inventory) -> list[AnnotatedMap]:
    """All maps of the input. Pods that have theirs from an owner in the input do not count."""
    owners = Owners(inventory)
    found = []
    for group, kind in CARRIERS:
        for manifest in inventory.of(group, kind):
            for prefix, text in _texts(manifest):
                if kind != "Pod" or not _is_copy(manifest, text, owners):
                    found.append(_stated(manifest, prefix, text))
                break
    return found


def _stated(manifest: Manifest, prefix: str, text: str) -> AnnotatedMap:
    pins, bad = parse_map(text)
    return AnnotatedMap(manifest, prefix, text, pins, bad, _pods(manifest))


def _texts(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Where the object says a map, what reaches its pods first."""
    for prefix in ("",) if manifest.kind == "Pod" else (TEMPLATE, ""):
        text = map_at(manifest.body, prefix)
        if text is not None:
            yield prefix, text


def map_at(body: Body, prefix: str) -> str | None:
    """The map that `body` says under `prefix`, which is "" or `TEMPLATE`."""
    carrier = part_of(body, "spec", "template") if prefix == TEMPLATE else body
    value = part_of(carrier, "metadata", "annotations").get(DEVICE_MAP)
    return value if isinstance(value, str) else None


def _is_copy(manifest: Manifest, text: str, owners: Owners) -> bool:
    """Whether an owner in the input says the same, so that one word about it is enough."""
    chain = owners.of(manifest.namespace, part_of(manifest.body, "metadata"))
    return any(said == text for one in chain.manifests for _, said in _texts(one))


def _pods(manifest: Manifest) -> int | None:
    spec = part_of(manifest.body, "spec")
    match manifest.kind:
        case "Pod":
            return None
        case "Job":
            count = spec.get("completions", spec.get("parallelism", 1))
        case _:
            count = spec.get("replicas", 1)
    return count if isinstance(count, int) else None
