"""Rules and terms of other packages, through the real command and its solver process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ENTRY_POINTS = """[fourleaf.rules]
maintenance = fourleaf_example_plugins:Maintenance
[fourleaf.terms]
coolness = fourleaf_example_plugins:Coolness
smallLeaves = fourleaf_example_plugins:SmallLeaves
[fourleaf.bindings]
pause = fourleaf_example_plugins:Pause
"""
NODE = """apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels:
    topology.scheduler/leaf: {leaf}
    topology.scheduler/spine: s
    example.com/inlet-celsius: "{celsius}"
    {extra}
status:
  allocatable: {{nvidia.com/gpu: "8", cpu: "64", memory: 512Gi, pods: "110"}}
  conditions: [{{type: Ready, status: "True"}}]
---
"""
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  template:
    spec:
      schedulerName: topology-aware-scheduler
      containers:
      - name: main
        resources: {limits: {nvidia.com/gpu: 8}}
---
"""
CONFIG = """apiVersion: topology.scheduler/v1alpha1
kind: SchedulerConfig
spec:
  fragmentation: {weight: 0}
  scoringWeights: {coolness: 0.6, smallLeaves: 0.2, historicalPerformance: 0.2}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder on the import path with the example package, as an installer leaves it."""
    folder = tmp_path / "site"
    info = folder / "fourleaf_example_plugins-0.1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(ROOT / "examples/plugins/fourleaf_example_plugins.py", folder)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: fourleaf-example-plugins\nVersion: 0.1.0\n"
    )
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def fourleaf(site: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with `site` on its import path."""
    path = os.pathsep.join([str(ROOT), *([str(site)] if site else [])])
    return subprocess.run(
        [sys.executable, "-c", "from fourleaf.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


def cluster(folder: Path) -> Path:
    """Three leaves: the coolest under maintenance, then a cool one, then a hot one."""
    nodes = [
        NODE.format(name="a", leaf="l1", celsius=18, extra='example.com/maintenance: "ops"'),
        NODE.format(name="b", leaf="l2", celsius=23, extra=""),
        NODE.format(name="c", leaf="l3", celsius=38, extra=""),
    ]
    path = folder / "now.yaml"
    path.write_text("".join(nodes) + JOB + CONFIG)
    return path


def test_the_example_rule_and_terms_decide(site: Path, tmp_path: Path) -> None:
    """Node a is forbidden; b earns 750 for coolness and 1000 for its leaf of one; c would earn 0.

    With weights of 600, 200 and 200 thousandths: 450, 200 and 200 points for each of 8 GPUs.
    """
    path = cluster(tmp_path)
    done = fourleaf(site, "plan", "-f", str(path), "-o", "json", "--no-timings")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    (gang,) = plan["gangs"]
    assert plan["status"] == "OPTIMAL"
    assert gang["pods"][0]["node"] == "b"
    terms = {name: points for name, points in gang["terms"].items() if points}
    assert terms == {"coolness": 3600, "smallLeaves": 1600, "historicalPerformance": 1600}
    saved = tmp_path / "plan.json"
    saved.write_text(done.stdout)
    checked = fourleaf(site, "validate-plan", "-f", str(path), "--plan", str(saved))
    assert checked.returncode == 0, checked.stdout


def test_a_weight_without_its_term_is_refused(tmp_path: Path) -> None:
    """Without the package the config names two terms that nobody brings."""
    done = fourleaf(None, "plan", "-f", str(cluster(tmp_path)))
    assert done.returncode == 2
    assert "spec.scoringWeights.coolness" in done.stderr
    assert "spec.scoringWeights.smallLeaves" in done.stderr
    assert "install the package" in done.stderr


def test_an_entry_point_that_cannot_be_loaded_is_named(site: Path, tmp_path: Path) -> None:
    """A broken package ends the command with 2 and its entry point's name, not a traceback."""
    (site / "fourleaf_example_plugins.py").write_text("raise RuntimeError('broken on purpose')")
    done = fourleaf(site, "plan", "-f", str(cluster(tmp_path)))
    assert done.returncode == 2
    assert "maintenance" in done.stderr
    assert "broken on purpose" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("method", "entry"),
    [
        ("def allows(", "fourleaf.rules: maintenance"),
        ("def value(self, gang: Gang, role", "fourleaf.terms: coolness"),
        ("def value(self, gang: Gang, leaf", "fourleaf.terms: smallLeaves"),
    ],
)
def test_an_extension_that_raises_is_named(
    site: Path, tmp_path: Path, method: str, entry: str
) -> None:
    """Where a rule or term fails there is no legal plan: exit code 2, its name, no traceback."""
    module = site / "fourleaf_example_plugins.py"
    before, after = module.read_text().split(method, 1)
    head, body = after.split(":\n", 1)
    module.write_text(f"{before}{method}{head}:\n        raise KeyError('on purpose')\n{body}")
    done = fourleaf(site, "plan", "-f", str(cluster(tmp_path)), "-o", "json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"{entry} raised KeyError for ml/train-0" in done.stderr
    assert "Traceback" not in done.stderr


def test_points_out_of_range_are_refused(site: Path, tmp_path: Path) -> None:
    """A value above 1000 would break every bound, so it is an error and not cut off."""
    module = site / "fourleaf_example_plugins.py"
    module.write_text(module.read_text().replace("return 1000 // max(", "return 1001 // max("))
    done = fourleaf(site, "plan", "-f", str(cluster(tmp_path)))
    assert done.returncode == 2
    assert "fourleaf.terms: smallLeaves gave 1001 for ml/train-0" in done.stderr
    assert "from 0 to 1000" in done.stderr
