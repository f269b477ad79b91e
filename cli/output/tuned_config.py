"""The ConfigMap that `fourleaf tune` writes: the chosen config, and the evidence for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fourleaf.cli.output.text import BlockText, plain, yaml_text

if TYPE_CHECKING:
    from fourleaf.simulator.tuning.choice import Compared
    from fourleaf.simulator.tuning.evaluate import Evaluation
    from fourleaf.simulator.tuning.knobs import Settings
    from fourleaf.simulator.tuning.verdict import StudyVerdict

PREFIX = "tune.topology.scheduler/"
KEY = "config.yaml"


def config_map(verdict: StudyVerdict, settings: Settings, study: str) -> str:
    """The manifest as YAML, read back by our own reader before it is written.

    Raises `BadInput` where that reader would refuse it.
    """
    from fourleaf.model.config.spec import CONFIG_MAP
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers import read
    from fourleaf.model.readers.text.sources import Source
    from fourleaf.simulator.tuning.knobs import applied

    config = applied(verdict.task.config, settings)
    body = plain(config.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True))
    body.pop("metadata", None)
    head = {"apiVersion": config.api_version, "kind": config.kind}
    manifest: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": CONFIG_MAP,
            "namespace": config.metadata.namespace,
            "annotations": evidence(verdict, study),
        },
        "data": {KEY: BlockText(yaml_text({**head, "spec": body.get("spec", {})}))},
    }
    text = yaml_text(manifest)
    reading = read([Source(CONFIG_MAP, text.encode())])
    wrong = [problem for problem in reading.problems if problem.is_error]
    if wrong:
        raise BadInput(wrong)
    if reading.snapshot.config.spec != config.spec:
        raise AssertionError("the config that was written reads as another")
    return text


def evidence(verdict: StudyVerdict, study: str) -> dict[str, str]:
    """Whose data, which windows and seeds, which trial, and what it came to."""
    from fourleaf.simulator.tuning.verdict import sentence

    task = verdict.task
    trial = "the default, none" if verdict.tuned is None else f"trial {verdict.tuned.number}"
    said = {
        "verdict": sentence(verdict),
        "evidence": ", ".join(task.snapshots) or f"{task.trace} on {task.fabric}",
        "load": "as recorded" if task.load is None else f"{task.load:g} %",
        "train-window": verdict.split.train_window,
        "held-out-window": verdict.split.held_out_window,
        "seeds": f"sampler and ties {task.seed}, deals 0 to {task.deals - 1}",
        "trial": f"{trial} of {len(verdict.trials)} in study {study}",
        "held-out-looks": str(verdict.looks),
        "train": _figures(verdict, verdict.train, verdict.default.train),
        "held-out": _figures(verdict, verdict.held_out, None),
    }
    return {f"{PREFIX}{name}": text for name, text in said.items()}


def _figures(verdict: StudyVerdict, one: Compared | None, alone: Evaluation | None) -> str:
    """`allocation 42.1 % -> 47.8 %, ...`, default first."""
    from fourleaf.simulator.tuning.objectives import OBJECTIVES

    measures = [OBJECTIVES[name] for name in verdict.task.objectives]
    if one is None:
        if alone is None:
            return "not looked at"
        pairs = zip(measures, alone.values, strict=True)
        return ", ".join(f"{m.name} {m.shown(value)}" for m, value in pairs)
    both = zip(measures, one.default.values, one.tuned.values, strict=True)
    return ", ".join(f"{m.name} {m.shown(old)} -> {m.shown(new)}" for m, old, new in both)
