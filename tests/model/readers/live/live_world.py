"""A small cluster to which anything may happen, and what reading all of it at once gives."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.devices.held_devices import DEVICES
from fourleaf.model.readers import InputReading, Source, read
from fourleaf.model.readers.dra.holders import STANDS_IN
from fourleaf.model.readers.live import LiveReader, LiveReading
from fourleaf.model.readers.pods.attached_volumes import STANDS_IN as VOLUME_STANDS_IN
from tests.model.readers import made as objects
from tests.model.readers.live import live_claims as claims
from tests.model.readers.live import live_storage as storage
from tests.model.readers.made import Body

Pick = Callable[[Sequence[Any]], Any]
"""Chooses one of some things."""
Key = tuple[str, str, str, str]

SPACES = ("ml", "ops")
NODES = tuple(f"n{i}" for i in range(4))
GANGS = ("a", "b")
PODS = (*(f"{gang}-{i}" for gang in GANGS for i in range(3)), "x-a", "x-b", "x-c")
"""The last of them have no numbers, so that they share out the lines of device maps."""
GROUP = {"scheduling.k8s.io": "v1beta1", "scheduling.x-k8s.io": "v1", "scheduling.volcano.sh": "v1"}
OWNERS = {
    ("batch", "Job"): "batch/v1",
    ("jobset.x-k8s.io", "JobSet"): "jobset.x-k8s.io/v1alpha2",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "leaderworkerset.x-k8s.io/v1",
    ("ray.io", "RayCluster"): "ray.io/v1",
    ("kubeflow.org", "PyTorchJob"): "kubeflow.org/v1",
    ("scheduler.grove.io", "PodGang"): "scheduler.grove.io/v1alpha1",
    ("example.com", "Training"): "example.com/v1",
    ("apps", "ReplicaSet"): "apps/v1",
    ("apps", "Deployment"): "apps/v1",
}
CREATED = ("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z")
WISHES: tuple[Body, ...] = (
    {},
    {},
    {"topology.scheduler/placement-strategy": "distributed"},
    {"topology.scheduler/preferred-domain": "nowhere"},
    {"topology.scheduler/gpu-count": "7"},
    {"topology.scheduler/gpu-count": "8"},
    {"topology.scheduler/unheard-of": "x"},
    {"topology.scheduler/network-bandwidth": "100Gb"},
    {"topology.scheduler/expected-duration": "90m"},
    {"topology.scheduler/expected-duration": "soon"},
    {"topology.scheduler/movable": "true", "topology.scheduler/move-cost": "3"},
    {"gpu-scheduling-map": "0=n1:0,1\n1=n2:0,1,1"},
    {"gpu-scheduling-map": "0=n1:0\n1=n2:1\n2=n3:2"},
    {"gpu-scheduling-map": "0=n1:0,3\n1=n2:7\n2=n3:0,3"},
    {"gpu.scheduling/claim": "c"},
    {"gpu.scheduling/claim": "c"},
)
TRAINING: Body = {
    "group": "example.com",
    "versions": ["v1"],
    "kind": "Training",
    "resource": "trainings",
    "podSets": [{"path": "spec.workers"}],
}
CONFIGS: tuple[Body, ...] = (
    {},
    {"schedulerNames": ["another"]},
    {"topology": {"preset": "plain"}},
    {"topology": {"unlabelled": "refuse"}},
    {"network": {"uplinks": {"leaf-9": "100Gb"}}},
    {"devices": {"mode": "count"}},
    {"devices": {"untold": "hold"}},
    {"devices": {"requireLimits": True}},
    {"devices": {"mode": "dra"}},
    {"devices": {"mode": "dra"}},
    {"devices": {"mode": "dra", "deviceClasses": ["gpu.amd.com"]}},
    {"ownerKinds": [TRAINING]},
    {"ownerKinds": [TRAINING], "batch": {"size": 7}},
    {"namespaces": {"ml": {"gpuQuota": 8}}},
    {"namespaces": {"ml": {"gpuQuota": 9, "domains": ["leaf-9"]}}},
)


class World:
    """All objects there are, told to a reader one by one and kept for reading them at once."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.reader = LiveReader()
        self.objects: dict[Key, Body] = {}
        self.assumed: dict[Key, str] = {}
        self.config = SchedulerConfig()
        self.now = 1_800_000_000.0
        self._made = 0

    def happen(self) -> None:
        """Let one thing happen."""
        event = self.pick(EVENTS)
        event(self)

    def put(self, group: str, kind: str, body: Body, fresh: bool = False) -> None:
        """Create or change an object; a `fresh` pod has a UID of its own."""
        metadata = body["metadata"]
        key = (group, kind, metadata.get("namespace", ""), metadata["name"])
        known = self.objects.get(key)
        self._made += 1
        if known is None or fresh:
            metadata["uid"] = f"uid-{self._made}"
            self.assumed.pop(key, None)
        else:
            metadata["uid"] = known["metadata"]["uid"]
        metadata["resourceVersion"] = str(self._made)
        if isinstance(body.get("spec"), dict) and body["spec"].get("nodeName"):
            self.assumed.pop(key, None)
        elif body.get("spec") == "none":
            # Reading everything at once has no place for the node that we assume.
            self.assumed.pop(key, None)
            self.reader.release(metadata["uid"])
        self.objects[key] = body
        self.reader.put(group, kind, as_listed(body))

    def remove(self, key: Key) -> None:
        """Delete an object."""
        del self.objects[key]
        self.assumed.pop(key, None)
        self.reader.remove(*key)

    def some(self, kind: str) -> Key | None:
        """One of the objects of a kind, if there are any."""
        keys = sorted(key for key in self.objects if key[1] == kind)
        return self.pick(keys) if keys else None

    def at_once(self) -> InputReading:
        """Everything, read at once."""
        bodies = []
        for key, body in self.objects.items():
            node = self.assumed.get(key)
            bodies.append(
                body if node is None else body | {"spec": body["spec"] | {"nodeName": node}}
            )
        source = Source("live", objects=bodies)
        return read([source], self.now, strict=False, expand=False, config=self.config, whole=True)

    def check(self) -> LiveReading:
        """The reading of the changes, which must be that of everything."""
        live, plain = self.reader.reading(self.now), self.at_once()
        assert live.snapshot.fabric == plain.snapshot.fabric
        assert set(live.snapshot.running) == set(plain.snapshot.running)
        assert len(live.snapshot.running) == len(plain.snapshot.running)
        assert dict(live.snapshot.used) == dict(plain.snapshot.used)
        assert live.snapshot.gangs == plain.snapshot.gangs
        assert set(live.problems) == set(plain.problems), set(live.problems) ^ set(plain.problems)
        assert (live.snapshot.config, live.snapshot.now) == (self.config, self.now)
        waiting = {
            (member.namespace, member.name): (member.uid, member.version)
            for facts in live.gangs.values()
            for member in facts.waiting
        }
        assert waiting == {
            (gang.key.namespace, pod): self._metadata_of("Pod", gang.key.namespace, pod)
            for gang in plain.snapshot.gangs
            for role in gang.roles
            for pod in role.pods
        }
        assert live.uids == {
            (pod.namespace, pod.name): self._metadata_of("Pod", pod.namespace, pod.name)[0]
            for pod in plain.snapshot.running
            if not pod.name.endswith((STANDS_IN, VOLUME_STANDS_IN))
        }
        self._check_standing(plain)
        return live

    def _check_standing(self, plain: InputReading) -> None:
        leaving = {self.pick(NODES)}
        for everyone in (False, True):
            ours = self.reader.standing(self.now, leaving, everyone)
            theirs = plain.standing(leaving, everyone)
            assert {one.gang.key: one for one in ours} == {one.gang.key: one for one in theirs}
            assert len(ours) == len(theirs)

    def _metadata_of(self, kind: str, namespace: str, name: str) -> tuple[str, str]:
        metadata = self.objects["", kind, namespace, name]["metadata"]
        return metadata["uid"], metadata["resourceVersion"]


