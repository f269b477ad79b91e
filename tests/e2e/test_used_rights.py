"""Which rights count as used: by our programs, under the accounts that ship, and let in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.controlplane.used_rights import Use, uses
from tests.e2e.rights import ACCOUNTS, DOES, each
from tests.e2e.used_rights import BESIDES, unused

AGENT = "fourleaf-agent:fourleaf-agent"
KIND = {"apiGroup": "gpu.scheduling", "resource": "gpunodestatuses"}
RESOURCE = "gpu.scheduling/gpunodestatuses"


def event(verb: str, code: int = 200, agent: str = "fourleaf", **what: Any) -> dict[str, Any]:
    """A line of the audit log about the agent."""
    return {
        "verb": verb,
        "user": {"username": f"system:serviceaccount:{AGENT}"},
        "userAgent": agent,
        "objectRef": KIND | what,
        "responseStatus": {"code": code},
    }


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (event("get"), [(AGENT, "get", RESOURCE, "")]),
        (event("get", 404), [(AGENT, "get", RESOURCE, "")]),
        (event("get", 403), []),
        (event("get", agent="OpenAPI-Generator"), []),
        (
            event("patch", subresource="status", namespace="ml"),
            [(AGENT, "patch", f"{RESOURCE}/status", "ml")],
        ),
        (event("patch", 201), [(AGENT, "patch", RESOURCE, ""), (AGENT, "create", RESOURCE, "")]),
    ],
)
def test_what_a_request_uses(line: dict[str, Any], found: list[Use]) -> None:
    """Nothing where it is refused, or where a test borrows the account; two rights for an apply."""
    assert list(uses(line)) == found


def everything() -> set[Use]:
    """A use of every right that ships, but for those that no request is for alone."""
    return {
        (":".join(ACCOUNTS[component]), verb, resource, namespace or "ml")
        for component, rights in DOES.items()
        for namespace, resource, _, verb in each(rights)
        if (resource, verb) not in BESIDES
    }


def test_each_right_that_is_left_out_is_named() -> None:
    """One in a namespace is used there alone; a release of the chart is as good, a replica too."""
    lease = ("kube-system:fourleaf-scheduler", "delete", "coordination.k8s.io/leases")
    used = everything()
    assert unused(used) == []
    used.remove((*lease, "kube-system"))
    text = "scheduler: delete coordination.k8s.io/leases in kube-system"
    assert unused(used) == unused(used | {(*lease, "ml")}) == [text]
    assert unused(used | {("fourleaf:scheduler-b", *lease[1:], "kube-system")}) == []
    chart = ("fourleaf-system:fourleaf-scheduler", *lease[1:], "fourleaf-system")
    assert unused(used | {chart}) == []
