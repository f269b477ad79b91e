"""All kinds that ours read, served by one API server, and which of them an account has read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.informers.owner_kinds import BUILT_IN_OWNERS
from fourleaf.k8s_bridge.informers.selection import selection_of
from fourleaf.k8s_bridge.informers.watched_kinds import WATCHED_KINDS
from fourleaf.model.crds.definitions import definitions
from tests.controlplane import flags
from tests.controlplane.api import Api
from tests.controlplane.releases import has
from tests.controlplane.used_rights import SERVICE_ACCOUNT
from tests.controlplane.waiting import serve
from tests.e2e.rights import ACCOUNTS, DOES

NATIVE_GROUPS = (
    flags.features(
        {"GenericWorkload": True, "GangScheduling": True}, ["scheduling.k8s.io/v1alpha2=true"]
    )
    if has(36)
    else []
)
"""Flags of an API server that has PodGroups of its own, where its release does."""
BUILT_IN_GROUPS = (
    "admissionregistration.k8s.io",
    "coordination.k8s.io",
    "events.k8s.io",
    "gpu.scheduling",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
)
"""Groups that the server has by itself, or that have definitions of their own."""


def serve_every_kind(api: Api) -> None:
    """Let the API serve every kind that components read, in whatever shape."""
    kinds = [selection_of(one).kind for one in WATCHED_KINDS]
    kinds += [one.kind for one in BUILT_IN_OWNERS]
    more = {one for one in kinds if "." in one.group and one.group not in BUILT_IN_GROUPS}
    serve(api, (*definitions(), *map(_definition, more)))


def _definition(kind: Kind) -> dict[str, Any]:
    """The definition of a kind of any shape."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"kind": kind.name, "plural": kind.plural, "singular": kind.name.lower()}
    metadata = {
        "name": f"{kind.plural}.{kind.group}",
        "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
    }
    spec = {"group": kind.group, "names": names, "scope": "Namespaced", "versions": [version]}
    return {"metadata": metadata, "spec": spec}


def unread(audit: Iterable[Mapping[str, Any]], component: str) -> list[str]:
    """What a component may watch everywhere, and by the audit log has not."""
    user = SERVICE_ACCOUNT + ":".join(ACCOUNTS[component])
    done = {
        (event["verb"], f"{what.get('apiGroup') or 'core'}/{what['resource']}")
        for event in audit
        if event["user"]["username"] == user and (what := event.get("objectRef"))
    }
    return [
        f"{verb} {resource}"
        for resource, verbs in DOES[component][""].items()
        for verb in ("list", "watch")
        if {"list", "watch"} <= set(verbs.split()) and (verb, resource) not in done
    ]