def as_listed(body: Body) -> Body:
    """`body` as lists and watches give it: without kind, and shared with nobody."""
    return copy.deepcopy({k: v for k, v in body.items() if k not in ("apiVersion", "kind")})


def a_node(world: World) -> None:
    """A node comes, or is another."""
    pick = world.pick
    body = objects.node(pick(NODES), pick(("leaf-1", "leaf-1", "leaf-2", None)))
    match pick(range(10)):
        case 0:
            body["spec"] = {"unschedulable": True}
        case 1:
            body["spec"] = {"taints": [{"key": "k", "effect": pick(("NoSchedule", "Never"))}]}
        case 2:
            body["status"]["allocatable"] = {"amd.com/gpu": "8", "cpu": "64", "pods": "110"}
        case 3:
            body["status"]["allocatable"]["cpu"] = "many"
        case 4:
            body["metadata"]["annotations"] = {"topology.scheduler/failure-rate": "0.25"}
        case 5:
            body["status"] = "none"
        case 6 | 7:
            # Only its inventory, or a device map, names its devices.
            del body["status"]["allocatable"]["nvidia.com/gpu"]
    world.put("", "Node", body)


def an_inventory(world: World) -> None:
    """An agent says what devices a node has, more or less well."""
    pick = world.pick
    gpus = [{"index": i, "uuid": f"{pick(('x', 'y'))}-{i}"} for i in range(pick((8, 8, 4, 9)))]
    status: Body = {"gpus": gpus, "links": [{"a": 0, "b": pick((1, 2)), "bandwidthGBps": 50}]}
    match pick(range(8)):
        case 0:
            status["format"] = 2
        case 1:
            status["nodeUID"] = "somebody"
        case 2:
            gpus[1]["healthy"] = False
        case 3:
            gpus[1]["index"] = 0
        case 4:
            status = {"gpus": "none"}
        case 5:
            for one in gpus:
                one["uuid"] = f"{pick(('x', 'y', 'z'))}-{one['index']}-{pick(NODES)}"
    if "gpus" in status and pick((True, False)):
        seen = pick(("leaf-1", "leaf-2", "switch"))
        status["topology"] = {"switches": [{"interface": "eth2", "id": seen}]}
    body = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": pick(NODES), "creationTimestamp": pick(CREATED)},
        "status": status,
    }
    world.put("gpu.scheduling", "GpuNodeStatus", body)


