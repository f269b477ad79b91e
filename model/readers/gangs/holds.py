"""What holds a gang back, and what its members may not disagree in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.model.config.spec import Devices
from fourleaf.model.devices.visibility import CUDA, FIELD_PATH
from fourleaf.model.gang import (
    MOST_CLAIMING_MEMBERS,
    MOST_MEMBERS,
    Hold,
)
from fourleaf.model.problems import Problem
from fourleaf.model.readers.gangs.dialects import Dialect
from fourleaf.model.readers.gangs.minimum_size import Need, unsupported
from fourleaf.model.readers.objects.annotations import (
    GANG,
    GANG_SIZE,
    GPU_COUNT,
    Wishes,
    field_of,
    stated,
)
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.owners import OwnerRef
from fourleaf.model.readers.pods.limited_gpus import refuse_beyond_limits
from fourleaf.model.readers.pods.node_constraints import MOST_CONDITIONS
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.text import listed

MOST_GANG_CONDITIONS = 4 * MOST_CONDITIONS
"""Conditions on nodes and tolerations in which the waiting members of a gang may differ."""

BY_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""So begins a resource of a container that is a number of devices of a DeviceClass."""
REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"
"""Asks for one domain of a level that the pods name, where here the rules of the config count."""
_COMPARED = (
    ("preferred_domain", "preferred-domain"),
    ("bandwidth", "network-bandwidth"),
    ("latency_sensitive", "latency-sensitive"),
    ("strategy", "placement-strategy"),
    ("policy", "topology-policy"),
)


def hold_of(
    waiting: Sequence[Pod],
    bound: Sequence[Pod],
    need: Need,
    present: int,
    minimum: int,
    ending: Sequence[Pod] = (),
) -> Hold | None:
    """What keeps a gang back: first what cannot be honoured, then missing members, then gates.

    `ending` are members on nodes that are to end, and count for none.
    """
    for pod in waiting:
        if field := pod.wants.unsupported or pod.unsupported or _by_class(pod):
            what = f"{pod.manifest.title}: {field} cannot be honoured"
            advice = pod.wants.advice or pod.advice or f"Remove {field}."
            return Hold(ReasonKind.UNSUPPORTED, what, (), (advice,))
        if pod.volumes.hold is not None:
            return pod.volumes.hold
        if pod.untold and pod.request.gpus:
            return _not_told(pod)
        if pod.annotation(REQUIRED_TOPOLOGY) is not None:
            return unsupported(pod.manifest, field_of(REQUIRED_TOPOLOGY))
    if need.hold is not None:
        return need.hold
    claiming = any(pod.resource_claims for pod in waiting)
    most = MOST_CLAIMING_MEMBERS if claiming else MOST_MEMBERS
    if max(present, minimum) > most:
        what = f"has {max(present, minimum):,} members, above the {most:,} of one gang"
        what += " with ResourceClaims" if claiming else ""
        return Hold(ReasonKind.TOO_LARGE, what, (), ("Split it into several gangs.",))
    for pod in waiting:
        if pod.owners.missing is not None:
            return _without_owner(pod.namespace, pod.owners.missing, pod.owners.replaced)
    if present < minimum:
        return _missing(present, minimum, len(bound), ending, _makers(waiting, need.holder))
    gated = [pod for pod in waiting if pod.gated]
    if gated:
        what = "is suspended" if gated[0].suspended else "has scheduling gates"
        return Hold(
            ReasonKind.GATED,
            f"{gated[0].name} {what}",
            (("gated", len(gated)),),
            ("Resume it." if gated[0].suspended else "Remove the scheduling gates.",),
        )
    return None


def _by_class(pod: Pod) -> str:
    """The first amount that names a DeviceClass, for which kube-scheduler makes a claim; or ""."""
    names = (name for name, _ in pod.request.extra if name.startswith(BY_CLASS_PREFIX))
    return next((f"spec.containers[*].resources[{name}]" for name in names), "")


def _makers(pods: Sequence[Pod], holder: Manifest | None) -> tuple[OwnerRef, ...]:
    """What makes these members: the nearest owner of all of them, else the last of the first.

    An owner that states the size may have to make others like the nearest, as a JobSet makes Jobs.
    """
    nearest = {pod.owners.refs[0].plain if pod.owners.refs else None for pod in pods}
    first = next(iter(nearest), None)
    if first is None:
        return ()
    if len(nearest) > 1:
        return (pods[0].owners.refs[-1],)
    said = (holder.kind, holder.name) if holder is not None else None
    outer = (one for one in pods[0].owners.refs[1:] if (one.kind, one.name) == said)
    return (*outer, first)


