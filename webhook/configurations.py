"""The webhook configurations: which requests come here, and what happens without an answer."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.crds.api import GROUP
from fourleaf.model.crds.api import VERSION as CRD_VERSION
from fourleaf.model.crds.claim import CLAIM
from fourleaf.model.devices.held_devices import PREFIX as OWNED
from fourleaf.model.readers.objects.annotations import PREFIX as WISHES
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from fourleaf.model.readers.pods.pods import DEFAULT_SCHEDULER as NO_SCHEDULER
from fourleaf.webhook.decide import Route
from fourleaf.webhook.names import (
    DEFAULT_SCHEDULER,
    ENFORCE,
    NAME,
    NAMESPACE,
    NAMESPACE_NAME,
    ON,
    SERVICE_PORT,
)
from fourleaf.webhook.settings import DEFAULTS

TIMEOUT_SECONDS = 5
"""Seconds; a review takes a few milliseconds."""
SYSTEM = "kube-system"
CONFIG = "config"
"""Reviews of the ConfigMap; without an answer, the scheduler goes on with its last good config."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """Where the webhook is, and whose pods it is for.

    `url` stands for the Service where the API server reaches the webhook otherwise. `bundle` is
    the caBundle, base64; left out where the webhook or cert-manager writes it.
    """

    namespace: str = NAMESPACE
    url: str = ""
    bundle: str = ""
    scheduler_names: tuple[str, ...] = DEFAULTS.scheduler_names
    gpu_resources: tuple[str, ...] = DEFAULTS.gpu_resources


def configurations(deployment: Deployment) -> list[Body]:
    """The mutating and the validating configuration."""
    mutating: list[Body] = []
    validating: list[Body] = []
    for strict in (True, False):
        mutating += [
            _hook(deployment, strict, "default", Route.MUTATE_DEFAULT, _PODS, _takes(deployment)),
            _hook(deployment, strict, "pods", Route.MUTATE, _PODS_AND_EPHEMERAL, _ours(deployment)),
        ]
        validating += [
            _hook(deployment, strict, "pods", Route.VALIDATE, _ALL_OF_PODS, _concerns(deployment)),
            _hook(deployment, strict, "claims", Route.VALIDATE, _CLAIMS, ""),
        ]
    validating.append(
        _hook(deployment, False, CONFIG, Route.VALIDATE, _CONFIG_MAPS, _IS_THE_CONFIG)
    )
    for hook in mutating:
        hook["reinvocationPolicy"] = "IfNeeded"
    return [
        _configuration("MutatingWebhookConfiguration", mutating),
        _configuration("ValidatingWebhookConfiguration", validating),
    ]


def _configuration(kind: str, hooks: list[Body]) -> Body:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": NAME},
        "webhooks": hooks,
    }


def _hook(
    deployment: Deployment,
    strict: bool,
    what: str,
    door: Route,
    rules: list[Body],
    condition: str,
) -> Body:
    hook: Body = {
        "name": f"{what}.{'enforced' if strict else 'lenient'}.{GROUP}",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client(deployment, door),
        "failurePolicy": "Fail" if strict else "Ignore",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "namespaceSelector": _namespaces(deployment, strict, what),
        "rules": rules,
    }
    if condition:
        hook["matchConditions"] = [{"name": "concerns-us", "expression": condition}]
        if what != CONFIG and any("UPDATE" in rule["operations"] for rule in rules):
            hook["matchConditions"].append({"name": "changes-something", "expression": _CHANGES})
    # Shared parts would become anchors and aliases in YAML.
    return copy.deepcopy(hook)


def _client(deployment: Deployment, door: Route) -> Body:
    bundle = {"caBundle": deployment.bundle} if deployment.bundle else {}
    if deployment.url:
        return {"url": f"{deployment.url}{door.value}", **bundle}
    service = {
        "namespace": deployment.namespace,
        "name": NAME,
        "path": door.value,
        "port": SERVICE_PORT,
    }
    return {"service": service, **bundle}


def _namespaces(deployment: Deployment, strict: bool, what: str) -> Body:
    """Namespaces that opted in, or all others; never the system's or the webhook's own.

    In these is the config.
    """
    spared = sorted({SYSTEM, deployment.namespace})
    if what == CONFIG:
        return {"matchExpressions": [{"key": NAMESPACE_NAME, "operator": "In", "values": spared}]}
    terms: list[Body] = [
        {"key": NAMESPACE_NAME, "operator": "NotIn", "values": spared},
        {"key": ENFORCE, "operator": "In" if strict else "NotIn", "values": [ON]},
    ]
    if what == "default":
        terms.append({"key": DEFAULT_SCHEDULER, "operator": "In", "values": [ON]})
    return {"matchExpressions": terms}


def _rule(operations: Sequence[str], resources: Sequence[str], group: str = "") -> Body:
    return {
        "apiGroups": [group],
        "apiVersions": [CRD_VERSION if group else "v1"],
        "operations": list(operations),
        "resources": list(resources),
        "scope": "Namespaced",
    }


_EPHEMERAL = _rule(["UPDATE"], ["pods/ephemeralcontainers"])
_PODS = [_rule(["CREATE"], ["pods"])]
_PODS_AND_EPHEMERAL = [*_PODS, _EPHEMERAL]
_ALL_OF_PODS = [_rule(["CREATE", "UPDATE"], ["pods"]), _EPHEMERAL]
_CONFIG_MAPS = [_rule(["CREATE", "UPDATE"], ["configmaps"])]
_CLAIMS = [_rule(["CREATE", "UPDATE"], ["gpuclaims"], GROUP)]


def _ours(deployment: Deployment) -> str:
    """CEL: the pod is for one of our schedulers."""
    return f"object.spec.?schedulerName.orValue('') in {_list(deployment.scheduler_names)}"


def _takes(deployment: Deployment) -> str:
    """CEL: the pod asks for GPUs and names no scheduler."""
    names = _list([NO_SCHEDULER, ""])
    return (
        f"object.spec.?schedulerName.orValue('') in {names}"
        f" && ({_asks(deployment, 'containers')} || {_asks(deployment, 'initContainers')})"
    )


def _asks(deployment: Deployment, kind: str) -> str:
    asked = " || ".join(
        f"('{name}' in c.?resources.?{part}.orValue({{}}))"
        for name in deployment.gpu_resources
        for part in ("limits", "requests")
    )
    return f"object.spec.?{kind}.orValue([]).exists(c, {asked})"


def _concerns(deployment: Deployment) -> str:
    """CEL: the pod is ours, or it says, or said, something to the scheduler."""
    says = [f"object.{part}.exists(k, {_WATCHED})" for part in _TEXTS]
    said = [f"oldObject.{part}.exists(k, k.startsWith('{OWNED}'))" for part in _TEXTS]
    unsaid = f"(oldObject != null && ({' || '.join(said)}))"
    return " || ".join([_ours(deployment), *says, unsaid])


_IS_THE_CONFIG = f"object.metadata.?name.orValue('') == '{CONFIG_MAP}'"
_TEXTS = ("metadata.?annotations.orValue({})", "metadata.?labels.orValue({})")
_WATCHED = (
    f"k.startsWith('{OWNED}') || k.startsWith('{WISHES}') || k == '{CLAIM}' || k == '{DEVICE_MAP}'"
)
_CHANGES = " || ".join(
    [
        "oldObject == null",
        "request.?subResource.orValue('') != ''",
        *(f"object.{part} != oldObject.{part}" for part in _TEXTS),
    ]
)
"""CEL: nothing else of a pod that runs can be changed to our concern."""


def _list(names: Sequence[str]) -> str:
    return "[" + ", ".join(f"'{name}'" for name in names) + "]"