def a_claim(world: World) -> None:
    """A claim comes, or says something else."""
    pick = world.pick
    devices = pick(({"count": 1}, {"count": 8, "policy": "contiguous"}, {"count": 0}, {"count": 2}))
    body = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuClaim",
        "metadata": {"name": "c", "namespace": pick(SPACES)},
        "spec": {"devices": devices, "selector": {"nodeSelector": pick(({}, {"zone": "z"}))}},
    }
    world.put("gpu.scheduling", "GpuClaim", body)


def a_heartbeat(world: World) -> None:
    """A node says that it lives."""
    key = world.some("Node")
    if key is not None:
        body = copy.deepcopy(world.objects[key])
        if isinstance(body["status"], dict):
            ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": str(world.now)}
            body["status"]["conditions"] = [ready]
        world.put("", "Node", body)


def join_gang(pick: Pick, body: Body, gang: str) -> None:
    """Let a pod belong to a gang of some dialect."""
    metadata = body["metadata"]
    labels, annotations = metadata["labels"], metadata["annotations"]
    match pick(range(12)):
        case 0:
            body["spec"]["schedulingGroup"] = {"podGroupName": gang}
        case 1:
            labels["scheduling.x-k8s.io/pod-group"] = gang
        case 2:
            annotations["scheduling.k8s.io/group-name"] = pick((gang, f"{gang}@gang"))
        case 3:
            labels["kueue.x-k8s.io/pod-group-name"] = gang
            annotations["kueue.x-k8s.io/pod-group-total-count"] = pick(("2", "3", "x"))
        case 4:
            annotations["topology.scheduler/gang"] = pick((gang, f"{gang}+x"))
            annotations["topology.scheduler/gang-size"] = pick(("2", "3"))
        case 5 | 6 | 7 | 8:
            group, kind = pick(tuple(OWNERS))
            owner = f"{gang}-x" if kind == "ReplicaSet" else gang
            objects.owned(body, kind, owner, OWNERS[group, kind])
        case 9:
            labels["grove.io/podgang"] = gang


def be_special(pick: Pick, body: Body, gang: str) -> None:
    """Let a pod ask for something uncommon, or be broken, or neither."""
    labels, spec = body["metadata"]["labels"], body["spec"]
    match pick(range(10)):
        case 0 | 1:
            term = {
                "topologyKey": pick(("kubernetes.io/hostname", "zone")),
                "labelSelector": pick(
                    (
                        {"matchLabels": {"app": gang}},
                        {"matchExpressions": [{"key": "app", "operator": pick(("Exists", "Is"))}]},
                    )
                ),
            }
            term |= pick(({}, {}, {"namespaces": list(SPACES)}, {"namespaceSelector": {}}))
            required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            spec["affinity"] = {pick(("podAntiAffinity", "podAffinity")): required}
        case 8:
            spec["topologySpreadConstraints"] = [
                {
                    "maxSkew": pick((1, 2, 0)),
                    "topologyKey": pick(("kubernetes.io/hostname", "zone")),
                    "whenUnsatisfiable": pick(("DoNotSchedule", "ScheduleAnyway")),
                    "labelSelector": {"matchLabels": {"app": gang}},
                }
            ]
        case 9:
            spec["schedulerName"] = "another"
            body["status"] = {"nominatedNodeName": pick((*NODES, "", 7))}
        case 2:
            spec["priorityClassName"] = pick(GANGS)
        case 3:
            spec["schedulingGates"] = [{"name": "later"}]
        case 4:
            spec["containers"] = pick(("none", [{"resources": {"limits": {"cpu": "x"}}}]))
        case 5:
            labels["app"] = 7
        case 6:
            body["spec"] = "none"
        case 7:
            spec["activeDeadlineSeconds"] = pick((600, 7200, "x"))
    if pick((True, False, False)):
        claims.ask(pick, body)