def _missing(
    present: int, minimum: int, bound: int, ending: Sequence[Pod], makers: Sequence[OwnerRef]
) -> Hold:
    """Members are missing: perhaps until one has ended whose name the next one is to have."""
    missing = minimum - present
    what = f"{present} of {minimum} members exist"
    pods = "the missing pod" if missing == 1 else f"the {missing} missing pods"
    advice = f"Create {pods}."
    if makers:
        owners = listed([f"{one.kind} {one.name}" for one in makers])
        them = "it" if len(makers) == 1 else "them"
        advice = f"See in the events of {owners} what keeps {them} from creating {pods}."
    if ending:
        has, they = ("has", "it ends") if len(ending) == 1 else ("have", "they end")
        pods = listed([f"{one.name} on {one.node}" for one in ending])
        what += f", and {pods} {has} not ended yet"
        nodes = list(dict.fromkeys(one.node for one in ending))
        where = nodes[0] if len(nodes) == 1 else f"one of {listed(nodes)}"
        advice = (
            f"Wait until {they}. Where {where} is dead no kubelet ends pods: delete the node once "
            "it is surely off, or set repair.endLostPodsAtOnce."
        )
    counts = (("present", present), ("needed", minimum), ("bound", bound))
    return Hold(ReasonKind.MEMBERS_MISSING, what, counts, (advice,))


def _not_told(pod: Pod) -> Hold:
    """What keeps a pod back that came while no webhook answered: it would see all devices."""
    what = f"{pod.manifest.title}: container {pod.untold} does not take {CUDA} from {FIELD_PATH}"
    advice = (
        "Create it again while the webhook answers, which adds the variable.",
        "Where no webhook is to run, take hold out of spec.devices.untold.",
    )
    return Hold(ReasonKind.NOT_TOLD, what, (), advice)


def _without_owner(namespace: str, owner: OwnerRef, replaced: bool) -> Hold:
    """What their owner says of the members is not known: that it is one gang, and how large."""
    called = f"{owner.kind} {namespace}/{owner.name}"
    if replaced:
        what = f"{called}, which made these pods, is gone: another one has its name now"
        return Hold(ReasonKind.MEMBERS_MISSING, what, (), ("Delete the pods of the old one.",))
    advice = f"Create it, or let the scheduler list objects of kind {owner.kind}, if it is there."
    return Hold(ReasonKind.MEMBERS_MISSING, f"{called}, its owner, is not known", (), (advice,))


def invalid(members: Sequence[Pod], need: Need) -> Hold | None:
    """What is wrong with a member, an owner, or the object that states the size."""
    faults = [pod.fault for pod in members]
    if need.holder is not None:
        faults.append(need.holder.fault)
    first = next((one for one in faults if one is not None), None)
    return None if first is None else _of_fault(first)


def _of_fault(fault: Problem) -> Hold:
    """A hold that says all that the error says: object, field, value, why, and what to do."""
    value = f" = {fault.value}:" if fault.value else ""
    detail = f"{fault.object}: {fault.field}{value} {fault.message}"
    return Hold(ReasonKind.INVALID, detail, (), (fault.advice,))


def too_many_conditions(waiting: Sequence[Pod], roles: int) -> Hold | None:
    """What keeps a gang back whose members ask too many different things of nodes."""
    if roles * MOST_CONDITIONS <= MOST_GANG_CONDITIONS:
        return None
    conditions = sum(one.conditions for one in {pod.wants.constraint for pod in waiting})
    if conditions <= MOST_GANG_CONDITIONS:
        return None
    what = f"has members with {conditions:,} different conditions on nodes and tolerations, above "
    what += f"the {MOST_GANG_CONDITIONS} of one gang"
    advice = "Ask for fewer of them, or let members ask for the same."
    return Hold(ReasonKind.UNSUPPORTED, what, (), (advice,))


