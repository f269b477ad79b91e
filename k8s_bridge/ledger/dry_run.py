"""Whether somebody else's admission looks at bindings, so that a dry run is worth its price."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from fourleaf.k8s_bridge.cluster.protocol import Cluster

_RESOURCES = ("pods/binding", "pods/*", "*/*", "*/binding", "bindings", "*")


async def admission_covers_bindings(cluster: Cluster) -> bool:
    """Whether any webhook has a rule for bindings of pods."""
    for kind in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS):
        try:
            listing = await cluster.list(kind)
        except NotFound:
            continue
        for body in listing.items:
            for hook in body.get("webhooks") or ():
                if any(_matches(rule) for rule in hook.get("rules") or ()):
                    return True
    return False


def _matches(rule: dict[str, Any]) -> bool:
    groups = rule.get("apiGroups") or ()
    verbs = rule.get("operations") or ()
    resources = rule.get("resources") or ()
    return (
        any(group in ("", "*") for group in groups)
        and any(verb in ("CREATE", "*") for verb in verbs)
        and any(resource in _RESOURCES for resource in resources)
    )
