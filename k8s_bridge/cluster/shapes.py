"""What is kept of pods and nodes, as types that JSON is read through.

What is not named here is never turned into Python objects. Values are not checked: that is
what the readers of the model do, who can say where an object is wrong.
"""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class MetadataShape(TypedDict, total=False):
    """What is kept of the metadata of pods and nodes."""

    name: Any
    namespace: Any
    uid: Any
    resourceVersion: Any
    generation: Any
    labels: Any
    annotations: Any
    ownerReferences: Any
    finalizers: Any
    creationTimestamp: Any
    deletionTimestamp: Any
    deletionGracePeriodSeconds: Any


class ValueSource(TypedDict, total=False):
    """What is read of where a variable takes its value from."""

    fieldRef: Any


class Variable(TypedDict, total=False):
    """What is read of a variable of the environment: never its value, which may be long."""

    name: Any
    valueFrom: ValueSource | None


class RestartRule(TypedDict, total=False):
    """What is kept of a rule by which a container starts anew."""

    action: Any


class ContainerShape(TypedDict, total=False):
    """What is kept of a container; of `env` one variable at most, by which it is told devices."""

    name: Any
    env: list[Variable] | None
    resources: Any
    restartPolicy: Any
    restartPolicyRules: list[RestartRule] | None
    ports: Any


class Volume(TypedDict, total=False):
    """What is kept of a volume: what may tie the pod to some nodes."""

    name: Any
    persistentVolumeClaim: Any
    ephemeral: Any
    gcePersistentDisk: Any
    awsElasticBlockStore: Any
    azureDisk: Any
    cinder: Any
    iscsi: Any
    portworxVolume: Any
    rbd: Any


class PodSpec(TypedDict, total=False):
    """What is kept of the spec of a pod."""

    activeDeadlineSeconds: Any
    affinity: Any
    containers: list[ContainerShape] | None
    hostNetwork: Any
    hostUsers: Any
    initContainers: list[ContainerShape] | None
    nodeName: Any
    nodeSelector: Any
    overhead: Any
    preemptionPolicy: Any
    priority: Any
    priorityClassName: Any
    resourceClaims: Any
    resources: Any
    runtimeClassName: Any
    schedulerName: Any
    schedulingGates: Any
    schedulingGroup: Any
    terminationGracePeriodSeconds: Any
    tolerations: Any
    topologySpreadConstraints: Any
    volumes: list[Volume] | None
    workloadRef: Any


class ConditionShape(TypedDict, total=False):
    """What is kept of a condition of a pod."""

    type: Any
    status: Any
    reason: Any
    message: Any
    lastTransitionTime: Any
    observedGeneration: Any


class ContainerStatus(TypedDict, total=False):
    """What is kept of the status of a container: what it holds, while its pod is resized."""

    name: Any
    allocatedResources: Any
    resources: Any


class PodStatus(TypedDict, total=False):
    """What is kept of the status of a pod."""

    containerStatuses: list[ContainerStatus] | None
    initContainerStatuses: list[ContainerStatus] | None
    allocatedResources: Any
    resources: Any

    phase: Any
    reason: Any
    conditions: list[ConditionShape] | None
    nominatedNodeName: Any
    resourceClaimStatuses: Any
    startTime: Any


class PodShape(TypedDict, total=False):
    """What is kept of a pod."""

    metadata: MetadataShape
    spec: PodSpec
    status: PodStatus


class NodeSpec(TypedDict, total=False):
    """What is kept of the spec of a node."""

    taints: Any
    unschedulable: Any


class NodeCondition(TypedDict, total=False):
    """What is kept of a condition of a node: not the heartbeat, which says nothing new."""

    type: Any
    status: Any
    reason: Any
    lastTransitionTime: Any


class NodeInfo(TypedDict, total=False):
    """What is kept of what a kubelet says of its host."""

    bootID: Any


class NodeStatus(TypedDict, total=False):
    """What is kept of the status of a node."""

    addresses: Any
    allocatable: Any
    capacity: Any
    conditions: list[NodeCondition] | None
    daemonEndpoints: Any
    declaredFeatures: Any
    nodeInfo: NodeInfo | None


class NodeShape(TypedDict, total=False):
    """What is kept of a node."""

    metadata: MetadataShape
    spec: NodeSpec
    status: NodeStatus


class PodPage(TypedDict, total=False):
    """A part of a list of pods."""

    metadata: Any
    items: list[PodShape] | None


class NodePage(TypedDict, total=False):
    """A part of a list of nodes."""

    metadata: Any
    items: list[NodeShape] | None


class PodEvent(TypedDict):
    """A line of a watch of pods."""

    type: str
    object: PodShape


class NodeEvent(TypedDict):
    """A line of a watch of nodes."""

    type: str
    object: NodeShape