def refuse_strangers(first: Pod, live: Sequence[Pod], ours: tuple[str, ...]) -> Hold | None:
    """Report members that another scheduler would place; they hold the gang back."""
    advice = "Give all members of a gang the same schedulerName."
    hold = None
    for pod in live:
        if pod.waits and pod.scheduler not in ours:
            named = pod.spec.get("schedulerName")
            what = "differs from" if named else "is not set, unlike"
            message = f"{what} {first.scheduler} of {first.name}, a member of the same gang"
            pod.manifest.error("spec.schedulerName", named or None, message, advice)
            if hold is None and pod.fault is not None:
                hold = _of_fault(pod.fault)
    return hold


def refuse_surplus(members: Sequence[Pod], present: int, minimum: int) -> Hold:
    """Report that there are more members than the gang is to have."""
    pod = members[-1]
    advice = "Correct the stated size, or take the surplus pods out of the gang."
    message = f"is one of {present} members of a gang of {minimum}"
    pod.manifest.error("metadata", None, message, advice)
    return Hold(ReasonKind.INVALID, f"{present} members of a gang of {minimum}", (), (advice,))


def refuse_other_size(waiting: Sequence[Pod], dialect: str, need: Need) -> None:
    """Report a `gang-size` that does not count, unless it says what counts anyway."""
    if dialect is Dialect.OURS:
        return
    for pod in waiting:
        size = pod.wishes.gang_size
        if size is not None:
            break
    else:
        return
    counts = {1} if need.basic or dialect is Dialect.SINGLE else need.sizes
    found = stated(pod.layers, GANG_SIZE)
    if found is None or not counts or size in counts:
        return
    if dialect is Dialect.SINGLE:
        message = "is the size of a gang that has no name"
        advice = f"Name the gang by {GANG}, or leave its size out."
    else:
        whose = need.holder.title if need.holder else f"its {dialect}"
        message = f"differs from {max(counts)} of {whose}, which decides how large the gang is"
        advice = f"Leave {GANG} and {GANG_SIZE} out: they count for pods that nothing else groups."
    found[0].error(field_of(GANG_SIZE), found[1], message, advice)


def refuse_disagreement(first: Pod, members: Sequence[Pod]) -> None:
    """Report members whose priority or wishes differ from those of the first."""
    for pod in members[1:]:
        if pod.priority != first.priority:
            pod.manifest.error(
                "spec.priority",
                pod.priority,
                f"differs from {first.priority} of {first.name}, a member of the same gang",
                "Give all members of a gang the same priority.",
            )
        if pod.wishes is not first.wishes and pod.wishes != first.wishes:
            _refuse_other_wishes(first, pod, first.wishes, pod.wishes)


def _refuse_other_wishes(first: Pod, pod: Pod, ours: Wishes, theirs: Wishes) -> None:
    for attribute, name in _COMPARED:
        if getattr(ours, attribute) != getattr(theirs, attribute):
            pod.manifest.error(
                field_of(f"topology.scheduler/{name}"),
                getattr(theirs, attribute),
                f"differs from that of {first.name}, a member of the same gang",
                "Give all members of a gang the same annotation.",
            )


def share_gpus(pods: Sequence[Pod], size: int, devices: Devices) -> None:
    """Apply `gpu-count`: divide it where no pod states GPUs, else check that it agrees."""
    first = pods[0]
    total = first.wishes.gpu_count
    found = stated(first.layers, GPU_COUNT)
    if total is None or found is None:
        return
    manifest, value = found
    each = [pod.request.gpus for pod in pods]
    if not any(each):
        if total % size:
            manifest.error(
                field_of(GPU_COUNT),
                value,
                f"cannot be divided evenly over {size} pods",
                f"Give a multiple of {size}, or state the GPUs of every pod.",
            )
            return
        each_gets, field = total // size, field_of(GPU_COUNT)
        if any(refuse_beyond_limits(p, each_gets, devices, manifest, field, value) for p in pods):
            return
        for pod in pods:
            pod.request = replace(pod.request, gpus=each_gets)
        return
    some = [gpus for gpus in each if gpus]
    allowed = {sum(each)}
    if len(set(some)) == 1:
        allowed |= {some[0], some[0] * size}
    if total not in allowed:
        manifest.error(
            field_of(GPU_COUNT),
            value,
            f"disagrees with the {some[0]} GPUs that a pod asks for (gang of {size} pods)",
            f"Give the total of the gang ({max(allowed)}), or leave the annotation out.",
        )
