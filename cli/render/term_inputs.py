"""What a term was measured on, in words."""

from __future__ import annotations

from fourleaf.model.scores.term_inputs import ALIGNMENT, COMFORT, HISTORY, UTILIZATION, Raw
from fourleaf.model.validator.recompute import BANDWIDTH, DOMAIN, FEWEST_NODES, PREFERENCES, SPREAD

PLAIN = {"cpu": "CPU", "memory": "memory", "pods": "pod slots"}


def measured(name: str, raw: Raw) -> str:
    """A few words on the amounts behind term `name`; "" where its value says it all."""
    if not raw:
        return ""
    if name == COMFORT:
        scarcest = min(PLAIN.keys() & raw.keys(), key=lambda what: (raw[what], what), default="")
        left = f"{PLAIN[scarcest]} {raw[scarcest] / 10:.0f} % left; " if scarcest else ""
        return f"{left}{raw['taken']:,} of {raw['free']:,} free GPUs"
    if name == ALIGNMENT:
        leaves = "1 leaf" if raw["leaves"] == 1 else f"{raw['leaves']} leaves"
        spines = "1 spine" if raw["spines"] == 1 else f"{raw['spines']} spines"
        most = raw["leaves"] + raw["spines"] - raw["fewest"]
        text = f"{leaves}, {spines}" + (f", {most} too many" if most > 0 else "")
        if "preferred" in raw:
            text += f"; {raw['preferred']} of {raw['pods']} as wished"
        return text
    if name == UTILIZATION:
        return f"{raw['used']:,} of {raw['gpus']:,} GPUs used"
    if name == HISTORY:
        return f"{raw['failures'] / 10:.1f} % failures"
    if name == BANDWIDTH:
        return f"{raw['asked'] / 1000:g} of {raw['uplink'] / 1000:g} Gb/s"
    if name == DOMAIN:
        return f"{raw['preferred']} of {raw['pods']} as wished"
    if name == PREFERENCES:
        return f"{raw['met']} of {raw['pods']} on nodes as preferred"
    if name in (FEWEST_NODES, SPREAD):
        nodes = "1 node" if raw["nodes"] == 1 else f"{raw['nodes']} nodes"
        leaves = "1 leaf" if raw["leaves"] == 1 else f"{raw['leaves']} leaves"
        return f"{raw['pods']} pods on {nodes} of {leaves}"
    return ""
