"""What must hold in every state, and at rest."""

from __future__ import annotations

from tests.explorer.protocol.actions import duties
from tests.explorer.protocol.scope import Scope
from tests.explorer.protocol.state import DYING, GONE, LEADING, STOPPED, Leader, State


def breach(state: State, scope: Scope) -> str:
    """What is wrong with the state, "" where nothing is."""
    return state.scar or _shared(state) or (_at_rest(state, scope) if _rests(state, scope) else "")


def _shared(state: State) -> str:
    """A node of two pods, of which neither has gone."""
    holders: dict[int, int] = {}
    for number, pod in enumerate(state.pods):
        if pod.node >= 0 and pod.state != GONE:
            other = holders.setdefault(pod.node, number)
            if other != number:
                return f"pods {other} and {number} both hold node {pod.node}"
    return ""


def _rests(state: State, scope: Scope) -> bool:
    """Whether the last leader has nothing to do, whatever others may still be about to do.

    They count as paused for ever. Only it is still free to place another gang.
    """
    if state.net or any(pod.state == DYING for pod in state.pods):
        return False
    last = [one for one in state.leaders if one.epoch == state.term and one.stage != STOPPED]
    return any(_idles(state, leader, scope) for leader in last)


def _idles(state: State, leader: Leader, scope: Scope) -> bool:
    if leader.stage != LEADING or leader.calls or leader.binds or leader.doomed:
        return False
    return not any(True for _ in duties(state, leader, scope))


def _at_rest(state: State, scope: Scope) -> str:
    bound = {
        (number, pod.uid, pod.node)
        for number, pod in enumerate(state.pods)
        if pod.node >= 0 and pod.state != GONE
    }
    for number, gang in enumerate(scope.gangs):
        count = sum(state.pods[pod].node >= 0 and state.pods[pod].state != GONE for pod in gang)
        evicted = any(state.pods[pod].uid or state.pods[pod].state == GONE for pod in gang)
        if count not in (0, len(gang)) and not evicted:
            return f"at rest {count} of {len(gang)} pods of gang {number} are bound"
    members = [m for page in state.pages for entry in page.entries for m in entry.members]
    held = {(member.pod, member.uid, member.node) for member in members}
    if held != bound or len(members) != len(bound):
        return f"at rest the pages hold {sorted(held)}, but bound is {sorted(bound)}"
    if any(lease.phase for lease in state.leases):
        return f"at rest gang leases are left: {[one.commit for one in state.leases if one.phase]}"
    if any(entry.wide for page in state.pages for entry in page.entries):
        return "at rest a page points to a gang lease"
    return ""
