"""Names, labels and annotations of what the ledger writes."""

from __future__ import annotations

import hashlib
import re

from fourleaf.model.devices.held_devices import PREFIX

RECORD = PREFIX + "record"
"""Label of a Lease: what it records."""
PAGE = "page"
GANG = "gang"
PAGES = f"{RECORD}={PAGE}"
GANGS = f"{RECORD}={GANG}"
CONTENT = PREFIX + "content"
"""Annotation of a Lease: the record as JSON."""
FORMAT = PREFIX + "format"
"""Annotation of a Lease: the number of the format of its content; without it, 1."""
ABOUT = PREFIX + "about"
"""Annotation of a Lease, from format 2 on: which nodes and gangs its content is about."""

COMMIT = PREFIX + "commit"
"""Annotation of a bound pod: the commit that bound it."""
FENCE = PREFIX + "fence"
"""Annotation of a pod whose commit was rolled back: the epoch that did so."""

LEADER = "fourleaf-scheduler"
"""The Lease that the replicas elect their leader with."""

_SLUG = 40


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:_SLUG].strip("-") or "x"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def page_name(leaf: str, part: int) -> str:
    """The name of the Lease that is page number `part` of `leaf`."""
    return f"page-{_slug(leaf)}-{_hash(f'{leaf}#{part}')}"


def gang_lease_name(gang: str, commit: str) -> str:
    """The name of the gang lease of one commit of `gang`."""
    return f"gang-{_slug(gang)}-{commit}"
