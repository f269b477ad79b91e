"""A reason as the JSON that commands and the running scheduler show."""

from __future__ import annotations

from typing import Any

from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.reasons.text import sentence


def reason_document(reason: Reason) -> dict[str, Any]:
    """The kind, the sentence, and all the data behind it."""
    return {
        "reason": reason.kind.value,
        "message": sentence(reason),
        "detail": reason.detail,
        "counts": dict(reason.counts),
        "near": [
            {
                "leaf": miss.leaf,
                "free": miss.free,
                "needed": miss.needed,
                "unit": miss.unit,
                "holders": [{"node": node, "holder": holder} for node, holder in miss.holders],
            }
            for miss in reason.near
        ],
        "unblock": list(reason.unblock),
    }
