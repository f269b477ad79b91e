"""How a leader binds one member: repeats what may not have arrived, after a look."""

from __future__ import annotations

from typing import Any

from tests.explorer.protocol.scope import Scope
from tests.explorer.protocol.server import CONFLICT, REFUSED
from tests.explorer.protocol.state import COMMITTED, DYING, GONE, Call, Leader, Pod


def bound(leader: Leader, call: Call, answer: Any, scope: Scope) -> Leader:
    """The leader once it has taken in the answer to a request for a member."""
    verb, commit, member, version = call
    if answer is None and verb != "bind":
        return leader
    rest = leader._replace(binds=tuple(one for one in leader.binds if one != call))
    match verb:
        case "bind" if answer == REFUSED:
            return rest.giving_up(commit)
        case "bind" if answer is None or answer == CONFLICT:
            return rest.binding(("read pod", commit, member, version))
        case "read pod" | "last look":
            return _looked(rest, call, answer, scope)
        case "record":
            return _record_read(rest, call, answer)
    return rest


def _looked(leader: Leader, call: Call, pod: Pod, scope: Scope) -> Leader:
    verb, commit, member, version = call
    other = pod.uid != member.uid and scope.safe.uid
    if other or pod.state == GONE or (pod.state == DYING and pod.node < 0):
        return leader
    if pod.node >= 0:
        return leader if pod.node == member.node else leader.giving_up(commit)
    if pod.fence == commit:
        return leader.stopped()
    if verb == "last look":
        return leader.giving_up(commit)
    if pod.version == version or not scope.safe.standing:
        return leader.binding(("bind", commit, member, pod.version))
    return leader.binding(("record", commit, member, pod.version))


def _record_read(leader: Leader, call: Call, answer: tuple[int, str]) -> Leader:
    """Bind on only where the commit stands; a later epoch ends the process."""
    _, commit, member, version = call
    epoch, phase = answer
    if epoch > leader.epoch:
        return leader.stopped()
    if phase != COMMITTED:
        return leader
    return leader.binding(("bind", commit, member, version))
