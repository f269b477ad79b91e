"""Owner kinds: which objects make pods that start together, and how many, as a table says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, model_validator

from fourleaf.model.config.values import (
    ApiGroup,
    FieldPath,
    KindName,
    LabelKey,
    Misfit,
    PluralName,
    Section,
)

READ_BY_CODE = frozenset(
    {
        ("batch", "Job"),
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("apps", "ReplicaSet"),
        ("jobset.x-k8s.io", "JobSet"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
        ("ray.io", "RayCluster"),
    }
)
"""API group and kind of owners whose sizes take more than a table to say."""

READ_OTHERWISE = frozenset(
    {
        "gpu.scheduling",
        "kueue.x-k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "scheduling.volcano.sh",
        "scheduling.x-k8s.io",
        "storage.k8s.io",
        "topology.scheduler",
    }
)
"""API groups of which no kind makes pods."""


class PodSet(Section):
    """Pods that an owner makes from one template.

    `path` leads to the part of the object that describes them; `*` in it stands for each entry
    of a list or a map, each with pods of its own. `replicas` and `template` are fields of that
    part; without `replicas`, it is one pod, without a `template` there, the pods cannot be
    foretold. The pods are there from the start where each field of the object in `where` has
    that value, and none of those in `unless`.
    """

    path: FieldPath
    replicas: FieldPath | None = "replicas"
    default_replicas: int = Field(default=1, ge=0, le=1000000)
    template: FieldPath = "template"
    where: dict[FieldPath, str] = Field(default_factory=dict)
    unless: dict[FieldPath, str] = Field(default_factory=dict)
    role: str = ""


class OwnerKind(Section):
    """Objects that make pods, directly or through others.

    All pods of one object are one gang, or all of one role where the pods have a `roleLabel`. Where
    they have an `entryLabel`, each entry needs as many pods as it says that have its name there.
    Without `podSets`, only its annotations count. `nameLabel` is a label of the pods with the
    object's name, where no owner reference leads there. `versions` are looked for in their order.
    `leastMembers` is a field that counts in place of the sum of all pods where it is set. Pods
    that have succeeded count as there, unless `countsEnded` is false: then they may be of an
    earlier run. `unsupported` are fields that nothing here can honour.
    """

    group: ApiGroup
    versions: Annotated[tuple[PluralName, ...], Field(min_length=1)]
    kind: KindName
    resource: PluralName
    name_label: LabelKey | None = None
    role_label: LabelKey | None = None
    entry_label: LabelKey | None = None
    least_members: FieldPath | None = None
    suspend: FieldPath = "spec.suspend"
    counts_ended: bool = True
    unsupported: tuple[FieldPath, ...] = ()
    pod_sets: tuple[PodSet, ...] = ()

    @model_validator(mode="after")
    def _is_not_known_better(self) -> OwnerKind:
        if (self.group, self.kind) in READ_BY_CODE:
            message = f"{self.kind}.{self.group} is read already"
            raise Misfit(message, "Leave the entry out.")
        if self.group in READ_OTHERWISE:
            message = f"objects of the group {self.group} are read for something else"
            raise Misfit(message, "Leave the entry out; PodGroups are read as they are.")
        if "*" in (self.least_members or "") or "*" in self.suspend:
            message = "leastMembers and suspend name one field each"
            raise Misfit(message, "Leave * out of them.")
        paths = [self.least_members, self.suspend, *self.unsupported]
        for one in self.pod_sets:
            paths += [one.path, *one.where, *one.unless]
        strange = next((path for path in paths if path and path.split(".")[0] != "spec"), None)
        if strange is not None:
            message = f"{strange} is not in the spec, whose changes alone are followed"
            raise Misfit(message, "Name a field of the spec.")
        if self.role_label is None and any(one.role for one in self.pod_sets):
            message = "a role is given to pods that have no roleLabel"
            raise Misfit(message, "Name the label of the pods that has their role.")
        return self

    @property
    def dialect(self) -> str:
        """What tells its gangs from those of other kinds that share their name."""
        return f"{self.resource}.{self.group}"


class OwnerKinds:
    """The kinds of objects that own pods: those that are read by code, and those of the table."""

    def __init__(self, table: Iterable[OwnerKind]) -> None:
        self._table = {(one.group, one.kind): one for one in table}
        self.labelled = tuple((o.name_label, o) for o in self._table.values() if o.name_label)

    @property
    def table(self) -> tuple[OwnerKind, ...]:
        """What the table says, kind by kind."""
        return tuple(self._table.values())

    def __contains__(self, kind: tuple[str, str]) -> bool:
        return kind in READ_BY_CODE or kind in self._table

    def __iter__(self) -> Iterator[tuple[str, str]]:
        yield from sorted(READ_BY_CODE)
        yield from self._table

    def get(self, group: str, kind: str) -> OwnerKind | None:
        """What the table says of a kind, None where it says nothing."""
        return self._table.get((group, kind))

    def makes_gangs(self, group: str, kind: str) -> bool:
        """Whether the size of a gang depends on objects of the kind."""
        said = self._table.get((group, kind))
        return (group, kind) in READ_BY_CODE if said is None else bool(said.pod_sets)


def merged(more: Iterable[OwnerKind]) -> OwnerKinds:
    """The kinds that are built in, and `more`, each in place of the built-in one of its name."""
    return OwnerKinds((*BUILT_IN_OWNER_KINDS, *more))


_TABLE = Path(__file__).with_name("owner_kinds.yaml")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
BUILT_IN_OWNER_KINDS = tuple(
    OwnerKind.model_validate(one)
    for one in yaml.load(_TABLE.read_text("utf-8"), _LOADER)  # noqa: S506 - both are safe
)
"""The table that comes with the product."""
DEFAULT_OWNER_KINDS = merged(())
"""What is known where the config adds nothing."""
