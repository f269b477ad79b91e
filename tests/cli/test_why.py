"""`fourleaf why` without a cluster: which gang is meant, and how an answer looks."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from fourleaf.cli.answers import RunningMember
from fourleaf.cli.cluster.failed_creates import newest_failed_create
from fourleaf.cli.cluster.not_preempting import why_none_yields
from fourleaf.cli.cluster.not_repaired import is_in_part, members_told_of, why_it_stays
from fourleaf.cli.cluster.read_cluster import ClusterAccess, read_live
from fourleaf.cli.input.gang_names import find_gang
from fourleaf.cli.render.glyphs import UNICODE
from fourleaf.cli.render.why import why_lines
from fourleaf.cli.verbs.queue import waiting
from fourleaf.cli.verbs.why import (
    document_of,
    explained,
    said_of,
    unplanned,
    why_none_yields_to,
    why_not_created,
)
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, JOBS, NAMESPACES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation
from fourleaf.k8s_bridge.reporting.events.relocations import (
    what_does_not_yield,
    what_is_forbidden,
    what_is_stranded,
)
from fourleaf.k8s_bridge.reporting.recorder.event_series import event_body
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, Plan, Waiting
from fourleaf.model.problems import BadInput
from fourleaf.model.readers import InputReading, read
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.pod_condition import ConditionReason
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.start import Start
from tests.cli.made import example, example_plan, text, unproven, within_a_gap
from tests.model.readers.made import Body, job, node, owned, owner, pod, reading, source

DOWN = {"type": "Ready", "status": "Unknown"}
GIVEN_UP = {
    "type": "Failed",
    "status": "True",
    "reason": "BackoffLimitExceeded",
    "message": "reached the specified backoff limit",
}
OVER = "pods are forbidden: exceeded quota: pods, requested: pods=1, used: pods=4, limited: pods=4"
MIXTRAL = GangKey("ml", "mixtral-sft")


def known(snapshot: Snapshot) -> InputReading:
    """A reading that has this snapshot, and nothing else of these names."""
    return replace(reading(node()), snapshot=snapshot)


def shown(snapshot: Snapshot, key: GangKey, plan: Plan) -> str:
    """The answer about `key` as people see it, ten minutes after the gang came."""
    answer = explained(known(snapshot), key, plan)
    now = 600 + next(gang.created for gang in snapshot.gangs if gang.key == key)
    return text(why_lines(answer, snapshot, now, UNICODE))


def test_a_gang_that_would_be_placed() -> None:
    """Eight pods go to gpu-44 and the seven after it, which are leaves 11 and 12."""
    assert shown(example(), MIXTRAL, example_plan()) == (
        "ml/mixtral-sft  would be placed now\n"
        "  priority 100, 8 × 8 GPUs, 10m old\n"
        "  leaves: leaf-11 – leaf-12\n"
        "  nodes in rank order: gpu-44 – gpu-51\n"
        "  plan: proven best\n"
    )
    document = document_of(explained(known(example()), MIXTRAL, example_plan()))
    assert document["state"] == "PlacedNow"
    assert document["wouldGoTo"][7] == {"name": "mixtral-sft-worker-1-3", "node": "gpu-51"}
    assert document["plan"] == {"status": "OPTIMAL", "gap": 0.0}


def test_a_place_is_as_good_as_its_plan() -> None:
    """Proven within a gap, or not at all: said beside the place. 248 of 12593 are 1.9694 %."""
    near, left = within_a_gap(example_plan()), unproven(example_plan())
    assert "\n  plan: proven within 1.9694 % of the best\n" in shown(example(), MIXTRAL, near)
    assert "\n  plan: valid, at most 1.97 % from the best\n" in shown(example(), MIXTRAL, left)
    document = document_of(explained(known(example()), MIXTRAL, near))
    assert document["plan"] == {"status": "OPTIMAL", "gap": 0.019694}


def test_a_gang_of_which_a_part_runs() -> None:
    """Members that run come first, with the devices that their annotations name."""
    running = RunningPod("ml", "old", "gpu-00", example().gangs[0].roles[0].request, MIXTRAL)
    snapshot = replace(example(), running=(replace(running, ours=True, devices=(2, 3)),))
    lines = shown(snapshot, MIXTRAL, example_plan()).splitlines()
    assert lines[0] == "ml/mixtral-sft  runs: 1 pod on leaf-00"
    assert lines[2].split() == ["old", "gpu-00", "leaf-00", "2,3"]
    assert lines[4] == "ml/mixtral-sft  would be placed now"


@pytest.mark.parametrize(
    ("name", "namespace"), [("mixtral-sft", None), ("ml/mixtral-sft", "x"), ("mixtral-sft", "ml")]
)
def test_a_gang_is_found_by_its_names(name: str, namespace: str | None) -> None:
    """The name alone is enough where it is the only one; its own namespace wins over -n."""
    assert find_gang(known(example()), name, namespace, "the input") == MIXTRAL


@pytest.mark.parametrize(
    "name", ["train-1", "pod/train-1", "po/train-0", "train", "job/train", "jobs.batch/train"]
)
def test_a_gang_is_found_by_what_people_paste(name: str) -> None:
    """A pod of it, or the Job that made them, by name alone or as kubectl prints them."""
    said = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    bodies = [
        owned(pod(f"train-{i}", labels=said, annotations=said), "Job", "train") for i in (0, 1)
    ]
    found = read([source(node(), *bodies)], strict=False, expand=False)
    assert find_gang(found, name, None, "the input") == GangKey("ml", "g")
    assert find_gang(found, name, "ml", "the input") == GangKey("ml", "g")
    with pytest.raises(BadInput):
        find_gang(found, name, "another", "the input")
    with pytest.raises(BadInput):
        find_gang(found, f"statefulset/{name.rpartition('/')[2]}", None, "the input")


def test_a_name_that_two_gangs_have() -> None:
    """Both are offered."""
    twin = replace(example().gangs[0], key=GangKey("another", example().gangs[0].key.name))
    snapshot = replace(example(), gangs=(*example().gangs, twin))
    with pytest.raises(BadInput, match=f"Say which: another/{twin.key.name}, "):
        find_gang(known(snapshot), twin.key.name, None, "the input")


def test_nothing_like_it() -> None:
    """Where no name is near, the queue is where names are."""
    with pytest.raises(BadInput, match="See `fourleaf queue` for names"):
        find_gang(known(example()), "zzzzzz", None, "the input")


@pytest.mark.parametrize(
    ("bodies", "message", "advice"),
    [
        (
            [owned(pod("train-0", schedulerName="topolgy-aware-scheduler"), "Job", "train")],
            "one of its pods name the scheduler topolgy-aware-scheduler",
            "Perhaps topology-aware-scheduler is meant: set schedulerName in its pod template",
        ),
        (
            [owned(pod("train-0", schedulerName=""), "Job", "train")],
            "one of its pods name the scheduler default-scheduler",
            "Set schedulerName: topology-aware-scheduler in its pod template",
        ),
        (
            [owned(pod(f"train-{i}", phase="Succeeded"), "Job", "train") for i in range(2)],
            "its pods have ended, 2 Succeeded",
            "kubectl logs",
        ),
        ([job("train", suspend=True)], "Job ml/train is suspended", "spec.suspend is false"),
        ([job("train") | {"status": {"completionTime": "x"}}], "is complete", "kubectl logs"),
        ([job("train")], "Job ml/train has no pods yet", "describe job train"),
        (
            [job("train") | {"status": {"failed": 3}}],
            "3 pods of Job ml/train have failed, and it waits for a while",
            "kubectl logs",
        ),
        (
            [job("train") | {"status": {"conditions": [GIVEN_UP]}}],
            "Job ml/train has failed: BackoffLimitExceeded: reached the specified backoff limit",
            "Create it anew",
        ),
    ],
    ids=[
        "misspelt", "another scheduler", "ended", "suspended", "complete", "no pods", "backs off",
        "failed",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["train", "ml/train", "job/train", "jobs.batch/train"])
def test_what_there_is_of_a_name_that_is_no_gang(
    name: str, bodies: list[Body], message: str, advice: str
) -> None:
    """What stands there in place of a gang, and what would make it one."""
    sources = [source(node(), *bodies)]
    found = read(sources, strict=False, expand=False)
    with pytest.raises(BadInput) as caught:
        find_gang(found, name, None, "the input")
    (problem,) = caught.value.problems
    assert message in problem.message
    assert advice in problem.advice


@pytest.mark.parametrize("name", ["js", "ml/js", "jobset/js", "jobsets.jobset.x-k8s.io/js"])
@pytest.mark.parametrize(
    ("spec", "message", "advice"),
    [
        ({}, "is no gang: JobSet ml/js has no pods yet", "kubectl -n ml describe jobset js"),
        ({"suspend": True}, "JobSet ml/js is suspended, so it has", "spec.suspend is false"),
    ],
)
def test_a_job_set_that_has_made_no_job(name: str, spec: Body, message: str, advice: str) -> None:
    """The name is there: what its controller says is what helps, and what it could not make."""
    found = read([source(node())], strict=False, expand=False)
    idle = [owner("JobSet", "jobset.x-k8s.io/v1alpha2", "js", **spec)]
    with pytest.raises(BadInput) as caught:
        find_gang(found, name, None, "the input", idle=idle)
    (problem,) = caught.value.problems
    assert message in problem.message
    assert advice in problem.advice
    with pytest.raises(BadInput, match="nothing else has that name"):
        find_gang(found, "job/js", None, "the input", idle=idle)


def test_an_object_of_another_kind_or_namespace_is_not_meant() -> None:
    """The word before the name is a namespace or a kind: neither is taken for the other's Job."""
    found = read([source(node(), job("train"))], strict=False, expand=False)
    for name, namespace in (("pod/train", None), ("ops/train", None), ("job/train", "ops")):
        with pytest.raises(BadInput, match="nothing else has that name"):
            find_gang(found, name, namespace, "the input")


