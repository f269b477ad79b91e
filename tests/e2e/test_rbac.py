"""The rights of every component: all that it does, and nothing else, on a real apiserver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import RBAC, SCHEDULER, account, allowed, install, uninstall
from tests.e2e.attacks import pod
from tests.e2e.checker import holds
from tests.e2e.replica import ROOT, Replica
from tests.e2e.rights import (
    ACCOUNTS,
    DOES,
    EVERY_ACCOUNT,
    NAMESPACES,
    Right,
    each,
    neighbours,
    within,
)

RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"


@pytest.fixture(scope="module")
def plane(module_control_plane: Plane) -> Iterator[Plane]:
    """A control plane with the accounts that ship, and their rights."""
    with module_control_plane.api() as api:
        made = install(api, *(RBAC / f"{name}.yaml" for name in ACCOUNTS))
        yield module_control_plane
        uninstall(api, made)


@pytest.fixture(scope="module", params=ACCOUNTS)
def component(
    request: pytest.FixtureRequest, plane: Plane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Api]]:
    """A component, and the API as its account."""
    name = str(request.param)
    path = account(plane, ACCOUNTS[name], tmp_path_factory.mktemp("accounts"))
    with Api(path) as api:
        of_each_role = {right[0]: right for right in each(DOES[name])}.values()
        eventually(lambda: all(has(api, one) for one in of_each_role), f"{name} has its rights")
        yield name, api


def has(api: Api, right: Right) -> bool:
    """Whether the account of `api` has it, by the word of the server."""
    namespace, resource, name, verb = right
    return allowed(api, verb, resource, namespace or "default", name)


def told(api: Api, namespace: str) -> set[Right]:
    """All that the account of `api` may do in a namespace, as the server lists it."""
    status = api.create(RULES, {"spec": {"namespace": namespace}})["status"]
    assert not status["incomplete"], status
    return {(namespace, *one) for one in spelt_out(status["resourceRules"])}


def spelt_out(rules: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """What rules allow, one by one: resource, name and verb."""
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for name in rule.get("resourceNames") or [""]:
                    for verb in rule["verbs"]:
                        yield f"{group or 'core'}/{resource}", name, verb


def rules(path: Path) -> set[Right]:
    """All that the roles of a file allow, one by one."""
    return {
        (body["metadata"].get("namespace", ""), *one)
        for body in yaml.safe_load_all(path.read_text())
        if body["kind"] in ("Role", "ClusterRole")
        for one in spelt_out(body["rules"])
    }


@pytest.mark.parametrize("name", ACCOUNTS)
def test_a_role_allows_what_its_component_does(name: str) -> None:
    """The rules that ship are those of the table, right by right; no wildcard stands in them."""
    assert rules(RBAC / f"{name}.yaml") == set(each(DOES[name]))


def test_no_other_role_ships() -> None:
    """But those that have no subject by themselves: for other schedulers, and for people."""
    bodies = [
        body
        for path in sorted((ROOT / "deploy").glob("*/*.yaml"))
        for body in yaml.safe_load_all(path.read_text())
    ]
    kinds = ("Role", "ClusterRole")
    roles = {one["metadata"]["name"] for one in bodies if one.get("kind") in kinds}
    ours = {f"fourleaf-{name}" for name in ACCOUNTS}
    assert roles == ours | {"fourleaf-other-scheduler", "fourleaf-view", "fourleaf-edit"}
    bound = [one for one in bodies if one.get("kind") in ("RoleBinding", "ClusterRoleBinding")]
    assert {one["roleRef"]["name"] for one in bound} == ours
    subjects = {(one["namespace"], one["name"]) for body in bound for one in body["subjects"]}
    assert subjects == set(ACCOUNTS.values())


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_an_account_may_do_that_and_no_more(
    plane: Plane, component: tuple[str, Api], namespace: str
) -> None:
    """All that the server lists for it, by its own role and by those that every account has."""
    if not plane.managed:
        pytest.skip("what every account of that cluster may do is not ours to say")
    name, api = component
    common = {(namespace, resource, "", verb) for resource, verb in EVERY_ACCOUNT}
    assert told(api, namespace) == within(DOES[name], namespace) | common


def test_each_right_is_allowed_and_each_next_to_it_refused(component: tuple[str, Api]) -> None:
    """Asked of the server one by one, under the component's own token."""
    name, api = component
    rights, near = set(each(DOES[name])), neighbours(DOES[name])
    assert [one for one in rights if not has(api, one)] == []
    assert [one for one in near if has(api, one)] == []
    assert len(near) > 4 * len(rights)


def test_the_scheduler_asks_for_nothing_that_it_may_not(plane: Plane, tmp_path: Path) -> None:
    """It binds a gang, says why another pod waits, and the server refuses it nothing."""
    if not plane.managed:
        pytest.skip("the audit log of that cluster is not ours to read")
    create_fleet(plane.kubeconfig(), Fleet(8))
    kubeconfig = account(plane, SCHEDULER, tmp_path)
    with plane.api() as api, Replica(plane, "admin", tmp_path, kubeconfig=kubeconfig) as replica:
        eventually(lambda: replica.leads, "it leads")
        pods = f"/api/v1/namespaces/{api.new_namespace()}/pods"
        for index in range(8):
            body = pod(f"wide-{index}", "8")
            body["metadata"]["annotations"] = {
                "topology.scheduler/gang": "wide",
                "topology.scheduler/gang-size": "8",
            }
            api.create(pods, body)
        eventually(lambda: all(map(holds, api.get(pods)["items"])), "all are bound")
        api.create(pods, pod("too-many", "8"))
        eventually(
            lambda: api.get(f"{pods}/too-many")["status"].get("conditions"), "it says why it waits"
        )
    user = "system:serviceaccount:" + ":".join(SCHEDULER)
    asked = [event for event in plane.audit() if event["user"]["username"] == user]
    assert asked
    refused = [
        f"{event['verb']} {event['requestURI']}"
        for event in asked
        if event["responseStatus"]["code"] == 403
    ]
    assert refused == []
