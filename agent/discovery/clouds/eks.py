"""AWS: the instance by its metadata, its network nodes by a file of `describe-instance-topology`.

The call needs credentials, which no agent has: a program of the host, or a pod that may make it,
writes the answer. Layer 3 of its network nodes stands for a leaf, 2 for a spine, 1 for a core.
"""

from __future__ import annotations

import re

from fourleaf.agent.discovery.clouds.fields import mapping_of, name_of, part
from fourleaf.agent.discovery.clouds.metadata import MetadataDoor
from fourleaf.agent.discovery.sighting import Sighting, SourceError
from fourleaf.model.crds.discovered_topology import FabricPlace

SESSION = "/latest/api/token"
INSTANCE = "/latest/meta-data/instance-id"
MOST_BYTES = 8 * 2**20
"""Bytes of the answer; an instance takes some 400."""
_LIFE = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
_TOKEN = re.compile(rb"[A-Za-z0-9+/=_-]{1,512}")
_ADVICE = "Write what `aws ec2 describe-instance-topology` prints, with this instance in it."


class EksInstance:
    """Finds the instance in the answer that a file holds."""

    def __init__(self, door: MetadataDoor) -> None:
        self._door = door

    def place(self, name: str, data: bytes) -> Sighting:
        """The place of the node by the file `name`. Raises `SourceError`."""
        body = mapping_of(name, data)
        instances = body.get("Instances")
        if not isinstance(instances, list):
            raise SourceError(f"{name}: Instances: is no list", _ADVICE)
        own = self._instance()
        for number, one in enumerate(instances):
            instance = part(f"{name}: Instances[{number}]", one)
            if instance.get("InstanceId") == own:
                return _place(f"{name}: Instances[{number}].NetworkNodes", instance)
        raise SourceError(f"{name}: has no instance {own}", _ADVICE)

    def _instance(self) -> str:
        token = self._door.ask(SESSION, _LIFE, "PUT") or b""
        if not _TOKEN.fullmatch(token):
            raise SourceError(f"{SESSION}: answers with no token", "Raise the hop limit to 2.")
        headers = {"X-aws-ec2-metadata-token": token.decode()}
        return name_of(
            INSTANCE, (self._door.ask(INSTANCE, headers) or b"").decode("utf-8", "replace")
        )


def _place(where: str, instance: object) -> Sighting:
    nodes = part(where, instance).get("NetworkNodes")
    if not isinstance(nodes, list) or not 1 <= len(nodes) <= 8:
        raise SourceError(f"{where}: is no list of one to eight", _ADVICE)
    layers = [name_of(where, one) for one in reversed(nodes)] + ["", ""]
    return Sighting(
        place=FabricPlace(source="eks", leaf=layers[0], spine=layers[1], core=layers[2])
    )
