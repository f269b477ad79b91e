"""Names of what the webhook is deployed as, and the labels by which namespaces opt in."""

from __future__ import annotations

NAME = "fourleaf-webhook"
"""The Service, the Deployment, and both webhook configurations."""
SECRET = "fourleaf-webhook-tls"  # noqa: S105 - the name of a Secret, not one itself
NAMESPACE = "kube-system"
SERVICE_PORT = 443

ENFORCE = "topology.scheduler/enforce"
"""Label of a namespace, `true`: without an answer of the webhook, its pods are refused."""
DEFAULT_SCHEDULER = "topology.scheduler/default-scheduler"
"""Label of a namespace, `true`: its pods with GPUs that name no scheduler get ours."""
ON = "true"
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that the API server gives every namespace."""
