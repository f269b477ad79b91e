"""A cluster as it is now: every object that a plan depends on, as the model reads them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.config_in_force import (
    NO_CONFIG,
    ConfigInForce,
    read_config_in_force,
)
from fourleaf.cli.cluster.connection import FEW_CONNECTIONS, connected, named, refused
from fourleaf.cli.cluster.leader import leader_lease, leads
from fourleaf.cli.cluster.scheduler_namespace import renewed, scheduler_namespace
from fourleaf.cli.cluster.silent_nodes import renewals, silences

if TYPE_CHECKING:
    from fourleaf.k8s_bridge.cluster.kinds import Kind
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
    from fourleaf.k8s_bridge.informers.selection import Selection
    from fourleaf.model.config.owner_kinds import OwnerKind
    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.problems import Problem
    from fourleaf.model.readers import InputReading, Source

T = TypeVar("T")
CLUSTER = "cluster"
"""What problems name as the source of live objects."""


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """How to get at a cluster, and where its scheduler is: where it is found, if not given."""

    kubeconfig: str | None = None
    context: str | None = None
    scheduler_namespace: str | None = None

    @property
    def name(self) -> str:
        """What messages call the cluster."""
        return named(self.kubeconfig)

    async def home(self, cluster: Cluster) -> str:
        """The namespace of the scheduler and its config. Raises `BadInput`; see the function."""
        return self.scheduler_namespace or await scheduler_namespace(cluster, self.name)

    def ask(self, work: Callable[[Cluster], Coroutine[Any, Any, T]]) -> T:
        """What `work` comes to on a client of the cluster. Raises `BadInput` without one."""

        async def asked() -> T:
            async with connected(self.kubeconfig, self.context, FEW_CONNECTIONS) as cluster:
                return await work(cluster)

        return asyncio.run(asked())


@dataclass(frozen=True)
class Live:
    """What a cluster held at `now` (seconds since the epoch), each object with its kind.

    `leases` are records of the scheduler, where they were asked for. Among the objects is the
    config in force, which `config` tells the source of. `home` is the scheduler's namespace.
    `led`: a scheduler has renewed the leader's Lease there just now, `leaderless`: none has, which
    may be unknown too; `silent`: nodes whose kubelets are silent, with the seconds; all three so
    far as that was asked for. `idle` are objects that make pods and have none,
    which are no gangs.
    """

    objects: tuple[Body, ...]
    now: float
    leases: tuple[Body, ...] = ()
    config: ConfigInForce = NO_CONFIG
    home: str = ""
    led: bool = False
    leaderless: bool = False
    silent: Mapping[str, float] = field(default_factory=dict)
    idle: tuple[Body, ...] = ()

    def reading(
        self, given: Sequence[Source] = (), config: SchedulerConfig | None = None
    ) -> InputReading:
        """What there is to plan, with the objects of `given` on top, which win over live ones.

        Raises `BadInput` for errors in `given` alone: a tenant's broken object must not keep
        others from an answer. Owners without pods are expanded only where they are given.
        `config` counts in place of what the objects say.
        """
        from fourleaf.model.readers.overlay import read_beside

        return read_beside(CLUSTER, self.objects, given, self.now, config, whole=True)


def observe(reach: ClusterAccess, with_leases: bool = False, cached: bool = False) -> Live:
    """Read the cluster once, with the scheduler's records where asked for.

    `cached` is for those who only look: what the API server has at hand, whether a scheduler
    leads, and which nodes are silent. Raises `BadInput` where it cannot be reached or does not
    let us.
    """
    return reach.ask(lambda cluster: read_live(cluster, reach, with_leases, cached))


async def read_live(
    cluster: Cluster, reach: ClusterAccess, with_leases: bool = False, cached: bool = False
) -> Live:
    """What `cluster` holds now; see `observe`. Kinds that it does not serve are left out."""
    from fourleaf.k8s_bridge.informers.selection import selection_of
    from fourleaf.k8s_bridge.informers.watched_kinds import WATCHED_KINDS

    always = tuple(map(selection_of, WATCHED_KINDS))
    # On their way while the namespace of the scheduler is looked for, and its config read.
    under_way = asyncio.gather(
        *(_first(cluster, one.kinds, cached) for one in always), return_exceptions=True
    )
    try:
        return await _read(cluster, reach, dict.fromkeys(always), under_way, with_leases, cached)
    finally:
        under_way.cancel()
        await asyncio.gather(under_way, return_exceptions=True)


async def _read(
    cluster: Cluster,
    reach: ClusterAccess,
    always: dict[Selection, None],
    under_way: Awaitable[list[list[Body] | BaseException]],
    with_leases: bool,
    cached: bool,
) -> Live:
    """The rest: what is known only once the config is, and the records."""
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, LEASES, NODES
    from fourleaf.k8s_bridge.informers.owner_kinds import owner_selections
    from fourleaf.k8s_bridge.ledger.names import GANGS, PAGES
    from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS
    from fourleaf.model.config.owner_kinds import BUILT_IN_OWNER_KINDS, merged
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers.overlay import without_idle_owners

    in_force, table = NO_CONFIG, BUILT_IN_OWNER_KINDS
    config: list[Body] | ClusterError
    home = await reach.home(cluster)
    try:
        in_force = await read_config_in_force(cluster, reach.name, home)
        config = list(in_force.objects)
        table = merged(_owner_kinds(config)).table
    except ClusterError as error:
        config = error
    owners = [one for one in dict.fromkeys(owner_selections(table)) if one not in always]
    asked = [(one.kinds, _first(cluster, one.kinds, cached)) for one in owners]
    if with_leases:
        every = (PAGES, GANGS, RELOCATIONS)
        records = (_labelled(cluster, LEASES, home, labels, cached) for labels in every)
        asked.extend(((LEASES,), one) for one in records)
    more = asyncio.gather(*(one for _, one in asked), return_exceptions=True)
    led: float | None = None
    leaderless = False
    silent = dict[str, float]()
    if cached:
        (led, is_sure), heard = await asyncio.gather(_led(cluster, home), renewals(cluster))
        leaderless = is_sure and led is None
        # Where all nodes are silent, no kubelet says how late it is.
        silent = silences(heard, 0.0 if led is None else min(led, time.time()))
    answers = (*await under_way, *await more)
    problems: list[Problem] = []
    found: list[Body] = []
    leases: list[Body] = []
    kinds_asked = (*(one.kinds for one in always), *(kinds for kinds, _ in asked))
    for kinds, answer in zip(((CONFIG_MAPS,), *kinds_asked), (config, *answers), strict=True):
        if isinstance(answer, ClusterError):
            problems.append(refused(answer, reach.name, "list", kinds[0]))
        elif isinstance(answer, BaseException):
            raise answer
        elif kinds == (LEASES,):
            leases += answer
        else:
            found += answer
    if problems:
        unanswered = [one for one in problems if not one.object]
        raise BadInput(unanswered[:1] or dict.fromkeys(problems))
    if not any(body["kind"] == NODES.name for body in found):
        advice = "Check that the context is the one you mean."
        raise bad_input(reach.name, "the cluster has no node", advice, about="Node")
    objects = tuple(without_idle_owners(CLUSTER, found))
    kept = set(map(id, objects))
    idle = tuple(one for one in found if id(one) not in kept)
    return Live(
        objects,
        time.time(),
        tuple(leases),
        in_force,
        home,
        led is not None,
        leaderless,
        silent,
        idle,
    )


async def _led(cluster: Cluster, home: str) -> tuple[float | None, bool]:
    """When a scheduler that leads has renewed, None where none does, and whether that is sure.

    In seconds since the epoch. Who may not read the leader's Lease cannot be sure.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError

    try:
        lease = await leader_lease(cluster, home)
        return renewed(lease) if await leads(cluster, home, lease) else None, True
    except ClusterError:
        return None, False


