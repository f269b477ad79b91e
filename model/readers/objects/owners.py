"""Owner references: which objects made a pod, and what their annotations say for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fourleaf.model.readers.objects.annotations import Layer
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import EMPTY, Body, Manifest

OWNER_KINDS = (
    ("batch", "Job"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "ReplicaSet"),
    ("jobset.x-k8s.io", "JobSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    ("ray.io", "RayCluster"),
)
MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class OwnerRef:
    """A reference to an owner: API group, kind, name."""

    group: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The owners of a pod, nearest first, as far as the input holds them.

    `refs` names every owner, also those that the input lacks. `asked` is all that was looked
    for: the chain is another once one of these comes, goes or changes.
    """

    refs: tuple[OwnerRef, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    layers: tuple[Layer, ...] = ()
    asked: tuple[OwnerRef, ...] = ()

    def copied(self, copies: dict[int, Manifest]) -> Chain:
        """The chain with manifests of its own, each as broken as it is now.

        `copies` are those made so far, by the id of the manifest.
        """
        own = tuple(copies.setdefault(id(one), replace(one)) for one in self.manifests)
        layers = tuple((one, layer[1]) for one, layer in zip(own, self.layers, strict=True))
        return replace(self, manifests=own, layers=layers)

    def find(self, kind: str) -> Manifest | None:
        """The nearest owner of `kind` in the input."""
        return next((one for one in self.manifests if one.kind == kind), None)

    def named(self, group: str, kind: str) -> str | None:
        """The name of the nearest owner of that kind, in the input or not."""
        return next((r.name for r in self.refs if r.kind == kind and r.group == group), None)


NO_OWNERS = Chain()


def owner_ref(metadata: Body) -> OwnerRef | None:
    """The controlling owner that `metadata` names, else its first owner."""
    references = metadata.get("ownerReferences")
    if not isinstance(references, list):
        return None
    first: OwnerRef | None = None
    for one in references:
        if not isinstance(one, dict):
            continue
        kind, name, version = one.get("kind"), one.get("name"), one.get("apiVersion")
        if not (isinstance(kind, str) and isinstance(name, str)):
            continue
        group = version.rpartition("/")[0] if isinstance(version, str) else ""
        found = OwnerRef(group, kind, name)
        if one.get("controller") is True:
            return found
        first = first or found
    return first


class Owners:
    """All owner objects, and the chains that lead to them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._chains: dict[tuple[str, OwnerRef], Chain] = {}

    def objects(self) -> Iterator[Manifest]:
        """Every owner object, kind by kind."""
        for group, kind in OWNER_KINDS:
            yield from self._objects.of(group, kind)

    def of(self, namespace: str, metadata: Body) -> Chain:
        """The owners of the object with `metadata`."""
        ref = owner_ref(metadata)
        if ref is None:
            return NO_OWNERS
        return self.chain_from(namespace, ref)

    def get(self, namespace: str, ref: OwnerRef) -> Manifest | None:
        """The object that `ref` names, if it is there."""
        if (ref.group, ref.kind) not in OWNER_KINDS:
            return None
        return self._objects.get(ref.group, ref.kind, namespace, ref.name)

    def chain_from(self, namespace: str, ref: OwnerRef) -> Chain:
        """The chain of a pod whose owner is `ref`."""
        found = self._chains.get((namespace, ref))
        if found is None:
            found = self._chains[namespace, ref] = self._walk(namespace, ref)
        return found

    def _walk(self, namespace: str, ref: OwnerRef | None) -> Chain:
        refs: list[OwnerRef] = []
        manifests: list[Manifest] = []
        asked: list[OwnerRef] = []
        while ref is not None and len(refs) < MAX_DEPTH and ref not in refs:
            refs.append(ref)
            asked.append(ref)
            manifest = self.get(namespace, ref)
            if manifest is None:
                ref = _deployment_behind(ref)
                if ref is not None and self.get(namespace, ref) is None:
                    asked.append(ref)
                    ref = None
                continue
            manifests.append(manifest)
            metadata = manifest.body.get("metadata")
            ref = owner_ref(metadata if isinstance(metadata, dict) else EMPTY)
        layers = tuple((one, _annotations(one)) for one in manifests)
        return Chain(tuple(refs), tuple(manifests), layers, tuple(asked))


def _deployment_behind(ref: OwnerRef) -> OwnerRef | None:
    """The Deployment of a ReplicaSet that is not there, which is named after it and a hash."""
    if ref.kind != "ReplicaSet":
        return None
    return OwnerRef("apps", "Deployment", ref.name.rpartition("-")[0])


def _annotations(manifest: Manifest) -> dict[str, str]:
    metadata = manifest.mapping(manifest.body.get("metadata"), "metadata")
    return manifest.strings(metadata.get("annotations"), "metadata.annotations")
