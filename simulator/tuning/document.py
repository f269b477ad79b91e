"""A verdict as plain data: the same study gives the same document."""

from __future__ import annotations

from typing import Any

from fourleaf.model.config.spec import API_VERSION
from fourleaf.simulator.tuning.choice import Compared, TrialResult
from fourleaf.simulator.tuning.verdict import StudyVerdict, sentence


def document(verdict: StudyVerdict) -> dict[str, Any]:
    """All of what is known of a study. Gains are shares; times are in seconds."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Tuning",
        "better": verdict.better,
        "verdict": sentence(verdict),
        "task": verdict.task.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "windows": {
            "train": verdict.split.train_window,
            "heldOut": verdict.split.held_out_window,
        },
        "heldOutLooks": verdict.looks,
        "default": _trial(verdict, verdict.default),
        "chosen": None if verdict.tuned is None else _trial(verdict, verdict.tuned),
        "train": _compared(verdict, verdict.train),
        "heldOut": _compared(verdict, verdict.held_out),
        "trials": [_trial(verdict, one) for one in verdict.trials],
    }


def _trial(verdict: StudyVerdict, one: TrialResult) -> dict[str, Any]:
    return {
        "number": one.number,
        "settings": dict(one.settings),
        "train": dict(zip(verdict.task.objectives, one.train.values, strict=True)),
        "front": one.number in verdict.front,
        "unproven": one.train.unproven,
    }


def _compared(verdict: StudyVerdict, one: Compared | None) -> dict[str, Any] | None:
    if one is None:
        return None
    names = verdict.task.objectives
    return {
        "default": dict(zip(names, one.default.values, strict=True)),
        "chosen": dict(zip(names, one.tuned.values, strict=True)),
        "gains": dict(zip(names, one.gains, strict=True)),
        "wins": one.wins,
        "cases": len(one.tuned.cases),
    }
