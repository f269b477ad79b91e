"""Examples that users bring along are read as they stand."""

from __future__ import annotations

from pathlib import Path

from fourleaf.model.readers import Source, read
from tests.model.readers.made import job, node, pod_spec, reading

PUBLISHED = Path(__file__).parents[3] / "e2e" / "published"
README_JOB, INFERENCE, TRAINING = (
    (PUBLISHED / f"{name}.yaml").read_bytes() for name in ("job", "inference", "training")
)
CONFIG = b"""
apiVersion: topology.scheduler/v1alpha1
kind: TopologySchedulerConfig
metadata:
  name: topology-scheduler-config
spec:
  scoringWeights:
    resourceAvailability: 0.4
    topologyAlignment: 0.3
    domainUtilization: 0.2
    historicalPerformance: 0.1
  topologyConstraints:
    maxNodesPerLeaf: 4
    maxGPUsPerLeaf: 32
"""
MAP_POD = b"""
apiVersion: v1
kind: Pod
metadata:
  name: gpu-test-1
  annotations:
    gpu-scheduling-map: |
      0=aks-workerpool-25338008-vmss000000:0,1
      1=aks-workerpool-25338008-vmss000001:2
spec:
  schedulerName: gpu-scheduler
  containers:
  - name: test
    image: busybox:1.35
"""


def test_documented_job_and_service() -> None:
    """The Job of 8 GPUs and the inference service of 4 are read as they stand."""
    found = read([Source("a.yaml", README_JOB), Source("b.yaml", INFERENCE)])
    facts = [
        (str(gang.key), gang.gpus, gang.preferred_domain, gang.latency_sensitive)
        for gang in found.snapshot.gangs
    ]
    assert facts == [
        ("default/gpu-inference-service-0", 4, None, True),
        ("default/gpu-job-0", 8, "leaf-1", False),
    ]


def test_a_domain_that_is_none_is_looked_for_where_it_is_written() -> None:
    """The annotation stands on the Job, or on its pods; the warning names that place."""
    where = "metadata.annotations[topology.scheduler/preferred-domain]"
    wish = {"topology.scheduler/preferred-domain": "leaf-9"}
    (warning,) = reading(node(), job(annotations=wish)).problems
    assert (warning.object, warning.field) == ("Job ml/train", where)
    inside = {"metadata": {"annotations": wish}, "spec": pod_spec()}
    (warning,) = reading(node(), job(template=inside)).problems
    assert (warning.object, warning.field) == ("Job ml/train", f"spec.template.{where}")


def test_documented_training_without_a_template() -> None:
    """16 GPUs over four pods are four each; an annotated Job without template is ours."""
    (gang,) = read([Source("a.yaml", TRAINING)]).snapshot.gangs
    assert [(role.request.gpus, len(role.pods)) for role in gang.roles] == [(4, 4)]
    assert gang.bandwidth == 200_000


def test_documented_config_bare_and_in_a_config_map() -> None:
    """The config counts the same on its own and under any key of the ConfigMap."""
    text = CONFIG.decode()
    wrapped = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "topology-scheduler-config", "namespace": "kube-system"},
        "data": {"scheduler.yaml": text},
    }
    bare = read([Source("config.yaml", CONFIG)])
    inside = reading(wrapped)
    assert bare.config_source == "config.yaml"
    assert inside.config_source == "in.json"
    assert bare.snapshot.config == inside.snapshot.config
    assert bare.snapshot.config.spec.topology_constraints.max_gpus_per_leaf == 32


def test_documented_device_map() -> None:
    """Pod 1 of the map is pinned to its node and holds one GPU there."""
    (gang,) = read([Source("a.yaml", MAP_POD)]).snapshot.gangs
    (role,) = gang.roles
    assert role.request.gpus == 1
    ((requirement,),) = role.constraint.affinity
    assert requirement.values == ("aks-workerpool-25338008-vmss000001",)
    assert requirement.is_field