async def test_a_job_whose_pods_a_quota_forbids() -> None:
    """What its controller said last of it is told, and that it is a quota; not of another Job."""
    cluster = MemoryCluster()
    await cluster.create(NAMESPACES, "", {"metadata": {"name": "ml"}})
    for number, (uid, words) in enumerate([("u", "the webhook is down"), ("u", OVER), ("v", "no")]):
        body = {
            "metadata": {"name": f"train.{number}"},
            "regarding": {"kind": "Job", "namespace": "ml", "name": "train", "uid": uid},
            "reason": "FailedCreate",
            "note": words,
            "deprecatedLastTimestamp": f"2026-01-01T00:0{number}:00Z",
        }
        await cluster.create(EVENTS, "ml", body)
    assert await newest_failed_create(cluster, "ml", "u") == OVER
    assert await newest_failed_create(cluster, "ml", "w") == ""
    long = body | {"metadata": {"name": "long"}, "note": "x " * 500_000}
    await cluster.create(EVENTS, "ml", long)
    assert len(await newest_failed_create(cluster, "ml", "v")) <= 1024
    body = job("train")
    body["metadata"]["uid"] = "u"
    found = read([source(node(), body)], strict=False, expand=False)
    with pytest.raises(BadInput) as caught:
        find_gang(found, "job/train", None, "the input", lambda *of: OVER if of[1] == "u" else "")
    (problem,) = caught.value.problems
    assert f"Job ml/train could not make its pods: {OVER}" in problem.message
    assert problem.advice.startswith("Raise the ResourceQuota")


