"""Which devices a container sees is not for its environment to say.

What `envFrom` brings cannot be seen here, for it names other objects: of those variables
CUDA_VISIBLE_DEVICES is set over by `env`, the others are not, and a warning says so.
"""

from __future__ import annotations

from fourleaf.model.devices.visibility import CUDA, ORDER, VARIABLES, is_ours
from fourleaf.webhook.containers import Container, listed
from fourleaf.webhook.validate.review_subject import PodSubject


def check_variables(subject: PodSubject) -> None:
    """Refuse variables that choose devices, in every kind of container, and a missing one."""
    if not subject.is_ours:
        return
    for container in subject.containers:
        _refuse_own_values(subject, container)
        if container.body.get("envFrom") and subject.may_have_devices:
            subject.manifest.warn(
                f"{container.field}.envFrom",
                None,
                "cannot be looked into at admission",
                f"Make sure that it brings none of {', '.join(VARIABLES)}.",
            )


def _refuse_own_values(subject: PodSubject, container: Container) -> None:
    told = not subject.settings.tells_devices
    for place, entry in enumerate(listed(container.body.get("env"))):
        name = entry.get("name")
        if name == ORDER["name"] and entry != ORDER and subject.settings.tells_devices:
            subject.manifest.error(
                f"{container.field}.env[{place}]",
                f"{name}={entry.get('value') or ''}",
                "numbers the devices in another way than the scheduler",
                f"Remove {name}, or set it to {ORDER['value']}.",
            )
        if name not in VARIABLES:
            continue
        if is_ours(entry):
            told = True
            continue
        field = f"{container.field}.env[{place}]"
        value = entry.get("value")
        advice = f"Remove {name}: the scheduler decides which devices the container sees."
        subject.manifest.error(field, f"{name}={value or ''}", "chooses devices by itself", advice)
        told = told or name == CUDA
    if not told:
        subject.manifest.error(
            f"{container.field}.env",
            None,
            f"lacks {CUDA}, so the container would see devices of others",
            "Create the pod again: the variable is added while the webhook answers.",
        )
