"""The pod under validation, as every check is given it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from fourleaf.model.crds.claim import CLAIM
from fourleaf.model.devices.held_devices import PREFIX as OWNED
from fourleaf.model.readers.objects.annotations import GPU_COUNT
from fourleaf.model.readers.objects.annotations import PREFIX as WISHES
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from fourleaf.webhook.containers import Container, asks_for, new_containers, spec_of
from fourleaf.webhook.settings import Settings


def is_watched(key: str) -> bool:
    """Whether an annotation means something to the scheduler."""
    return key.startswith((OWNED, WISHES)) or key in (CLAIM, DEVICE_MAP)


@dataclass(frozen=True)
class PodSubject:
    """A pod that is created, or updated where `before` is given.

    Checks report what is wrong to its `manifest`. What has been let in before is not looked at
    again: an update is judged by what it changes.
    """

    pod: Body
    before: Body | None
    namespace: str
    user: str
    settings: Settings
    report: Report = field(default_factory=Report)

    @cached_property
    def manifest(self) -> Manifest:
        """Where problems go."""
        return Manifest(self.report, "", "", "Pod", self.namespace, self.name, self.pod)

    @cached_property
    def name(self) -> str:
        """Its name, or what its name will begin with."""
        metadata = self._metadata(self.pod)
        return str(metadata.get("name") or metadata.get("generateName") or "")

    @property
    def is_named(self) -> bool:
        """Whether its name is known already."""
        return bool(self._metadata(self.pod).get("name"))

    @property
    def is_new(self) -> bool:
        """Whether the pod is being created."""
        return self.before is None

    @cached_property
    def is_ours(self) -> bool:
        """Whether one of our schedulers is to place it."""
        return spec_of(self.pod).get("schedulerName") in self.settings.spec.scheduler_names

    @cached_property
    def annotations(self) -> dict[str, str]:
        """Its annotations."""
        return self.texts("annotations")

    @cached_property
    def changed(self) -> dict[str, str | None]:
        """Annotations that this request sets (to what) or removes (None)."""
        return self.changes("annotations")

    @cached_property
    def containers(self) -> list[Container]:
        """Its new containers, of every kind."""
        return list(new_containers(self.pod, self.before))

    @cached_property
    def has_owner(self) -> bool:
        """Whether another object made it, whose annotations count too."""
        return bool(self._metadata(self.pod).get("ownerReferences"))

    @cached_property
    def may_have_devices(self) -> bool:
        """Whether it says itself that it is to have devices."""
        stated = {CLAIM, DEVICE_MAP, GPU_COUNT} & self.annotations.keys()
        return bool(stated) or asks_for(self.pod, self.settings.spec.gpu_resources)

    @cached_property
    def by_scheduler(self) -> bool:
        """Whether the scheduler itself asks."""
        return self.user in self.settings.scheduler_users

    def texts(self, key: str, before: bool = False) -> dict[str, str]:
        """Labels or annotations, of the pod or as they were before."""
        found = self._metadata((self.before or {}) if before else self.pod).get(key)
        if not isinstance(found, dict):
            return {}
        return {name: value for name, value in found.items() if isinstance(value, str)}

    def changes(self, key: str) -> dict[str, str | None]:
        """Labels or annotations that this request sets (to what) or removes (None)."""
        old, new = self.texts(key, before=True), self.texts(key)
        return {
            name: new.get(name)
            for name in old.keys() | new.keys()
            if old.get(name) != new.get(name)
        }

    @staticmethod
    def _metadata(pod: Body) -> Body:
        metadata = pod.get("metadata")
        return metadata if isinstance(metadata, dict) else {}
