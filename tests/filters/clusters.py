"""Random small clusters with everything that decides where a pod may go."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.filters.kube_filters import Body, Case
from tests.model.readers.made import LEAF, OURS, SPINE

ZONES = ("z1", "z2", "z3")
APPS = ("a", "b", "c")
SPACES = ("ml", "ops")
HOST = "kubernetes.io/hostname"
DRIVER = "csi.example.com"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class ClusterMaker:
    """One random cluster."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self.objects: list[Body] = []

    def case(self) -> Case:
        """A cluster of 2 to 5 nodes, up to 8 running pods, and one pod that waits."""
        self._cluster()
        pod = self._waiting("p")
        return Case(tuple(self.objects), pod)

    def crowd(self) -> list[Body]:
        """The same with up to eight pods that wait, some of them two and two."""
        self._cluster()
        for number in range(self._random.randint(2, 4)):
            names = [f"p{number}-{i}" for i in range(self._random.randint(1, 2))]
            first = self._waiting(names[0])
            size = {"topology.scheduler/gang": f"g{number}", "topology.scheduler/gang-size": "2"}
            if len(names) > 1 and self._chance(2):
                # Replicas: alike, each on its own.
                size = {}
            first["metadata"]["annotations"] = size
            for name in names[1:]:
                other = json.loads(json.dumps(first))
                other["metadata"] |= {"name": name, "uid": f"pod-{name}"}
                self.objects.append(other)
            if len(names) == 1:
                first["metadata"]["annotations"] = {}
        return self.objects

    def _waiting(self, name: str) -> Body:
        pod = self._pod(name, "ml")
        pod["spec"]["schedulerName"] = OURS
        self.objects.append(pod)
        return pod

    def _cluster(self) -> None:
        for name in SPACES:
            labels = {"kubernetes.io/metadata.name": name}
            self._add("v1", "Namespace", {"name": name, "labels": labels})
        names = [f"n{i}" for i in range(self._random.randint(2, 5))]
        for name in names:
            self._node(name)
        self._storage(names)
        for i in range(self._random.randint(0, 8)):
            self._running(f"r{i}", self._random.choice(names))

    def _chance(self, one_in: int) -> bool:
        return self._random.randrange(one_in) == 0

    def _add(self, version: str, kind: str, metadata: Body, **fields: Any) -> Body:
        metadata.setdefault("uid", f"{kind}-{metadata['name']}")
        body = {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}
        self.objects.append(body)
        return body

    def _node(self, name: str) -> None:
        labels = {LEAF: "leaf-1", SPINE: "s1", HOST: name}
        if not self._chance(5):
            labels["zone"] = self._random.choice(ZONES)
            if not self._chance(3):
                labels["topology.kubernetes.io/zone"] = labels["zone"]
        if self._chance(3):
            labels["size"] = str(self._random.randint(1, 9))
        taints = []
        if self._chance(3):
            effect = self._random.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
            value = self._random.choice(("x", "5", "7", ""))
            taints.append({"key": self._random.choice("kl"), "value": value, "effect": effect})
        spec: Body = {"taints": taints} if taints else {}
        if self._chance(8):
            spec["unschedulable"] = True
        allocatable = {
            "cpu": str(self._random.randint(2, 8)),
            "memory": f"{self._random.randint(2, 8)}Gi",
            "pods": str(self._random.randint(2, 6)),
            "nvidia.com/gpu": "8",
            "ephemeral-storage": "10Gi",
        }
        if self._chance(3):
            allocatable["example.com/nic"] = "2"
        status = {
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": "True"}],
        }
        self._add("v1", "Node", {"name": name, "labels": labels}, spec=spec, status=status)

    def _storage(self, nodes: list[str]) -> None:
        for mode in ("Immediate", "WaitForFirstConsumer"):
            some = self._random.sample(ZONES, self._random.randint(1, 2))
            allowed = [{"matchLabelExpressions": [{"key": "zone", "values": some}]}]
            fields: Body = {"allowedTopologies": allowed} if self._chance(2) else {}
            self._add(
                "storage.k8s.io/v1",
                "StorageClass",
                {"name": mode.lower()},
                provisioner=DRIVER,
                volumeBindingMode=mode,
                **fields,
            )
        if not self._chance(3):
            spec = {"storageCapacity": not self._chance(6)}
            self._add("storage.k8s.io/v1", "CSIDriver", {"name": DRIVER}, spec=spec)
        for number in range(self._random.randint(0, 3)):
            self._capacity(f"room-{number}", nodes)
        for name in nodes:
            if not self._chance(3):
                self._limits(name)
        for number in range(3):
            self._claim(f"c{number}", nodes)
        for number in range(self._random.randint(0, 2)):
            self._attachment(f"va-{number}", nodes)

    def _capacity(self, name: str, nodes: list[str]) -> None:
        """What the driver says of its room: of a zone, a node, all nodes or none."""
        sizes: Body = {"capacity": self._random.choice(("512Mi", "1Gi", "3Gi"))}
        if self._chance(3):
            sizes["maximumVolumeSize"] = self._random.choice(("512Mi", "1025Mi"))
        if self._chance(8):
            sizes = {}
        expression = {"key": "zone", "operator": "In", "values": ["z2", "z3"]}
        topology = self._random.choice(
            (
                {"nodeTopology": {"matchLabels": {"zone": self._random.choice(ZONES)}}},
                {"nodeTopology": {"matchLabels": {HOST: self._random.choice(nodes)}}},
                {"nodeTopology": {"matchExpressions": [expression]}},
                {"nodeTopology": {}},
                {},
            )
        )
        metadata = {"name": name, "namespace": "ops"}
        named = {"storageClassName": self._random.choice(("waitforfirstconsumer", "other"))}
        self._add("storage.k8s.io/v1", "CSIStorageCapacity", metadata, **named, **sizes, **topology)

    def _limits(self, node: str) -> None:
        allocatable = {} if self._chance(4) else {"count": self._random.randint(0, 2)}
        driver = {"name": DRIVER, "nodeID": node, "allocatable": allocatable}
        spec = {"drivers": [driver]}
        self._add("storage.k8s.io/v1", "CSINode", {"name": node}, spec=spec)

    def _attachment(self, name: str, nodes: list[str]) -> None:
        """A volume that is attached: of a claim, which a pod may use there, or of no claim."""
        volume = self._random.choice(("pv-c0", "pv-c1", "pv-lone", "pv-lost"))
        if volume == "pv-lone" and not any(
            one["metadata"]["name"] == volume for one in self.objects
        ):
            self._volume(volume, "lone", nodes)
        spec = {
            "attacher": DRIVER,
            "nodeName": self._random.choice(nodes),
            "source": {"persistentVolumeName": volume},
        }
        self._add("storage.k8s.io/v1", "VolumeAttachment", {"name": name}, spec=spec)

    def _claim(self, name: str, nodes: list[str]) -> None:
        metadata: Body = {"name": name, "namespace": "ml"}
        spec: Body = {
            "accessModes": [self._random.choice(("ReadWriteOnce", "ReadWriteOncePod"))],
            "storageClassName": "immediate" if self._chance(4) else "waitforfirstconsumer",
            "resources": {"requests": {"storage": "1Gi"}},
        }
        if self._chance(20):
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        phase = "Pending"
        if not self._chance(3):
            phase, spec["volumeName"] = "Bound", f"pv-{name}"
            metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
            if not self._chance(8):
                self._volume(f"pv-{name}", name, nodes)
        self._add("v1", "PersistentVolumeClaim", metadata, spec=spec, status={"phase": phase})

    def _volume(self, name: str, claim: str, nodes: list[str]) -> None:
        metadata: Body = {"name": name}
        spec: Body = {
            "capacity": {"storage": "1Gi"},
            "claimRef": {"namespace": "ml", "name": claim, "uid": f"PersistentVolumeClaim-{claim}"},
            "csi": {"driver": DRIVER, "volumeHandle": name},
        }
        if self._chance(2):
            key = self._random.choice((HOST, "zone"))
            values = self._random.sample(nodes if key == HOST else ZONES, 1)
            terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": values}]}]
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        elif self._chance(3):
            zones = "__".join(self._random.sample(ZONES, self._random.randint(1, 2)))
            metadata["labels"] = {"topology.kubernetes.io/zone": zones}
        self._add("v1", "PersistentVolume", metadata, spec=spec, status={"phase": "Bound"})

    def _running(self, name: str, node: str) -> None:
        body = self._pod(name, self._random.choice(SPACES))
        body["spec"]["nodeName"] = node
        body["status"] = {"phase": "Running"}
        if self._chance(8):
            body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        if self._chance(5):
            self._resize(body)
        self.objects.append(body)

    def _resize(self, body: Body) -> None:
        asked = body["spec"]["containers"][0]["resources"]["requests"]
        held = {**asked, "cpu": str(self._random.randint(1, 4))}
        kind, reason = self._random.choice(
            (
                ("PodResizePending", "Deferred"),
                ("PodResizePending", "Infeasible"),
                ("PodResizeInProgress", ""),
            )
        )
        body["status"]["conditions"] = [{"type": kind, "status": "True", "reason": reason}]
        body["status"]["containerStatuses"] = [
            {"name": "main", "allocatedResources": held, "resources": {"requests": held}}
        ]

    def _pod(self, name: str, namespace: str) -> Body:
        labels = {"app": self._random.choice(APPS)}
        if self._chance(3):
            labels["tier"] = self._random.choice(("x", "y"))
        metadata = {"name": name, "namespace": namespace, "labels": labels, "uid": f"pod-{name}"}
        spec: Body = {"containers": [self._container()]}
        for part in (
            self._where,
            self._affinity,
            self._spread,
            self._volumes,
            self._overhead,
        ):
            spec |= part(labels)
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def _container(self) -> Body:
        requests = {"cpu": f"{self._random.randint(0, 20) * 100}m"}
        if self._chance(3):
            requests["memory"] = f"{self._random.randint(1, 3)}Gi"
        if self._chance(6):
            requests["ephemeral-storage"] = "4Gi"
        for name, most in (("nvidia.com/gpu", 4), ("example.com/nic", 1)):
            if self._chance(5):
                requests[name] = str(self._random.randint(1, most))
        limits = {key: value for key, value in requests.items() if "/" in key}
        container: Body = {"name": "main", "resources": {"requests": requests, "limits": limits}}
        if self._chance(5):
            port = self._random.choice((80, 81))
            protocol = self._random.choice(("TCP", "UDP"))
            container["ports"] = [{"containerPort": port, "hostPort": port, "protocol": protocol}]
        return container

    def _where(self, _: Body) -> Body:
        found: Body = {}
        if self._chance(6):
            found["nodeSelector"] = {"zone": self._random.choice(ZONES)}
        if self._chance(2):
            tolerations = []
            for _number in range(self._random.randint(1, 2)):
                operator = self._random.choice(("Equal", "Exists", "Exists", "Gt", "Lt"))
                one = {"key": self._random.choice("kl"), "operator": operator}
                if operator != "Exists":
                    one["value"] = self._random.choice(("5", "6", "7"))
                if self._chance(2):
                    one["effect"] = self._random.choice(("NoSchedule", "NoExecute"))
                tolerations.append(one)
            found["tolerations"] = tolerations
        return found

    def _affinity(self, labels: Body) -> Body:
        affinity: Body = {}
        if self._chance(5):
            terms = [
                {"matchExpressions": [self._expression()]}
                for _ in range(self._random.randint(1, 2))
            ]
            affinity["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": terms}}
        for kind, one_in in (("podAffinity", 5), ("podAntiAffinity", 4)):
            if self._chance(one_in):
                count = 2 if self._chance(4) else 1
                affinity[kind] = {REQUIRED: [self._pod_term(labels) for _ in range(count)]}
        return {"affinity": affinity} if affinity else {}

    def _expression(self) -> Body:
        key, operator, values = self._random.choice(
            (
                ("zone", "In", ["z1", "z2"]),
                ("zone", "NotIn", ["z1"]),
                ("zone", "Exists", []),
                ("size", "DoesNotExist", []),
                ("size", "Gt", ["4"]),
                ("size", "Lt", ["6"]),
            )
        )
        return {"key": key, "operator": operator, **({"values": values} if values else {})}

    def _selector(self, labels: Body) -> Body:
        return self._random.choice(
            (
                {"matchLabels": {"app": self._random.choice(APPS)}},
                {"matchLabels": {"app": labels["app"]}},
                {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
                {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
                {},
            )
        )

    def _pod_term(self, labels: Body) -> Body:
        term: Body = {
            "topologyKey": self._random.choice((HOST, "zone", "zone")),
            "labelSelector": self._selector(labels),
        }
        if self._chance(4):
            spaces = list(self._random.sample(SPACES, self._random.randint(1, 2)))
            term |= self._random.choice(({"namespaces": spaces}, {"namespaceSelector": {}}))
        return term

    def _spread(self, labels: Body) -> Body:
        if not self._chance(4):
            return {}
        found = []
        for key in self._random.sample((HOST, "zone"), self._random.randint(1, 2)):
            one = {
                "maxSkew": self._random.randint(1, 2),
                "topologyKey": key,
                "whenUnsatisfiable": self._random.choice(
                    ("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")
                ),
                "labelSelector": self._selector(labels),
            }
            if one["whenUnsatisfiable"] == "DoNotSchedule" and self._chance(4):
                one["minDomains"] = self._random.randint(1, 4)
            if self._chance(4):
                one["nodeAffinityPolicy"] = "Ignore"
            if self._chance(4):
                one["nodeTaintsPolicy"] = "Honor"
            found.append(one)
        return {"topologySpreadConstraints": found}

    def _volumes(self, _: Body) -> Body:
        if not self._chance(2):
            return {}
        usual = ("c0", "c1", "c2")
        names = self._random.sample(usual, self._random.choice((1, 1, 2)))
        if self._chance(16):
            names = [*names[1:], "lost"]
        return {
            "volumes": [
                {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names
            ]
        }

    def _overhead(self, _: Body) -> Body:
        return {"overhead": {"cpu": "250m"}} if self._chance(8) else {}
