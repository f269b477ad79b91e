"""`fourleaf plan --what-if` on files, with the real solver."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from fourleaf.cli.render.comparison import comparison_view
from fourleaf.cli.render.glyphs import UNICODE
from fourleaf.model.documents.plan_reader import from_document
from fourleaf.model.extensions import Extensions
from fourleaf.model.readers import Source, read
from fourleaf.model.scores.comparison import PlannedSnapshot, compare
from fourleaf.model.validator import validate
from tests.cli.conftest import Run
from tests.small import fabric, gang, plan, snapshot

Write = Callable[[str, str], Path]
LEAF, SPINE = "topology.scheduler/leaf", "topology.scheduler/spine"
EXAMPLES = Path(__file__).parents[2] / "examples"
FILL = "domainUtilization=1,resourceAvailability=0"


def node(name: str, leaf: str, cpu: int) -> dict[str, Any]:
    """A ready node of 8 GPUs."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {LEAF: leaf, SPINE: "s"}},
        "status": {
            "allocatable": {"cpu": cpu, "memory": "1Ti", "pods": 110, "nvidia.com/gpu": 8},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, on: str = "") -> dict[str, Any]:
    """A pod of 4 GPUs and 40 cores, on a node or waiting."""
    limits = {"nvidia.com/gpu": "4", "cpu": "40"}
    spec: dict[str, Any] = {
        "schedulerName": "topology-aware-scheduler",
        "containers": [{"name": "c", "resources": {"limits": limits}}],
    }
    if on:
        spec["nodeName"] = on
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": spec,
        "status": {"phase": "Running" if on else "Pending"},
    }


CROWDED = [
    *(node("full", "a", 100), node("busy", "a", 50), node("empty", "b", 100)),
    *(pod("old", "full"), pod("other", "busy"), pod("new")),
]
"""`full` would be filled by `new` and have 20 of 100 cores left; `empty` would have 60.

In both leaves 8 GPUs are free, of which it takes 4.
"""


@pytest.fixture(name="input_file")
def _input_file(write: Write) -> Path:
    return write("now.yaml", yaml.safe_dump_all(CROWDED))


