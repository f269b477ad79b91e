"""`fourleaf drain`: dry runs on files with the real solver, and what it changes on the twin."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.cli.cluster.kept_places import kept_places, would_be_lost
from fourleaf.cli.cluster.patches import patch_all
from fourleaf.cli.cluster.read_cluster import ClusterAccess, Live, read_live
from fourleaf.cli.render.glyphs import UNICODE
from fourleaf.cli.render.relocations import drain_view
from fourleaf.cli.verbs.drain import mark, need_lasting_jobs
from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, actors
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.relocation.evictions.drain_marks import END_JOBS
from fourleaf.model.documents.relocation import drain_document
from fourleaf.model.plan import PlanStatus
from fourleaf.model.previews.drain import drained
from fourleaf.model.previews.ended_jobs import ended_jobs
from fourleaf.model.problems import BadInput
from fourleaf.model.readers import Source, read
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.relocation import RepairPlan
from tests.cli.conftest import Run
from tests.cli.made import text
from tests.k8s_bridge.relocation.bench import Bench

Write = Callable[[str, str], Path]
MOVABLE = {"topology.scheduler/movable": "true"}
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "controller": True}


def stands(name: str, *nodes: str, **said: str) -> list[Body]:
    """A gang of whole nodes whose pods some controller makes."""
    bodies = actors.gang(name, len(nodes), **said)
    for body, node in zip(bodies, nodes, strict=True):
        body["metadata"] |= {"namespace": "ml", "ownerReferences": [OWNER]}
        body["spec"]["nodeName"] = node
        body["status"] = {"phase": "Running"}
    return bodies


def objects(leaves: int, *pods: Body) -> list[Body]:
    """Leaves of two nodes, `n-0-LEAF-NODE`, and these pods."""
    nodes = [one | {"apiVersion": "v1", "kind": "Node"} for one in actors.nodes(1, leaves, 2)]
    return [*nodes, *(one | {"apiVersion": "v1", "kind": "Pod"} for one in pods)]


def cluster(leaves: int, *pods: Body) -> str:
    """The same as text."""
    return yaml.safe_dump_all(objects(leaves, *pods))


def asked(run: Run, path: Path, *places: str, code: int = 0) -> Any:
    """The document of a dry run that ends with `code`."""
    told = run("drain", *places, "-f", path, "-o", "json")
    assert told.exit_code == code, told.output
    return json.loads(told.stdout)


def paths(document: Any) -> dict[str, tuple[str, str, str]]:
    """Pod -> from, to, why."""
    return {
        pod["name"]: (pod["from"], pod["to"], pod["why"])
        for gang in document["gangs"]
        for pod in gang.get("pods", ())
    }


def test_a_budget_that_lets_one_of_two_go(run: Run, write: Write) -> None:
    """The pair stays, since its budget lets only one of them go at once; the reason names it."""
    selector = {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "pair", "namespace": "ml", "generation": 1},
        "spec": {"maxUnavailable": 1, "selector": selector},
        "status": {"observedGeneration": 1, "disruptionsAllowed": 1},
    }
    text = cluster(2, *stands("pair", "n-0-0-0", "n-0-0-1")) + "---\n" + yaml.safe_dump(body)
    path = write("in.yaml", text)
    told = asked(run, path, "leaf-0-0", code=3)
    assert told["moves"] == 0
    assert "disruption budget ml/pair lets 1 go" in json.dumps(told)
    assert [one["outcome"] for one in told["gangs"]] == ["Kept"]
    shown = run("drain", "leaf-0-0", "-f", str(path)).stdout
    assert "may not go  1 gang has pods that may not be evicted, and stays where it is" in shown
    assert "survive" not in shown
    assert "no place" not in shown


def test_a_budget_lets_gangs_go_one_after_another(run: Run, write: Write) -> None:
    """Two replicas, each a gang: the budget that lets one go lets the other go once that runs."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "ml", "generation": 1},
        "spec": {
            "maxUnavailable": "34%",
            "selector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
        },
        "status": {"observedGeneration": 1, "disruptionsAllowed": 1},
    }
    replicas = stands("a", "n-0-0-0") + stands("b", "n-0-0-1")
    text = cluster(2, *replicas) + "---\n" + yaml.safe_dump(body)
    told = asked(run, write("in.yaml", text), "leaf-0-0")
    assert told["moves"] == 2


