"""Objects sorted by what they are, before anything is decoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from model.config import CONFIG_MAP, KINDS
from model.readers.jsontext import BadText
from model.readers.manifest import Body, Manifest
from model.readers.report import Report
from model.readers.sources import Source, documents

CLUSTER_SCOPED = frozenset({"Node", "PriorityClass"})
DEFAULT_NAMESPACE = "default"
KNOWN = frozenset(
    {
        ("", "Node"),
        ("", "Pod"),
        ("", "ConfigMap"),
        ("batch", "Job"),
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("apps", "ReplicaSet"),
        ("jobset.x-k8s.io", "JobSet"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
        ("ray.io", "RayCluster"),
        ("scheduling.k8s.io", "PodGroup"),
        ("scheduling.x-k8s.io", "PodGroup"),
        ("scheduling.volcano.sh", "PodGroup"),
        ("scheduling.k8s.io", "PriorityClass"),
        *(("topology.scheduler", kind) for kind in KINDS),
    }
)


class Inventory:
    """All objects of the sources by (API group, kind), and counts of the kinds left aside."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.ignored: Counter[str] = Counter()
        self.others: list[Manifest] = []
        self._by_kind: dict[tuple[str, str], list[Manifest]] = {}
        self._seen: dict[tuple[str, str, str, str], str] = {}

    def of(self, group: str, kind: str) -> list[Manifest]:
        """All objects of one kind, in the order of the input."""
        return self._by_kind.get((group, kind), [])

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
            for number, document in enumerate(found):
                where = f"document {number + 1}" if len(found) > 1 else "document"
                self._take(source.name, document, where, None)

    def _take(
        self, source: str, value: Any, where: str, listed_as: tuple[str, str] | None
    ) -> None:
        if isinstance(value, list) and listed_as is None:
            self._items(source, value, where, None)
            return
        if not isinstance(value, dict):
            advice = "Give objects with apiVersion, kind and metadata."
            self.report.error(source, where, "", value, "is not an object", advice)
            return
        kind, version = value.get("kind"), value.get("apiVersion")
        if listed_as is not None and kind is None and version is None:
            version, kind = listed_as
        if not isinstance(kind, str) or not kind:
            self.report.error(
                source, where, "kind", kind, "names no kind", "Add kind, for example kind: Pod."
            )
            return
        if not isinstance(version, str) or not version:
            self.report.error(
                source,
                where,
                "apiVersion",
                version,
                "names no API version",
                "Add apiVersion, for example apiVersion: v1.",
            )
            return
        if kind.endswith("List") and "items" in value:
            items = value["items"]
            item_kind = None if kind == "List" else (version, kind[:-4])
            if items is None:
                items = []
            if not isinstance(items, list):
                advice = "Write items as a list of objects."
                self.report.error(source, where, "items", items, "is not a list", advice)
                return
            self._items(source, items, where, item_kind)
            return
        group = version.rpartition("/")[0]
        self._keep(source, group, kind, value, where)

    def _items(
        self, source: str, items: Iterable[Any], where: str, kind: tuple[str, str] | None
    ) -> None:
        for i, item in enumerate(items):
            self._take(source, item, f"items[{i}]", kind)

    def _keep(self, source: str, group: str, kind: str, body: Body, where: str) -> None:
        known = (group, kind) in KNOWN
        metadata = body.get("metadata")
        if not isinstance(metadata, dict):
            if known and metadata is not None:
                advice = "Write metadata as key: value pairs."
                self.report.error(
                    source, f"{kind} {where}", "metadata", metadata, "is not an object", advice
                )
                return
            metadata = {}
        name = metadata.get("name")
        namespace = metadata.get("namespace")
        if known:
            if name is None and kind in KINDS:
                name = CONFIG_MAP
            if not isinstance(name, str) or not name:
                self.report.error(
                    source,
                    f"{kind} {where}",
                    "metadata.name",
                    name,
                    "names no object",
                    "Give the object a name; generateName is resolved only by the API server.",
                )
                return
            if kind in CLUSTER_SCOPED:
                namespace = ""
            elif namespace is None or namespace == "":
                namespace = DEFAULT_NAMESPACE
            elif not isinstance(namespace, str):
                self.report.error(
                    source,
                    f"{kind} {name}",
                    "metadata.namespace",
                    namespace,
                    "is not text",
                    "Put the namespace in quotes.",
                )
                return
        else:
            self.ignored[kind] += 1
            name = name if isinstance(name, str) else "?"
            namespace = namespace if isinstance(namespace, str) else ""
            self.others.append(
                Manifest(self.report, source, group, kind, namespace, name, body)
            )
            return
        manifest = Manifest(self.report, source, group, kind, namespace, name, body)
        identity = (group, kind, namespace, name)
        first = self._seen.get(identity)
        if first is not None:
            manifest.error(
                "metadata.name",
                name,
                f"stands twice in the input (first in {first})",
                "Keep one of the two objects.",
            )
            return
        self._seen[identity] = source
        self._by_kind.setdefault((group, kind), []).append(manifest)