def test_the_term_that_moves_a_gang(run: Run, input_file: Path) -> None:
    """By default comfort (0.4 of 0.3 against 0.1) outweighs filling (0.2 of 0.75 against 0.5).

    Without it filling decides: 0.75 against 0.5 for each of the 4 GPUs.
    """
    result = run("plan", "-f", input_file, "--what-if", FILL, "-o", "json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["kind"] == "Comparison"
    (gang,) = told["gangs"]
    assert gang["change"] == "Moved"
    assert (gang["from"]["nodes"], gang["to"]["nodes"]) == (["empty"], ["full"])
    assert gang["decided"]["by"] == "Term"
    assert gang["decided"]["term"] == "domainUtilization"
    assert gang["heldBefore"]["term"] == "resourceAvailability"
    terms = {one["name"]: one["value"] for one in told["terms"]}
    assert terms["resourceAvailability"] == {"before": 0.55, "after": 0.35}
    assert terms["domainUtilization"] == {"before": 0.5, "after": 0.75}
    fields = {one["field"]: (one["before"], one["after"]) for one in told["config"]}
    assert fields == {
        "spec.scoringWeights.domainUtilization": ("0.2", "1"),
        "spec.scoringWeights.resourceAvailability": ("0.4", "0"),
    }


def test_both_plans_are_legal_each_under_its_config(run: Run, input_file: Path) -> None:
    """The document holds both plans whole; the validator finds nothing wrong with either."""
    told = json.loads(run("plan", "-f", input_file, "--what-if", FILL, "-o", "json").stdout)
    before = read([Source("in", objects=CROWDED)]).snapshot
    weights = {**before.config.spec.scoring_weights, "domainUtilization": 1}
    weights["resourceAvailability"] = 0
    spec = {"scoringWeights": weights}
    config = type(before.config).model_validate({"spec": spec})
    after = read([Source("in", objects=CROWDED)], config=config).snapshot
    for name, world in (("before", before), ("after", after)):
        assert validate(world, from_document(told[name], name), Extensions()) == ()


def test_for_people(run: Run, input_file: Path) -> None:
    """What differs, the bars, who goes where and why, and both proofs, in 80 columns."""
    said = run("plan", "-f", input_file, "--what-if", FILL)
    assert said.exit_code == 0
    lines = said.stdout.splitlines()
    assert "  spec.scoringWeights.domainUtilization: 0.2 -> 1" in lines
    at = next(number for number, line in enumerate(lines) if "ml/new" in line)
    told = " ".join(" ".join(lines[at:]).split("room kept")[0].split())
    # Before, 0.4 of 0.3 against 0.1 for each of 4 GPUs held it.
    held = "resourceAvailability held it before, +0.080"
    assert told == f"ml/new b a {held}; now domainUtilization +0.178"
    assert sum("proven best: " in line for line in lines) == 2
    assert max(map(len, lines)) <= 80


def test_a_gang_that_would_have_to_wait(run: Run, input_file: Path, write: Write) -> None:
    """Under a quota of 4 GPUs, which run, the new pod would wait; then the verb ends with 3."""
    patch = write("patch.yaml", "namespaces: {ml: {gpuQuota: 4}}\n")
    said = run("plan", "-f", input_file, "--what-if", patch)
    assert said.exit_code == 3
    assert "1 newly waiting" in said.stdout
    assert "QuotaExceeded" in said.stdout
    told = json.loads(run("plan", "-f", input_file, "--what-if", patch, "-o", "json").stdout)
    (gang,) = told["gangs"]
    assert gang["change"] == "NewlyWaiting"
    assert gang["why"]["reason"] == "QuotaExceeded"


def test_the_term_that_held_a_gang(run: Run, tmp_path: Path) -> None:
    """Without its penalty, the spine that was wished for holds mixtral-sft no longer."""
    change = tmp_path / "config.yaml"
    change.write_text(
        "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\nspec:\n"
        "  penalties: {domain: 0}\n"
        "  defaultStrategies: {gangs: balanced, replicas: balanced, others: balanced}\n"
        "  scoringWeights: {resourceAvailability: 1, domainUtilization: 0.2, "
        "historicalPerformance: 0.1}\n"
    )
    told = json.loads(run("plan", "-f", EXAMPLES, "--what-if", change, "-o", "json").stdout)
    (gang,) = (one for one in told["gangs"] if one["name"] == "mixtral-sft")
    assert gang["change"] == "Moved"
    assert gang["heldBefore"]["by"] == "Term"
    assert gang["heldBefore"]["term"] == "domain"
    assert gang["heldBefore"]["difference"] > 0 >= gang["decided"]["difference"]
    said = " ".join(run("plan", "-f", EXAMPLES, "--what-if", change).stdout.split())
    assert "1 still waiting" in said
    assert "+10.000;" in said


def test_shuffled_gangs_are_counted_and_listed_by_wide_alone() -> None:
    """Two gangs that change places of which neither config prefers one."""
    world = snapshot(fabric([[2, 2]]), gang("g", 1), gang("h", 1))
    plans = (plan(world, {"g": [a], "h": [b]}) for a, b in (("a0", "b0"), ("b0", "a0")))
    comparison = compare(*(PlannedSnapshot(world, made) for made in plans))
    for wide in (False, True):
        page = StringIO()
        Console(file=page, width=80).print(*comparison_view(comparison, UNICODE, wide))
        said = page.getvalue()
        assert "2 only shuffled" in said
        assert ("nothing: as good under both configs" in said) is wide


def test_what_changes_nothing(run: Run, input_file: Path) -> None:
    """The weights in force make the same plan again, and that is said."""
    said = run("plan", "-f", input_file, "--what-if", "topologyAlignment=0.3").stdout
    assert "nothing differs" in said
    assert "1 in place" in said


@pytest.mark.parametrize(
    ("what_if", "said"),
    [
        ("power=1", "--what-if: SchedulerConfig"),
        ("domainUtilization=-1", 'domainUtilization = "-1"'),
        ("domainUtilization=1,", "is no weight of a term"),
        ("/nowhere/w.yaml", "No such file"),
    ],
)
def test_bad_changes(run: Run, input_file: Path, what_if: str, said: str) -> None:
    """They are refused before anything is planned."""
    result = run("plan", "-f", input_file, "--what-if", what_if)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr


def test_watching_compares_nothing(run: Run, input_file: Path) -> None:
    """The two options do not go together."""
    assert run("plan", "-f", input_file, "--what-if", FILL, "--watch").exit_code == 2
