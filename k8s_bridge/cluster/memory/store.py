"""The objects of a cluster in memory, their versions and their history."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fourleaf.k8s_bridge.cluster.errors import AlreadyExists, Conflict, NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import NAMESPACES, PODS, PRIORITY_CLASSES, Kind
from fourleaf.k8s_bridge.cluster.memory import rules
from fourleaf.k8s_bridge.cluster.memory.journal import WatchJournal
from fourleaf.k8s_bridge.cluster.memory.names import NameGenerator
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange, StoredObject, copied
from fourleaf.k8s_bridge.cluster.memory.refusals import invalid
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.runtime.api_text import second
from fourleaf.k8s_bridge.runtime.clock import Clock, SystemClock

FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_SYSTEM_PRIORITIES = {"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}


class MemoryStore:
    """What etcd and the registries of the apiserver hold. Each method is one atomic write.

    `applied` is what was applied last, by the object's UID, the manager and the subresource.
    `clock` gives creation times; `seed` determines the UIDs; of each kind the last `keep`
    changes can be watched from; `missing` are kinds that the cluster does not know.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        seed: int = 0,
        keep: int = 100_000,
        missing: Collection[Kind] = (),
    ) -> None:
        self.clock = clock or SystemClock()
        self.version = 1
        self._names = NameGenerator(seed)
        self._keep = keep
        self.missing = frozenset(missing)
        self._objects: dict[Kind, dict[tuple[str, str], StoredObject]] = {}
        self._bound: dict[tuple[str, str], StoredObject] = {}
        self._journals: dict[Kind, WatchJournal] = {}
        self._compacted = 0
        self.applied: dict[tuple[str, str, str], Body] = {}
        for name in FIRST_NAMESPACES:
            self.create(NAMESPACES, "", {"metadata": {"name": name}})

    def journal(self, kind: Kind) -> WatchJournal:
        """The history of `kind`. Raises `NotFound` where the cluster does not know it."""
        if kind in self.missing:
            message = "the server could not find the requested resource"
            raise NotFound(message, 404, "NotFound")
        found = self._journals.get(kind)
        if found is None:
            found = self._journals[kind] = WatchJournal(kind, self._keep)
            found.compact(self._compacted)
        return found

    def records(self, kind: Kind, namespace: str = "") -> Iterator[StoredObject]:
        """All objects of `kind`, by namespace and name."""
        self.journal(kind)
        for key, record in sorted(self._objects.get(kind, {}).items()):
            if not namespace or key[0] == namespace:
                yield record

    def bound(self) -> list[StoredObject]:
        """The pods that stand on nodes, by namespace and name."""
        return [record for _, record in sorted(self._bound.items())]

    def find(self, kind: Kind, target: Target) -> StoredObject:
        """The object, whatever its UID and version. Raises `NotFound`."""
        self.journal(kind)
        found = self._objects.get(kind, {}).get((target.namespace, target.name))
        if found is None:
            raise NotFound(f'{kind.plural} "{target.name}" not found', 404, "NotFound")
        return found

    def find_exact(self, kind: Kind, target: Target) -> StoredObject:
        """The object, with the UID and version of `target` where given, else `Conflict`."""
        found = self.find(kind, target)
        for name, expected in (("uid", target.uid), ("resourceVersion", target.version)):
            present = found.metadata[name]
            if expected and expected != present:
                message = f'{kind.plural} "{target}": {name} is {present}, not {expected}'
                raise Conflict(message, 409, "Conflict")
        return found

    def create(self, kind: Kind, namespace: str, body: Body) -> StoredObject:
        """Make an object. Raises `AlreadyExists`, `NotFound` for its namespace, `Refused`."""
        made = copied(body)
        metadata = made.setdefault("metadata", {})
        if metadata.get("resourceVersion"):
            message = "resourceVersion should not be set on objects to be created"
            raise Refused(message, 400, "BadRequest")
        if not metadata.get("name"):
            if not metadata.get("generateName"):
                raise invalid("", "metadata.name", "Required value")
            metadata["name"] = metadata["generateName"] + self._names.suffix()
        key = (self._namespace(kind, namespace, metadata), metadata["name"])
        if key in self._objects.get(kind, {}):
            raise AlreadyExists(f'{kind.plural} "{key[1]}" already exists', 409, "AlreadyExists")
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"):
            metadata.pop(name, None)
        metadata["uid"] = self._names.uid()
        metadata["creationTimestamp"] = second(self.clock.wall())
        rules.starting(kind, made)
        if kind == PODS:
            self._admit(made)
        rules.check_annotations(made)
        return self._put(kind, None, made)

    def _namespace(self, kind: Kind, namespace: str, metadata: Body) -> str:
        if not kind.namespaced:
            metadata.pop("namespace", None)
            return ""
        if metadata.setdefault("namespace", namespace) != namespace:
            message = (
                f"the namespace of the object ({metadata['namespace']}) does not match "
                f"the namespace of the request ({namespace})"
            )
            raise Refused(message, 400, "BadRequest")
        if ("", namespace) not in self._objects.get(NAMESPACES, {}):
            raise NotFound(f'namespaces "{namespace}" not found', 404, "NotFound")
        return namespace

    def _admit(self, pod: Body) -> None:
        spec = pod["spec"]
        name = spec.get("priorityClassName")
        default = 0
        if name in _SYSTEM_PRIORITIES:
            default = _SYSTEM_PRIORITIES[name]
        elif name:
            record = self._objects.get(PRIORITY_CLASSES, {}).get(("", name))
            if record is None:
                message = f"no PriorityClass with name {name} was found"
                raise Refused(message, 403, "Forbidden")
            default = record.body["value"]
        else:
            for record in self.records(PRIORITY_CLASSES):
                if record.body.get("globalDefault"):
                    spec["priorityClassName"] = record.metadata["name"]
                    default = record.body["value"]
        spec["priority"] = default

    def update(
        self, kind: Kind, record: StoredObject, body: Body, subresource: str = ""
    ) -> StoredObject:
        """Put `body` in the place of `record`, as far as a client may; same: no write."""
        return self.write(record, rules.updated(kind, record.body, copied(body), subresource))

    def write(self, record: StoredObject, body: Body) -> StoredObject:
        """Put `body` in the place of `record`; without a difference nothing is written.

        An object that is being deleted goes when its last finalizer does.
        """
        if body == record.body:
            return record
        metadata = body["metadata"]
        waits = metadata.get("deletionGracePeriodSeconds", 0) > 0
        if metadata.get("deletionTimestamp") and not waits and not metadata.get("finalizers"):
            self._remove(record)
            return StoredObject(record.kind, body)
        return self._put(record.kind, record, body)

    def remove(self, record: StoredObject, grace: int = 0) -> None:
        """Delete at once, or mark as being deleted: for `grace` seconds, or finalizers."""
        metadata = dict(record.metadata)
        marked = record.kind == PODS or metadata.get("finalizers")
        if marked:
            metadata.setdefault("deletionTimestamp", second(self.clock.wall()))
            before = metadata.get("deletionGracePeriodSeconds", grace)
            metadata["deletionGracePeriodSeconds"] = min(before, grace)
            body = {**record.body, "metadata": metadata}
            if body != record.body:
                record = self._put(record.kind, record, body)
        if not metadata.get("deletionGracePeriodSeconds") and not metadata.get("finalizers"):
            self._remove(record)

    def finish(self, namespace: str, name: str) -> None:
        """Do a kubelet's last part: the pod has stopped, so it goes. Raises `NotFound`."""
        self.remove(self.find(PODS, Target(namespace, name)))

    def bookmark(self) -> None:
        """Send every watch a bookmark."""
        for journal in self._journals.values():
            journal.add(StoredChange(self.version))

    def compact(self, version: int | str | None = None) -> None:
        """Forget the history up to `version`, or all of it: older watches and starts are `Gone`."""
        self._compacted = self.version if version is None else int(version)
        for journal in self._journals.values():
            journal.compact(self._compacted)

    def end_watches(self) -> None:
        """End all watches, as a server does now and then."""
        for journal in self._journals.values():
            journal.end()

    def _put(self, kind: Kind, before: StoredObject | None, body: Body) -> StoredObject:
        self.version += 1
        metadata = body["metadata"]
        body = {
            "apiVersion": kind.api_version,
            "kind": kind.name,
            **body,
            "metadata": {**metadata, "resourceVersion": str(self.version)},
        }
        record = StoredObject(kind, body)
        key = (record.namespace, metadata["name"])
        self._objects.setdefault(kind, {})[key] = record
        if kind == PODS and body["spec"].get("nodeName"):
            self._bound[key] = record
        self.journal(kind).add(StoredChange(self.version, before, record))
        return record

    def _remove(self, record: StoredObject) -> None:
        self.version += 1
        key = (record.namespace, record.metadata["name"])
        del self._objects[record.kind][key]
        if record.kind == PODS:
            self._bound.pop(key, None)
        self.journal(record.kind).add(StoredChange(self.version, record))
        if record.kind == NAMESPACES:
            name = record.metadata["name"]
            inside = [r for kind in list(self._objects) for r in self.records(kind, name)]
            for one in inside:
                self._remove(one)
