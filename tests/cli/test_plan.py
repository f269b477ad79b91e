"""`fourleaf plan` on real files, with the real solver."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from fourleaf.cli.main import app
from fourleaf.cli.output.text import json_text, yaml_text
from fourleaf.model.documents.plan_reader import from_document
from fourleaf.model.extensions import Extensions
from fourleaf.model.validator import validate
from tests.cli.made import EXAMPLES, example

Run = Callable[..., Result]
Write = Callable[[str, str], Path]

NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n0, labels: {topology.scheduler/leaf: l0, topology.scheduler/spine: s0}}
status:
  allocatable: {cpu: "64", memory: 512Gi, pods: "110", nvidia.com/gpu: "8"}
  conditions: [{type: Ready, status: "True"}]
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {namespace: ml, name: p, creationTimestamp: "2025-11-21T05:00:00Z"}
spec:
  schedulerName: topology-aware-scheduler
  containers: [{name: c, resources: {limits: {nvidia.com/gpu: "GPUS"}}}]
status: {phase: Pending}
"""


@cache
def planned(*options: str) -> Result:
    """The examples planned with `options`; each run starts a solver process, so they are kept."""
    return CliRunner().invoke(app, ["plan", "-f", str(EXAMPLES), *options])


def document(result: Result) -> dict[str, Any]:
    """The JSON on standard output."""
    made: dict[str, Any] = json.loads(result.stdout)
    return made


def test_example_is_planned_and_proven() -> None:
    """All gangs of the examples but one are placed, proven best, and the plan is legal."""
    result = planned("-o", "json")
    assert result.exit_code == 3, result.output
    plan = document(result)
    assert plan["status"] == "OPTIMAL"
    assert plan["objective"] == plan["bound"]
    assert plan["seconds"]["total"] > 0
    waiting = [gang for gang in plan["gangs"] if not gang["placed"]]
    assert [gang["name"] for gang in waiting] == ["llama-pretrain"]
    # Which of the equally good plans is found decides how much one spine has left.
    assert waiting[0]["reason"] in ("NoAdjacentLeaves", "NoFreeCapacity")
    assert "held by " in waiting[0]["message"]
    assert waiting[0]["unblock"]
    restored = from_document(plan, "plan.json")
    assert validate(example(), restored, Extensions()) == ()


def _set(plan: dict[str, Any], *path: str | int, to: object) -> None:
    at: Any = plan
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to


@pytest.mark.parametrize(
    ("path", "to", "breach"),
    [
        (("gangs", 0, "pods", 0, "devices"), [0, 0, 1, 2, 3, 4, 5, 6], "devices: "),
        (("gangs", 0, "pods", 0, "devices"), [99], "devices: "),
        (("gangs", 0, "pods", 0, "gpus"), 3, "devices: "),
        (("bound",), 1, "objective: bound: the bound is 1, below the objective "),
        (("bound",), 10**9, "objective: bound: is said to be OPTIMAL, but the bound 1000000000 "),
        (("gap",), 0.5, "objective: gap: says 0.5, the stages leave 0.0"),
        (("stages", 0, "proven"), False, "objective: stages: is said to be OPTIMAL, "),
        (("stages", 0, "bound"), 10**9, "objective: gap: is said to be OPTIMAL, but leaves "),
        (("gangs", 0, "score"), 5, "terms: "),
    ],
)
def test_wrong_figures_of_a_plan_are_breaches(
    run: Run, write: Write, path: tuple[str | int, ...], to: object, breach: str
) -> None:
    """A plan as it was printed holds; with one figure changed that follows from it, no more."""
    plan = document(planned("-o", "json"))
    held = run("validate-plan", "-f", EXAMPLES, "--plan", write("plan.json", json.dumps(plan)))
    assert held.exit_code == 0, held.output
    _set(plan, *path, to=to)
    edited = write("edited.json", json.dumps(plan))
    checked = run("validate-plan", "-f", EXAMPLES, "--plan", edited)
    assert checked.exit_code == 1, checked.output
    assert any(line.startswith(breach) for line in checked.output.splitlines()), checked.output


