"""Gangs that stand, after a plan has moved some of their members: section 8, what all share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Move, Placement
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.cross_gang_laws import room_breaches, taken_by, uplink_breaches
from fourleaf.model.validator.facts import facts_of
from fourleaf.model.validator.member_tally import Placed, stand
from fourleaf.model.validator.seats import seat_breaches

PodKey = tuple[str, str]
"""Namespace and name."""


@dataclass(slots=True)
class Moved:
    """Who moves, by gang; `targets` are (pod, node) of its members that find a new place."""

    standing: Mapping[GangKey, StandingGang]
    targets: dict[GangKey, dict[str, str]] = field(default_factory=dict)
    leaving: set[PodKey] = field(default_factory=set)

    def add(self, gang: GangKey, pod: str, node: str) -> None:
        """Note the new node of a member."""
        self.targets.setdefault(gang, {})[pod] = node

    def after(self, snapshot: Snapshot, gone: Iterable[PodKey] = ()) -> Snapshot:
        """The snapshot once all that move and those `gone` have left, none of them placed yet."""
        away = self.leaving | set(gone)
        running = tuple(pod for pod in snapshot.running if (pod.namespace, pod.name) not in away)
        return replace(snapshot, running=running)

    def gang(self, key: GangKey) -> Gang:
        """The gang with those bound that stay."""
        found = self.standing[key].gang
        targets = self.targets[key]
        return replace(
            found,
            roles=tuple(
                replace(
                    role,
                    pods=(*(pod for pod, _ in role.bound if pod in targets), *role.pods),
                    bound=tuple(pair for pair in role.bound if pair[0] not in targets),
                )
                for role in found.roles
            ),
        )


def standing_of(snapshot: Snapshot) -> dict[GangKey, StandingGang]:
    """The gangs that stand, by key."""
    return {one.gang.key: one for one in snapshot.standing}


def live(one: StandingGang) -> dict[str, str]:
    """Live member -> node."""
    return {pod: node for role in one.gang.roles for pod, node in role.bound}


def move_breaches(
    snapshot: Snapshot, moves: Sequence[Move], moved: Moved, may: Mapping[GangKey, str]
) -> Iterator[Breach]:
    """Every move that does not start where its pod runs, or goes nowhere; notes the others.

    `may` says of each standing gang why it must not move, empty where it may.
    """
    owner = {
        (key.namespace, pod): (key, node)
        for key, one in moved.standing.items()
        for pod, node in live(one).items()
    }
    times = Counter((move.namespace, move.pod) for move in moves)
    for move in moves:
        name = (move.namespace, move.pod)
        subject = f"{move.namespace}/{move.pod}"
        if name not in owner:
            yield Breach(Law.KNOWN, None, subject, "is no live member of a standing gang")
            continue
        key, node = owner[name]
        if move.source != node:
            detail = f"is moved from {move.source}, it runs on {node}"
            yield Breach(Law.MOVE, key, subject, detail)
        if move.target == node or times[name] > 1:
            detail = f"is moved to where it runs, or more than once (to {move.target})"
            yield Breach(Law.MOVE, key, subject, detail)
            continue
        if move.target not in snapshot.fabric.nodes:
            detail = f"node {move.target} is not in the fabric"
            yield Breach(Law.KNOWN, key, subject, detail)
            continue
        if may[key]:
            yield Breach(Law.MOVE, key, subject, may[key])
        moved.add(key, move.pod, move.target)
        moved.leaving.add(name)


def place_breaches(
    snapshot: Snapshot,
    moved: Moved,
    placed: Sequence[tuple[Gang, Placement]],
    extensions: Extensions,
) -> tuple[list[Breach], list[Placed]]:
    """Laws 2 to 5 and 7 of all gangs that are moved or `placed`; `snapshot` is without them.

    Also what was looked at: the gangs that were placed, in their order, then those moved.
    """
    found: list[Breach] = []
    all_of_them: list[tuple[Gang, tuple[tuple[str, str], ...]]] = [
        (gang, placement.pods) for gang, placement in placed
    ]
    for key in moved.targets:
        gang = moved.gang(key)
        targets = moved.targets[key]
        pods = tuple((p, targets[p]) for role in gang.roles for p in role.pods if p in targets)
        if len(pods) == sum(len(role.pods) for role in gang.roles):
            all_of_them.append((gang, pods))
        else:
            found.append(Breach(Law.WHOLE, key, "", "moves while members are still lost"))
    facts = facts_of(snapshot.fabric)
    looked_at: list[Placed] = []
    for gang, pods in all_of_them:
        locations = facts.of_gang(snapshot.config.spec, gang, extensions)
        one = Placed(gang, stand(snapshot.fabric, gang, pods), locations)
        found += seat_breaches(snapshot.fabric, one)
        looked_at.append(one)
    found += room_breaches(snapshot, taken_by(looked_at))
    found += uplink_breaches(snapshot, looked_at)
    return found, looked_at


def cost_of(moved: Moved) -> int:
    """The price of all live members that move."""
    return sum(
        one.move_cost * sum(pod in moved.targets.get(key, {}) for pod in live(one))
        for key, one in moved.standing.items()
    )
