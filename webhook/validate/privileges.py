"""Ways around the devices that a pod was given: privileges, device files, the host's processes."""

from __future__ import annotations

import posixpath
import re

from fourleaf.webhook.containers import listed, spec_of
from fourleaf.webhook.validate.review_subject import PodSubject

_DEVICES = re.compile(r"/dev(/(nvidia.*|kfd|dri(/.*)?))?", re.ASCII | re.DOTALL)
"""The files of both vendors, and the folder that holds them."""


def check_privileges(subject: PodSubject) -> None:
    """Refuse what would let a pod of ours reach devices of others."""
    if not subject.is_ours:
        return
    for container in subject.containers:
        context = container.body.get("securityContext")
        if isinstance(context, dict) and context.get("privileged") is True:
            subject.manifest.error(
                f"{container.field}.securityContext.privileged",
                True,
                "gives the container every device of the node",
                "Run it without privileges; name the capabilities that it needs.",
            )
    if subject.is_new:
        _check_host(subject)


def _check_host(subject: PodSubject) -> None:
    spec = spec_of(subject.pod)
    if spec.get("hostPID") is True and subject.may_have_devices:
        subject.manifest.error(
            "spec.hostPID",
            True,
            "lets a pod with GPUs into the processes of others",
            "Remove it.",
        )
    for place, volume in enumerate(listed(spec.get("volumes"))):
        source = volume.get("hostPath")
        path = source.get("path") if isinstance(source, dict) else None
        if isinstance(path, str) and _leads_to_devices(path):
            subject.manifest.error(
                f"spec.volumes[{place}].hostPath.path",
                path,
                "leads to devices of the node",
                "Remove the volume; a pod is given its devices by the scheduler.",
            )


def _leads_to_devices(path: str) -> bool:
    whole = "/" + posixpath.normpath(f"/{path}").lstrip("/")
    return whole == "/" or _DEVICES.fullmatch(whole) is not None
