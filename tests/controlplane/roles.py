"""Who talks to a control plane of the tests: a name, a user, groups, and nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

RBAC = "rbac.authorization.k8s.io"
MASTERS = "system:masters"


@dataclass(frozen=True, slots=True)
class Role:
    """An identity. Only RBAC objects that a test applies give rights to our own groups."""

    name: str
    user: str
    groups: tuple[str, ...] = ()

    def subject(self) -> dict[str, str]:
        """Make the subject of a role binding that grants rights to this role alone."""
        return {"apiGroup": RBAC, "kind": "User", "name": self.user}


ROLES = {
    role.name: role
    for role in (
        Role("admin", "fourleaf:admin", (MASTERS,)),
        Role("scheduler-a", "fourleaf:scheduler-a", ("fourleaf:scheduler",)),
        Role("scheduler-b", "fourleaf:scheduler-b", ("fourleaf:scheduler",)),
        Role("webhook", "fourleaf:webhook", ("fourleaf:webhook",)),
        Role("tenant", "fourleaf:tenant", ("fourleaf:tenant",)),
        Role("kube-controller-manager", "system:kube-controller-manager"),
        Role("kube-scheduler", "system:kube-scheduler"),
        Role("kwok", "fourleaf:kwok", (MASTERS,)),
    )
}
"""Every role by name. The two schedulers are two replicas of ours."""


def write_kubeconfig(
    path: Path, cluster: dict[str, Any], name: str, token: str, namespace: str = "default"
) -> Path:
    """Write a kubeconfig file for a bearer token, readable by its owner alone."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "fourleaf", "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [
            {"name": name, "context": {"cluster": "fourleaf", "user": name, "namespace": namespace}}
        ],
        "current-context": name,
    }
    # Programs read it again while others ask for it anew, and have to find it whole.
    fresh = path.with_name(f"{path.name}-{uuid4().hex}")
    fresh.touch(0o600)
    # JSON is YAML, and every reader of kubeconfig files takes it.
    fresh.write_text(json.dumps(content, indent=1))
    return fresh.replace(path)
