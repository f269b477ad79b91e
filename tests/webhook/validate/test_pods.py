"""What is refused about a pod, field by field; and what is not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fourleaf.model.config.spec import Spec
from fourleaf.model.readers.objects.annotations import GPU_COUNT
from fourleaf.webhook.decide import Route
from fourleaf.webhook.review import Malformed, decoded
from fourleaf.webhook.settings import Settings
from tests.webhook.made import ORDERED, OURS, causes, decided, pod, review

CLAIM = "gpu.scheduling/claim"
MAP = "gpu-scheduling-map"


def annotation(key: str) -> str:
    """Its field."""
    return f"metadata.annotations[{key}]"


def test_a_good_pod_passes() -> None:
    """With a claim, a gang, or a map that fits."""
    assert causes(pod()) == {}
    assert causes(pod(annotations={CLAIM: "single-gpu"})) == {}
    assert causes(pod("p-1", {MAP: "0=n1:0\n1=n2:3"})) == {}
    gang = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "16"}
    assert causes(pod(annotations=gang)) == {}


MANY: dict[str, dict[str, Any]] = {
    "containers": {"containers": [{}] * 251, "initContainers": [{}] * 250},
    "entries": {"volumes": [{}] * 5000, "tolerations": [{}] * 5000},
    "entries of containers": {
        "containers": [
            {"env": [{}] * 9000, "resources": {"limits": dict.fromkeys(map(str, range(1000)), 1)}}
        ]
    },
}


@pytest.mark.parametrize("door", list(Route))
@pytest.mark.parametrize("spec", MANY.values(), ids=MANY)
def test_too_much_of_anything_is_refused_unread(door: Route, spec: dict[str, Any]) -> None:
    """Nothing is added to it, and one thing is said of it: it has cost no more than a count."""
    found = decided(review(pod(**spec)), door)
    assert (found.result, len(found.problems)) == ("refused", 1)
    assert "has more than" in found.problems[0].message
    assert "patch" not in found.answer["response"]
    # One that came while no webhook answered is looked at no more, and may be ended.
    assert decided(review(pod(**spec), before=pod(**spec)), door).result == "untouched"


def test_as_much_as_may_be_is_read() -> None:
    """500 containers, each with 15 variables; 256 KiB of annotations, and one byte more."""
    env = [OURS, ORDERED, *({"name": f"V{number}", "value": "1"} for number in range(13))]
    assert causes(pod(containers=[{"name": f"c{i}", "env": env} for i in range(500)])) == {}
    text = {"note": "x" * 256 * 2**10}
    assert causes(pod(annotations=text)) == {}
    assert causes(pod(annotations={**text, "more": "y"})).keys() == {"metadata.annotations"}


@pytest.mark.parametrize("text", [b"{}", b"[]"])
def test_a_body_of_very_many_objects_is_not_parsed(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two million fit into 7 MiB of text, and into many times as much memory."""
    monkeypatch.setattr("fourleaf.webhook.review.parse", None)
    with pytest.raises(Malformed, match="200,000 objects"):
        decoded(b"[" + b",".join([text] * 200_000) + b"]")


@pytest.mark.parametrize("claim", ["other/claim", "", "A", "-a", "a..b", "a" * 254, "ü", "a\n"])
def test_a_claim_is_a_plain_name(claim: str) -> None:
    """Nothing with a slash, nothing that no object could be called."""
    assert causes(pod(annotations={CLAIM: claim})).keys() == {annotation(CLAIM)}


def test_the_longest_name_is_one() -> None:
    """253 characters are what the API allows."""
    assert causes(pod(annotations={CLAIM: "a" * 253})) == {}


@pytest.mark.parametrize(("gpus", "fine"), [(0, True), (4, True), (1, False), (8, False)])
def test_a_known_claim_and_the_containers_agree(gpus: int, fine: bool) -> None:
    """Claim of 4: the containers ask for 4, or leave it to the claim."""
    four, one = ({"spec": {"devices": {"count": count}}} for count in (4, 1))
    settings = Settings(claims={("ml", "four"): four, ("other", "one"): one})
    found = causes(pod(annotations={CLAIM: "four"}, gpus=gpus), settings=settings)
    assert (found == {}) is fine
    assert causes(pod(annotations={CLAIM: "one"}, gpus=gpus), settings=settings) == {}


@pytest.mark.parametrize("gpus", [0, 4])
def test_what_limits_have_to_say_as_well(gpus: int) -> None:
    """Under `requireLimits` a claim, a map or a count is refused beside containers without GPUs."""
    spec = Spec.model_validate({"devices": {"requireLimits": True}})
    settings = Settings(spec, claims={("ml", "four"): {"spec": {"devices": {"count": 4}}}})
    for key, value in ((CLAIM, "four"), (MAP, "0=n1:0,1,2,3"), (GPU_COUNT, "4")):
        body = pod("p-0", {key: value}, gpus)
        assert causes(body) == {}
        found = causes(body, settings=settings)
        assert list(found) == ([] if gpus else [annotation(key)])


