"""The page about reasons: why a gang waits, and what to do."""

from __future__ import annotations

from docs.reference.markdown import code, table
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.reasons.text import cause

FILE = "reasons.md"
ADVICE: dict[ReasonKind, str] = {
    ReasonKind.GATED: "Remove the scheduling gates, or wait for the controller or the volume.",
    ReasonKind.MEMBERS_MISSING: "Create the members, or correct the size that the gang states.",
    ReasonKind.WAITS_FOR_GANG: "Nothing: it follows once the other gang has started.",
    ReasonKind.UNSUPPORTED: "Take out the field that is not supported; the message names it.",
    ReasonKind.INVALID: "Correct the field that the message names; `fourleaf lint` shows all.",
    ReasonKind.NOT_TOLD: "Create it again while the webhook answers, which adds the variable.",
    ReasonKind.NOT_IN_BATCH: "Nothing: it comes with a later cycle; or raise `batch.size`.",
    ReasonKind.NAMESPACE_LIMIT: "Nothing, or raise the limits of the namespace in the config.",
    ReasonKind.QUOTA_EXCEEDED: "Wait for gangs of the namespace to end, or raise its quota.",
    ReasonKind.NO_MATCHING_NODES: "Relax selectors or tolerations, or add such nodes.",
    ReasonKind.TOO_LARGE: "Ask for fewer nodes, or for topology-policy Preferred.",
    ReasonKind.BOUND_ELSEWHERE: "Bring back the node it lost, or let its repair move others.",
    ReasonKind.REFUSED: "See what is said in the message: quota, admission, policies, a plugin.",
    ReasonKind.UNANSWERED: "See what the message names: a webhook, a plugin, or the API server.",
    ReasonKind.RECORD_UNREADABLE: "Upgrade every replica; a Lease is of a newer format.",
    ReasonKind.PLACES_KEPT: "Nothing: the places are freed when the members come, or in time.",
    ReasonKind.VOLUMES_AWAITED: "See the events of the claim and the pods of its provisioner.",
    ReasonKind.NO_FREE_CAPACITY: "Wait, move or end what holds the room; `fourleaf why` names it.",
    ReasonKind.NO_ADJACENT_LEAVES: "`fourleaf defrag` shows the moves that would make room.",
    ReasonKind.UPLINK_FULL: "Ask for less bandwidth, or wait for the gangs that share uplinks.",
    ReasonKind.OUTRANKED: "Raise its priority class, or wait.",
    ReasonKind.EVICTIONS_FORBIDDEN: (
        "Raise the budget, `backoffLimit` or `maxEvictions` that forbids it, or wait."
    ),
    ReasonKind.NOT_PROVEN: "Raise `solver.timeLimitSeconds`; it is tried again each cycle.",
}


def page() -> str:
    """The page."""
    intro = (
        "# Reasons\n\nA gang that waits says why in the condition `PodScheduled` of its "
        "pods, in an event, and in `fourleaf why`, each with counts and what would unblock it.\n\n"
    )
    rows = ((code(one.value), cause(Reason(one)), ADVICE[one]) for one in ReasonKind)
    return intro + table(("reason", "meaning", "what to do"), rows)
