"""Manifests read on top of what a cluster holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fourleaf.model.config.owner_kinds import merged
from fourleaf.model.config.spec import CONFIG_MAP, KINDS, SchedulerConfig
from fourleaf.model.problems import BadInput
from fourleaf.model.readers.config import read_config
from fourleaf.model.readers.gangs.expansion import Expansion
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.owners import Owners
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.pods import read_pod
from fourleaf.model.readers.read import InputReading, read
from fourleaf.model.readers.text.sources import Source
from fourleaf.model.snapshot import DEFAULTS

Body = dict[str, Any]
Identity = tuple[str, str, str, str]


def read_beside(
    name: str,
    objects: Sequence[Body],
    given: Sequence[Source],
    now: float,
    config: SchedulerConfig | None = None,
    usual: SchedulerConfig | None = None,
    *,
    whole: bool = False,
) -> InputReading:
    """What there is to plan, with what `given` holds on top, which wins over `objects`.

    `objects` are what the cluster `name` held at `now`, seconds since the epoch. Raises `BadInput`
    for errors in `given` alone: a tenant's broken object must not keep others from an answer.
    Owners without pods are expanded only where they are given. `config` counts in
    place of what manifests say, `usual` unless `given` has another. `whole`: `objects` are all
    that the cluster has, so an owner that is not there is not there.
    """
    replaced = _identities(given, config or usual or DEFAULTS)
    configured = any(kind in KINDS or one == CONFIG_MAP for _, kind, _, one in replaced)
    kept = [
        body
        for body in objects
        if _identity(body) not in replaced and not (configured and body["kind"] == "ConfigMap")
    ]
    known = config or (None if configured else usual)
    reading = read(
        [Source(name, objects=kept), *given], now, strict=False, config=known, whole=whole
    )
    wrong = [one for one in reading.problems if one.is_error and one.source != name]
    if wrong:
        raise BadInput(wrong)
    return reading


def without_idle_owners(
    name: str, objects: Sequence[Body], config: SchedulerConfig | None = None
) -> list[Body]:
    """`objects` without owners that no pod belongs to; `config` counts in place of theirs.

    In a cluster, pods that do not exist are their controller's business: it has not made them
    yet, or does not mean to.
    """
    inventory = Inventory(Report())
    inventory.take([Source(name, objects=objects)])
    spec = (config or read_config(inventory).config).spec
    kinds = merged(spec.owner_kinds)
    inventory.adopt(kinds)
    owners = Owners(inventory, kinds=kinds)
    pods = [read_pod(one, one.name, owners) for one in inventory.of("", "Pod")]
    made = Expansion(owners, spec).pods(pods)
    idle = {
        (pod.manifest.group, pod.manifest.kind, pod.namespace, pod.manifest.name) for pod in made
    }
    return [body for body in objects if _identity(body) not in idle]


def _identities(given: Sequence[Source], config: SchedulerConfig) -> set[Identity]:
    """Which objects `given` holds; `config` counts where it has none of its own."""
    inventory = Inventory(Report())
    inventory.take(given)
    more = read_config(inventory).config.spec.owner_kinds or config.spec.owner_kinds
    inventory.adopt(merged(more))
    return {
        (group, kind, one.namespace, one.name)
        for group, kind in inventory.kinds
        for one in inventory.of(group, kind)
    }


def _identity(body: Body) -> Identity:
    metadata = body["metadata"]
    group = body["apiVersion"].rpartition("/")[0]
    return group, body["kind"], metadata.get("namespace", ""), metadata["name"]
