"""Replays as plain data: the same run gives the same document, to the byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fourleaf.model.config.spec import API_VERSION
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.options import ReplayOptions
from fourleaf.simulator.record import ReplayRecord


def document(runs: Sequence[tuple[ReplayRecord, ReplayOptions]]) -> dict[str, Any]:
    """All of what is known of these runs. It holds no time of the machine's own clock."""
    return {"apiVersion": API_VERSION, "kind": "Replay", "runs": [_run(*run) for run in runs]}


def _run(record: ReplayRecord, options: ReplayOptions) -> dict[str, Any]:
    told = asdict(options)
    told["config"] = options.config.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    counts = asdict(record.counts)
    counts["breaches"] = dict(sorted(record.counts.breaches.items()))
    return {
        "policy": record.policy,
        "trace": record.trace,
        "source": record.source,
        "recovery": record.recovery,
        "gpus": record.gpus,
        "options": told,
        "close": record.close,
        "end": record.end,
        "gpuSeconds": {"atClose": asdict(record.at_close), "atEnd": asdict(record.at_end)},
        "summary": asdict(summarise(record)),
        "counts": counts,
        "samples": [asdict(one) for one in record.samples],
        "gangs": [asdict(record.gangs[name]) for name in sorted(record.gangs)],
    }
