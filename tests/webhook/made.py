"""Reviews and pods, made for tests."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

from fourleaf.webhook.decide import AdmissionDecision, Route, decide
from fourleaf.webhook.review import decoded
from fourleaf.webhook.settings import SCHEDULER_USER, Settings

Body = dict[str, Any]
TENANT = "fourleaf:tenant"
SCHEDULER = SCHEDULER_USER
SETTINGS = Settings()
SOURCE = "metadata.annotations['alloc.gpu.scheduling/devices']"
OURS: Body = {
    "name": "CUDA_VISIBLE_DEVICES",
    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": SOURCE}},
}


ORDERED: Body = {"name": "CUDA_DEVICE_ORDER", "value": "PCI_BUS_ID"}


def pod(
    name: str = "p", annotations: dict[str, str] | None = None, gpus: int = 1, **spec: Any
) -> Body:
    """A pod of our scheduler whose one container already knows where its devices are told."""
    main: Body = {"name": "main", "image": "train", "env": [OURS, ORDERED]}
    if gpus:
        main["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    metadata: Body = {"name": name, "namespace": "ml", "annotations": annotations or {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"schedulerName": "gpu-scheduler", "containers": [main], **spec},
    }


def review(
    body: Body | None,
    before: Body | None = None,
    resource: str = "pods",
    sub: str = "",
    user: str = TENANT,
    group: str = "",
) -> Body:
    """What the API server sends for a creation, or for an update where `before` is given."""
    request: Body = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": group, "version": "v1", "kind": "Pod"},
        "resource": {"group": group, "version": "v1", "resource": resource},
        "namespace": "ml",
        "operation": "CREATE" if before is None else "UPDATE",
        "userInfo": {"username": user, "groups": ["system:authenticated"]},
        "object": body,
        "oldObject": before,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    if sub:
        request["subResource"] = sub
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def decided(
    document: Body, door: Route = Route.VALIDATE, settings: Settings = SETTINGS
) -> AdmissionDecision:
    """The decision about a review, through its bytes."""
    return decide(decoded(json.dumps(document).encode()), door, settings)


def causes(
    body: Body,
    before: Body | None = None,
    user: str = TENANT,
    settings: Settings = SETTINGS,
    sub: str = "",
) -> dict[str, str]:
    """Field -> message of every cause for which a pod is refused."""
    document = review(body, before, user=user, sub=sub)
    response = decided(document, settings=settings).answer["response"]
    if response["allowed"]:
        return {}
    return {one["field"]: one["message"] for one in response["status"]["details"]["causes"]}


def patched(body: Body, door: Route = Route.MUTATE, settings: Settings = SETTINGS) -> Body:
    """A new pod as the mutation leaves it."""
    return applied(body, decided(review(body), door, settings))


def applied(body: Body, decision: AdmissionDecision) -> Body:
    """`body` with the patch of a decision, which may only add (RFC 6902, section 4.1)."""
    response = decision.answer["response"]
    if "patch" not in response:
        return body
    assert response["patchType"] == "JSONPatch"
    result = copy.deepcopy(body)
    for one in json.loads(base64.b64decode(response["patch"])):
        assert one["op"] == "add"
        *path, last = one["path"].split("/")[1:]
        place: Any = result
        for part in path:
            place = place[int(part)] if isinstance(place, list) else place[part]
        if isinstance(place, list):
            place.insert(int(last), one["value"])
        else:
            place[last] = one["value"]
    return result