def test_a_claim_may_demand_more_than_the_kubelet_is_asked_for() -> None:
    """Where device plugins choose, a claim for devices in a row cannot be kept."""
    row = {"spec": {"devices": {"count": 2, "policy": "contiguous"}}}
    for mode, fine in (("env", True), ("dra", True), ("count", False)):
        spec = Spec.model_validate({"devices": {"mode": mode}})
        settings = Settings(spec, claims={("ml", "row"): row})
        found = causes(pod(annotations={CLAIM: "row"}, gpus=2), settings=settings)
        assert (found == {}) is fine


def test_devices_are_settled_once_the_pod_has_a_node() -> None:
    """A claim may change while the pod waits, and not after."""
    for key, old, new in ((CLAIM, "a", "b"), (MAP, "0=n1:0", "0=n1:1")):
        before, after = pod("p-0", {key: old}), pod("p-0", {key: new})
        assert causes(after, before) == {}
        for one in (before, after):
            one["spec"]["nodeName"] = "n1"
        assert causes(after, before).keys() == {annotation(key)}


def test_a_map_is_read_as_the_scheduler_reads_it() -> None:
    """Bad lines are told one by one; a pod that gets its name later is not sought in it."""
    assert annotation(MAP) in causes(pod("p-0", {MAP: "0 n1"}))
    assert "has no line for p-7" in causes(pod("p-7", {MAP: "0=n1:0"}))[annotation(MAP)]
    nameless = pod("", {MAP: "0=n1:0"})
    nameless["metadata"]["generateName"] = "p-"
    assert causes(nameless) == {}


def test_an_endless_map_is_not_read() -> None:
    """One problem instead of ten thousand."""
    found = causes(pod("p-0", {MAP: "x\r" * 10_000}))
    assert "has more than 4096 lines" in found[annotation(MAP)]
    assert len(found) == 1


def test_every_problem_is_told_at_once() -> None:
    """Three different faults are three causes, and the sentence names each field."""
    body = pod(annotations={CLAIM: "a/b", "topology.scheduler/latency-sensitive": "maybe"})
    body["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    assert causes(body).keys() == {
        annotation(CLAIM),
        annotation("topology.scheduler/latency-sensitive"),
        "spec.containers[0].securityContext.privileged",
    }
    status = decided(review(body)).answer["response"]["status"]
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert status["message"].startswith("Pod ml/p is refused: ")
    assert all(one["field"] in status["message"] for one in status["details"]["causes"])
    assert {one["reason"] for one in status["details"]["causes"]} == {"FieldValueInvalid"}


@pytest.mark.parametrize("kind", ["containers", "initContainers"])
@pytest.mark.parametrize(
    "name",
    [
        "CUDA_VISIBLE_DEVICES",
        "NVIDIA_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "AMD_VISIBLE_DEVICES",
        "GPU_DEVICE_ORDINAL",
    ],
)
def test_no_container_chooses_its_devices(kind: str, name: str) -> None:
    """Not even beside the right entry: the last of one name would win."""
    body = pod()
    body["spec"][kind] = [{"name": "c", "env": [OURS, {"name": name, "value": "all"}]}]
    assert causes(body).keys() == {f"spec.{kind}[0].env[1]"}


@pytest.mark.parametrize(
    "source",
    [
        {"fieldRef": {"fieldPath": "metadata.annotations['mine']"}},
        {"fieldRef": {"fieldPath": "metadata.labels['alloc.gpu.scheduling/devices']"}},
        {"configMapKeyRef": {"name": "c", "key": "k"}},
        {"secretKeyRef": {"name": "c", "key": "k"}},
        {},
    ],
    ids=str,
)
def test_other_sources_are_refused(source: dict[str, Any]) -> None:
    """Only the scheduler's annotation tells the devices."""
    body = pod()
    body["spec"]["containers"][0]["env"] = [{"name": "CUDA_VISIBLE_DEVICES", "valueFrom": source}]
    assert causes(body).keys() == {"spec.containers[0].env[0]"}


def test_which_libraries_a_container_gets_is_its_own_to_say() -> None:
    """NVIDIA_DRIVER_CAPABILITIES brings libraries of the driver, and no device of others."""
    body = pod()
    libraries = {"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "all"}
    body["spec"]["containers"][0]["env"] = [OURS, libraries]
    assert causes(body) == {}


def test_devices_are_numbered_as_the_agent_does() -> None:
    """In another order the same numbers would be devices of others."""
    body = pod()
    fastest = {"name": "CUDA_DEVICE_ORDER", "value": "FASTEST_FIRST"}
    body["spec"]["containers"][0]["env"] = [OURS, fastest]
    assert causes(body).keys() == {"spec.containers[0].env[1]"}


def test_a_missing_variable_is_refused() -> None:
    """A pod that passed the mutation by would see every device of its node."""
    body = pod()
    del body["spec"]["containers"][0]["env"]
    assert causes(body).keys() == {"spec.containers[0].env"}


def test_what_cannot_be_seen_is_said() -> None:
    """Variables from another object: a warning for pods with GPUs, nothing for others."""
    for gpus, expected in ((1, 1), (0, 0)):
        body = pod(gpus=gpus)
        body["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": "c"}}]
        response = decided(review(body)).answer["response"]
        assert response["allowed"]
        assert len(response.get("warnings", ())) == expected


