"""Features that a node has to declare for a pod, as the filter NodeDeclaredFeatures infers them."""

from __future__ import annotations

from itertools import chain

from fourleaf.model.readers.objects.manifest import Body, entries_of

RESTART_ALL_CONTAINERS = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_ON_HOST_NETWORK = "UserNamespacesHostNetworkSupport"


def needed_features(spec: Body) -> frozenset[str]:
    """The features that the spec of a pod takes for granted.

    The same two as `InferForScheduling` in `k8s.io/component-helpers/nodedeclaredfeatures`, 1.36.
    """
    found = set()
    containers = chain(entries_of(spec, "containers"), entries_of(spec, "initContainers"))
    rules = chain.from_iterable(entries_of(one, "restartPolicyRules") for one in containers)
    if any(rule.get("action") == "RestartAllContainers" for rule in rules):
        found.add(RESTART_ALL_CONTAINERS)
    if spec.get("hostNetwork") is True and spec.get("hostUsers") is False:
        found.add(USER_NAMESPACES_ON_HOST_NETWORK)
    return frozenset(found)
