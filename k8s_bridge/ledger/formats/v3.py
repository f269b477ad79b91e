"""Format 3: format 2 compressed, for records that no other format has room for.

A record of a small gang is written in the format that the config names, which people can read; one
of thousands of members in this. The envelope stays as it is, but that a gang lease leaves out
its nodes there: the entries of its pages are about the same ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.formats import v2
from fourleaf.k8s_bridge.ledger.formats.compression import packed, unpacked
from fourleaf.k8s_bridge.ledger.formats.envelope import Annotations, name_of
from fourleaf.k8s_bridge.ledger.names import ABOUT, CONTENT, FORMAT
from fourleaf.k8s_bridge.ledger.records import GangLease, Page
from fourleaf.k8s_bridge.ledger.sealed import BadRecord

NUMBER = 3


def page(one: Page) -> Annotations:
    """What the Lease of a page says."""
    said = v2.page(one)
    return compressed(said, said[ABOUT])


def gang(one: GangLease) -> Annotations:
    """What a gang lease says."""
    about = orjson.dumps({"nodes": [], "gangs": [str(one.gang)]}).decode()
    return compressed(v2.gang(one), about)


def read_page(body: Body) -> Page:
    """The page that a Lease holds. Raises `BadRecord`."""
    return replace(v2.read_page(expanded(body)), format=NUMBER)


def read_gang(body: Body) -> GangLease:
    """The gang lease that a Lease holds. Raises `BadRecord`."""
    return replace(v2.read_gang(expanded(body)), format=NUMBER)


def compressed(said: Annotations, about: str) -> Annotations:
    """The annotations of a record, compressed, with `about` as its envelope."""
    return {CONTENT: packed(said), FORMAT: str(NUMBER), ABOUT: about}


def expanded(body: Body) -> Body:
    """The Lease of a record with its annotations as they were. Raises `BadRecord`."""
    metadata: dict[str, Any] = body["metadata"]
    try:
        found = unpacked(metadata["annotations"].get(CONTENT, ""))
    except ValueError as error:
        raise BadRecord(f"lease {name_of(body)}: its content cannot be read: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise BadRecord(f"lease {name_of(body)}: its content is not that of a record")
    return {**body, "metadata": {**metadata, "annotations": found}}
