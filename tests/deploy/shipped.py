"""Everything that ships to be applied, as text: what charts and overlays make, and plain files."""

from __future__ import annotations

from pathlib import Path

from tests.deploy.generated import CHARTS, DEPLOY, SYSTEM
from tests.deploy.tools import run

SWITCHED_ON = (
    "--set=monitoring.serviceMonitor=true,monitoring.rules=true,monitoring.dashboards=true",
    "--set=dashboard.enabled=true,dashboard.tokenSecret=token,webhook.certificates=certManager",
    "--set=agent.amd=true,agent.source=file,agent.inventoryConfigMap=inventory",
    "--set=networkPolicies.apiServerCIDRs={10.0.0.0/8},priorityQuota.enabled=true",
)
"""Values of the chart with all that can be on."""

MORE = {
    "fourleaf": {"everything": SWITCHED_ON},
    "gpu-scheduler-check": {"deployment": ("--set=statefulSet.enabled=false",)},
}
"""Chart -> title -> the arguments of `helm template` it is rendered with, beside none."""

NOT_APPLIED = {
    "charts": "rendered",
    "encryption": "for kube-apiserver, which reads it when it starts",
    "images": "for Docker",
    "krew": "for the index of kubectl plugins",
    "kind": "the cluster is for kind; its nodes are added by name",
    "kustomize": "built",
    "monitoring": "rules and dashboards, which the chart wraps",
}
"""Folders whose files are not applied as they stand, and what becomes of them."""


def shipped() -> dict[str, str]:
    """Title -> YAML documents. Skips the test where there is no helm or no kustomize."""
    found = {}
    for chart in sorted(CHARTS.iterdir()):
        for title, values in {"default": (), **MORE.get(chart.name, {})}.items():
            made = run("helm", "template", chart.name, chart, "--namespace", SYSTEM, *values)
            found[f"{chart.name}-{title}"] = made.stdout
    for overlay in sorted((DEPLOY / "kustomize" / "overlays").iterdir()):
        found[f"overlay-{overlay.name}"] = run("kustomize", "build", overlay).stdout
    for path in (*_plain(), DEPLOY / "kind" / "nodes.yaml", DEPLOY / "fourleaf.yaml"):
        found[f"{path.parent.name}-{path.stem}"] = path.read_text()
    return found


def _plain() -> list[Path]:
    folders = [one for one in sorted(DEPLOY.iterdir()) if one.is_dir()]
    applied = [one for one in folders if one.name not in NOT_APPLIED]
    return [path for folder in applied for path in sorted(folder.glob("*.yaml"))]
