"""A gang's score taken apart: per term what was measured, its value, its weight, its points.

All from the validator's computation of `docs/model.md`, section 6, so that the points of all
placed gangs and of the room kept for likely ones add up to the objective of a plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from fourleaf.model.config.spec import BUILT_IN_TERMS
from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Plan
from fourleaf.model.scores.term_inputs import Raw, raw_of
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.facts import facts_of
from fourleaf.model.validator.member_tally import Placed, stand
from fourleaf.model.validator.recompute import (
    BANDWIDTH,
    DOMAIN,
    FEWEST_NODES,
    NOTHING,
    PENALTIES,
    PREFERENCES,
    SPREAD,
    points,
)
from fourleaf.model.weights import SCALE, milli, weights_of

Pods = Sequence[tuple[str, str]]
"""(pod, node) of the members that are valued."""


@dataclass(frozen=True, slots=True)
class TermScore:
    """One term of one gang at one place.

    `value` is the mean over the gang's weight in thousandths: 0..1000, negative where wishes
    for links are not met. `weight` in thousandths is what the config comes to for this gang; a
    penalty's is negative. `points` is what counts in the objective: about value times weight,
    times the gang's weight, rounded down pod by pod.
    """

    name: str
    raw: Raw
    value: int
    weight: int
    points: int


@dataclass(frozen=True, slots=True)
class GangScore:
    """A gang at one place. `size` is what its valued pods count for: GPUs, or pods without."""

    gang: Gang
    pods: tuple[tuple[str, str], ...]
    size: int
    terms: tuple[TermScore, ...]

    @property
    def points(self) -> int:
        """All terms together."""
        return sum(term.points for term in self.terms)

    @property
    def by_term(self) -> Mapping[str, int]:
        """Term -> its points."""
        return {term.name: term.points for term in self.terms}


class TermScores:
    """Takes places apart under one snapshot. `names` are the terms that every score has."""

    def __init__(self, snapshot: Snapshot, extensions: Extensions = NOTHING) -> None:
        self.snapshot = snapshot
        self._extensions = extensions
        spec = snapshot.config.spec
        one = Decimal(1)
        whole = spec.penalties.model_copy(
            update=dict.fromkeys((BANDWIDTH, DOMAIN, PREFERENCES), one)
        )
        strategies = {
            name: settings.model_copy(
                update={
                    "fewest_nodes": one if settings.fewest_nodes else settings.fewest_nodes,
                    "spread": one if settings.spread else settings.spread,
                }
            )
            for name, settings in spec.strategies.items()
        }
        changed = {"penalties": whole, "strategies": strategies}
        config = snapshot.config.model_copy(update={"spec": spec.model_copy(update=changed)})
        self._unweighted = replace(snapshot, config=config)
        custom = [term.name for term in extensions.node_terms]
        custom += [term.name for term in extensions.leaf_terms]
        self.names = [*BUILT_IN_TERMS, *(name for name in custom if name in spec.scoring_weights)]

    def score(self, gang: Gang, pods: Pods) -> GangScore:
        """What `pods` are worth where they stand. Raises `KeyError` for unknown pods or nodes."""
        snapshot, spec = self.snapshot, self.snapshot.config.spec
        locations = facts_of(snapshot.fabric).of_gang(spec, gang, self._extensions)
        placed = Placed(gang, stand(snapshot.fabric, gang, pods), locations)
        weights, strategy = weights_of(spec, gang), spec.strategy(gang.strategy)
        earned = points(snapshot, placed, weights, self._extensions)
        full = points(self._unweighted, placed, dict.fromkeys(self.names, SCALE), self._extensions)
        size = sum(gang.pod_weight(gang.roles[role]) for role, _ in placed.standing.here)
        weighed = {
            **weights,
            BANDWIDTH: -milli(spec.penalties.bandwidth),
            DOMAIN: -milli(spec.penalties.domain),
            PREFERENCES: -milli(spec.penalties.preferences),
            FEWEST_NODES: -milli(strategy.fewest_nodes),
            SPREAD: -milli(strategy.spread),
        }
        terms = tuple(
            TermScore(
                name,
                raw_of(snapshot, placed, name),
                abs(full[name]) // max(1, size)
                if name in PENALTIES
                else full[name] // max(1, size),
                weighed.get(name, 0),
                earned[name],
            )
            for name in (*self.names, *PENALTIES)
            if name not in PENALTIES or full[name]
        )
        return GangScore(gang, tuple(pods), size, terms)


def shared_points(plan: Plan) -> int:
    """What no single gang earns: the value of the room kept for likely gangs."""
    return sum(phantom.value for phantom in plan.phantoms)