def test_a_leaf_is_emptied_into_the_next(run: Run, write: Write) -> None:
    """Both members of a pair go to the one leaf that is free, and that is proven."""
    path = write("in.yaml", cluster(2, *stands("pair", "n-0-0-0", "n-0-0-1")))
    told = asked(run, path, "leaf-0-0")
    assert (told["kind"], told["status"], told["moves"]) == ("Drain", "OPTIMAL", 2)
    assert told["nodes"] == ["n-0-0-0", "n-0-0-1"]
    found = paths(told)
    assert {pod: source for pod, (source, _, _) in found.items()} == {
        "pair-0": "n-0-0-0",
        "pair-1": "n-0-0-1",
    }
    assert {target for _, target, _ in found.values()} == {"n-0-1-0", "n-0-1-1"}


def test_the_rest_of_a_gang_comes_along_and_others_make_room(run: Run, write: Write) -> None:
    """Of three leaves only the second can be cleared, by one pod: 3 moves, for 3 reasons."""
    path = write(
        "in.yaml",
        cluster(
            3,
            *stands("pair", "n-0-0-0", "n-0-0-1"),
            *stands("light", "n-0-1-0", **MOVABLE),
            *stands("rock", "n-0-2-0"),
        ),
    )
    told = asked(run, path, "n-0-0-1")
    found = paths(told)
    assert found["light-0"][::2] == ("n-0-1-0", "it makes room")
    assert found["light-0"][1] in ("n-0-2-1", "n-0-0-0")
    assert found["pair-0"][::2] == ("n-0-0-0", "it stays with its gang")
    assert found["pair-1"][::2] == ("n-0-0-1", "its node is emptied")
    assert {found["pair-0"][1], found["pair-1"][1]} == {"n-0-1-0", "n-0-1-1"}
    assert told["moves"] == 3
    text = run("drain", "n-0-0-1", "-f", path).stdout
    assert "moves  3 pods of 2 gangs" in text
    assert "proven fewest: 3 moves" in text


def test_a_gang_without_another_place(run: Run, write: Write) -> None:
    """The other leaf is half taken: the code is 3, and the reason names who stands there."""
    path = write(
        "in.yaml", cluster(2, *stands("pair", "n-0-0-0", "n-0-0-1"), *stands("rock", "n-0-1-0"))
    )
    told = asked(run, path, "leaf-0-0", code=3)
    (lost,) = told["gangs"]
    assert (lost["name"], lost["outcome"], told["moves"]) == ("pair", "Lost", 0)
    assert lost["reason"] != "NotProven"
    text = run("drain", "leaf-0-0", "-f", path).stdout
    assert "no place  1 gang has no other legal place, and stays where it is" in text
    assert "ml/rock" in text


def test_the_policy_of_a_gang_is_named_where_it_stands_in_the_way(run: Run, write: Write) -> None:
    """A gang that may only be patched cannot leave its leaf, though another one is free."""
    patch = {"topology.scheduler/repair-policy": "patch"}
    path = write("in.yaml", cluster(2, *stands("pair", "n-0-0-0", "n-0-0-1", **patch)))
    (lost,) = asked(run, path, "n-0-0-0", code=3)["gangs"]
    assert (lost["outcome"], lost["repairPolicy"]) == ("Lost", "patch")
    assert "repair-policy to move" in run("drain", "n-0-0-0", "-f", path).stdout


