"""From pods to gangs: who starts together, in which roles, and what holds them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from model.config import Spec
from model.constraint import NodeConstraint
from model.gang import Gang, GangKey, Hold, Role, Strategy
from model.readers.groups import Dialect, membership
from model.readers.pods import Pod, Rank
from model.readers.sizes import Need, Sizes
from model.readers.wishes import GPU_COUNT, Wishes, field_of, stated
from model.reasons import ReasonKind
from model.resources import Resources
from model.topology import NaturalKey, natural_key

Identity = tuple[str, Dialect, str]

_COMPARED = (
    ("preferred_domain", "preferred-domain"),
    ("bandwidth", "network-bandwidth"),
    ("latency_sensitive", "latency-sensitive"),
    ("strategy", "placement-strategy"),
    ("policy", "topology-policy"),
)


@dataclass(slots=True, eq=False)
class Draft:
    """A gang in the making: the gang and the pods behind it."""

    gang: Gang
    waiting: tuple[Pod, ...]
    bound: tuple[Pod, ...] = ()


class Gangs:
    """Groups pods into gangs and decides what each may start with."""

    def __init__(self, spec: Spec, sizes: Sizes, mixed: bool, now: float) -> None:
        self._spec = spec
        self._sizes = sizes
        self._mixed = mixed
        self._now = now
        self._members: dict[Identity, list[Pod]] = {}
        self._keys: dict[Identity, GangKey] = {}

    def group(self, pods: Iterable[Pod]) -> None:
        """Sort `pods` into groups, one per gang, and name the gangs."""
        for pod in pods:
            dialect, name = membership(pod)
            self._members.setdefault((pod.namespace, dialect, name), []).append(pod)
        taken: set[tuple[str, str]] = set()
        ordered = sorted(self._members, key=lambda one: one[1] is Dialect.SINGLE)
        for identity in ordered:
            namespace, dialect, name = identity
            while (namespace, name) in taken:
                name = f"{name}@{dialect}"
            taken.add((namespace, name))
            self._keys[identity] = GangKey(namespace, name)

    def key_of(self, identity: Identity, pod: Pod) -> GangKey | None:
        """The gang of a running pod; pods of others that stand alone belong to none."""
        alone = identity[1] is Dialect.SINGLE
        return None if alone and not self._is_ours(pod) else self._keys[identity]

    def groups(self) -> Mapping[Identity, Sequence[Pod]]:
        """The pods of every gang, in the order of the input."""
        return self._members

    def _is_ours(self, pod: Pod) -> bool:
        return pod.scheduler in self._spec.scheduler_names

    def drafts(self) -> list[Draft]:
        """All gangs that have something to place, or that miss members."""
        found: list[Draft] = []
        for identity, members in self._members.items():
            if any(pod.waits or self._is_ours(pod) for pod in members if not pod.finished):
                found.extend(self._draft(identity, members))
        self._refuse_split(found)
        return sorted(found, key=_natural)

    def _draft(self, identity: Identity, members: list[Pod]) -> list[Draft]:
        namespace, dialect, name = identity
        live = [pod for pod in members if not pod.finished and not pod.terminating]
        waiting = sorted((p for p in live if p.waits and self._is_ours(p)), key=_rank)
        bound = sorted((p for p in live if p.node), key=_rank)
        if not waiting and not any(self._is_ours(pod) for pod in bound):
            return []
        done = sum(1 for pod in members if pod.phase == "Succeeded")
        need = self._sizes.of(dialect, namespace, name, [*waiting, *bound] or members)
        if waiting:
            _refuse_strangers(waiting[0], live, self._spec.scheduler_names)
        present = len(waiting) + len(bound) + done
        self._share_gpus(waiting + bound, need.minimum or present)
        if need.basic:
            return [
                self._alone(GangKey(namespace, f"{name}+{pod.name}"), pod, need, None)
                for pod in waiting
            ]
        minimum = present if need.minimum is None else need.minimum
        if need.exact and need.minimum is not None and present > minimum:
            need = replace(need, hold=_refuse_surplus(waiting or bound, present, minimum))
        wanted = max(0, minimum - done - len(bound))
        key = self._keys[identity]
        core, surplus = waiting[:wanted], waiting[wanted:]
        if need.hold is not None and need.minimum is None:
            core, surplus = waiting, []
        drafts = []
        if core or wanted:
            hold = _hold(core, bound, need, present, minimum)
            drafts.append(self._gang(key, core, bound, need, hold))
        waits = Hold(
            ReasonKind.WAITS_FOR_GANG,
            f"gang {key} starts first",
            (),
            (f"It is planned once gang {key} is bound.",),
        )
        for pod in surplus:
            own = GangKey(namespace, f"{key.name}+{pod.name}")
            drafts.append(self._alone(own, pod, need, waits if wanted else None))
        return drafts

    def _alone(self, key: GangKey, pod: Pod, need: Need, hold: Hold | None) -> Draft:
        hold = _hold([pod], (), replace(need, minimum=1), 1, 1) or hold
        return self._gang(key, [pod], [], need, hold)

    def _gang(
        self,
        key: GangKey,
        waiting: list[Pod],
        bound: list[Pod],
        need: Need,
        hold: Hold | None,
    ) -> Draft:
        members = waiting or bound
        first = members[0]
        _refuse_disagreement(first, members)
        wishes = first.wishes
        roles = self._roles(waiting, bound)
        spread = any(
            term.selector.picks(pod.labels) for pod in waiting for term in pod.wants.spread
        )
        gang = Gang(
            key=key,
            roles=roles,
            priority=first.priority if need.priority is None else need.priority,
            created=min(self._now if p.created is None else p.created for p in members),
            strategy=wishes.strategy,
            policy=wishes.policy,
            preferred_domain=wishes.preferred_domain,
            latency_sensitive=wishes.latency_sensitive,
            bandwidth=wishes.bandwidth,
            one_per_node=wishes.strategy is Strategy.DISTRIBUTED or spread,
            hold=_invalid([*waiting, *bound], need) or hold,
        )
        return Draft(gang, tuple(waiting), tuple(bound))

    def _roles(self, waiting: Sequence[Pod], bound: Sequence[Pod]) -> tuple[Role, ...]:
        pods: dict[tuple[Resources, NodeConstraint], list[str]] = {}
        held: dict[tuple[Resources, NodeConstraint], list[tuple[str, str]]] = {}
        for pod in waiting:
            kind = (pod.request, pod.constraint(self._mixed))
            pods.setdefault(kind, []).append(pod.name)
        for pod in bound:
            kind = (pod.request, pod.constraint(self._mixed))
            pods.setdefault(kind, [])
            held.setdefault(kind, []).append((pod.name, pod.node))
        roles = [
            Role(tuple(names), request, constraint, tuple(held.get((request, constraint), ())))
            for (request, constraint), names in pods.items()
        ]
        return tuple(sorted(roles, key=lambda role: -role.request.gpus))

    def _share_gpus(self, pods: Sequence[Pod], size: int) -> None:
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
            for pod in pods:
                pod.request = replace(pod.request, gpus=total // size)
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

    def _refuse_split(self, drafts: list[Draft]) -> None:
        """Refuse gangs short of members whose missing ones stand in another namespace."""
        short: dict[tuple[Dialect, str], list[Identity]] = {}
        by_key = {draft.gang.key: draft for draft in drafts}
        for identity in self._members:
            draft = by_key.get(self._keys[identity])
            if identity[1] not in (Dialect.OURS, Dialect.KUEUE) or draft is None:
                continue
            hold = draft.gang.hold
            if hold is not None and hold.kind == ReasonKind.MEMBERS_MISSING:
                short.setdefault((identity[1], identity[2]), []).append(identity)
        for (_, name), identities in short.items():
            if len(identities) < 2:
                continue
            spaces = ", ".join(identity[0] for identity in identities)
            for identity in identities[1:]:
                draft = by_key[self._keys[identity]]
                draft.waiting[0].manifest.error(
                    "metadata.namespace",
                    identity[0],
                    f"holds only part of gang {name}, which is spread over {spaces}",
                    "Put all members into one namespace; a gang cannot span two.",
                )
                for one in identities:
                    other = by_key[self._keys[one]]
                    other.gang = replace(other.gang, hold=_split(name, spaces))


def _split(name: str, spaces: str) -> Hold:
    return Hold(
        ReasonKind.INVALID,
        f"gang {name} is spread over namespaces {spaces}",
        (),
        ("Put all members into one namespace.",),
    )


def _rank(pod: Pod) -> Rank:
    return pod.rank


def _natural(draft: Draft) -> tuple[NaturalKey, NaturalKey]:
    return natural_key(draft.gang.key.namespace), natural_key(draft.gang.key.name)


def _hold(
    waiting: Sequence[Pod], bound: Sequence[Pod], need: Need, present: int, minimum: int
) -> Hold | None:
    """What keeps a gang back: first what cannot be honoured, then missing members, then gates."""
    for pod in waiting:
        if pod.wants.unsupported:
            field = pod.wants.unsupported
            return Hold(
                ReasonKind.UNSUPPORTED,
                f"{pod.manifest.title}: {field} cannot be honoured",
                (),
                (f"Remove {field}.",),
            )
    if need.hold is not None:
        return need.hold
    if present < minimum:
        missing = minimum - present
        return Hold(
            ReasonKind.MEMBERS_MISSING,
            f"{present} of {minimum} members exist",
            (("present", present), ("needed", minimum), ("bound", len(bound))),
            (f"Create the {missing} missing pods.",),
        )
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


def _invalid(members: Sequence[Pod], need: Need) -> Hold | None:
    faults = [pod.fault for pod in members if pod.fault]
    if need.holder is not None and need.holder.broken:
        faults.append(need.holder.fault)
    return Hold(ReasonKind.INVALID, faults[0]) if faults else None


def _refuse_strangers(first: Pod, live: Sequence[Pod], ours: tuple[str, ...]) -> None:
    for pod in live:
        if pod.waits and pod.scheduler not in ours:
            pod.manifest.error(
                "spec.schedulerName",
                pod.scheduler,
                f"differs from {first.scheduler} of {first.name}, a member of the same gang",
                "Give all members of a gang the same schedulerName.",
            )


def _refuse_surplus(members: Sequence[Pod], present: int, minimum: int) -> Hold:
    pod = members[-1]
    advice = "Correct the stated size, or take the surplus pods out of the gang."
    message = f"is one of {present} members of a gang of {minimum}"
    pod.manifest.error("metadata", None, message, advice)
    return Hold(ReasonKind.INVALID, f"{present} members of a gang of {minimum}", (), (advice,))


def _refuse_disagreement(first: Pod, members: Sequence[Pod]) -> None:
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
