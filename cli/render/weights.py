"""The weights as a table: what each means, and what it comes to for each kind of gang."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.layout import indented
from fourleaf.model.config.spec import API_VERSION, Spec
from fourleaf.model.config.strategies import StrategySettings
from fourleaf.model.weights import gang_weights, milli

MEANINGS: Mapping[str, str] = {
    "resourceAvailability": (
        "comfort: the smallest remaining fraction of CPU, memory and pod slots on the node (half), "
        "the fraction of the leaf's free GPUs that are taken, reversed where a strategy favours "
        "empty leaves (half)"
    ),
    "topologyAlignment": (
        "few leaves and spines against the fewest possible (half), preferred domain met (half)"
    ),
    "domainUtilization": (
        "GPU utilisation of the leaf afterwards; reversed where a strategy favours empty leaves"
    ),
    "historicalPerformance": "1 minus the decayed failure rate of the node",
}
CUSTOM = "a custom term, plugged in by the entry point group fourleaf.terms"


def weights_view(spec: Spec) -> Iterator[RenderableType]:
    """The table of scoring weights, their meanings, and the other weights."""
    yield Text("\nThousandths that a fully met term is worth per GPU, by the gang's strategy;")
    yield Text("+l is latency-sensitive.\n")
    yield _table(spec)
    yield Text()
    for name in spec.scoring_weights:
        yield from _entry(name, MEANINGS.get(name, CUSTOM))
    for name, settings in spec.strategies.items():
        yield from _entry(f"strategies.{name}", strategy_text(settings))
    usual = spec.default_strategies
    yield from _entry(
        "defaultStrategies",
        f"where annotations name none: {usual.gangs} for pods that start together, "
        f"{usual.replicas} for replicas of one owner, {usual.others} for others",
    )
    penalties = spec.penalties
    yield from _entry(
        f"penalties.bandwidth {penalties.bandwidth}",
        f"taken off at a full uplink, for gangs that span leaves and state a bandwidth: up to "
        f"{milli(penalties.bandwidth)} per GPU",
    )
    yield from _entry(
        f"penalties.domain {penalties.domain}",
        "taken off outside of the preferred domain of a gang, where the fabric has that domain: "
        f"{milli(penalties.domain):,} per GPU",
    )
    yield from _entry(
        f"penalties.preferences {penalties.preferences}",
        "taken off on a node that meets nothing of what a pod prefers (node and pod affinity, "
        f"spread, taints to be avoided): up to {milli(penalties.preferences)} per GPU",
    )
    yield from _entry(
        f"fragmentation.weight {spec.fragmentation.weight}",
        "added for every likely gang that could still start afterwards, times its GPUs and "
        "its share of the job mix",
    )
    most = spec.topology_constraints.window_nodes
    yield from _entry(
        f"topologyConstraints.windowNodes {most:,}",
        "gangs of more nodes, and Preferred ones, may use any leaves of one spine: each leaf more "
        "than the fewest takes off the same share of half of topologyAlignment",
    )
    yield from _entry(f"solver.gap {spec.solver.gap}", _of_gap(spec.solver.gap))


def strategy_text(one: StrategySettings) -> str:
    """What a strategy does, beside its factors of the weights."""
    said = [f"favours {one.leaves} leaves"]
    if one.fewest_nodes:
        said.append(f"few nodes (up to {milli(one.fewest_nodes):,} off per GPU)")
    if one.spread:
        shares = [
            f"{f'{100 * share:.0f} %' if share else 'an even share'} of its pods on one {place}"
            for place, share in (("node", one.most_per_node), ("leaf", one.most_per_leaf))
            if share < 1
        ]
        said.append(f"at most {' and '.join(shares)} ({milli(one.spread):,} off for each beyond)")
    if one.one_per_node:
        said.append("no two pods on one node, a law")
    if one.topology_policy == "Preferred":
        said.append("any leaves of a spine, unless topology-policy says otherwise")
    return "; ".join(said)


def _kinds(spec: Spec) -> list[tuple[str, bool]]:
    return [(strategy, latency) for strategy in spec.strategies for latency in (False, True)]


def weights_document(spec: Spec, source: str) -> dict[str, Any]:
    """Per term its weight, its meaning, and the thousandths that it comes to by kind of gang."""
    effective = {
        f"{strategy}{'+latency' if latency else ''}": gang_weights(spec, strategy, latency)
        for strategy, latency in _kinds(spec)
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Weights",
        "source": source,
        "terms": [
            {
                "name": name,
                "weight": float(weight),
                "meaning": MEANINGS.get(name, CUSTOM),
                "thousandths": {kind: weights[name] for kind, weights in effective.items()},
            }
            for name, weight in spec.scoring_weights.items()
        ],
        "penalties": {
            "bandwidth": float(spec.penalties.bandwidth),
            "domain": float(spec.penalties.domain),
            "preferences": float(spec.penalties.preferences),
        },
        "strategies": {
            name: one.model_dump(by_alias=True, mode="json")
            for name, one in spec.strategies.items()
        },
        "defaultStrategies": spec.default_strategies.model_dump(by_alias=True, mode="json"),
        "fragmentation": float(spec.fragmentation.weight),
        "gap": spec.solver.gap,
    }


def _of_gap(gap: float) -> str:
    if not gap:
        return "OPTIMAL means that no places are worth more, whatever the size of the batch"
    return (
        f"OPTIMAL means that no places are worth more than those of the plan by over {100 * gap:g} "
        "% of their points in a large batch, and by none in a small one; the plan says how much is "
        "left"
    )


def _table(spec: Spec) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("term", overflow="fold")
    table.add_column("weight", justify="right")
    for strategy, latency in _kinds(spec):
        table.add_column("+l" if latency else strategy, justify="right", overflow="fold")
    effective = [gang_weights(spec, strategy, latency) for strategy, latency in _kinds(spec)]
    for name, weight in spec.scoring_weights.items():
        table.add_row(Text(name), str(weight), *(str(weights[name]) for weights in effective))
    return table


def _entry(title: str, meaning: str) -> Iterator[RenderableType]:
    yield Text(title, style="bold")
    yield indented(Text(meaning))
