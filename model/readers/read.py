"""From sources to a snapshot, step by step."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from fourleaf.model.config.owner_kinds import merged
from fourleaf.model.config.spec import SchedulerConfig, Spec
from fourleaf.model.problems import BadInput, Problem
from fourleaf.model.readers.config import in_force, read_config
from fourleaf.model.readers.dra.holders import Places, holders
from fourleaf.model.readers.dra.published import published
from fourleaf.model.readers.gangs.cross_checks import side_by_side
from fourleaf.model.readers.gangs.expansion import Expansion
from fourleaf.model.readers.gangs.minimum_size import MinimumSizes
from fourleaf.model.readers.gangs.names import GangNames, Identity
from fourleaf.model.readers.gangs.read_gang import (
    GangRead,
    Situation,
    all_that_stand,
    grouped,
    read_gang,
)
from fourleaf.model.readers.nodes.attach_limits import limits_in
from fourleaf.model.readers.nodes.fabric import read_fabric
from fourleaf.model.readers.nodes.nodes import mixed_gpu_sources, read_nodes
from fourleaf.model.readers.objects.dra_kinds import CLAIM
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.objects.owners import Owners
from fourleaf.model.readers.objects.priority_classes import Priorities
from fourleaf.model.readers.objects.report import MOST_OF_ONE_OBJECT, Report
from fourleaf.model.readers.objects.storage_kinds import ATTACHMENT, CAPACITY
from fourleaf.model.readers.objects.timestamps import created_at
from fourleaf.model.readers.objects.unread_kinds import warn_of
from fourleaf.model.readers.pods.attached_volumes import AttachedVolumes
from fourleaf.model.readers.pods.claiming_pods import Claimables
from fourleaf.model.readers.pods.disruption_budgets import (
    BUDGET,
    DisruptionBudget,
    budget_limits,
    read_budget,
)
from fourleaf.model.readers.pods.mapped_devices import MappedDevices, maps_of
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.readers.pods.pods import Pod, Requests, own_owners, read_pod
from fourleaf.model.readers.pods.scheduler_names import warn_of_misspelt
from fourleaf.model.readers.pods.storage_capacity import capacities_of
from fourleaf.model.readers.text.sources import Source, without_collection
from fourleaf.model.running_gang import EvictionLimit, PodName, StandingGang
from fourleaf.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Members:
    """The pods of every gang as they were read, and what their reading depended on."""

    gangs: Mapping[Identity, Sequence[Pod]]
    sizes: MinimumSizes
    situation: Situation
    budgets: Sequence[DisruptionBudget] = ()


@dataclass(frozen=True, slots=True)
class InputReading:
    """What came out of the sources.

    `problems` are all that was found, errors first. `ignored` counts objects by kind
    that a plan does not need. `config_source` names the file of the config. `members` is what
    `standing` looks at.
    """

    snapshot: Snapshot
    problems: tuple[Problem, ...]
    ignored: Mapping[str, int]
    config_source: str
    members: Members = field(repr=False, compare=False)

    def standing(self, leaving: Container[str], everyone: bool) -> tuple[StandingGang, ...]:
        """The gangs that run, as they would stand if all on the nodes `leaving` were lost.

        All of them where `everyone` is wanted; else those that lose members, lack some that
        wait, or may be moved.
        """
        one = self.members
        gangs = one.gangs.items()
        return tuple(all_that_stand(gangs, one.sizes, one.situation, leaving, everyone))

    def eviction_limits(self, pods: Iterable[PodName]) -> tuple[EvictionLimit, ...]:
        """What disruption budgets say of these pods."""
        bodies = self.pods
        return budget_limits(
            self.members.budgets, ((pod, bodies[pod]) for pod in pods if pod in bodies)
        )

    @property
    def pods(self) -> Mapping[tuple[str, str], Body]:
        """Namespace and name -> the pod as it was given."""
        return {
            (pod.namespace, pod.name): pod.manifest.body
            for pods in self.members.gangs.values()
            for pod in pods
            if pod.manifest.kind == "Pod"
        }

    @property
    def jobs(self) -> Mapping[tuple[str, str], Body]:
        """Namespace and name -> the Job as it was given."""
        found = self.members.situation.objects.of("batch", "Job")
        return {(job.namespace, job.name): job.body for job in found}


def read(
    sources: Sequence[Source],
    now: float | None = None,
    strict: bool = True,
    *,
    expand: bool = True,
    config: SchedulerConfig | None = None,
    whole: bool = False,
) -> InputReading:
    """Everything that `sources` hold, as a snapshot.

    `now` in seconds since the epoch; None takes the newest creationTimestamp of the
    input. With `strict`, any error raises `BadInput` with all problems, but for what is wrong
    within a snapshot, which is read as its cluster was; without, a broken node is left out, a
    broken gang is held as `Invalid`, and the problems are returned.
    With `expand`, owners without pods get those that their controllers would make.
    `config` counts in place of what the sources say. `whole`: they leave nothing out that the
    cluster has, so that a gang whose owner is not there is held; a snapshot leaves nothing out.
    """
    report = Report(MOST_OF_ONE_OBJECT)
    with without_collection():
        inventory = Inventory(report)
        inventory.take(sources)
        whole = whole or bool(inventory.snapshots)
        reading = _decoded(inventory, now, expand, config, whole)
    held = inventory.snapshots
    if strict and any(one.source not in held for one in report.errors):
        raise BadInput(p for p in report.problems if not (p.is_error and p.source in held))
    return reading


def _decoded(
    inventory: Inventory,
    now: float | None,
    expand: bool,
    given: SchedulerConfig | None,
    whole: bool,
) -> InputReading:
    report = inventory.report
    config = read_config(inventory) if given is None else in_force(given)
    spec = config.config.spec
    kinds = merged(spec.owner_kinds)
    inventory.adopt(kinds)
    drivers = published(spec, inventory)
    nodes = read_nodes(inventory, config.config, drivers)
    owners = Owners(inventory, whole, kinds)
    pods = [read_pod(one, one.name, owners) for one in inventory.of("", "Pod")]
    strangers = list(inventory.strangers)
    known = {(pod.namespace, ref.plain) for pod in pods for ref in pod.owners.refs}
    if expand:
        expansion = Expansion(owners, spec)
        pods.extend(expansion.pods(pods))
        strangers += expansion.strangers
    mapped = _mapped_devices(pods, spec)
    for node in nodes:
        node.mapped = mapped.on(node.node.name)
    fabric = read_fabric(report, nodes, config)
    warn_of(strangers, spec.scheduler_names, known, report)
    warn_of_misspelt(pods, spec.scheduler_names)
    moment = _newest(inventory, pods) if now is None else now
    gangs = grouped(pods)
    priorities = Priorities(inventory)
    sizes = MinimumSizes(inventory, priorities, whole)
    mixed = mixed_gpu_sources(nodes)
    on_node = {one.node.name: one.node.device_names for one in nodes if one.node.device_names}
    claimables = Claimables(drivers.honoured, on_node, drivers.offer)
    limits = limits_in(inventory)
    situation = Situation(
        spec,
        priorities,
        Requests(spec),
        GangNames(gangs),
        mixed,
        moment,
        inventory,
        claimables,
        capacities_of(inventory.of(*CAPACITY)),
        limits.limited,
        whole,
        mapped.held_on,
    )
    found = []
    for identity, members in gangs.items():
        own_owners(members)
        found.append(read_gang(identity, members, sizes, situation))
    drafts = side_by_side(
        sorted((draft for one in found for draft in one.drafts), key=attrgetter("order")),
        Neighbours(pod for one in found for pod, _ in one.running),
        fabric,
        {one.node.name: one.node for one in nodes},
        report,
        network=spec.network,
        whole=whole,
    )
    running = tuple(running for one in found for _, running in one.running)
    if expand:
        _warn_of_lost_nodes(inventory, found)
    attached = AttachedVolumes()
    for one in inventory.of(*ATTACHMENT):
        attached.attach(one.name, one.body)
    for pod, running_pod in (both for one in found for both in one.running):
        attached.add(pod, running_pod.node, pod.attached, running_pod.ours)
    volumes = attached.stand_ins(inventory, lambda node: dict(limits.on(node)))
    claims = (((one.namespace, one.name), one.body) for one in inventory.of(*CLAIM))
    snapshot = Snapshot(
        fabric=fabric,
        running=(
            *running,
            *holders(claims, running, Places(on_node, drivers)),
            *(one for there in volumes.values() for one in there),
        ),
        gangs=tuple(draft.gang for draft in drafts),
        config=config.config,
        now=moment,
    )
    budgets = [read_budget(one) for one in inventory.of(*BUDGET)]
    behind = Members(gangs, sizes, situation, budgets)
    return InputReading(snapshot, report.problems, dict(inventory.ignored), config.source, behind)


def _mapped_devices(pods: Sequence[Pod], spec: Spec) -> MappedDevices:
    """The devices that maps of `pods` name, and those that pods of ours hold."""
    found = MappedDevices()
    found.put((), maps_of(pods, spec))
    for pod in pods:
        if pod.running and pod.scheduler in spec.scheduler_names:
            found.hold(pod.node, pod.devices)
    return found


def _warn_of_lost_nodes(inventory: Inventory, found: Iterable[GangRead]) -> None:
    """Say which nodes of running GPU pods a file lacks; a whole cluster lacks none."""
    nodes = {one.name for one in inventory.of("", "Node")}
    lost: dict[str, list[Pod]] = {}
    for one in found:
        for pod, running in one.running:
            if pod.node not in nodes and running.request.gpus:
                lost.setdefault(pod.node, []).append(pod)
    for pods in lost.values() if nodes else ():
        pods[0].manifest.warn(
            "spec.nodeName",
            pods[0].node,
            f"names a node that is not in the input; GPU pods there: {len(pods):,}",
            "Add the node; what runs there counts for nothing now.",
        )


def _newest(inventory: Inventory, pods: Iterable[Pod]) -> float:
    moments = [pod.created for pod in pods if pod.created is not None]
    for manifest in inventory.of("", "Node"):
        created = created_at(manifest)
        if created is not None:
            moments.append(created)
    return max(moments, default=0.0)
