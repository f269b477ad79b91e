"""Owner references: which objects made a pod, and what their annotations say for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fourleaf.model.config.owner_kinds import DEFAULT_OWNER_KINDS, OwnerKind, OwnerKinds
from fourleaf.model.readers.objects.annotations import Layer
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Body, Manifest, part_of

MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class OwnerRef:
    """A reference to an owner: API group, kind, name; its UID, "" where that does not matter."""

    group: str
    kind: str
    name: str
    uid: str = ""

    @property
    def plain(self) -> OwnerRef:
        """The reference without the UID: whatever object has that name."""
        return replace(self, uid="") if self.uid else self


@dataclass(frozen=True, slots=True)
class Chain:
    """The owners of a pod, nearest first, as far as the input holds them.

    `refs` names every owner, also those that the input lacks. `asked` is all that was looked
    for, by name alone: the chain is another once one of these comes, goes or changes. `missing`
    is the first owner of a kind that is read which is not there, though all objects of a cluster
    are; it is `replaced` where another object has its name by now. `described` is the nearest
    owner that makes gangs as the table of owner kinds says, there or not, and what is said there.
    """

    refs: tuple[OwnerRef, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    layers: tuple[Layer, ...] = ()
    asked: tuple[OwnerRef, ...] = ()
    missing: OwnerRef | None = None
    replaced: bool = False
    described: tuple[OwnerRef, OwnerKind] | None = None

    def copied(self, copies: dict[int, Manifest]) -> Chain:
        """The chain with manifests of its own, each as broken as it is now.

        `copies` are those made so far, by the id of the manifest.
        """
        own = tuple(copies.setdefault(id(one), replace(one)) for one in self.manifests)
        layers = tuple((one, layer[1]) for one, layer in zip(own, self.layers, strict=True))
        return replace(self, manifests=own, layers=layers)

    def find(self, group: str, kind: str) -> Manifest | None:
        """The nearest owner of that kind in the input."""
        ours = (one for one in self.manifests if one.kind == kind and one.group == group)
        return next(ours, None)

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
        uid = one.get("uid")
        found = OwnerRef(group, kind, name, uid if isinstance(uid, str) else "")
        if one.get("controller") is True:
            return found
        first = first or found
    return first


class Owners:
    """All owner objects, and the chains that lead to them.

    `whole`: they are all that a cluster has, so that one which is not there is missing; files
    leave out what the user did not think of. `kinds` are those of owners.
    """

    def __init__(
        self, objects: Objects, whole: bool = False, kinds: OwnerKinds = DEFAULT_OWNER_KINDS
    ) -> None:
        self.kinds = kinds
        self._objects = objects
        self._whole = whole
        self._chains: dict[tuple[str, tuple[OwnerRef, ...]], Chain] = {}

    def objects(self) -> Iterator[Manifest]:
        """Every owner object, kind by kind."""
        for group, kind in self.kinds:
            yield from self._objects.of(group, kind)

    def of(self, namespace: str, metadata: Body) -> Chain:
        """The owners of the object with `metadata`."""
        ref = owner_ref(metadata)
        first: tuple[OwnerRef, ...] = () if ref is None else (ref,)
        labels = metadata.get("labels")
        if isinstance(labels, dict):
            first += tuple(self._named_by(labels))
        return self.chain_from(namespace, *first) if first else NO_OWNERS

    def _named_by(self, labels: Body) -> Iterator[OwnerRef]:
        """The owners that labels of a pod name."""
        for label, said in self.kinds.labelled:
            name = labels.get(label)
            if isinstance(name, str) and name:
                yield OwnerRef(said.group, said.kind, name)

    def get(self, namespace: str, ref: OwnerRef) -> Manifest | None:
        """The object that `ref` names, if it is there, and no other one of that name."""
        found = self._named(namespace, ref)
        return None if found is None or _is_another(found, ref) else found

    def _named(self, namespace: str, ref: OwnerRef) -> Manifest | None:
        if (ref.group, ref.kind) not in self.kinds:
            return None
        return self._objects.get(ref.group, ref.kind, namespace, ref.name)

    def chain_from(self, namespace: str, *first: OwnerRef) -> Chain:
        """The chain of a pod whose owner is the first of `first`; its labels name the others."""
        found = self._chains.get((namespace, first))
        if found is None:
            found = self._chains[namespace, first] = self._walk(namespace, first)
        return found

    def _walk(self, namespace: str, first: tuple[OwnerRef, ...]) -> Chain:
        refs: list[OwnerRef] = []
        manifests: list[Manifest] = []
        asked: list[OwnerRef] = []
        missing: OwnerRef | None = None
        for start in first:
            ref: OwnerRef | None = start
            while ref is not None and len(refs) < MAX_DEPTH and ref.plain not in asked:
                refs.append(ref)
                asked.append(ref.plain)
                manifest = self.get(namespace, ref)
                if manifest is None:
                    behind = _deployment_behind(ref)
                    if behind is not None and self.get(namespace, behind) is None:
                        asked.append(behind)
                        behind = None
                    if behind is None and self._is_missed(ref):
                        missing = missing or ref
                    ref = behind
                    continue
                manifests.append(manifest)
                ref = owner_ref(part_of(manifest.body, "metadata"))
        layers = tuple((one, _annotations(one)) for one in manifests)
        replaced = missing is not None and self._named(namespace, missing) is not None
        return Chain(
            tuple(refs),
            tuple(manifests),
            layers,
            tuple(asked),
            missing,
            replaced,
            self._described(refs),
        )

    def _is_missed(self, ref: OwnerRef) -> bool:
        return self._whole and self.kinds.makes_gangs(ref.group, ref.kind)

    def _described(self, refs: list[OwnerRef]) -> tuple[OwnerRef, OwnerKind] | None:
        for ref in refs:
            said = self.kinds.get(ref.group, ref.kind)
            if said is not None and said.pod_sets:
                return ref, said
        return None


def _deployment_behind(ref: OwnerRef) -> OwnerRef | None:
    """The Deployment of a ReplicaSet that is not there, which is named after it and a hash."""
    if ref.kind != "ReplicaSet":
        return None
    return OwnerRef("apps", "Deployment", ref.name.rpartition("-")[0])


def _is_another(found: Manifest, ref: OwnerRef) -> bool:
    """Whether `found` was made anew under the name of what `ref` means."""
    uid = part_of(found.body, "metadata").get("uid")
    return bool(ref.uid and uid) and uid != ref.uid


def _annotations(manifest: Manifest) -> dict[str, str]:
    metadata = manifest.mapping(manifest.body.get("metadata"), "metadata")
    return manifest.strings(metadata.get("annotations"), "metadata.annotations")
