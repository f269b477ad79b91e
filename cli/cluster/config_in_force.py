"""The config in force, as the cluster shows it: its ConfigMap, or the last good one of a Lease.

A bad edit changes nothing of what the scheduler does; so it changes no answer of a verb either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fourleaf.cli.cluster.connection import own_namespace, refused
from fourleaf.cli.cluster.scheduler_namespace import INSTALLED_NAMESPACE

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.extensions import Extensions
    from fourleaf.model.problems import Problem


@dataclass(frozen=True, slots=True)
class ConfigInForce:
    """Where the config in force is from, and what is wrong with the newest edit, if anything.

    `objects` are what verbs read as the config: none where the built-in defaults are in force.
    """

    source: str
    objects: tuple[Body, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def warnings(self) -> Iterator[Problem]:
        """One warning, where the newest edit is not used."""
        from fourleaf.model.problems import Severity

        for first in self.problems[:1]:
            more = len(self.problems) - 1
            also = f" (and {more} more)" if more else ""
            message = f"{first.message}{also}; the edit is not used, in force is {self.source}"
            yield replace(first, severity=Severity.WARNING, message=message)


NO_CONFIG = ConfigInForce("built-in defaults")
"""Of a cluster without a ConfigMap."""


async def read_config_in_force(cluster: Cluster, where: str, namespace: str) -> ConfigInForce:
    """What the scheduler of the cluster `where` goes by; `namespace` is that of its ConfigMap.

    Raises `ClusterError` where the ConfigMap cannot be read, and `BadInput` where it makes no sense
    and a Lease that may hold the last good config cannot be read: what is in force is unknown.
    """
    from fourleaf.k8s_bridge.cache.config_watcher import START, folded
    from fourleaf.k8s_bridge.cache.last_good_config import CONFIG_LEASE
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers.config import BUILT_IN

    body = await _config_map(cluster, namespace)
    state = folded(START, body, _extensions())
    if body is None or state.valid:
        return ConfigInForce(state.source, (body,) if body else ())
    problems = tuple(replace(one, source=where) for one in state.problems)
    homes = dict.fromkeys((own_namespace(), namespace, INSTALLED_NAMESPACE))
    for home in homes:
        try:
            config = await _kept(cluster, home)
        except ClusterError as error:
            unread = refused(error, where, "get", LEASES)
            raise BadInput((*problems, unread)) from error
        if config is not None:
            source = f"the last good one, of Lease {home}/{CONFIG_LEASE}"
            return ConfigInForce(source, (_with(body, config),), problems)
    nowhere = f"{BUILT_IN}, for no Lease {CONFIG_LEASE} of {', '.join(homes)} keeps a good one"
    return ConfigInForce(nowhere, (), problems)


async def config_objects(cluster: Cluster, where: str, namespace: str) -> list[Body]:
    """The ConfigMap of the scheduler as it stands, if any. Raises `BadInput`."""
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
    from fourleaf.model.problems import BadInput

    try:
        body = await _config_map(cluster, namespace)
    except ClusterError as error:
        raise BadInput([refused(error, where, "get", CONFIG_MAPS)]) from error
    return [body] if body else []


async def _config_map(cluster: Cluster, namespace: str) -> Body | None:
    """The ConfigMap of the scheduler, and no other: what they hold is none of our business."""
    from fourleaf.k8s_bridge.cluster.errors import NotFound
    from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.model.config.spec import CONFIG_MAP

    try:
        body = await cluster.get(CONFIG_MAPS, Target(namespace, CONFIG_MAP))
    except NotFound:
        return None
    body.get("metadata", {}).pop("managedFields", None)
    return {**body, "apiVersion": CONFIG_MAPS.api_version, "kind": CONFIG_MAPS.name}


async def _kept(cluster: Cluster, namespace: str) -> SchedulerConfig | None:
    """The last good config of the leaders in `namespace`; none where it is not kept, or no JSON."""
    from pydantic import ValidationError

    from fourleaf.k8s_bridge.cache.last_good_config import CONFIG_LEASE
    from fourleaf.k8s_bridge.cluster.errors import NotFound
    from fourleaf.k8s_bridge.cluster.kinds import LEASES
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.k8s_bridge.ledger.names import CONTENT
    from fourleaf.model.config.spec import SchedulerConfig

    try:
        body = await cluster.get(LEASES, Target(namespace, CONFIG_LEASE))
        said = body["metadata"].get("annotations") or {}
        return SchedulerConfig.model_validate_json(said.get(CONTENT, ""))
    except (NotFound, ValidationError):
        return None


def _with(body: Body, config: SchedulerConfig) -> Body:
    """The ConfigMap as it was when it held `config`."""
    import orjson

    document = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    whole = {"apiVersion": config.api_version, "kind": config.kind, **document}
    return {**body, "data": {"config.yaml": orjson.dumps(whole).decode()}}


def _extensions() -> Extensions:
    """The terms that this machine knows; verbs that need them say what is wrong with them."""
    from fourleaf.model.extensions import ExtensionError, Extensions, load

    try:
        return load()
    except ExtensionError:
        return Extensions()
