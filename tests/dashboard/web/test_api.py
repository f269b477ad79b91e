"""The JSON API over the examples, whose answers are known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dashboard.served import Served


def got(served: Served, path: str, code: int = 200) -> Any:
    """What the API answers to a GET."""
    status, _, text = served.get(f"/api/v1{path}")
    assert status == code, text
    return json.loads(text)


def asked(served: Served, path: str, body: Any, code: int = 200) -> Any:
    """What it answers to a POST."""
    status, _, text = served.post(f"/api/v1{path}", body)
    assert status == code, text
    return json.loads(text)


def test_it_is_described(served: Served) -> None:
    """Every route of the pages has a schema, and every one a sentence."""
    paths = got(served, "/openapi.json")["paths"]
    routes = {path.removeprefix("/api/v1/"): one for path, one in paths.items()}
    assert set(routes) == {
        "overview",
        "fabric",
        "node",
        "queue",
        "trends",
        "gangs",
        "gang",
        "gang/elsewhere",
        "gang/nearest",
        "gang/history",
        "cycles",
        "what-if",
        "preview/drain",
        "preview/defrag",
        "events",
    }
    assert all(op["description"] for one in routes.values() for op in one.values())


def test_a_gang_and_why_not_elsewhere(served: Served) -> None:
    """bert-large fills leaf-04; its best place apart from that is another whole leaf."""
    query = "?namespace=ml&name=bert-large"
    here = got(served, f"/gang{query}")["place"]
    assert here["leaves"] == ["leaf-04"]
    there = got(served, f"/gang/elsewhere{query}")
    assert there["status"] == "OPTIMAL"
    assert len(there["place"]["leaves"]) == 1
    assert there["place"]["leaves"] != here["leaves"]
    assert there["place"]["score"] <= here["score"]


def test_a_gang_that_waits_and_why(served: Served) -> None:
    """llama-pretrain needs four adjacent leaves, which are not to be had."""
    view = got(served, "/gang/elsewhere?namespace=ml&name=llama-pretrain")
    assert view["place"] is None
    assert view["why"]["reason"] == "NoAdjacentLeaves"
    assert view["why"]["near"][0]["needed"] == 4


def test_what_a_gang_comes_closest_to(served: Served) -> None:
    """Leaves 00 to 03 of spine-0: in 02 a gang runs and another is planned, 03 is planned full."""
    view = got(served, "/gang/nearest?namespace=ml&name=llama-pretrain")
    near = [(one["keys"], one["free"], one["needed"]) for one in view["near"]]
    assert near == [([f"spine-0/leaf-0{i}"], free, 4) for i, free in enumerate((4, 4, 2, 0))]
    holders = {one["name"]: (one["gpus"], one["planned"]) for one in view["holders"]}
    assert holders["rlhf"] == (32, True)
    assert holders["sam-finetune"] == (8, False)
    assert view["goal"] == []
    assert view["why"]["unblock"][1] == "topology-policy Preferred would place it now"
    other = got(served, "/gang/nearest?namespace=research&name=rlhf")
    assert other["goal"] == ["spine-0/leaf-03"]
    assert got(served, "/gang/nearest?namespace=ml&name=bert-large", 404)["kind"] == "Refusal"


def test_what_does_not_exist(served: Served) -> None:
    """404 with where to look; 422 where the name lacks."""
    assert "no gang ml/nix" in got(served, "/gang?namespace=ml&name=nix", 404)["message"]
    assert "no node nix" in got(served, "/node?name=nix", 404)["message"]
    assert got(served, "/node", 422)["problems"][0]["field"] == "query.name"
    assert got(served, "/nix", 404)["kind"] == "Refusal"


def test_a_drain_is_what_the_verb_says(served: Served) -> None:
    """The four pods of leaf-04 move, and unknown names are refused with the nearest."""
    view = asked(served, "/preview/drain", {"places": ["leaf-04"]})
    assert (view["kind"], view["status"], view["moves"]) == ("Drain", "OPTIMAL", 4)
    refusal = asked(served, "/preview/drain", {"places": ["leaf-4"]}, 422)
    assert "leaf-04" in refusal["problems"][0]["advice"]
    assert asked(served, "/preview/drain", {"places": []}, 422)["kind"] == "Refusal"


def test_what_is_closed_is_emptied_where_that_is_asked(served: Served) -> None:
    """bert-large leaves leaf-04 and fills four nodes, to which then nobody comes; else it stays."""
    view = asked(served, "/what-if", {"close": ["leaf-04"], "empty": True})
    gone = view["emptied"]
    assert (gone["moves"], [one["name"] for one in gone["gangs"]]) == (4, ["bert-large"])
    taken = {pod["to"] for pod in gone["gangs"][0]["pods"]}
    assert len(taken) == 4
    assert not taken & set(gone["nodes"])
    places = [set(one["after"]["nodes"]) for one in view["gangs"] if one["after"]]
    assert places
    assert not [nodes for nodes in places if nodes & (taken | set(gone["nodes"]))]
    assert not any(one["isNew"] or one["runs"] for one in view["gangs"])
    assert asked(served, "/what-if", {"close": ["leaf-04"]})["emptied"] is None


def test_a_defragmentation_is_what_the_verb_says(served: Served) -> None:
    """No gang of the examples may be moved: nine whole leaves stay nine."""
    view = asked(served, "/preview/defrag", {"moves": 5})
    assert (view["kind"], view["budget"], view["moves"]) == ("Defragmentation", 5, [])
    assert view["before"] == view["after"]
    assert view["before"]["leaves"] == 9


def test_a_manifest_that_is_added(served: Served) -> None:
    """A Job of one pod: it is new, and placed."""
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "tried", "namespace": "ml"},
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "completionMode": "Indexed",
            "template": {
                "spec": {
                    "schedulerName": "gpu-scheduler",
                    "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
                }
            },
        },
    }
    view = asked(served, "/what-if", {"manifest": json.dumps(job)})
    new = [one for one in view["gangs"] if one["isNew"]]
    assert [one["namespace"] for one in new] == ["ml"]
    assert len(new[0]["after"]["nodes"]) == 1
    assert view["placed"] == 10


def test_weights_change_the_plan_and_wrong_ones_are_named(served: Served) -> None:
    """All weight on one term: every placed gang earns that term alone."""
    only = {"resourceAvailability": "0", "domainUtilization": "0", "historicalPerformance": "0"}
    view = asked(served, "/what-if", {"weights": only | {"topologyAlignment": "1"}})
    placed = [one["after"] for one in view["gangs"] if one["after"]]
    terms = {term["name"] for place in placed for term in place["terms"]}
    assert len(placed) == 9
    assert terms == {"topologyAlignment"}
    refusal = asked(served, "/what-if", {"weights": {"luck": "1"}}, 422)
    assert refusal["problems"][0]["field"] == "weights.luck"
    zero = dict.fromkeys((*only, "topologyAlignment"), "0")
    assert "all zero" in asked(served, "/what-if", {"weights": zero}, 422)["problems"][0]["message"]


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ("kind: [", "YAML"),
        ("a: &a [*a]", ""),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: 3", "spec"),
        ("\0", "binary"),
    ],
)
def test_nonsense_is_refused_by_name(served: Served, manifest: str, says: str) -> None:
    """It is told what is wrong with it, and nothing breaks by it."""
    refusal = asked(served, "/what-if", {"manifest": manifest}, 422)
    assert says in json.dumps(refusal["problems"])
    assert served.get("/api/v1/queue")[0] == 200


def test_too_many_pods_are_not_planned(served: Served) -> None:
    """A Job of 30,000 pods is beyond what is tried here."""
    spec = {"schedulerName": "gpu-scheduler", "containers": [{"name": "c"}]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "vast", "namespace": "ml"},
        "spec": {
            "parallelism": 30_000,
            "completions": 30_000,
            "completionMode": "Indexed",
            "template": {"spec": spec},
        },
    }
    refusal = asked(served, "/what-if", {"manifest": json.dumps(job)}, 422)
    assert "more than 20000 pods" in refusal["problems"][0]["message"]


def test_cycles_of_nobody(served: Served) -> None:
    """Without an address, it is said how to give one."""
    view = got(served, "/cycles")
    assert view["cycles"] == []
    assert "--server" in view["unknown"][0]