def use_volumes(world: World, body: Body) -> None:
    """Let some pods use claims of volumes."""
    if world.pick((True, False, False)) and isinstance(body["spec"], dict):
        storage.use(world, body)


def a_pod(world: World) -> None:
    """A pod comes, or is another."""
    pick = world.pick
    name = pick(PODS)
    gang = pick(GANGS)
    labels: Body = {"app": pick(GANGS)}
    annotations: Body = dict(pick(WISHES))
    body = objects.pod(name, pick((1, 8, None)), labels, annotations, pick(SPACES))
    metadata, spec = body["metadata"], body["spec"]
    metadata["creationTimestamp"] = pick((*CREATED, *CREATED, None, "once"))
    spec["schedulerName"] = pick((objects.OURS, objects.OURS, objects.OURS, "another"))
    if pick((True, False, False, False)):
        del spec["containers"][0]["env"]
    join_gang(pick, body, gang)
    be_special(pick, body, gang)
    use_volumes(world, body)
    if isinstance(body["spec"], dict) and pick((True, False, False)):
        spec["nodeName"] = pick(NODES)
    world.put("", "Pod", body, pick((True, False)))


def changed_pod(change: Callable[[World, Key, Body], None]) -> Callable[[World], None]:
    """Make an event of a change to a pod whose spec is one."""

    def event(world: World) -> None:
        key = world.some("Pod")
        if key is not None and isinstance(world.objects[key]["spec"], dict):
            change(world, key, copy.deepcopy(world.objects[key]))

    return event


@changed_pod
def bound(world: World, key: Key, body: Body) -> None:
    """A pod is bound, perhaps with devices."""
    body["spec"].setdefault("nodeName", world.pick(NODES))
    if world.pick((True, False)) and isinstance(body["metadata"].get("annotations"), dict):
        body["metadata"]["annotations"][DEVICES] = world.pick(("0,3", "7", "x"))
    world.put("", "Pod", body)


@changed_pod
def assumed(world: World, key: Key, body: Body) -> None:
    """A pod is bound by ourselves."""
    if not body["spec"].get("nodeName"):
        world.assumed[key] = world.pick(NODES)
        world.reader.assume(body["metadata"]["uid"], world.assumed[key])


@changed_pod
def released(world: World, key: Key, body: Body) -> None:
    """A pod that we thought was bound is not."""
    world.assumed.pop(key, None)
    world.reader.release(body["metadata"]["uid"])


@changed_pod
def phased(world: World, key: Key, body: Body) -> None:
    """A pod gets further, or says something that does not count."""
    phase = world.pick(("Running", "Succeeded", "Failed"))
    body["status"] = {"phase": phase, "message": str(world.now)}
    if world.pick((True, False)):
        body["status"]["startTime"] = CREATED[1]
    world.put("", "Pod", body)


@changed_pod
def ending(world: World, key: Key, body: Body) -> None:
    """A pod is being deleted."""
    body["metadata"]["deletionTimestamp"] = CREATED[0]
    world.put("", "Pod", body)


@changed_pod
def relabelled(world: World, key: Key, body: Body) -> None:
    """A pod gets other labels."""
    body["metadata"]["labels"] = {"app": world.pick(GANGS)}
    world.put("", "Pod", body)


