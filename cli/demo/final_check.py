"""What has to hold in the end, judged by nothing but what the cluster holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import orjson

from fourleaf.cli.demo.cluster import GPUS, LEAF_SIZE, Twin, ended
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.ledger.names import CONTENT, GANG, PAGE, RECORD
from fourleaf.model.devices.held_devices import DEVICES


def breaches(twin: Twin) -> list[str]:
    """All that does not hold, a line each; none when every commit is at rest."""
    return [*_partial(twin), *_scattered(twin), *_shared(twin), *_records(twin)]


def _partial(twin: Twin) -> Iterator[str]:
    for key, cast in twin.casts.items():
        standing = twin.standing(key)
        if standing not in (0, cast.pods):
            yield f"gang {key}: {standing} of {cast.pods} pods stand"


def _scattered(twin: Twin) -> Iterator[str]:
    """Gangs of whole nodes that take more leaves than they need, or leaves that are apart."""
    for key, cast in twin.casts.items():
        if cast.gpus != GPUS:
            continue
        nodes = [pod["spec"]["nodeName"] for pod in twin.pods(key) if pod["spec"].get("nodeName")]
        leaves = sorted({twin.leaf_of(node) for node in nodes})
        if not leaves:
            continue
        spines = {twin.leaves[leaf][0] for leaf in leaves}
        most = -(-cast.pods // LEAF_SIZE)
        if len(spines) > 1 or leaves[-1] - leaves[0] + 1 > most:
            yield f"gang {key} of {cast.pods} nodes stands on leaves {leaves}"


def _shared(twin: Twin) -> Iterator[str]:
    held: Counter[tuple[str, str]] = Counter()
    for pod in twin.live():
        text = pod["metadata"]["annotations"].get(DEVICES, "")
        held.update((pod["spec"]["nodeName"], one) for one in text.split(",") if one)
    for (node, device), times in held.items():
        if times > 1:
            yield f"node {node}: device {device} is held {times} times"


def _records(twin: Twin) -> Iterator[str]:
    written: Counter[str] = Counter()
    for record in twin.store.records(LEASES):
        kind, name = record.labels.get(RECORD), record.metadata["name"]
        if kind == GANG:
            yield f"gang lease {name} is left over"
        elif kind == PAGE:
            content = orjson.loads(record.metadata["annotations"][CONTENT])
            for entry in content["entries"]:
                if entry.get("lease"):
                    yield f"page {name} still points to {entry['lease']}"
                written.update(uid for _, uid, *_ in entry["members"])
    live = Counter(str(pod["metadata"]["uid"]) for pod in twin.live())
    for uid in live - written:
        yield f"pod {uid} runs but is on no page"
    for uid in written - live:
        yield f"pod {uid} is on a page but does not run"


def counted(twin: Twin) -> list[str]:
    """What was checked, in numbers: a line each."""
    whole = [key for key in twin.casts if twin.whole(key)]
    waiting = [key for key in twin.casts if not twin.standing(key)]
    over = sum(all(ended(pod) for pod in twin.pods(key)) for key in whole)
    live = list(twin.live())
    devices = sum(len(pod["metadata"]["annotations"].get(DEVICES, "").split(",")) for pod in live)
    return [
        f"{len(whole)} of {len(twin.casts)} gangs placed, all of each at once; "
        f"{over} have ended, {len(waiting)} wait with none of their pods placed",
        f"{len(live)} pods run and hold {devices} GPUs, each GPU by one pod",
        "pages record exactly the pods that run; no gang lease is left",
    ]
