"""The config in force through edits, good and bad."""

from __future__ import annotations

from decimal import Decimal

from fourleaf.k8s_bridge.cache.config_watcher import START, folded
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.config.spec import SchedulerConfig

HEAD = "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\n"
GOOD = HEAD + "spec:\n  batch:\n    size: 7\n"
BAD = HEAD + "spec:\n  batch:\n    size: none\n"


def config_map(text: str, version: str = "1") -> Body:
    """The ConfigMap as a watch shows it: without apiVersion and kind."""
    return {
        "metadata": {
            "name": "topology-scheduler-config",
            "namespace": "kube-system",
            "resourceVersion": version,
        },
        "data": {"config.yaml": text},
    }


def test_without_a_config_map_the_defaults_are_in_force() -> None:
    """Nothing is wrong with that."""
    state = folded(START, None)
    assert (state.config, state.valid, state.problem) == (SchedulerConfig(), True, None)


def test_a_good_config_is_taken() -> None:
    """It says where it is from, and which version."""
    state = folded(START, config_map(GOOD, "5"))
    assert (state.config.spec.batch.size, state.version) == (7, "5")
    assert state.source == "ConfigMap kube-system/topology-scheduler-config"


def test_braces_may_be_json_or_yaml() -> None:
    """A mapping in braces without quotes is YAML, as the key says."""
    head = "{apiVersion: topology.scheduler/v1alpha1, kind: SchedulerConfig, "
    state = folded(START, config_map(head + "spec: {batch: {size: 7}}}"))
    assert state.config.spec.batch.size == 7
    assert not folded(START, config_map(head + "spec: {batch")).valid
    body = config_map("")
    body["data"] = {"config.json": head + "spec: {}}"}
    assert not folded(START, body).valid


def test_a_bad_edit_keeps_the_last_good_config() -> None:
    """The problem names object, field, value and advice; the next good edit ends it."""
    good = folded(START, config_map(GOOD, "5"))
    bad = folded(good, config_map(BAD, "6"))
    assert (bad.config, bad.source, bad.version) == (good.config, good.source, "6")
    problem = bad.problem
    assert problem is not None
    assert (problem.object, problem.field, problem.value, problem.advice) == (
        "ConfigMap kube-system/topology-scheduler-config",
        "spec.batch.size",
        '"none"',
        "Correct spec.batch.size.",
    )
    assert folded(bad, config_map(GOOD, "7")).valid


def test_a_bad_config_at_the_start_leaves_the_defaults() -> None:
    """The scheduler starts, and says what is wrong."""
    state = folded(START, config_map(BAD))
    assert (state.config, state.valid) == (SchedulerConfig(), False)


def test_a_deleted_config_map_brings_the_defaults_back() -> None:
    """None at all is a choice, not a mistake."""
    bad = folded(folded(START, config_map(GOOD)), config_map(BAD))
    assert folded(bad, None) == START


def test_what_is_no_yaml_or_no_config_is_a_problem() -> None:
    """A broken document, an empty map and two configs: each is refused, none raises."""
    good = folded(START, config_map(GOOD))
    twice = {**config_map(GOOD), "data": {"a": GOOD, "b": GOOD}}
    for body in (config_map("a: [1"), {**config_map(""), "data": None}, twice):
        state = folded(good, body)
        assert (state.config, state.valid) == (good.config, False)


def test_a_weight_of_no_term_is_a_problem() -> None:
    """Nobody brings a term of that name, so the weight would count for nothing."""
    text = HEAD + "spec:\n  scoringWeights:\n    greenEnergy: 0.5\n"
    problem = folded(START, config_map(text)).problem
    assert problem is not None
    assert (problem.field, problem.value) == (
        "spec.scoringWeights.greenEnergy",
        str(Decimal("0.5")),
    )


def test_bandwidths_that_nobody_can_count_are_a_problem() -> None:
    """Zero, and more digits than any link has, never reach those who would have to count them."""
    good = folded(START, config_map(GOOD))
    for network in (
        "{uplinkBandwidth: 0Gb}",
        "{nodeBandwidth: 99999999999999999999Tb}",
        "{uplinks: {leaf-1: 0.5Mb}}",
    ):
        state = folded(good, config_map(f"{HEAD}spec:\n  network: {network}\n"))
        assert (state.config, state.valid) == (good.config, False)


def test_what_stands_beside_the_defaults_of_a_chart_is_merged_over_them() -> None:
    """Weight by weight, whichever key comes first; null takes a default away again."""
    defaults = (
        f"{HEAD}spec:\n  batch: {{size: 7}}\n  namespaces: {{'*': {{maxGangs: 3}}, a: {{}}}}\n"
    )
    body = config_map(f"{HEAD}spec:\n  batch: {{size: 9}}\n  namespaces: {{a: null}}\n")
    body["data"]["defaults.yaml"] = defaults
    spec = folded(START, body).config.spec
    assert (spec.batch.size, set(spec.namespaces)) == (9, {"*"})
    del body["data"]["config.yaml"]
    spec = folded(START, body).config.spec
    assert (spec.batch.size, set(spec.namespaces)) == (7, {"*", "a"})