def test_a_job_of_which_a_quota_allows_a_part() -> None:
    """Its one pod waits for three that its Job may not create: what that says, and where."""
    made = owned(pod("train-0"), "Job", "train")
    made["metadata"]["ownerReferences"][0] |= {"uid": "u", "controller": True}
    body = job("train", parallelism=4, completions=4, completionMode="Indexed")
    body["metadata"]["uid"] = "u"
    found = read([source(node(), body, made)], strict=False, expand=False)
    key = GangKey("ml", "train")
    hold = found.snapshot.gangs_by_key[key].hold
    assert hold is not None
    waiting = Waiting(key, hold.reason)
    answer = replace(explained(found, key, None), waiting=waiting)
    said = why_not_created(found, answer, lambda *of: OVER if of == ("ml", "u") else "")
    answer = replace(answer, not_created=said)
    shown = text(why_lines(answer, found.snapshot, 0, UNICODE))
    assert "unblock: See in the events of Job train what keeps it from creating the 3" in shown
    assert f"not created: {OVER}" in " ".join(shown.split())
    assert document_of(answer)["notCreated"] == OVER


def waits(*texts: str) -> InputReading:
    """A gang of which each pod says one of `texts` in its condition, nothing where it is empty."""
    said = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": str(len(texts))}
    bodies = []
    for rank, message in enumerate(texts):
        body = pod(f"g-{rank}", annotations=said)
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        told = [{**condition, "message": message}] if message else []
        bodies.append({**body, "status": {"phase": "Pending", "conditions": told}})
    return read([source(node(), *bodies)], strict=False, expand=False)


