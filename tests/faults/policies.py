"""Admission policies of somebody else, which look at bindings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.controlplane.api import Api, ApiError

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{ADMISSION}/validatingadmissionpolicies"
BINDINGS = f"{ADMISSION}/validatingadmissionpolicybindings"
PROBE = "refused-by-every-policy"
IN_FORCE = 30.0
"""Seconds that an apiserver may take to follow a policy."""


@contextmanager
def refusing(
    api: Api, name: str, namespace: str, condition: str, reason: str = "Forbidden"
) -> Iterator[None]:
    """Let the API refuse bindings of a namespace for which `condition` (CEL) holds.

    It is in force on entry and gone on exit; `reason` is what it answers with. `object` is the
    Binding, `request` who asks how.
    """
    probe = f"object.metadata.name == '{PROBE}'"
    body = {
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods/binding"],
                    }
                ],
            },
            "validations": [
                {
                    "expression": f"!({probe} || ({condition}))",
                    "message": "not today",
                    "reason": reason,
                }
            ],
        },
    }
    api.create(POLICIES, body)
    binding = {"policyName": name, "validationActions": ["Deny"]}
    api.create(BINDINGS, {"metadata": {"name": name}, "spec": binding})
    try:
        _wait_for(api, namespace)
        yield
    finally:
        api.delete(f"{BINDINGS}/{name}")
        api.delete(f"{POLICIES}/{name}")


def _wait_for(api: Api, namespace: str) -> None:
    deadline = time.monotonic() + IN_FORCE
    while not _refuses(api, namespace):
        if time.monotonic() > deadline:
            raise AssertionError(f"the policy is not in force after {IN_FORCE:g} s")
        time.sleep(0.05)


def _refuses(api: Api, namespace: str) -> bool:
    """Whether a binding that every policy refuses is refused by one, and not for its absence."""
    target = {"apiVersion": "v1", "kind": "Node", "name": "gpu-0"}
    body: dict[str, Any] = {"metadata": {"name": PROBE}, "target": target}
    try:
        api.create(f"/api/v1/namespaces/{namespace}/pods/{PROBE}/binding?dryRun=All", body)
    except ApiError as error:
        return "not today" in str(error)
    return False