def a_group(world: World) -> None:
    """A PodGroup comes, or is another."""
    pick = world.pick
    group = pick(tuple(GROUP))
    spec: Any
    if group == "scheduling.k8s.io":
        gang = {"gang": pick(({"minCount": 2}, {"minCount": 3}, {}))}
        spec = {"schedulingPolicy": pick((gang, gang, {"basic": {}}, {}))}
        if pick((True, False, False)):
            spec["priorityClassName"] = pick(GANGS)
    else:
        spec = {"minMember": pick((1, 2, 3, 0, "two"))}
    body = objects.group(pick(GANGS), f"{group}/{GROUP[group]}")
    body["metadata"]["namespace"] = pick(SPACES)
    body["spec"] = pick((spec, spec, spec, "none"))
    world.put(group, "PodGroup", body)


def an_owner(world: World) -> None:
    """An owner comes, or is another."""
    pick = world.pick
    group, kind = pick(tuple(OWNERS))
    name = pick(GANGS)
    spec: Body
    match kind:
        case "Job":
            spec = {"parallelism": pick((1, 2, "x")), "completionMode": pick(("Indexed", None))}
            spec["activeDeadlineSeconds"] = pick((None, None, 900))
        case "JobSet":
            job = {"template": {"spec": {"parallelism": pick((1, 2, -1))}}}
            spec = {"replicatedJobs": [job]}
        case "LeaderWorkerSet":
            spec = {"leaderWorkerTemplate": {"size": pick((2, 3, "x"))}}
        case "RayCluster":
            spec = {"workerGroupSpecs": [{"replicas": pick((1, 2))}]}
        case "PyTorchJob":
            policy = {"schedulingPolicy": {"minAvailable": pick((1, None))}}
            workers = {"Worker": {"replicas": pick((1, 2, "x"))}}
            spec = {"pytorchReplicaSpecs": workers, "runPolicy": pick((policy, {}))}
        case "PodGang":
            spec = {"podgroups": [{"minReplicas": pick((1, 2, 3))}]}
        case "Training":
            spec = {"workers": {"replicas": pick((2, 3))}}
        case _:
            spec = {}
    annotations: Any = {**pick(WISHES), **pick(({}, {"topology.scheduler/gang": name}))}
    metadata: Body = {
        "name": f"{name}-x" if kind == "ReplicaSet" else name,
        "namespace": pick(SPACES),
        "annotations": pick((annotations, annotations, {"k": 1}, "none")),
    }
    body = {"apiVersion": OWNERS[group, kind], "kind": kind, "metadata": metadata, "spec": spec}
    if kind == "Job":
        body["status"] = {"succeeded": pick((0, 1)), "active": pick((0, 1))}
        if pick((True, False)):
            objects.owned(body, "JobSet", name, OWNERS["jobset.x-k8s.io", "JobSet"])
    if kind == "ReplicaSet":
        objects.owned(body, "Deployment", name, "apps/v1")
    world.put(group, kind, body)


def a_class(world: World) -> None:
    """A priority class comes, or is another."""
    pick = world.pick
    body: Body = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    body |= {"metadata": {"name": pick(GANGS)}, "value": pick((1, 2, "x"))}
    body["globalDefault"] = pick((True, False))
    world.put("scheduling.k8s.io", "PriorityClass", body)


def gone(world: World) -> None:
    """Any object goes."""
    keys = sorted(world.objects)
    if keys:
        world.remove(world.pick(keys))


def listed_again(world: World) -> None:
    """All pods are listed anew, and some have gone unseen."""
    pods = {key: body for key, body in world.objects.items() if key[1] == "Pod"}
    for key in pods:
        if world.pick((True, False, False, False)):
            del world.objects[key]
            world.assumed.pop(key, None)
    left = [as_listed(body) for key, body in world.objects.items() if key[1] == "Pod"]
    world.reader.replace_all("", "Pod", left)


def configured(world: World) -> None:
    """The config changes."""
    body = objects.config(**world.pick(CONFIGS))
    world.config = SchedulerConfig.model_validate(body)
    world.reader.configure(world.config)
    # What was not followed before is listed now.
    there = [as_listed(body) for key, body in world.objects.items() if key[1] == "Training"]
    world.reader.replace_all("example.com", "Training", there)


def later(world: World) -> None:
    """Time passes."""
    world.now += 1.0


EVENTS: tuple[Callable[[World], None], ...] = (
    *(a_pod,) * 12,
    *(a_group, an_owner) * 4,
    *(a_node, gone) * 3,
    *(bound, assumed, phased, relabelled) * 2,
    *(an_inventory, a_claim) * 2,
    *storage.EVENTS,
    *(claims.a_slice, claims.a_resource_claim) * 3,
    claims.a_device_class,
    *(released, ending, a_class, a_heartbeat, configured, listed_again, later),
)