def test_what_stays_and_what_is_gone_for_good(run: Run, write: Write) -> None:
    """Who waits for its nodes, who has no controller, and pods of others are all named."""
    bare = stands("bare", "n-0-1-0")
    del bare[0]["metadata"]["ownerReferences"]
    other = actors.pod("agent", 0, "default-scheduler", namespace="ops")
    other["spec"]["nodeName"] = "n-0-1-0"
    wait = {"topology.scheduler/repair-policy": "wait"}
    path = write("in.yaml", cluster(3, *bare, other, *stands("patient", "n-0-0-0", **wait)))
    told = asked(run, path, "leaf-0-0", "n-0-1-0", code=3)
    outcomes = {gang["name"]: gang["outcome"] for gang in told["gangs"]}
    assert outcomes == {"bare": "Stays", "patient": "Waits"}
    assert told["gangs"][-1]["withoutController"] == ["bare-0"]
    assert (told["moves"], told["unowned"], told["others"]) == (0, [], ["ops/agent"])
    text = run("drain", "leaf-0-0", "n-0-1-0", "-f", path).stdout
    for part in (
        "stay where they are  1 gang",
        "ml/bare: delete bare-0 yourself",
        "others  1 pod",
        "stay  1 gang",
        "ml/patient",
    ):
        assert part in text


def job_of(two: list[Body], **spec: Any) -> Body:
    """The Job `x` that made these pods, of which one has failed before."""
    for body in two:
        body["metadata"]["ownerReferences"] = [OWNER]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "x", "namespace": "ml"},
        "spec": {"parallelism": 2, "completions": 2, "template": {"spec": two[0]["spec"]}, **spec},
        "status": {"failed": 1},
    }


DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget"}]}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"backoffLimit": 2}, "spec.backoffLimit"),
        ({"backoffLimit": 3}, ""),
        ({}, ""),
        ({"backoffLimitPerIndex": 0}, "spec.backoffLimitPerIndex"),
        ({"backoffLimitPerIndex": 1}, ""),
        (
            {"backoffLimit": 0, "podFailurePolicy": {"rules": [DISRUPTED | {"action": "Ignore"}]}},
            "",
        ),
        (
            {"podFailurePolicy": {"rules": [DISRUPTED | {"action": "FailJob"}]}},
            "spec.podFailurePolicy",
        ),
    ],
)
def test_which_jobs_end_of_two_evictions(spec: Body, field: str) -> None:
    """One pod has failed, two are evicted: 3 failures are more than 2, and not more than 3 or 6."""
    two = stands("pair", "n-0-0-0", "n-0-0-1")
    source = Source("x", objects=[*objects(2, *two), job_of(two, **spec)])
    found = ended_jobs(read([source]), [("ml", "pair-0"), ("ml", "pair-1")])
    assert [(one.name, one.evicted, one.field) for one in found] == (
        [("x", 2, field)] if field else []
    )


def test_a_job_that_ends_of_the_drain_is_told_of(run: Run, write: Write) -> None:
    """Where Jobs may end, the dry run names the Job and its limit, and ends with 3."""
    two = stands("pair", "n-0-0-0", "n-0-0-1")
    body = job_of(two, backoffLimit=2)
    path = write("in.yaml", cluster(2, *two) + "---\n" + yaml.safe_dump(body))
    (ended,) = asked(run, path, "leaf-0-0", "--end-jobs", code=3)["endedJobs"]
    assert (ended["name"], ended["evicted"], ended["failed"], ended["value"]) == ("x", 2, 1, "2")
    text = run("drain", "leaf-0-0", "--end-jobs", "-f", path).stdout
    assert "would end  1 Job" in text
    assert "Job ml/x: 2 evicted after 1 failures, spec.backoffLimit 2" in text


def test_a_gang_stays_where_its_job_would_end(run: Run, write: Write) -> None:
    """The dry run says what the scheduler will do, which Job keeps the gang, and the way out."""
    two = stands("pair", "n-0-0-0", "n-0-0-1")
    body = job_of(two, backoffLimit=2)
    path = write("in.yaml", cluster(2, *two) + "---\n" + yaml.safe_dump(body))
    told = asked(run, path, "leaf-0-0", code=3)
    (lost,) = told["gangs"]
    assert (lost["outcome"], lost["reason"], told["endedJobs"]) == (
        "Kept",
        "EvictionsForbidden",
        [],
    )
    assert "Job ml/x with spec.backoffLimit 2 lets 1 go" in json.dumps(lost)
    text = run("drain", "leaf-0-0", "-f", path).stdout
    assert "raise spec.backoffLimit of the Job" in text


