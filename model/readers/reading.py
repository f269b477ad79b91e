"""From sources to a snapshot, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from model.config import Spec
from model.fabric import Fabric
from model.problems import BadInput, Problem
from model.readers.clock import created_at
from model.readers.config import read_config
from model.readers.constraints import warn_about_volumes
from model.readers.device_map import DEVICE_MAP, apply_map
from model.readers.expansion import Expansion
from model.readers.gangs import Draft, Gangs
from model.readers.inventory import Inventory
from model.readers.nodes import mixed_gpu_names, read_fabric, read_nodes
from model.readers.owners import Owners
from model.readers.pods import Pod, Requests, read_pod
from model.readers.priorities import Priorities
from model.readers.report import Report
from model.readers.sizes import Sizes
from model.readers.sources import Source, without_collection
from model.readers.spread import keep_apart
from model.snapshot import RunningPod, Snapshot


@dataclass(frozen=True, slots=True)
class Reading:
    """What came out of the sources.

    `problems` are all that was found, errors first. `ignored` counts objects by kind
    that a plan does not need. `config_source` names the file of the config.
    """

    snapshot: Snapshot
    problems: tuple[Problem, ...]
    ignored: Mapping[str, int]
    config_source: str


def read(sources: Sequence[Source], now: float | None = None, strict: bool = True) -> Reading:
    """Everything that `sources` hold, as a snapshot.

    `now` in seconds since the epoch; None takes the newest creationTimestamp of the
    input. With `strict`, any error raises `BadInput` with all problems; without, a broken
    node is left out, a broken gang is held as `Invalid`, and the problems are returned.
    """
    report = Report()
    with without_collection():
        inventory = Inventory(report)
        inventory.take(sources)
        reading = _decoded(inventory, now)
    if strict and report.errors:
        raise BadInput(report.problems)
    return reading


def _decoded(inventory: Inventory, now: float | None) -> Reading:
    config = read_config(inventory)
    spec = config.config.spec
    nodes = read_nodes(inventory, config.config)
    fabric = read_fabric(inventory, nodes, config)
    priorities = Priorities(inventory)
    owners = Owners(inventory)
    pods = [read_pod(one, one.name, owners) for one in inventory.of("", "Pod")]
    pods.extend(Expansion(owners, spec.scheduler_names).pods(pods))
    moment = _newest(inventory, pods) if now is None else now
    requests = Requests(spec)
    for pod in pods:
        if not pod.finished and (pod.node or pod.scheduler in spec.scheduler_names):
            requests.read(pod)
            pod.priority = priorities.of(pod.manifest, pod.spec)
            if pod.scheduler not in spec.scheduler_names:
                continue
            if pod.annotation(DEVICE_MAP) is not None:
                apply_map(pod)
            if pod.waits:
                warn_about_volumes(pod.manifest, pod.spec)
    gangs = Gangs(spec, Sizes(inventory, priorities), mixed_gpu_names(nodes), moment)
    gangs.group(pods)
    drafts = keep_apart(gangs.drafts(), pods)
    _warn(drafts, fabric)
    snapshot = Snapshot(
        fabric=fabric,
        running=tuple(_running(gangs, spec)),
        gangs=tuple(draft.gang for draft in drafts),
        config=config.config,
        now=moment,
    )
    report = inventory.report
    return Reading(snapshot, report.problems, dict(inventory.ignored), config.source)


def _newest(inventory: Inventory, pods: Iterable[Pod]) -> float:
    moments = [pod.created for pod in pods if pod.created is not None]
    for manifest in inventory.of("", "Node"):
        created = created_at(manifest)
        if created is not None:
            moments.append(created)
    return max(moments, default=0.0)


def _running(gangs: Gangs, spec: Spec) -> Iterable[RunningPod]:
    for identity, members in gangs.groups().items():
        for pod in members:
            if pod.running:
                ours = pod.scheduler in spec.scheduler_names
                yield RunningPod(
                    namespace=pod.namespace,
                    name=pod.name,
                    node=pod.node,
                    request=pod.request,
                    gang=gangs.key_of(identity, pod),
                    priority=pod.priority,
                    bandwidth=pod.wishes.bandwidth if ours else None,
                    ours=ours,
                )


def _warn(drafts: Sequence[Draft], fabric: Fabric) -> None:
    """Say what is legal but probably not meant."""
    for draft in drafts:
        domain = draft.gang.preferred_domain
        if (
            domain is not None
            and fabric.leaves
            and domain not in fabric.leaf_index
            and domain not in fabric.spines
            and draft.waiting
        ):
            draft.waiting[0].manifest.warn(
                "metadata.annotations[topology.scheduler/preferred-domain]",
                domain,
                "is no leaf or spine of the fabric",
                "Name a leaf or a spine, or leave it out; it counts for nothing now.",
            )