async def _first(cluster: Cluster, kinds: Sequence[Kind], cached: bool) -> list[Body]:
    """All objects of the first kind that is served."""
    from fourleaf.k8s_bridge.cluster.errors import NotFound

    for kind in kinds:
        try:
            return typed(kind, (await cluster.list(kind, cached=cached)).items)
        except NotFound:
            continue
    return []


async def _labelled(
    cluster: Cluster, kind: Kind, namespace: str, labels: str, cached: bool
) -> list[Body]:
    return typed(kind, (await cluster.list(kind, namespace, labels, cached)).items)


def typed(kind: Kind, bodies: Iterable[Body]) -> list[Body]:
    """`bodies` with their kind, which lists leave out."""
    return [{**body, "apiVersion": kind.api_version, "kind": kind.name} for body in bodies]


def _owner_kinds(config: list[Body]) -> tuple[OwnerKind, ...]:
    """What the ConfigMap adds to the owners that are known."""
    from fourleaf.model.readers.config import read_config
    from fourleaf.model.readers.objects.inventory import Inventory
    from fourleaf.model.readers.objects.report import Report
    from fourleaf.model.readers.text.sources import Source

    inventory = Inventory(Report())
    inventory.take([Source(CLUSTER, objects=config)])
    return read_config(inventory).config.spec.owner_kinds
