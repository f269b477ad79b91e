"""Pods that an owner would make, for owners given without any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from fourleaf.model.config.owner_kinds import OwnerKind
from fourleaf.model.config.spec import Spec
from fourleaf.model.readers.gangs.dialects import JOB_SET_NAME, LWS_NAME, RAY_CLUSTER
from fourleaf.model.readers.gangs.minimum_size import spec_of
from fourleaf.model.readers.gangs.pod_sets import is_suspended, pod_sets_of
from fourleaf.model.readers.gangs.pod_templates import MAX_PODS, PodBatch, batches
from fourleaf.model.readers.objects.amounts import pod_amounts
from fourleaf.model.readers.objects.annotations import PREFIX
from fourleaf.model.readers.objects.lookup import NAME_ADVICE, is_name
from fourleaf.model.readers.objects.manifest import Manifest, entries_of, part_of
from fourleaf.model.readers.objects.owners import Chain, OwnerRef, Owners, owner_ref
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.timestamps import created_at
from fourleaf.model.readers.objects.unread_kinds import Stranger, strangers_in
from fourleaf.model.readers.pods.pods import DEFAULT_SCHEDULER, Pod, read_pod

_EXPANDED = ("Job", "JobSet", "LeaderWorkerSet", "RayCluster", "Deployment", "StatefulSet")


class Expansion:
    """Makes the missing pods of all owners in the input."""

    def __init__(self, owners: Owners, spec: Spec) -> None:
        self._owners = owners
        self._schedulers = spec.scheduler_names
        self._gpu_resources = spec.gpu_resources
        self._left = MAX_PODS
        self.strangers: list[Stranger] = []
        """Owners without pods here that do not say what those would be."""

    def pods(self, existing: Iterable[Pod]) -> list[Pod]:
        """Pods of every owner that no pod in `existing` belongs to."""
        present = set()
        for pod in existing:
            for ref in pod.owners.refs:
                present.add((pod.namespace, ref.group, ref.kind, ref.name))
            for label, group, kind in (
                (JOB_SET_NAME, "jobset.x-k8s.io", "JobSet"),
                (LWS_NAME, "leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
                (RAY_CLUSTER, "ray.io", "RayCluster"),
            ):
                if label in pod.labels:
                    present.add((pod.namespace, group, kind, pod.labels[label]))
        found: list[Pod] = []
        for owner in self._owners.objects():
            if self._left < 0:
                # One owner too many is refused; counting out the next ones would take as long.
                break
            at = owner.namespace, owner.group, owner.kind, owner.name
            if at in present or self._is_idle(owner):
                continue
            described = self._owners.kinds.get(owner.group, owner.kind)
            if described is None or _has_templates(owner, described):
                found.extend(self._expand(owner, described))
            else:
                place = owner.source, owner.group, owner.kind, owner.namespace
                self.strangers.extend(strangers_in(*place, owner.body))
        return found

    def _is_idle(self, owner: Manifest) -> bool:
        """Whether the owner makes no pods: others do that, or it has ended."""
        described = self._owners.kinds.get(owner.group, owner.kind) is not None
        makes = described or owner.kind in _EXPANDED
        return not makes or self._made_by_another(owner) or _is_done(owner, described)

    def _made_by_another(self, owner: Manifest) -> bool:
        ref = owner_ref(part_of(owner.body, "metadata"))
        return ref is not None and self._owners.get(owner.namespace, ref) is not None

    def _expand(self, owner: Manifest, described: OwnerKind | None) -> Iterator[Pod]:
        chain = self._owners.chain_from(
            owner.namespace, OwnerRef(owner.group, owner.kind, owner.name)
        )
        own: set[str] = set()
        for batch in batches(owner, described):
            if len(batch.names) > self._left:
                owner.error(
                    "spec",
                    len(batch.names),
                    f"makes more pods than the {MAX_PODS} that one input may expand to",
                    "Correct the number of pods, or give the pods themselves.",
                )
                self._left = -1
                return
            self._left -= len(batch.names)
            if batch.names and not is_name(batch.names[0]):
                owner.error(batch.named, batch.called, "names pods as no pod can be", NAME_ADVICE)
                continue
            if not own.isdisjoint(batch.names):
                message = "gives pods names that pods of an entry before it have"
                owner.error(batch.named, batch.called, message, "Give each entry its own name.")
                continue
            own.update(batch.names)
            yield from self._from_batch(owner, chain, batch)

    def _from_batch(self, owner: Manifest, chain: Chain, batch: PodBatch) -> Iterator[Pod]:
        if not batch.names:
            return
        template = owner.mapping(batch.template, batch.field)
        metadata = owner.mapping(template.get("metadata"), f"{batch.field}.metadata")
        own = {"labels": metadata.get("labels"), "annotations": metadata.get("annotations")}
        body = {"metadata": own, "spec": template.get("spec")}
        manifest = replace(owner, body=body, prefix=f"{batch.field}.")
        first = read_pod(manifest, batch.names[0], self._owners, chain)
        first.created = created_at(owner)
        described = self._owners.kinds.get(owner.group, owner.kind)
        if suspended(owner) if described is None else is_suspended(owner, described):
            first.suspended = True
        if not template.get("spec") and _names_us(chain):
            first.scheduler = self._schedulers[0]
        elif self._has_forgotten_us(first, chain):
            named = first.spec.get("schedulerName")
            what = "is not set" if named is None else "is not ours"
            manifest.warn(
                "spec.schedulerName",
                named,
                f"{what}, so another scheduler places these pods",
                f"Set schedulerName: {self._schedulers[0]} to have them planned.",
            )
        for name, labels in zip(batch.names, batch.labels, strict=True):
            yield replace(first, name=name, labels={**first.labels, **labels})

    def _has_forgotten_us(self, pod: Pod, chain: Chain) -> bool:
        """Whether the default scheduler was not chosen, though the pods ask for GPUs or for us."""
        if pod.scheduler != DEFAULT_SCHEDULER:
            return False
        if _names_us(chain):
            return True
        if pod.spec.get("schedulerName") is not None:
            return False
        asked = pod_amounts(pod.manifest.on(Report()), pod.spec)
        return any(asked.get(name) for name in self._gpu_resources)


def _names_us(chain: Chain) -> bool:
    return any(key.startswith(PREFIX) for _, layer in chain.layers for key in layer)


def _has_templates(owner: Manifest, described: OwnerKind) -> bool:
    return any(one.template is not None for one in pod_sets_of(owner.on(Report()), described))


def _is_done(owner: Manifest, described: bool) -> bool:
    if part_of(owner.body, "metadata").get("deletionTimestamp") is not None:
        return True
    ends = described or owner.kind in ("Job", "JobSet")
    return ends and any(
        one.get("type") in ("Complete", "Completed", "Succeeded", "Failed")
        and one.get("status") == "True"
        for one in entries_of(part_of(owner.body, "status"), "conditions")
    )


def suspended(owner: Manifest) -> bool:
    """Whether an owner is told not to make its pods yet."""
    return spec_of(owner).get("suspend") is True