@pytest.mark.parametrize(
    ("path", "leads"),
    [
        ("/", True),
        ("//", True),
        ("/dev", True),
        ("/dev/", True),
        ("/dev/nvidia0", True),
        ("/dev/nvidiactl", True),
        ("/dev/nvidia-caps/x", True),
        ("/data/../dev/kfd", True),
        ("/dev/./dri/renderD128", True),
        ("dev/nvidia0", True),
        ("/dev/shm", False),  # noqa: S108 - nothing is written there
        ("/dev/infiniband", False),
        ("/devices", False),
        ("/data", False),
        ("/mnt/dev/nvidia0", False),
    ],
)
def test_host_paths(path: str, leads: bool) -> None:
    """Device files and the folders above them, however they are written."""
    body = pod(volumes=[{"name": "v", "hostPath": {"path": path}}])
    assert (causes(body).keys() == {"spec.volumes[0].hostPath.path"}) is leads


def test_the_hosts_processes() -> None:
    """Forbidden beside devices, in whichever way the pod asks for them."""
    assert "spec.hostPID" in causes(pod(hostPID=True))
    assert "spec.hostPID" in causes(pod(annotations={CLAIM: "c"}, gpus=0, hostPID=True))
    assert causes(pod(gpus=0, hostPID=True)) == {}


def test_other_schedulers_pods_keep_their_rights() -> None:
    """A device plugin is privileged, mounts /dev and is none of ours."""
    body = pod(schedulerName="default-scheduler", hostPID=True)
    body["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    body["spec"]["volumes"] = [{"name": "dev", "hostPath": {"path": "/dev"}}]
    assert causes(body) == {}


@pytest.mark.parametrize(
    ("annotations", "field"),
    [
        ({"gang-size": "4"}, "gang-size"),
        ({"gang": "g"}, "gang-size"),
        ({"gang": "g", "gang-size": "0"}, "gang-size"),
        ({"gang": "g", "gang-size": "-4"}, "gang-size"),
        ({"gang": "g", "gang-size": "2147483648"}, "gang-size"),
        ({"gang": "g", "gang-size": "4001"}, "gang-size"),
        ({"gang": "g", "gang-size": "1.5"}, "gang-size"),
        ({"gang": "g", "gang-size": "٤"}, "gang-size"),
        ({"gang": "", "gang-size": "4"}, "gang"),
        ({"gang": "g" * 254, "gang-size": "4"}, "gang"),
        ({"gang": "größe", "gang-size": "4"}, "gang"),
        ({"gang": "a b", "gang-size": "4"}, "gang"),
        ({"gangsize": "4"}, "gangsize"),
        ({"network-bandwidth": "fast"}, "network-bandwidth"),
        ({"expected-duration": "soon"}, "expected-duration"),
        ({"placement-strategy": "random"}, "placement-strategy"),
        ({"topology-policy": "required"}, "topology-policy"),
        ({"movable": "yes"}, "movable"),
        ({"move-cost": "0"}, "move-cost"),
        ({"preferred-domain": ""}, "preferred-domain"),
        ({"gpu-count": "2"}, "gpu-count"),
    ],
    ids=str,
)
def test_annotations_that_make_no_sense(annotations: dict[str, str], field: str) -> None:
    """Refused by the name of the annotation that is wrong."""
    given = {f"topology.scheduler/{key}": value for key, value in annotations.items()}
    assert annotation(f"topology.scheduler/{field}") in causes(pod(annotations=given))


def test_what_an_owner_may_say_is_not_missed_in_its_pod() -> None:
    """A Job may carry the size of the gang whose name its pods carry, or the other way round."""
    for given in ({"topology.scheduler/gang": "g"}, {"topology.scheduler/gang-size": "4"}):
        body = pod(annotations=given)
        assert causes(body) != {}
        body["metadata"]["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "controller": True}
        ]
        assert causes(body) == {}


def test_updates_are_judged_by_what_they_change() -> None:
    """A pod that was let in once keeps its fault, and can still be labelled and finished."""
    before = pod(annotations={"topology.scheduler/movable": "yes"}, hostPID=True)
    before["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    after = copy.deepcopy(before)
    after["metadata"]["labels"] = {"done": "true"}
    assert causes(after, before) == {}
    after["metadata"]["annotations"]["topology.scheduler/movable"] = "no"
    assert causes(after, before).keys() == {annotation("topology.scheduler/movable")}


def test_thousands_of_unknown_annotations_are_cut_short() -> None:
    """Some are told; the search for what was meant is not made for each of thousands."""
    given = {f"topology.scheduler/gang-{i}": "" for i in range(5000)}
    assert 0 < len(causes(pod(annotations=given))) <= 16


def test_the_names_in_force_count() -> None:
    """Whose pods are ours is for the config to say."""
    settings = Settings(spec=Spec(scheduler_names=("mine",)))
    body = pod(hostPID=True)
    assert causes(body, settings=settings) == {}
    body["spec"]["schedulerName"] = "mine"
    assert causes(body, settings=settings).keys() == {"spec.hostPID"}