def test_what_the_scheduler_says_stands_for_a_plan() -> None:
    """Where all pods say the same in its words; the table says whose words they are."""
    text_of_all = (
        "NoFreeCapacity: short of GPUs. To unblock: a ends; b ends. Nearest: 1 of 2 in leaf-0."
    )
    found, key = waits(text_of_all, text_of_all), GangKey("ml", "g")
    told = said_of(found, key)
    assert told is not None
    answer = replace(explained(found, key, None), told=told)
    now = found.snapshot.gangs_by_key[key].created + 60
    lines = text(why_lines(answer, found.snapshot, now, UNICODE)).splitlines()
    assert lines[0] == "ml/g  NoFreeCapacity"
    assert lines[2:] == [
        "  unblock: a ends",
        "  unblock: b ends",
        "  short of GPUs",
        "  nearest: 1 of 2 in leaf-0",
        "  as the scheduler says; --plan plans anew",
    ]
    others = "NoFreeCapacity: short of nodes.", "", "0/3 nodes are available."
    for other in others:
        assert said_of(waits(text_of_all, other), key) is None
    assert said_of(waits(others[2], others[2]), key) is None


AWAITS = "VolumesAwaited: PersistentVolumeClaim ml/data has no volume. To unblock: see its events."


def test_what_no_plan_knows_is_told_in_documents_too() -> None:
    """A volume that does not come: it waits, though a plan has a place; the rest is planned."""
    found, key = waits(AWAITS, AWAITS), GangKey("ml", "g")
    told = unplanned(said_of(found, key))
    shown = document_of(replace(explained(found, key, None), told=told))
    assert (shown["state"], shown["why"]["reason"]) == ("Waiting", "VolumesAwaited")
    assert shown["why"]["message"] == "PersistentVolumeClaim ml/data has no volume"
    assert shown["why"]["unblock"] == ["see its events"]
    assert unplanned(said_of(waits("NoFreeCapacity: short of nodes."), key)) is None
    assert unplanned(None) is None


@pytest.mark.parametrize(
    ("said", "seconds", "held"),
    [(AWAITS, None, True), ("NoFreeCapacity: short of nodes.", 0, False), ("", 0, False)],
)
def test_no_start_is_foreseen_of_what_may_not_be_bound(
    said: str, seconds: int | None, held: bool
) -> None:
    """There is room now, and when the volume comes is not known."""
    found, key = waits(said), GangKey("ml", "g")
    now = found.snapshot.now
    start = Start(key, now, Placement(key, (("g-0", "n1"),)))
    (entry,) = waiting(found, {key: start})
    assert (entry["start"]["seconds"], entry["start"]["held"]) == (seconds, held)


def test_a_gang_that_runs_on_a_node_that_is_lost() -> None:
    """Which pods, which nodes, and that one is to end there; sound ones are not named."""
    said = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "4"}
    dead = node("n1", status=node()["status"] | {"conditions": [DOWN]})
    nodes = [dead, node("n2"), node("n3", spec={"unschedulable": True})]
    places = enumerate(("n1", "n1", "n2", "n3"))
    bodies = [pod(f"g-{rank}", annotations=said, nodeName=name) for rank, name in places]
    bodies[1]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = read([source(*nodes, *bodies)], strict=False, expand=False)
    answer = explained(found, GangKey("ml", "g"), None)
    shown = text(why_lines(answer, found.snapshot, 0.0, UNICODE))
    assert shown.startswith("ml/g  runs as far as is known: 3 pods on ")
    assert shown.splitlines()[0].endswith(", and 1 pod to end")
    assert shown.rstrip().endswith(
        "  its node is not ready: g-0 on n1\n"
        "  its node is not ready and it is ending: g-1 on n1\n"
        "  its node is cordoned: g-3 on n3"
    )
    assert document_of(answer)["pods"][0]["trouble"] == "its node is not ready"