def test_a_plan_proven_within_a_gap_holds(run: Run, write: Write) -> None:
    """Its bound may lie above its objective where the stage of the places says the same."""
    plan = document(planned("-o", "json"))
    bound = plan["objective"] + 10
    plan["stages"][-1]["bound"] = plan["bound"] = bound
    plan["gap"] = math.ceil(1e6 * 10 / bound) / 1e6
    checked = run("validate-plan", "-f", EXAMPLES, "--plan", write("plan.json", json.dumps(plan)))
    assert checked.exit_code == 0, checked.output


def test_training_that_asks_for_bandwidth_is_placed_on_the_example_fabric(run: Run) -> None:
    """Its nodes say what theirs is, so 200Gb is no reason to wait: one leaf of spine-1 it is."""
    job = Path(__file__).parents[1] / "e2e" / "published" / "training.yaml"
    result = run("plan", "-f", EXAMPLES / "fabric-64.yaml", "-f", job, "-o", "json")
    assert result.exit_code == 0, result.output
    (gang,) = document(result)["gangs"]
    numbers = {int(pod["node"].removeprefix("gpu-")) for pod in gang["pods"]}
    assert (len(numbers), len({number // 4 for number in numbers})) == (2, 1)
    assert min(numbers) >= 32


def test_same_input_gives_the_same_bytes() -> None:
    """Without timings two runs print the same text, whether it is JSON or YAML."""
    first = planned("-o", "json", "--no-timings")
    second = planned("-o", "yaml", "--no-timings")
    assert json_text(yaml.safe_load(second.stdout)) + "\n" == first.stdout
    assert yaml_text(document(first)) == second.stdout


def test_people_get_a_map() -> None:
    """The default output shows fabric, placed gangs, scores, who waits, and the proof."""
    result = planned("-o", "wide")
    assert result.exit_code == 3
    for part in ("spine-1", "ml/mixtral-sft", "nodes in rank order", "score", "proven best: "):
        assert part in result.stdout
    assert "ml/llama-pretrain  No" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_everything_placed_ends_with_zero(run: Run) -> None:
    """Exit code 0 says that nothing waits; standard input works as a file does."""
    manifest = (NODE + POD.replace("GPUS", "8")).encode()
    result = run("plan", "-f", "-", "-o", "json", input=manifest)
    assert result.exit_code == 0, result.output
    assert document(result)["gangs"][0]["pods"] == [
        {"name": "p", "node": "n0", "gpus": 8, "devices": [0, 1, 2, 3, 4, 5, 6, 7]}
    ]


def test_limits_come_from_the_command_line(run: Run, write: Write) -> None:
    """`--time-limit`, `--seed` and `--now` are taken, and what is out of range is refused."""
    path = write("in.yaml", NODE + POD.replace("GPUS", "1"))
    fine = ("--time-limit", 3, "--seed", 7, "--now", "2025-11-21T06:00:00Z")
    assert run("plan", "-f", path, *fine).exit_code == 0
    for wrong in (("--time-limit", 0), ("--seed", -1), ("--now", "now"), ("--now", "2025-11-21")):
        assert run("plan", "-f", path, *wrong).exit_code == 2


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (NODE + POD.replace("GPUS", "many"), ("Pod ml/p", "resources.limits", '"many"')),
        (NODE.replace('"64"', '"-1"'), ("Node n0", "status.allocatable", '"-1"')),
        ("{", ("truncated",)),
        ("", ("is empty",)),
        (POD.replace("GPUS", "1"), ("Node", "holds no node", "kubectl get nodes")),
    ],
)
def test_bad_input_names_file_object_field_and_value(
    run: Run, write: Write, text: str, parts: tuple[str, ...]
) -> None:
    """Bad input ends with 2 and says where, what stands there, and what to do."""
    path = write("in.yaml", text)
    result = run("plan", "-f", path)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0].startswith(f"error: {path}: ")
    assert lines[1].startswith("  ")
    for part in parts:
        assert part in result.stderr


def test_missing_file_is_bad_input(run: Run) -> None:
    """A file that is not there is reported, not raised."""
    result = run("plan", "-f", "/nowhere/now.json")
    assert result.exit_code == 2
    assert "No such file" in result.stderr
