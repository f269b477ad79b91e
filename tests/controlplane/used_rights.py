"""What accounts were let do, as the audit log of a control plane tells it.

Where `FOURLEAF_USED_RIGHTS` names a folder, each control plane leaves it there, for
`tests.e2e.used_rights` to read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

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
        used = sorted({use for event in audit() if (use := _use(event)) is not None})
        (Path(folder) / f"{uuid4().hex}.json").write_text(json.dumps(used))


def _use(event: Mapping[str, Any]) -> Use | None:
    user, what = event["user"]["username"], event.get("objectRef")
    code = event.get("responseStatus", {}).get("code", 0)
    if not user.startswith((SERVICE_ACCOUNT, ROLE)) or what is None or code in (401, 403):
        return None
    parts = (what.get("apiGroup") or "core", what["resource"], what.get("subresource"))
    resource = "/".join(part for part in parts if part)
    return user.removeprefix(SERVICE_ACCOUNT), event["verb"], resource, what.get("namespace", "")