BUDGETS = (
    "It would start if pods of lower priority could be evicted, which 1 limit of disruption "
    "budgets forbid. To unblock: raise these budgets, or wait until a gang ends"
)


async def test_what_keeps_others_from_making_way() -> None:
    """The newest event on one of its pods, for as long as the scheduler says so; none of others."""
    cluster = MemoryCluster()
    await cluster.create(NAMESPACES, "", {"metadata": {"name": "ml"}})
    for number, (uid, why) in enumerate([("a", "before"), ("a", BUDGETS), ("b", "of another")]):
        event = what_does_not_yield(Target("ml", "g-0", uid), why)
        await cluster.create(EVENTS, "ml", event_body(event, "me", 1e9 + number, number))
    assert await why_none_yields(cluster, "ml", {"a"}, 1e9 + 60) == BUDGETS
    assert await why_none_yields(cluster, "ml", {"c"}, 1e9 + 60) == ""
    assert await why_none_yields(cluster, "ml", {"a"}, 1e9 + 1000) == ""


@pytest.mark.parametrize(("said", "is_asked"), [("NoFreeCapacity: none.", True), (AWAITS, False)])
def test_who_waits_for_room_is_told_why_none_makes_way(said: str, is_asked: bool) -> None:
    """Asked of its own pods, where room is why; said beside why it waits, and in documents."""
    found, key = waits(said), GangKey("ml", "g")
    uid = found.pods["ml", "g-0"]["metadata"].setdefault("uid", "u")
    answer = replace(explained(found, key, None), told=said_of(found, key))
    heard = why_none_yields_to(found, answer, lambda *of: BUDGETS if of == ("ml", {uid}) else "")
    assert bool(heard) == is_asked
    answer = replace(answer, not_yielding=heard)
    shown = " ".join(text(why_lines(answer, found.snapshot, 0, UNICODE)).split())
    assert ("unblock: raise these budgets, or wait until a gang ends" in shown) == is_asked
    assert ("no preemption: It would start if pods of lower priority" in shown) == is_asked
    assert document_of(answer).get("preemptionForbidden", "") == heard


async def test_why_a_gang_stays_with_lost_members() -> None:
    """The newest event on a pod of these UIDs, taken apart; not one of another gang's pod.

    Nor one that is older than a pod of the gang, which was repaired since, or than its trouble.
    """
    cluster = MemoryCluster()
    await cluster.create(NAMESPACES, "", {"metadata": {"name": "ml"}})
    for number, (uid, holder) in enumerate([("a", "ml/old"), ("a", "ml/new"), ("b", "ml/else")]):
        note = f"NoFreeCapacity: short of GPUs. To unblock: it starts when {holder} ends."
        event = what_is_stranded(GangKey("ml", "g"), Target("ml", "g-0", uid), note)
        await cluster.create(EVENTS, "ml", event_body(event, "me", 1e9 + number, number))
    born = {"a": "2001-09-09T01:46:39Z"}
    told = await why_it_stays(cluster, ClusterAccess(), "ml", born, 1e9)
    assert isinstance(told, ConditionReason)
    assert (told.kind, told.sentence) == (ReasonKind.NO_FREE_CAPACITY, "short of GPUs")
    assert told.unblock == ("it starts when ml/new ends",)
    assert await why_it_stays(cluster, ClusterAccess(), "ml", {"c": born["a"]}, 1e9) is None
    later = born | {"new": "2001-09-09T01:46:50Z"}
    assert await why_it_stays(cluster, ClusterAccess(), "ml", later, 1e9) is None
    assert await why_it_stays(cluster, ClusterAccess(), "ml", born, 1e9 + 2) is None
    found = waits("")
    answer = replace(explained(found, GangKey("ml", "g"), None), stays=told, gang=None)
    member = RunningMember("g-0", "n1", "leaf-1", (), "its node is not ready")
    shown = text(why_lines(replace(answer, standing=(member,)), found.snapshot, 0.0, UNICODE))
    assert shown.splitlines()[-4:] == [
        "ml/g  stays as it is, says the scheduler",
        "  unblock: it starts when ml/new ends",
        "  short of GPUs",
        "  `fourleaf drain n1` plans its places anew",
    ]