def test_a_drain_that_ends_a_job_is_refused() -> None:
    """The Job, the field, its value and the way out are named; an empty leaf may go."""
    two = stands("pair", "n-0-0-0", "n-0-0-1")
    live = Live((*objects(2, *two), job_of(two, backoffLimit=2)), 0.0)
    with pytest.raises(BadInput) as bad:
        need_lasting_jobs(live, ["leaf-0-0"], "here")
    (problem,) = bad.value.problems
    assert (problem.object, problem.field, problem.value) == ("Job ml/x", "spec.backoffLimit", "2")
    assert "--end-jobs" in problem.advice
    need_lasting_jobs(live, ["leaf-0-1"], "here")


def test_an_empty_node_costs_nothing(run: Run, write: Write) -> None:
    """Nobody stands there."""
    path = write("in.yaml", cluster(2, *stands("pair", "n-0-0-0", "n-0-0-1")))
    told = run("drain", "n-0-1-0", "-f", path)
    assert told.exit_code == 0
    assert "no gang stands there" in told.stdout


def test_unknown_places(run: Run, write: Write) -> None:
    """Each is named, with what it might have meant."""
    path = write("in.yaml", cluster(2))
    told = run("drain", "leaf-0-0x", "n-0-0-7", "-f", path)
    assert told.exit_code == 2
    assert "leaf-0-0x: is no node, leaf or spine" in told.stderr
    assert "Perhaps leaf-0-0" in told.stderr
    assert "n-0-0-7: is no node, leaf or spine" in told.stderr


@pytest.mark.parametrize("words", [("--apply", "--undo"), ("--dry-run", "--apply")])
def test_one_thing_at_a_time(run: Run, words: tuple[str, ...]) -> None:
    """Doing, undoing and only saying exclude each other."""
    assert run("drain", "n", *words).exit_code == 2


def test_files_cannot_be_changed(run: Run, write: Write) -> None:
    """`--apply` needs a cluster."""
    told = run("drain", "n-0-0-0", "--apply", "-f", write("in.yaml", cluster(1)))
    assert told.exit_code == 2
    assert "nothing can be changed in files" in told.stderr


async def twin() -> tuple[MemoryCluster, Live]:
    """Two leaves of two nodes, the last node cordoned by somebody; and what is seen of them."""
    made = MemoryCluster()
    await actors.add_nodes(made, actors.nodes(1, 2, 2))
    await made.patch(NODES, Target("", "n-0-1-1"), {"spec": {"unschedulable": True}})
    return made, await read_live(made, ClusterAccess())


async def state(made: MemoryCluster) -> dict[str, tuple[bool, str]]:
    """Node -> whether it is cordoned, and its mark."""
    return {
        body["metadata"]["name"]: (
            bool((body.get("spec") or {}).get("unschedulable")),
            (body["metadata"].get("annotations") or {}).get(DRAIN, ""),
        )
        for body in (await made.list(NODES)).items
    }


async def test_nodes_are_marked_and_given_back() -> None:
    """Marked nodes alone are given back: who cordoned another one had a reason."""
    made, live = await twin()
    assert await mark(made, ClusterAccess(), live, ["leaf-0-0"], False) == ("n-0-0-0", "n-0-0-1")
    free, marked, cordoned = (False, ""), (True, "true"), (True, "")
    assert await state(made) == {
        "n-0-0-0": marked,
        "n-0-0-1": marked,
        "n-0-1-0": free,
        "n-0-1-1": cordoned,
    }
    live = await read_live(made, ClusterAccess())
    assert await mark(made, ClusterAccess(), live, ["spine-0"], True) == ("n-0-0-0", "n-0-0-1")
    assert await state(made) == {
        "n-0-0-0": free,
        "n-0-0-1": free,
        "n-0-1-0": free,
        "n-0-1-1": cordoned,
    }


