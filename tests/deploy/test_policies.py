"""The admission policies name what the code names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.k8s_bridge.ledger.names import LEADER, PREFIX, RECORD, gang_lease_name, page_name
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE
from fourleaf.k8s_bridge.relocation.codec import relocation_name
from fourleaf.k8s_bridge.relocation.move_budget import MOVES_LEASE
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import EVICTIONS_LEASE
from fourleaf.model.config.spec import Spec
from fourleaf.model.crds.claim import CLAIM
from fourleaf.model.devices.held_devices import DEVICES as GRANTED
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.pods.device_map import DEVICE_MAP

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = sorted((DEPLOY / "policies").glob("*.yaml"))
ACCOUNT = re.compile(r"system:serviceaccount:([a-z0-9-]+:[a-z0-9-]+)")


def text(name: str) -> str:
    """One of the files, with line breaks taken for blanks as YAML does."""
    return " ".join((DEPLOY / "policies" / name).read_text().split())


def parts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy of a file, and its binding."""
    bodies = list(yaml.safe_load_all(path.read_text()))
    return bodies[0], bodies[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_one_policy_in_force(path: Path) -> None:
    """Named like its file, bound by one binding that denies; no answer is a no."""
    policy, bound = parts(path)
    assert policy["metadata"]["name"] == bound["metadata"]["name"] == f"fourleaf-{path.stem}"
    assert bound["spec"]["policyName"] == policy["metadata"]["name"]
    assert bound["spec"]["validationActions"] == ["Deny"]
    assert policy["spec"]["failurePolicy"] == "Fail"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_refusal_names_a_field_and_gives_advice(path: Path) -> None:
    """First the field, then what is wrong, then what to do."""
    for one in parts(path)[0]["spec"]["validations"]:
        words = "".join(re.findall(r"'([^']*)'", one["messageExpression"]))
        assert re.match(r"(metadata|spec|status|target)[^ ]*: ", words), words
        assert ". " in words, words


def test_accounts_are_those_of_the_rights_that_ship() -> None:
    """A policy that names an account which is none would refuse everybody."""
    named = {one for path in FILES for one in ACCOUNT.findall(path.read_text())}
    made = {
        f"{body['metadata']['namespace']}:{body['metadata']['name']}"
        for path in (DEPLOY / "rbac").glob("*.yaml")
        for body in yaml.safe_load_all(path.read_text())
        if body["kind"] == "ServiceAccount"
    }
    assert named <= made


def test_leases_are_known_by_the_names_that_the_scheduler_gives() -> None:
    """Pages, gang leases, relocations, and those of the scheduler itself."""
    said = text("leases.yaml")
    for name in (
        page_name("leaf", 0),
        gang_lease_name("gang", "c"),
        relocation_name(GangKey("ns", "gang")),
    ):
        assert f"one.metadata.name.startsWith('{name.partition('-')[0]}-')" in said
    for name in (LEADER, FAILURES_LEASE, MOVES_LEASE, EVICTIONS_LEASE):
        assert name.startswith("fourleaf-")
    assert "one.metadata.name.startsWith('fourleaf-')" in said
    assert f"'{RECORD}' in one.metadata.?labels" in said


def test_annotations_schedulers_and_resources_are_those_of_the_code() -> None:
    """As the config has them by default."""
    assert GRANTED.startswith(PREFIX)
    for name in ("pod-annotations.yaml", "resource-claims.yaml"):
        assert set(re.findall(r"startsWith\('([^']*)'\)", text(name))) == {PREFIX}
    spec = Spec()
    for name in ("pod-node-name.yaml", "enforced-pods.yaml"):
        assert str(list(spec.scheduler_names)) in text(name)
        assert str(list(spec.gpu_resources)) in text(name)
    assert str([DEVICE_MAP, CLAIM]) in text("pod-node-name.yaml")
