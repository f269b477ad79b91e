"""Server-side apply, for managers that do not share lists: each list counts as one field."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Conflict, NotFound
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject, copied
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.readers.text.merge_patch import merged


def apply(
    store: MemoryStore, kind: Kind, target: Target, body: Body, manager: str, subresource: str
) -> StoredObject:
    """Apply `body` as `manager`; see `Cluster.apply`."""
    body = copied(body)
    body["metadata"] = {**(body.get("metadata") or {}), "name": target.name}
    try:
        record = store.find_exact(kind, target)
    except NotFound:
        if subresource:
            raise
        if target.uid:
            message = f'{kind.plural} "{target}": uid {target.uid} is asked for, and none is there'
            raise Conflict(message, 409, "Conflict") from None
        record = store.create(kind, target.namespace, body)
    else:
        earlier = store.applied.get((record.metadata["uid"], manager, subresource), {})
        whole = merged(_without(record.body, earlier, body), body)
        record = store.update(kind, record, whole, subresource)
    store.applied[record.metadata["uid"], manager, subresource] = body
    return record


def _without(value: Any, earlier: Any, now: Any) -> Any:
    """`value` without what `earlier` names and `now` does not."""
    if not (isinstance(value, dict) and isinstance(earlier, dict) and isinstance(now, dict)):
        return value
    return {
        key: _without(one, earlier.get(key), now[key]) if key in now else one
        for key, one in value.items()
        if key in now or key not in earlier
    }
