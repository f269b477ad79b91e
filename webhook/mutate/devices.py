"""`CUDA_VISIBLE_DEVICES` in every container, from the annotation that the scheduler writes.

With it comes the order in which the devices are numbered.

Every pod of our schedulers gets it, whether or not it asks for GPUs. What its owner's
annotations make of it cannot be seen here, and a pod that is given no devices is to see none:
without the annotation the variable is empty, and that hides all devices. It stands first, so
that other variables can refer to it; `env` wins over `envFrom`, so that alone sets it.

Where the config leaves the choice to the node's device plugin (`spec.devices.mode` is `count`),
or a driver hands devices out (`dra`), nothing is added: they number a container's devices anew.
"""

from __future__ import annotations

from fourleaf.model.devices.visibility import TOLD
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.webhook.answers import Patch
from fourleaf.webhook.containers import Container, listed, new_containers, spec_of
from fourleaf.webhook.settings import Settings


def tell_devices(pod: Body, before: Body | None, settings: Settings) -> Patch:
    """Add the variable where a new container lacks it.

    A value of the user's is left as it is: it is refused later, by name.
    """
    ours = spec_of(pod).get("schedulerName") in settings.spec.scheduler_names
    if not settings.tells_devices or not ours:
        return []
    return [step for one in new_containers(pod, before) for step in _additions(one)]


def _additions(container: Container) -> Patch:
    env = listed(container.body.get("env"))
    stated = [entry.get("name") for entry in env]
    missing = [entry for entry in TOLD if entry["name"] not in stated]
    if not env:
        return [{"op": "add", "path": f"{container.pointer}/env", "value": missing}]
    # Each goes before those that were put first before it.
    return [
        {"op": "add", "path": f"{container.pointer}/env/0", "value": entry}
        for entry in reversed(missing)
    ]
