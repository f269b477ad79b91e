"""One gang: where it stands, what is said of it, what its place is worth."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.view import View
from fourleaf.k8s_bridge.ledger.pods import pod_seen
from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Placement, Waiting
from fourleaf.model.reasons.json import reason_document
from fourleaf.model.reasons.pod_condition import said
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import score
from fourleaf.model.weights import SCALE, weights_of


class PodLine(View):
    """A pod and its place; all but the name are empty while it waits."""

    name: str
    node: str = ""
    leaf: str = ""
    gpus: int = 0
    devices: tuple[int, ...] = ()


class TermView(View):
    """One term of the score, in thousandths; `most` is its weight, 0 for a penalty."""

    name: str
    value: float
    most: int


class PlaceView(View):
    """A place and its score per GPU; 1000 is the best that the weights can give."""

    leaves: tuple[str, ...]
    nodes: tuple[str, ...]
    score: float
    terms: tuple[TermView, ...]


class NearView(View):
    """A leaf of the place that comes closest, what is free there, and who holds the rest."""

    leaf: str
    free: int
    needed: int
    unit: str
    holders: tuple[str, ...]


class WhyView(View):
    """Why a gang does not stand somewhere."""

    reason: str
    message: str
    unblock: tuple[str, ...] = ()
    near: tuple[NearView, ...] = ()


class GangView(View):
    """A gang. `state` is `running`, `waiting`, or `partly` where only some members run."""

    version: int
    namespace: str
    name: str
    state: str
    priority: int
    gpus: int
    strategy: str
    pods: tuple[PodLine, ...]
    place: PlaceView | None
    said: WhyView | None
    ends: float | None


class ElsewhereView(View):
    """What planning right now comes to: another place, or why there is none.

    For a gang that runs, with all of it lifted out and its present leaves closed.
    """

    status: str
    place: PlaceView | None
    why: WhyView | None


def gang_view(moment: ClusterMoment, key: GangKey, extensions: Extensions) -> GangView | None:
    """The gang `key`, None where there is none."""
    snapshot = moment.snapshot
    waiting = next((one for one in snapshot.gangs if one.key == key), None)
    running = [pod for pod in snapshot.running if pod.gang == key and pod.ours]
    if waiting is None and not running:
        return None
    whole = lifted(moment, key)
    gang = waiting or (whole[1] if whole else None)
    names = [name for role in waiting.roles for name in role.pods] if waiting else []
    leaf_of, leaves = snapshot.fabric.leaf_of, snapshot.fabric.leaves
    lines = [
        PodLine(
            name=pod.name,
            node=pod.node,
            leaf=leaves[leaf_of[pod.node]].name if pod.node in leaf_of else "",
            gpus=pod.request.gpus,
            devices=_devices(moment, pod.namespace, pod.name),
        )
        for pod in running
    ]
    place = None
    if whole is not None:
        stood = tuple((pod.name, pod.node) for pod in running)
        place = stands(whole[0], whole[1], stood, extensions)
    return GangView(
        version=moment.version,
        namespace=key.namespace,
        name=key.name,
        state="partly" if waiting and running else "waiting" if waiting else "running",
        priority=gang.priority if gang else max(pod.priority for pod in running),
        gpus=gang.gpus if gang else sum(pod.request.gpus for pod in running),
        strategy=gang.strategy if gang else "",
        pods=(*lines, *(PodLine(name=name) for name in names)),
        place=place,
        said=_said(moment, waiting) if waiting else None,
        ends=max((pod.ends for pod in running if pod.ends is not None), default=None),
    )


def lifted(moment: ClusterMoment, key: GangKey) -> tuple[Snapshot, Gang] | None:
    """The snapshot without the gang `key`, which runs, and the gang as if all of it waited.

    None where nothing of it runs.
    """
    snapshot = moment.snapshot
    nodes = frozenset(pod.node for pod in snapshot.running if pod.gang == key and pod.ours)
    stood = (one.gang for one in moment.standing(nodes, False) if one.gang.key == key)
    gang = next(stood, None)
    if gang is None:
        return None
    whole = replace(unbound(gang), hold=None)
    gone = {pod for role in whole.roles for pod in role.pods}
    running = tuple(
        pod for pod in snapshot.running if not (pod.namespace == key.namespace and pod.name in gone)
    )
    return replace(snapshot, running=running, gangs=(whole,), standing=()), whole


def unbound(gang: Gang) -> Gang:
    """`gang` with all members to be placed."""
    roles = (
        replace(role, pods=(*(pod for pod, _ in role.bound), *role.pods), bound=())
        for role in gang.roles
    )
    return replace(gang, roles=tuple(roles))


def closed(snapshot: Snapshot, nodes: Collection[str]) -> Snapshot:
    """`snapshot`, in which no new pod may come to `nodes`; what runs there stays."""
    shut = frozenset(nodes)
    fabric = snapshot.fabric
    leaves = tuple(
        replace(
            leaf,
            nodes=tuple(
                replace(node, cordoned=True) if node.name in shut else node for node in leaf.nodes
            ),
        )
        for leaf in fabric.leaves
    )
    return replace(snapshot, fabric=replace(fabric, leaves=leaves))


def stands(
    snapshot: Snapshot, gang: Gang, pods: tuple[tuple[str, str], ...], extensions: Extensions
) -> PlaceView | None:
    """What the place of `pods`, (pod, node), is worth; None where it cannot be scored."""
    try:
        terms = score(snapshot, gang, pods, extensions)
    except KeyError:
        return None
    return _place(snapshot, gang, pods, terms)


def place_view(snapshot: Snapshot, placement: Placement) -> PlaceView:
    """The place that a plan gives."""
    gang = next(one for one in snapshot.gangs if one.key == placement.gang)
    return _place(snapshot, gang, placement.pods, dict(placement.terms))


def why_view(waiting: Waiting) -> WhyView:
    """Why a plan leaves a gang waiting."""
    document = reason_document(waiting.reason)
    return WhyView(
        reason=document["reason"],
        message=document["message"].partition("; nearest: ")[0],
        unblock=tuple(document["unblock"]),
        near=tuple(
            NearView(
                leaf=miss.leaf,
                free=miss.free,
                needed=miss.needed,
                unit=miss.unit,
                holders=tuple(f"{node} held by {pod}" for node, pod in miss.holders),
            )
            for miss in waiting.reason.near
        ),
    )


def _place(
    snapshot: Snapshot, gang: Gang, pods: tuple[tuple[str, str], ...], terms: Mapping[str, int]
) -> PlaceView:
    fabric = snapshot.fabric
    role_of = {pod: role for role in gang.roles for pod in role.pods}
    weight = max(1, sum(gang.pod_weight(role_of[pod]) for pod, _ in pods))
    positions = sorted({fabric.leaf_of[node] for _, node in pods})
    return PlaceView(
        leaves=tuple(fabric.leaves[position].name for position in positions),
        nodes=tuple(node for _, node in pods),
        score=sum(terms.values()) / weight,
        terms=tuple(_terms(snapshot, gang, terms, weight)),
    )


def _terms(
    snapshot: Snapshot, gang: Gang, terms: Mapping[str, int], weight: int
) -> Iterator[TermView]:
    weights = weights_of(snapshot.config.spec, gang)
    for name in dict.fromkeys((*weights, *terms)):
        points, most = terms.get(name, 0), weights.get(name, 0)
        if most or points:
            value = max(-SCALE, min(SCALE, points / weight))
            yield TermView(name=name, value=round(value, 1), most=most)


def _devices(moment: ClusterMoment, namespace: str, name: str) -> tuple[int, ...]:
    body = moment.pods.get((namespace, name))
    if body is None or "uid" not in body["metadata"] or "resourceVersion" not in body["metadata"]:
        return ()
    return pod_seen(dict(body)).devices


def _said(moment: ClusterMoment, gang: Gang) -> WhyView | None:
    """What the scheduler has written into the conditions of the pods."""
    if gang.hold is not None:
        hold = gang.hold
        return WhyView(reason=hold.kind, message=hold.detail, unblock=hold.unblock)
    names = [name for role in gang.roles for name in role.pods]
    keys = ((gang.key.namespace, name) for name in names)
    heard = said(moment.pods[key] for key in keys if key in moment.pods)
    if heard is None:
        return None
    kind = heard.kind.value if heard.kind else ""
    return WhyView(reason=kind, message=heard.sentence, unblock=heard.unblock)
