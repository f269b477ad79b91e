"""The webhook configurations: what is on disk, and whom they may hold up."""

from __future__ import annotations

from pathlib import Path

import yaml

from fourleaf.webhook.__main__ import main, rendered
from fourleaf.webhook.configurations import Deployment, configurations
from tests.webhook.made import Body

DEPLOYED = Path(__file__).parents[2] / "deploy" / "webhook"


def hooks(deployment: Deployment | None = None) -> list[Body]:
    """Every webhook of both configurations but that of the config."""
    return [
        hook
        for body in configurations(deployment or Deployment())
        for hook in body["webhooks"]
        if not hook["name"].startswith("config.")
    ]


def picks(hook: Body, name: str, **labels: str) -> bool:
    """Whether a webhook is called for pods of a namespace: the API server's rule, in short."""
    has = {"kubernetes.io/metadata.name": name}
    has |= {f"topology.scheduler/{key.replace('_', '-')}": value for key, value in labels.items()}
    return all(
        (has.get(term["key"]) in term["values"]) is (term["operator"] == "In")
        for term in hook["namespaceSelector"]["matchExpressions"]
    )


def test_the_files_are_what_is_generated() -> None:
    """Nobody has edited them, and nobody has forgotten to generate them anew."""
    assert {one.name: one.read_text("utf-8") for one in DEPLOYED.iterdir()} == rendered()


def test_elsewhere_by_another_config(tmp_path: Path) -> None:
    """Another namespace is spared too, and other names are picked out."""
    main(tmp_path, "gpus", ["mine"])
    text = (tmp_path / "configurations.yaml").read_text("utf-8")
    assert "in ['mine']" in text
    assert "gpu-scheduler'" not in text
    for body in yaml.safe_load_all(text):
        for hook in body["webhooks"]:
            assert hook["clientConfig"]["service"]["namespace"] == "gpus"
            is_of_config = hook["name"].startswith("config.")
            assert picks(hook, "gpus", enforce="true") is is_of_config


def test_only_who_opted_in_is_held_up() -> None:
    """Each webhook that fails closed is for namespaces with the label, the others for the rest."""
    for hook in hooks(Deployment(namespace="own")):
        strict = hook["failurePolicy"] == "Fail"
        both = {"default_scheduler": "true"}
        assert picks(hook, "ml", enforce="true", **both) is strict
        assert picks(hook, "ml", **both) is not strict
        assert picks(hook, "ml", enforce="false", **both) is not strict
        for spared in ("kube-system", "own"):
            assert not picks(hook, spared, enforce="true", **both)
            assert not picks(hook, spared, **both)


def test_the_config_is_reviewed_where_it_is_and_waits_for_no_answer() -> None:
    """In the namespace of the release alone; by its name; a webhook that is down refuses none."""
    validating = configurations(Deployment(namespace="own"))[1]
    (hook,) = (one for one in validating["webhooks"] if one["name"].startswith("config."))
    assert (picks(hook, "own"), picks(hook, "ml", enforce="true")) == (True, False)
    assert hook["failurePolicy"] == "Ignore"
    (condition,) = hook["matchConditions"]
    assert "'topology-scheduler-config'" in condition["expression"]


def test_every_namespace_is_looked_after_once() -> None:
    """Whatever its labels, a pod meets one webhook of each sort."""
    for labels in ({}, {"enforce": "true"}):
        names = [hook["name"].split(".")[0] for hook in hooks() if picks(hook, "ml", **labels)]
        assert sorted(names) == ["claims", "pods", "pods"]


def test_what_the_api_server_asks_of_a_webhook() -> None:
    """Names are unique within a configuration; no side effects; short; asked again if need be."""
    for body in configurations(Deployment()):
        names = [hook["name"] for hook in body["webhooks"]]
        assert len(set(names)) == len(names)
        for hook in body["webhooks"]:
            assert hook["name"].count(".") >= 2
            assert hook["sideEffects"] == "None"
            assert hook["timeoutSeconds"] <= 5
            mutating = body["kind"].startswith("Mutating")
            assert (hook.get("reinvocationPolicy") == "IfNeeded") is mutating


def test_by_url_and_with_a_bundle() -> None:
    """As needed outside of a cluster, or where somebody else issues the certificate."""
    for hook in hooks(Deployment(url="https://127.0.0.1:1", bundle="eA==")):
        client = hook["clientConfig"]
        assert client["url"].startswith("https://127.0.0.1:1/")
        assert client["caBundle"] == "eA=="
        assert "service" not in client
