"""The flags that make four programs a control plane on one machine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.controlplane.pki import Certificate

ISSUER = "https://kubernetes.default.svc"
CONTROLLERS = (
    "job",
    "garbage-collector-controller",
    "disruption-controller",
    "pod-garbage-collector-controller",
    "node-lifecycle-controller",
    "taint-eviction-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "statefulset-controller",
    "deployment-controller",
    "replicaset-controller",
)
"""What the tests need of kube-controller-manager; the others would only cost memory."""

WRITES = ("create", "update", "patch", "delete", "deletecollection")
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "omitManagedFields": True,
    "rules": [
        # A thousand heartbeats every ten seconds would drown what a test looks for.
        {"level": "Metadata", "namespaces": ["kube-node-lease"], "verbs": ["list", "watch"]},
        {"level": "None", "namespaces": ["kube-node-lease"]},
        {
            "level": "RequestResponse",
            "verbs": list(WRITES),
            "resources": [
                {"group": "", "resources": ["pods", "pods/*", "bindings"]},
                {"group": "coordination.k8s.io", "resources": ["leases"]},
            ],
        },
        {"level": "Metadata"},
    ],
}
"""Who did what; bodies too for bindings, leases and every other write to pods."""


def etcd(data: Path, port: int, peer_port: int) -> list[str]:
    """Make etcd one member that survives a kill, though not the machine's own end."""
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        f"--data-dir={data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def apiserver(
    folder: Path,
    etcd_port: int,
    port: int,
    serving: Certificate,
    signing_key: Path,
    tokens: Path,
) -> list[str]:
    """Make kube-apiserver ask a token file who talks, and RBAC what it may."""
    return [
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC",
        f"--service-account-issuer={ISSUER}",
        f"--service-account-key-file={signing_key}",
        f"--service-account-signing-key-file={signing_key}",
        "--service-cluster-ip-range=10.96.0.0/16",
        # Pods without a controller manager have no default service account to wait for.
        "--disable-admission-plugins=ServiceAccount",
        # As most clusters have it: who may be privileged is for namespaces to say.
        "--allow-privileged=true",
        # There is nothing to take the server out of, so it need not linger when it stops.
        "--endpoint-reconciler-type=none",
    ]


def audit(log: Path, policy: Path) -> list[str]:
    """Make kube-apiserver write one line of JSON to `log` for every request it has answered."""
    policy.write_text(json.dumps(AUDIT_POLICY))
    return [f"--audit-log-path={log}", f"--audit-policy-file={policy}"]


def features(gates: Mapping[str, bool], runtime_config: Iterable[str] = ()) -> list[str]:
    """Switch feature gates, and API versions such as `scheduling.k8s.io/v1alpha2=true`."""
    switched = ",".join(f"{name}={str(on).lower()}" for name, on in gates.items())
    served = ",".join(runtime_config)
    return [
        *([f"--feature-gates={switched}"] if switched else []),
        *([f"--runtime-config={served}"] if served else []),
    ]


def controller_manager(
    kubeconfig: Path,
    port: int,
    root: Path,
    signing_key: Path,
    controllers: Sequence[str] = CONTROLLERS,
) -> list[str]:
    """Make kube-controller-manager run some controllers, each with rights of its own."""
    return [
        *_client(kubeconfig, port),
        f"--controllers={','.join(controllers)}",
        "--use-service-account-credentials=true",
        f"--root-ca-file={root}",
        f"--service-account-private-key-file={signing_key}",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
    ]


def scheduler(port: int, config: Path) -> list[str]:
    """Make kube-scheduler follow a config file, which names the kubeconfig file too."""
    return [f"--config={config}", *_serving(port)]


ALL_NODES = "--manage-all-nodes"


def kwok(kubeconfig: Path, stages: Path, nodes: str = ALL_NODES) -> list[str]:
    """Make kwok play the kubelets of some nodes, renewing each lease every ten seconds."""
    return [
        f"--kubeconfig={kubeconfig}",
        nodes,
        "--node-lease-duration-seconds=40",
        f"--config={stages}",
    ]


def _client(kubeconfig: Path, port: int) -> list[str]:
    return [f"--kubeconfig={kubeconfig}", "--leader-elect=false", *_serving(port)]


def _serving(port: int) -> list[str]:
    return ["--bind-address=127.0.0.1", f"--secure-port={port}"]
