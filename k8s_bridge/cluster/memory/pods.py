"""What only pods have: bindings, evictions, and a grace period before they go."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import Conflict
from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS, PODS
from fourleaf.k8s_bridge.cluster.memory.budgets import check_eviction
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.k8s_bridge.runtime.api_text import second


def bind(store: MemoryStore, binding: Binding, dry_run: bool) -> None:
    """Bind a pod, in one write with the annotations. Whether the node exists is not asked."""
    record = store.find_exact(PODS, binding.pod)
    spec, name = record.body["spec"], record.metadata["name"]
    if "deletionTimestamp" in record.metadata:
        raise _refused(name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise _refused(name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise _refused(name, f"pod {name} has non-empty .spec.schedulingGates")
    if dry_run:
        return
    body = record.whole()
    body["spec"]["nodeName"] = binding.node
    if binding.annotations:
        annotations = body["metadata"].get("annotations") or {}
        body["metadata"]["annotations"] = {**annotations, **binding.annotations}
    status = body["status"]
    others = [c for c in status.get("conditions") or () if c.get("type") != "PodScheduled"]
    now = second(store.clock.wall())
    bound = {"type": "PodScheduled", "status": "True", "lastTransitionTime": now}
    status["conditions"] = [*others, bound]
    store.write(record, body)


def evict(store: MemoryStore, pod: Target, dry_run: bool = False, at_once: bool = False) -> None:
    """Delete a pod as far as the disruption budgets of its namespace allow it."""
    record = store.find_exact(PODS, Target(pod.namespace, pod.name, pod.uid))
    budgets = store.records(DISRUPTION_BUDGETS, pod.namespace)
    check_eviction(record, budgets, store.records(PODS, pod.namespace))
    if not dry_run:
        store.remove(record, 0 if at_once else grace(record))


def grace(pod: StoredObject) -> int:
    """Seconds that a pod has to stop: none where nothing of it runs."""
    spec, status = pod.body["spec"], pod.body.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    return max(1, int(spec.get("terminationGracePeriodSeconds", 30)))


def _refused(name: str, why: str) -> Conflict:
    message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    return Conflict(message, 409, "Conflict")
