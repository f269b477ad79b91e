"""What the members of a record were granted, alike in every format so far: in runs of the same.

An entry says so beside its members, where versions that know nothing of it leave it out, and not
in their rows, which those would refuse. A record without is one that such a version wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.model.devices.held_devices import Grant

GrantRun = tuple[int, int | None, int | None]
"""How many members in a row have the same grant: GPUs and Mbit/s, no GPUs where none is known."""


def grant_runs(members: Sequence[Member]) -> list[GrantRun]:
    """The grants of `members`, nothing where none is known."""
    if all(member.grant is None for member in members):
        return []
    return [
        (len(list(run)), grant.gpus, grant.bandwidth) if grant else (len(list(run)), None, None)
        for grant, run in groupby(members, lambda member: member.grant)
    ]


def with_grants(
    name: str, members: tuple[Member, ...], runs: Sequence[GrantRun]
) -> tuple[Member, ...]:
    """`members` of Lease `name`, each with its grant. Raises `BadRecord`."""
    if not runs:
        return members
    if any(count < 1 for count, _, _ in runs) or sum(run[0] for run in runs) != len(members):
        raise BadRecord(f"lease {name}: grants of {len(members)} members: {runs[:4]}")
    grants = (
        None if gpus is None else Grant(gpus, bandwidth)
        for count, gpus, bandwidth in runs
        for _ in range(count)
    )
    return tuple(replace(one, grant=grant) for one, grant in zip(members, grants, strict=True))
