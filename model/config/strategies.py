"""Placement strategies as data: what each weighs, and how far pods may share nodes and leaves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Annotated, Any, Literal

from pydantic import Field

from fourleaf.model.config.values import Brief, Section, Weight
from fourleaf.model.gang import Strategy

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""What a strategy may be called, as Kubernetes has it for labels of DNS."""

Share = Annotated[Decimal, Field(ge=0, le=1, allow_inf_nan=False), Brief]


class StrategySettings(Section):
    """What a strategy is made of: factors of weights, two penalties, and two laws.

    `factors` multiply the scoring weights by name; those not named stay. `leaves` says whether
    `domainUtilization` favours leaves that are full or empty. `most_per_node` and `most_per_leaf`
    are shares of the pods that belong together (a gang, or the replicas of one owner) that may
    stand on one node and in one leaf; each pod beyond costs `spread`. A node that they need costs
    `fewest_nodes`. `one_per_node` is a law. `topology_policy` holds for gangs that state none.
    """

    factors: dict[str, Weight] = Field(default_factory=dict)
    leaves: Literal["full", "empty"] = "full"
    most_per_node: Share = Decimal(1)
    most_per_leaf: Share = Decimal(1)
    spread: Weight = Decimal(0)
    fewest_nodes: Weight = Decimal(0)
    one_per_node: bool = False
    topology_policy: Literal["Required", "Preferred"] = "Required"


class DefaultStrategies(Section):
    """The strategy of pods whose annotations name none, by how they start.

    `gangs`: together with others. `replicas`: by themselves, made by an owner of pods that are
    alike. `others`: alone. To turn the choice off, give all three one name.
    """

    gangs: str = Strategy.CONSOLIDATED.value
    replicas: str = Strategy.DISTRIBUTED.value
    others: str = Strategy.BALANCED.value


BUILT_IN_STRATEGIES: Mapping[str, Mapping[str, Any]] = {
    Strategy.CONSOLIDATED.value: {
        "factors": {
            "resourceAvailability": "0.5",
            "topologyAlignment": "1.5",
            "domainUtilization": "1.5",
        },
        "fewestNodes": "4",
    },
    Strategy.DISTRIBUTED.value: {
        "factors": {
            "resourceAvailability": "1.5",
            "topologyAlignment": "0.5",
            "historicalPerformance": "1.5",
        },
        "leaves": "empty",
        "mostPerNode": "0",
        "mostPerLeaf": "0",
        "spread": "4",
        "topologyPolicy": "Preferred",
    },
    Strategy.BALANCED.value: {"mostPerNode": "0.5", "spread": "4", "fewestNodes": "2"},
}
"""The strategies that need no config, field by field as a config would write them."""


def with_built_in(given: Any) -> Any:
    """`given` strategies and the built-in ones; of these a config changes single fields.

    What is no mapping is left as it is, to be refused where it is read.
    """
    if not isinstance(given, Mapping):
        return given
    found: dict[Any, Any] = {name: dict(body) for name, body in BUILT_IN_STRATEGIES.items()}
    for name, body in given.items():
        both = name in found and isinstance(body, Mapping)
        found[name] = {**found[name], **body} if both else body
    return found


def pods_allowed(pods: int, share: Decimal, places: int) -> int:
    """How many of `pods` may stand on one of `places`: their share, at least an even one."""
    return max(1, ceil(pods * Fraction(share)), -(-pods // max(1, places)))
