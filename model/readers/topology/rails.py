"""Units of leaf switches that share their hosts, as the rails of a fabric do, and who is where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fourleaf.model.readers.topology.switch_groups import Unions, group_names
from fourleaf.model.topology import natural_key


def rail_units(
    hosts: Mapping[str, Mapping[str, int]], alike: Mapping[str, int] | None = None
) -> dict[str, tuple[str, ...]]:
    """First switch of each unit -> the leaf switches that share most of their hosts.

    `hosts`: host -> leaf switch -> its ports there. `alike`: host -> how many hosts it stands for,
    one each where not given.

    In a rail-optimised fabric the adapters of a host go to as many leaf switches; those
    switches are one unit. Two switches belong together where more than half of the hosts of
    the one with fewer are on the other as well, so a cable in the wrong place merges nothing.
    Nor does a switch with few hosts join units that stand apart without it, since one host
    could then make the whole fabric one leaf.
    """
    on: Counter[str] = Counter()
    sets: Counter[tuple[str, ...]] = Counter()
    for host, own in hosts.items():
        sets[tuple(sorted(own))] += 1 if alike is None else alike[host]
    both: Counter[tuple[str, str]] = Counter()
    for order, many in sets.items():
        for i, one in enumerate(order):
            on[one] += many
            for other in order[i + 1 :]:
                both[one, other] += many
    unions = _joined(on, both)
    found: dict[object, list[str]] = {}
    for switch in sorted(on, key=natural_key):
        found.setdefault(unions.root(switch), []).append(switch)
    return {switches[0]: tuple(switches) for switches in found.values()}


def _joined(on: Mapping[str, int], both: Mapping[tuple[str, str], int]) -> Unions:
    """Switches that belong together; `on`: hosts of each, `both`: hosts of each pair."""
    unions = Unions()
    weak: list[tuple[str, str]] = []
    for (one, other), shared in both.items():
        few, most = sorted((one, other), key=on.__getitem__)
        if 2 * shared > on[most]:
            unions.join(one, other)
        elif 2 * shared > on[few]:
            weak.append((few, other if few == one else one))
    larger: dict[object, set[object]] = {}
    for few, most in weak:
        own, its = unions.root(few), unions.root(most)
        if own != its:
            larger.setdefault(own, set()).add(its)
    for own, roots in larger.items():
        if len(roots) == 1:
            unions.join(own, *roots)
    return unions


def named_units(
    units: Mapping[str, tuple[str, ...]], names: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Unit name -> its leaf switches, of which `names` are unique."""
    every = [
        tuple(sorted(group, key=lambda one: natural_key(names[one]))) for group in units.values()
    ]
    called = group_names([[names[one] for one in group] for group in every])
    return dict(zip(called, every, strict=True))


def unit_of_hosts(
    hosts: Mapping[str, Mapping[str, int]], units: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, str], list[str]]:
    """Host -> the unit that most of its ports go to, and hosts with ports elsewhere.

    A host that is split evenly has no place.
    """
    unit_of = {switch: name for name, group in units.items() for switch in group}
    leaf_of: dict[str, str] = {}
    between: list[str] = []
    for host, own in hosts.items():
        votes: dict[str, int] = {}
        for switch, count in own.items():
            votes[unit_of[switch]] = votes.get(unit_of[switch], 0) + count
        if len(votes) > 1:
            between.append(host)
        best = max(votes.values(), default=0)
        winners = [unit for unit, count in votes.items() if count == best]
        if len(winners) == 1:
            leaf_of[host] = winners[0]
    return leaf_of, between
