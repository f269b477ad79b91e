"""What programs of ours were let do, as the audit log of a control plane tells it.

Where `FOURLEAF_USED_RIGHTS` names a folder, each control plane leaves it there, for
`tests.e2e.used_rights` to read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from fourleaf.k8s_bridge.cluster.live.transport import USER_AGENT

FOLDER = "FOURLEAF_USED_RIGHTS"
SERVICE_ACCOUNT = "system:serviceaccount:"
ROLE = "fourleaf:"
"""What the names of service accounts, and of the roles of tests, begin with."""

Use = tuple[str, str, str, str]
"""Account or role, verb, group/resource[/subresource] and namespace ("" for all)."""


def note_use(audit: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
    """Leave in the folder what accounts were let do, where there is a folder."""
    folder = os.environ.get(FOLDER)
    if folder:
        used = sorted({use for event in audit() for use in uses(event)})
        (Path(folder) / f"{uuid4().hex}.json").write_text(json.dumps(used))


def uses(event: Mapping[str, Any]) -> Iterator[Use]:
    """The rights that a request of ours took, not of a test that borrows an account; let in."""
    user, what = event["user"]["username"], event.get("objectRef")
    code = event.get("responseStatus", {}).get("code", 0)
    if what is None or not user.startswith((SERVICE_ACCOUNT, ROLE)) or code in (401, 403):
        return
    if event.get("userAgent") != USER_AGENT:
        return
    parts = (what.get("apiGroup") or "core", what["resource"], what.get("subresource"))
    resource = "/".join(part for part in parts if part)
    who, where = user.removeprefix(SERVICE_ACCOUNT), what.get("namespace", "")
    yield who, event["verb"], resource, where
    if event["verb"] == "patch" and code == 201:
        # An apply that makes its object takes the right to create it, too.
        yield who, "create", resource, where
