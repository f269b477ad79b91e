"""What has to hold at every moment, and at rest; and a successor who brings the cluster there."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from tests.explorer.code.door import Fate
from tests.explorer.code.ground import Ground
from tests.explorer.code.rest import ROUNDS, always
from tests.explorer.code.rest import at_rest as ledger_at_rest
from tests.explorer.code.scenario import TakeOver
from tests.explorer.code.turns import Turns
from tests.explorer.relocation.leader import TermLeader
from tests.explorer.relocation.others import do, due, job_of
from tests.explorer.relocation.store import JudgingStore
from tests.explorer.relocation.story import Lead, Story


def now(store: JudgingStore, story: Story) -> str:
    """What may never be: a device held twice, an eviction without a cause, one too many."""
    if why := always(store):
        return why
    if len(store.evicted) > story.evictions:
        return f"evicted were {store.evicted}, and {story.evictions} pods had to go"
    return ""


def at_rest(store: JudgingStore, story: Story) -> str:
    """What may not be once nobody works any more: relocations, gangs in part, wrong records."""
    if left := [one for one in store.relocations() if not _waits(store, one)]:
        return f"at rest there is still: {[(str(one.gang), one.purpose.value) for one in left]}"
    for name in story.whole:
        places = places_of(store, name)
        good = set(places) - story.lost - story.draining
        lacks = story.job(name).size - len(good)
        if lacks and not (store.excused and lacks > _room(store, story)):
            return f"at rest gang {name} stands on {places}"
    return ledger_at_rest(store, story)


def _room(store: JudgingStore, story: Story) -> int:
    """How many nodes that can be used have no pod."""
    taken = {seen.node for seen in store.seen() if not seen.finished}
    nodes = {record.metadata["name"] for record in store.records(NODES)}
    return len(nodes - taken - story.lost - story.draining)


def _waits(store: JudgingStore, one: Relocation) -> bool:
    """Whether a reservation has to wait still, for somebody who stands on its place."""
    places = {seen.node for seen in store.seen() if seen.node and not seen.finished}
    return one.purpose is Purpose.RESERVATION and any(seat.node in places for seat in one.seats)


def places_of(store: JudgingStore, gang: str) -> list[str]:
    """The nodes of the live members of a gang that are not told to go."""
    found = []
    for record, seen in zip(store.pods(), store.seen(), strict=True):
        if job_of(record) == gang and seen.node and not (seen.finished or seen.deleting):
            found.append(seen.node)
    return sorted(found)


def after_a_crash(store: JudgingStore, ground: Ground, story: Story) -> str:
    """What is wrong once everybody has died here and a third leader has come to rest."""
    store = store.copy()
    loop = Turns()
    leader = TermLeader(story, "third", store, loop, [], ground.layout)
    leader.start((TakeOver(), Lead()))
    loop.settle()
    leader.check()
    for _ in range(ROUNDS):
        if why := now(store, story):
            break
        others = next(due(store, story), None)
        if others is not None:
            do(store, story, *others)
            continue
        calls = [c for _, c in sorted(leader.door.waiting.items())]
        call = next((c for c in calls if c.request is not None or not leader.idle), None)
        if call is None or leader.end:
            break
        leader.asked = leader.asked or call.request is not None
        call.fate.set_result(Fate.DONE)
        loop.settle()
        leader.check()
    else:
        why = "it does not come to rest"
    if not why and leader.end:
        why = f"it ends: {leader.end}"
    loop.end()
    why = why or at_rest(store, story)
    return f"a third leader takes over here: {why}" if why else ""
