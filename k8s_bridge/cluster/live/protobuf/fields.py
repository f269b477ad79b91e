"""The fields of pods that `cluster.shapes` keeps, by their numbers in protocol buffers.

Source: `generated.proto` of k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/apis/meta/v1, 1.36;
numbers are never given twice, so they hold for other versions too.
"""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.live.protobuf.wire import (
    Schema,
    inlined,
    integer,
    many,
    moment,
    one,
    pairs,
    text,
    texts,
    truth,
)
from fourleaf.model.devices.visibility import CUDA

_OWNER = (
    text(1, "kind"),
    text(3, "name"),
    text(4, "uid"),
    text(5, "apiVersion"),
    truth(6, "controller", kept=True),
    truth(7, "blockOwnerDeletion", kept=True),
)
_METADATA = (
    text(1, "name"),
    text(3, "namespace"),
    text(5, "uid"),
    text(6, "resourceVersion"),
    integer(7, "generation"),
    moment(8, "creationTimestamp"),
    moment(9, "deletionTimestamp"),
    integer(10, "deletionGracePeriodSeconds", kept=True),
    pairs(11, "labels"),
    pairs(12, "annotations"),
    many(13, "ownerReferences", *_OWNER),
    texts(14, "finalizers"),
)
_REQUIREMENT = (text(1, "key"), text(2, "operator"), texts(3, "values"))
_LABELS = (pairs(1, "matchLabels"), many(2, "matchExpressions", *_REQUIREMENT))
_NODE_TERM = (many(1, "matchExpressions", *_REQUIREMENT), many(2, "matchFields", *_REQUIREMENT))
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NODE_AFFINITY = (
    one(1, _REQUIRED, many(1, "nodeSelectorTerms", *_NODE_TERM)),
    many(2, _PREFERRED, integer(1, "weight"), one(2, "preference", *_NODE_TERM)),
)
_POD_TERM = (
    one(1, "labelSelector", *_LABELS),
    texts(2, "namespaces"),
    text(3, "topologyKey"),
    one(4, "namespaceSelector", *_LABELS),
    texts(5, "matchLabelKeys"),
    texts(6, "mismatchLabelKeys"),
)
_POD_AFFINITY = (
    many(1, _REQUIRED, *_POD_TERM),
    many(2, _PREFERRED, integer(1, "weight"), one(2, "podAffinityTerm", *_POD_TERM)),
)
_AFFINITY = (
    one(1, "nodeAffinity", *_NODE_AFFINITY),
    one(2, "podAffinity", *_POD_AFFINITY),
    one(3, "podAntiAffinity", *_POD_AFFINITY),
)
_RESOURCES = (
    pairs(1, "limits", quantities=True),
    pairs(2, "requests", quantities=True),
    many(3, "claims", text(1, "name"), text(2, "request")),
)
_PORT = (
    text(1, "name"),
    integer(2, "hostPort"),
    integer(3, "containerPort"),
    text(4, "protocol"),
    text(5, "hostIP"),
)
_VARIABLE = (
    text(1, "name"),
    one(3, "valueFrom", one(1, "fieldRef", text(1, "apiVersion"), text(2, "fieldPath"))),
)
_CONTAINER = (
    text(1, "name"),
    many(7, "env", *_VARIABLE, about=CUDA.encode()),
    many(6, "ports", *_PORT),
    one(8, "resources", *_RESOURCES),
    text(24, "restartPolicy"),
    many(25, "restartPolicyRules", text(1, "action")),
)
_VOLUME = (
    text(1, "name"),
    inlined(
        2,
        one(3, "gcePersistentDisk", text(1, "pdName"), truth(4, "readOnly")),
        one(4, "awsElasticBlockStore", text(1, "volumeID"), truth(4, "readOnly")),
        one(8, "iscsi", text(2, "iqn"), truth(6, "readOnly")),
        one(10, "persistentVolumeClaim", text(1, "claimName"), truth(2, "readOnly")),
        one(11, "rbd", text(2, "image"), text(4, "pool"), truth(8, "readOnly")),
        one(29, "ephemeral", one(1, "volumeClaimTemplate")),
    ),
)
_TOLERATION = (
    text(1, "key"),
    text(2, "operator"),
    text(3, "value"),
    text(4, "effect"),
    integer(5, "tolerationSeconds", kept=True),
)
_SPREAD = (
    integer(1, "maxSkew"),
    text(2, "topologyKey"),
    text(3, "whenUnsatisfiable"),
    one(4, "labelSelector", *_LABELS),
    integer(5, "minDomains", kept=True),
    text(6, "nodeAffinityPolicy"),
    text(7, "nodeTaintsPolicy"),
    texts(8, "matchLabelKeys"),
)
_CLAIM = (
    text(1, "name"),
    text(3, "resourceClaimName"),
    text(4, "resourceClaimTemplateName"),
)
_WORKLOAD = (text(1, "name"), text(2, "podGroup"), text(3, "podGroupReplicaKey"))
_SPEC = (
    many(1, "volumes", *_VOLUME),
    many(2, "containers", *_CONTAINER),
    integer(4, "terminationGracePeriodSeconds", kept=True),
    integer(5, "activeDeadlineSeconds", kept=True),
    pairs(7, "nodeSelector"),
    text(10, "nodeName"),
    truth(11, "hostNetwork"),
    one(18, "affinity", *_AFFINITY),
    text(19, "schedulerName"),
    many(20, "initContainers", *_CONTAINER),
    many(22, "tolerations", *_TOLERATION),
    text(24, "priorityClassName"),
    integer(25, "priority", kept=True),
    text(29, "runtimeClassName"),
    text(31, "preemptionPolicy"),
    pairs(32, "overhead", quantities=True),
    many(33, "topologySpreadConstraints", *_SPREAD),
    truth(37, "hostUsers", kept=True),
    many(38, "schedulingGates", text(1, "name")),
    many(39, "resourceClaims", *_CLAIM),
    one(40, "resources", *_RESOURCES),
    one(42, "workloadRef", *_WORKLOAD),
    one(43, "schedulingGroup", text(1, "podGroupName")),
)
_CONDITION = (
    text(1, "type"),
    text(2, "status"),
    moment(4, "lastTransitionTime"),
    text(5, "reason"),
    text(6, "message"),
    integer(7, "observedGeneration"),
)
_CONTAINER_STATUS = (
    text(1, "name"),
    pairs(10, "allocatedResources", quantities=True),
    one(11, "resources", *_RESOURCES),
)
_STATUS = (
    text(1, "phase"),
    many(2, "conditions", *_CONDITION),
    text(4, "reason"),
    moment(7, "startTime"),
    many(8, "containerStatuses", *_CONTAINER_STATUS),
    many(10, "initContainerStatuses", *_CONTAINER_STATUS),
    text(11, "nominatedNodeName"),
    many(15, "resourceClaimStatuses", text(1, "name"), text(2, "resourceClaimName")),
)

POD: Schema = dict(
    (one(1, "metadata", *_METADATA), one(2, "spec", *_SPEC), one(3, "status", *_STATUS))
)
"""A pod, as `shapes.Pod` has it."""

_CAUSE = (text(1, "reason"), text(2, "message"), text(3, "field"))
STATUS: Schema = dict(
    (
        text(2, "status"),
        text(3, "message"),
        text(4, "reason"),
        one(5, "details", many(4, "causes", *_CAUSE), integer(5, "retryAfterSeconds")),
        integer(6, "code"),
    )
)
"""What the API answers instead of an object."""