class Stubborn(MemoryCluster):
    """A cluster that lets us change no node of the second leaf."""

    async def patch(self, kind: Any, target: Target, patch: Body, subresource: str = "") -> Body:
        """Refuse for some nodes."""
        if target.name.startswith("n-0-1"):
            raise Refused("nodes is forbidden", 403)
        return await super().patch(kind, target, patch, subresource)


async def test_nodes_that_may_not_be_changed_are_named() -> None:
    """All others are marked nevertheless."""
    made = Stubborn()
    await actors.add_nodes(made, actors.nodes(1, 2, 2))
    names = [Target("", body["metadata"]["name"]) for body in (await made.list(NODES)).items]
    with pytest.raises(BadInput) as bad:
        await patch_all(
            made, ClusterAccess(), NODES, names, {"metadata": {"annotations": {DRAIN: "true"}}}
        )
    assert [one.object for one in bad.value.problems] == ["Node n-0-1-0", "Node n-0-1-1"]
    assert "Ask for the right to patch nodes" in bad.value.problems[0].advice
    assert [mark for _, mark in (await state(made)).values()] == ["true", "true", "", ""]


async def test_the_nodes_say_that_jobs_may_end() -> None:
    """Only where that was asked for, and no longer once they are given back."""
    made, live = await twin()
    reach = ClusterAccess()
    for undo, end_jobs, said in ((False, True, "true"), (False, False, ""), (True, False, "")):
        await mark(made, reach, live, ["n-0-0-0"], undo, end_jobs)
        body = await made.get(NODES, Target("", "n-0-0-0"))
        assert (body["metadata"].get("annotations") or {}).get(END_JOBS, "") == said
        live = await read_live(made, reach)


async def test_the_scheduler_empties_marked_nodes() -> None:
    """A pair on a marked leaf is on another one half a minute later, all of it."""
    bench = Bench()
    await bench.start()
    await bench.submit("g", 2)
    before = set((await bench.places("g")).values())
    leaf = next(iter(before)).rsplit("-", 1)[0].replace("n-", "leaf-")
    live = await read_live(bench.cluster, ClusterAccess())
    nodes = await mark(bench.cluster, ClusterAccess(), live, [leaf], False)
    assert before <= set(nodes)
    await bench.clock.advance(60)
    after = await bench.places("g")
    await bench.stop()
    assert len(after) == 2
    assert not set(after.values()) & set(nodes)


async def test_places_that_are_kept_for_a_gang_are_told() -> None:
    """Pods go for `top`, which waits for them: a drain of its nodes would have them go in vain."""
    bench = Bench(leaves=1)
    await bench.start()
    await bench.classes(low=1, high=9)
    await bench.submit("d", 4, priority="low")
    nodes = set((await bench.places("d")).values())
    reach = ClusterAccess()
    assert await kept_places(bench.cluster, reach, nodes) == {}
    bench.kubelets.silent |= nodes
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(8)
    (gang, kept), *others = (await kept_places(bench.cluster, reach, nodes)).items()
    assert (gang.name, set(kept), others) == ("top", nodes, [])
    assert await kept_places(bench.cluster, reach, []) == {}
    await bench.stop()
    (told, *_) = would_be_lost({gang: kept}, "the cluster")
    assert "are lost, for which pods were told to go" in told.message
    found = read([Source("in", objects=objects(1))], strict=False)
    plan = RepairPlan(PlanStatus.OPTIMAL)
    answer = replace(drained(found, kept, found.snapshot, plan), promised={gang: kept})
    assert not answer.whole
    shown = text(drain_view(answer, found.snapshot.fabric, UNICODE))
    assert "would lose places  1 gang for which pods were told to go" in shown
    assert "no gang stands there" not in shown
    assert drain_document(answer)["keptPlaces"][0]["name"] == "top"
