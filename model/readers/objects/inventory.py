"""Objects sorted by what they are, before anything is decoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from fourleaf.model.config.owner_kinds import DEFAULT_OWNER_KINDS, OwnerKinds
from fourleaf.model.config.spec import CONFIG_MAP, KINDS, Metadata
from fourleaf.model.readers.objects.dra_kinds import CLAIM, DEVICE_CLASS, SLICE, TEMPLATE
from fourleaf.model.readers.objects.lookup import NAME_ADVICE, is_name
from fourleaf.model.readers.objects.manifest import Body, Manifest, part_of
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.snapshot_mark import is_snapshot
from fourleaf.model.readers.objects.storage_kinds import CSI_NODE, STORAGE_KINDS
from fourleaf.model.readers.objects.unread_kinds import Stranger, strangers_in
from fourleaf.model.readers.text.json import BadText
from fourleaf.model.readers.text.sources import Source, documents

CLUSTER_SCOPED = frozenset(
    {
        "Node",
        "PriorityClass",
        "GpuNodeStatus",
        "ResourceSlice",
        "DeviceClass",
        "Topology",
        "PersistentVolume",
        "StorageClass",
        "CSIDriver",
        "CSINode",
        "VolumeAttachment",
    }
)
DEFAULT_NAMESPACE = "default"
CONFIG_NAMESPACE = Metadata().namespace
KNOWN = frozenset(
    {
        ("", "Node"),
        ("", "Pod"),
        ("", "ConfigMap"),
        *DEFAULT_OWNER_KINDS,
        ("scheduling.k8s.io", "PodGroup"),
        ("scheduling.x-k8s.io", "PodGroup"),
        ("scheduling.volcano.sh", "PodGroup"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("gpu.scheduling", "GpuClaim"),
        ("gpu.scheduling", "GpuNodeStatus"),
        ("kueue.x-k8s.io", "Topology"),
        CLAIM,
        SLICE,
        DEVICE_CLASS,
        TEMPLATE,
        *STORAGE_KINDS,
        CSI_NODE,
        ("policy", "PodDisruptionBudget"),
        *(("topology.scheduler", kind) for kind in KINDS),
    }
)


def namespace_in(kind: str, metadata: Body) -> Any:
    """What `metadata` says of the namespace, or what stands for it where it says nothing."""
    if kind in CLUSTER_SCOPED:
        return ""
    namespace = metadata.get("namespace")
    if namespace is None or namespace == "":
        return CONFIG_NAMESPACE if kind in KINDS else DEFAULT_NAMESPACE
    return namespace


class Inventory:
    """All objects of the sources by (API group, kind), and counts of the kinds left aside.

    `strangers` are those left aside that name a scheduler, `snapshots` the names of sources that
    hold what a cluster held.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.ignored: Counter[str] = Counter()
        self.strangers: list[Stranger] = []
        self.snapshots: set[str] = set()
        self._aside: list[tuple[str, str, str, Body, str]] = []
        self._by_kind: dict[tuple[str, str], list[Manifest]] = {}
        self._seen: dict[tuple[str, str, str, str], Manifest] = {}

    def of(self, group: str, kind: str) -> list[Manifest]:
        """All objects of one kind, in the order of the input."""
        return self._by_kind.get((group, kind), [])

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """One object, None where the input does not hold it."""
        return self._seen.get((group, kind, namespace, name))

    def spaces(self, group: str, kind: str, name: str) -> list[str]:
        """The namespaces that have an object of that name, sorted."""
        return sorted(one.namespace for one in self.of(group, kind) if one.name == name)

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """API group and kind of all objects that are not left aside."""
        return tuple(self._by_kind)

    def adopt(self, kinds: OwnerKinds) -> None:
        """Take in the objects of `kinds` that were left aside."""
        left = []
        for source, group, kind, body, where in self._aside:
            if (group, kind) not in kinds:
                left.append((source, group, kind, body, where))
                continue
            self.ignored[kind] -= 1
            self._keep(source, group, kind, body, where)
        if len(left) < len(self._aside):
            self._aside, self.ignored = left, +self.ignored
            known = [one for one in self.strangers if (one.ref.group, one.ref.kind) not in kinds]
            self.strangers = known

    def take(self, sources: Sequence[Source]) -> None:
        """Add every object of `sources`; what cannot be read is reported."""
        for source in sources:
            if source.problem is not None:
                self.report.add(source.problem)
                continue
            try:
                found = documents(source)
            except BadText as bad:
                self.report.error(source.name, "", "", None, str(bad), bad.advice)
                continue
            if source.objects is None and is_snapshot(found):
                self.snapshots.add(source.name)
            for number, document in enumerate(found):
                where = f"document {number + 1}" if len(found) > 1 else "document"
                self._take(source.name, document, where)

    def _take(self, source: str, value: Any, where: str) -> None:
        """Add one document: an object, a list of objects, or an object of kind List."""
        if isinstance(value, list):
            self._items(source, value, None)
            return
        if not isinstance(value, dict):
            self._refuse_shape(source, value, where)
            return
        kind = value.get("kind")
        if not (isinstance(kind, str) and kind.endswith("List") and "items" in value):
            self._object(source, value, where, None)
            return
        items = [] if value["items"] is None else value["items"]
        if not isinstance(items, list):
            advice = "Write items as a list of objects."
            self.report.error(source, where, "items", items, "is not a list", advice)
            return
        version = value.get("apiVersion")
        of_kind = (version, kind[:-4]) if isinstance(version, str) and kind != "List" else None
        self._items(source, items, of_kind)

    def _items(self, source: str, items: Iterable[Any], of_kind: tuple[str, str] | None) -> None:
        for i, item in enumerate(items):
            if isinstance(item, dict):
                self._object(source, item, f"items[{i}]", of_kind)
            else:
                self._refuse_shape(source, item, f"items[{i}]")

    def _refuse_shape(self, source: str, value: object, where: str) -> None:
        advice = "Give objects with apiVersion, kind and metadata."
        self.report.error(source, where, "", value, "is not an object", advice)

    def _object(
        self, source: str, value: Body, where: str, of_kind: tuple[str, str] | None
    ) -> None:
        kind, version = value.get("kind"), value.get("apiVersion")
        if of_kind is not None and kind is None and version is None:
            version, kind = of_kind
        if not isinstance(kind, str) or not kind.isalnum():
            advice = "Add kind, for example kind: Pod."
            self.report.error(source, where, "kind", kind, "names no kind", advice)
        elif not isinstance(version, str) or not version:
            advice = "Add apiVersion, for example apiVersion: v1."
            self.report.error(source, where, "apiVersion", version, "names no version", advice)
        elif (group := version.rpartition("/")[0], kind) in KNOWN:
            self._keep(source, group, kind, value, where)
        else:
            self.ignored[kind] += 1
            self._aside.append((source, group, kind, value, where))
            namespace = namespace_in(kind, part_of(value, "metadata"))
            self.strangers.extend(strangers_in(source, group, kind, namespace, value))

    def _keep(self, source: str, group: str, kind: str, body: Body, where: str) -> None:
        metadata, title = body.get("metadata"), f"{kind} {where}"
        if metadata is not None and not isinstance(metadata, dict):
            advice = "Write metadata as key: value pairs."
            self.report.error(source, title, "metadata", metadata, "is not an object", advice)
            return
        metadata = metadata or {}
        name = metadata.get("name")
        if name is None and kind in KINDS:
            name = CONFIG_MAP
        if not isinstance(name, str) or not name:
            advice = "Give the object a name; generateName is resolved only by the API server."
            self.report.error(source, title, "metadata.name", name, "names no object", advice)
            return
        if not is_name(name):
            self.report.error(source, title, "metadata.name", name, "is no name", NAME_ADVICE)
            return
        namespace = namespace_in(kind, metadata)
        title, field = f"{kind} {name}", "metadata.namespace"
        if isinstance(namespace, str) and namespace and not is_name(namespace):
            self.report.error(source, title, field, namespace, "is no name", NAME_ADVICE)
            return
        if not isinstance(namespace, str):
            advice = "Put the namespace in quotes."
            self.report.error(source, title, field, namespace, "is not text", advice)
            return
        manifest = Manifest(self.report, source, group, kind, namespace, name, body)
        first = self._seen.setdefault((group, kind, namespace, name), manifest)
        if first is manifest:
            self._by_kind.setdefault((group, kind), []).append(manifest)
            return
        # No cluster holds an object twice: which of the two it had has to be said.
        self.snapshots -= {source, first.source}
        message = f"stands twice in the input (first in {first.source})"
        manifest.error("metadata.name", name, message, "Keep one of the two objects.")
        first.fault = first.fault or manifest.fault