async def test_why_a_gang_stays_whose_lost_member_is_kept() -> None:
    """A budget keeps it: that is why, what unblocks leads, and no other place would help."""
    cluster = MemoryCluster()
    await cluster.create(NAMESPACES, "", {"metadata": {"name": "ml"}})
    leaver = Leaver(Target("ml", "g-0", "a"), "n1")
    one = Relocation(GangKey("ml", "g"), Purpose.REPAIR, (), (leaver,), why="n1 is gone")
    event = what_is_forbidden(one, leaver, "it would violate the disruption budget ml/keep")
    await cluster.create(EVENTS, "ml", event_body(event, "me", 1e9, 0))
    told = await why_it_stays(cluster, ClusterAccess(), "ml", {"a": "2001-09-09T01:46:39Z"}, 1e9)
    assert isinstance(told, ConditionReason)
    found = waits("")
    answer = replace(explained(found, GangKey("ml", "g"), None), stays=told, gang=None)
    member = RunningMember("g-0", "n1", "leaf-1", (), "its node is gone", None, True)
    answer = replace(answer, standing=(member,))
    shown = text(why_lines(answer, found.snapshot, 0.0, UNICODE))
    said = " ".join(shown.partition("ml/g  stays as it is, says the scheduler")[2].split())
    assert said == (
        "unblock: raise its disruption budget, or delete the pod ml/g-0 should leave n1 (n1 is "
        "gone), but may not for now: it would violate the disruption budget ml/keep"
    )


async def test_why_a_gang_in_part_is_not_whole_again() -> None:
    """Its lost member is gone, all others stand well: the word is with the pod made in its place.

    What makes it whole without a move leads, before what the pod's own condition says.
    """
    said = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    bodies = [pod("g-0", annotations=said, nodeName="n1"), pod("g-1", annotations=said)]
    for body, uid, second in zip(bodies, "ab", ("39", "40"), strict=True):
        body["metadata"] |= {"uid": uid, "creationTimestamp": f"2001-09-09T01:46:{second}Z"}
    found, key = read([source(node("n1"), *bodies)], strict=False, expand=False), GangKey("ml", "g")
    cluster = MemoryCluster()
    await cluster.create(NAMESPACES, "", {"metadata": {"name": "ml"}})
    note = "NoAdjacentLeaves: no room. To unblock: uncordon n2."
    event = what_is_stranded(key, Target("ml", "g-1", "b"), note)
    await cluster.create(EVENTS, "ml", event_body(event, "me", 1e9 + 1, 0))
    answer = explained(found, key, None)
    assert is_in_part(answer)
    uids = members_told_of(found, answer)
    told = await why_it_stays(cluster, ClusterAccess(), "ml", uids, -inf)
    assert isinstance(told, ConditionReason)
    shown = text(why_lines(replace(answer, stays=told), found.snapshot, 0.0, UNICODE))
    assert "says the scheduler\n  unblock: uncordon n2\n  no room\n" in shown
    assert not is_in_part(replace(answer, placement=Placement(key, (("g-1", "n1"),))))
    assert not is_in_part(replace(answer, standing=()))


@pytest.mark.parametrize("has_failed_pod", [False, True])
async def test_a_job_of_a_live_cluster_without_pods(has_failed_pod: bool) -> None:
    """It backs off after a failure, of which the pod is gone or has ended: others come."""
    cluster = MemoryCluster()
    await cluster.create(NAMESPACES, "", {"metadata": {"name": "ml"}})
    await cluster.create(NODES, "", node())
    body = job("train")
    made = await cluster.create(JOBS, "ml", body)
    await cluster.patch(JOBS, Target("ml", "train"), {"status": {"failed": 1}}, "status")
    if has_failed_pod:
        ended = owned(pod("train-x", phase="Failed"), "Job", "train")
        ended["metadata"]["ownerReferences"][0]["uid"] = made["metadata"]["uid"]
        await cluster.create(PODS, "ml", ended)
        await cluster.patch(
            PODS, Target("ml", "train-x"), {"status": {"phase": "Failed"}}, "status"
        )
    live = await read_live(cluster, ClusterAccess(scheduler_namespace="kube-system"))
    with pytest.raises(BadInput) as caught:
        find_gang(live.reading(), "job/train", None, "the cluster", idle=live.idle)
    (problem,) = caught.value.problems
    assert "1 pods of Job ml/train have failed, and it waits for a while" in problem.message
