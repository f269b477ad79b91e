"""`lint`, `validate-plan`, `config`, and the command as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import Result

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.documents.plan import to_document
from fourleaf.model.extensions import ExtensionError
from fourleaf.model.gang import Strategy
from fourleaf.model.plan import Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.weights import gang_weights
from tests.cli.made import EXAMPLES, example, example_plan

Run = Callable[..., Result]
Write = Callable[[str, str], Path]

CONFIG = """\
apiVersion: topology.scheduler/v1alpha1
kind: SchedulerConfig
metadata: {name: topology-scheduler-config}
spec:
  scoringWeights: {resourceAvailability: 0.5, topologyAlignment: 0.5}
  topologyConstraints: {maxNodesPerLeaf: 4, maxGPUsPerLeaf: 32}
"""


def test_lint_says_what_it_understood(run: Run) -> None:
    """Nodes, leaves, the labels found and every dialect are counted."""
    result = run("lint", "-f", EXAMPLES)
    assert result.exit_code == 0, result.output
    said = result.stdout
    assert "64 with 512 GPUs; 2 cordoned or not ready" in said
    assert "16; 16 of 4 nodes" in said
    assert "preset topograph, detected" in said
    assert "podgroup 1, pod-group 1, jobset 2, lws 1, job 1, gang 1, pod 3" in said
    assert said.endswith("0 errors, 0 warnings\n")


def test_lint_lists_errors_and_still_says_the_rest(run: Run, write: Write) -> None:
    """An error ends with 2, and what can be understood is shown nevertheless."""
    path = write("bad.yaml", CONFIG.replace("0.5", "-1", 1))
    result = run("lint", "-f", EXAMPLES, "-f", path)
    assert result.exit_code == 2
    assert f"error: {path}: SchedulerConfig" in result.stdout
    assert "64 with 512 GPUs" in result.stdout
    assert "1 error, 0 warnings" in result.stdout


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ("{preset: topograph}", "preset topograph, configured"),
        ("{levels: [{nodeLabel: fabric.topograph.run/tier-0}]}", "configured levels: leaf by"),
        ("{preset: gke}", "cloud.google.com/gce-topology-subblock"),
    ],
)
def test_lint_names_the_labels_of_the_topology(
    run: Run, write: Write, levels: str, said: str
) -> None:
    """It is always clear which labels leaves and spines come from."""
    path = write("config.yaml", CONFIG + f"  topology: {levels}\n")
    assert said in " ".join(run("lint", "-f", EXAMPLES, "-f", path).stdout.split())


def test_plan_that_places_nobody_holds_up_to_its_batch(run: Run, write: Write) -> None:
    """A plan is checked law by law; one that only waits breaks no law of placing."""
    waiting = tuple(Waiting(g.key, Reason(ReasonKind.NOT_PROVEN)) for g in example().gangs)
    plan = Plan(PlanStatus.GREEDY, (), waiting)
    path = write("plan.json", json.dumps(to_document(example(), plan)))
    result = run("validate-plan", "-f", EXAMPLES, "--plan", path)
    assert result.exit_code == 0, result.output
    assert result.stdout == "the plan holds (0 placed, 10 waiting)\n"


def test_breaches_are_listed(run: Run, write: Write) -> None:
    """A plan with invented numbers and missing gangs ends with 1 and a line per breach."""
    path = write("plan.json", json.dumps(to_document(example(), example_plan())))
    result = run("validate-plan", "-f", EXAMPLES, "--plan", path)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert any(line.startswith("terms: serving/chat-0") for line in lines)
    assert lines[-1] == f"{len(lines) - 1} breaches (4 placed, 1 waiting)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "apiVersion"),
        ("[1, 2]", "error: "),
        ("{", "truncated"),
        ('{"kind": "Plan"}\n---\n{"kind": "Plan"}', "error: "),
        ("a: 1\n---\nb: 2\n", "holds 2 documents"),
    ],
)
def test_what_is_no_plan_is_bad_input(run: Run, write: Write, text: str, said: str) -> None:
    """A file that holds no plan ends with 2 and names the file."""
    path = write("plan.txt", text)
    result = run("validate-plan", "-f", EXAMPLES, "--plan", path)
    assert result.exit_code == 2
    assert said in result.stderr
    assert str(path) in result.stderr


def test_extension_that_cannot_be_loaded_is_bad_input(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that offers no proper rule or term is named, not raised."""

    def load() -> None:
        raise ExtensionError("fourleaf.rules: cooling has no allows()")

    monkeypatch.setattr("fourleaf.model.extensions.load", load)
    path = write("plan.json", json.dumps(to_document(example(), example_plan())))
    result = run("validate-plan", "-f", EXAMPLES, "--plan", path)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: extensions: fourleaf.rules: cooling has no allows()\n")


def test_standard_input_is_read_once(run: Run) -> None:
    """Snapshot and plan cannot both come from standard input."""
    assert run("validate-plan", "-f", "-", "--plan", "-").exit_code == 2


def test_config_show_gives_a_manifest_that_reads_back(run: Run, write: Write) -> None:
    """What `config show` prints is a config that means the same."""
    path = write("config.yaml", CONFIG)
    for files in (("--defaults",), ("-f", path)):
        result = run("config", "show", *files)
        assert result.exit_code == 0, result.output
        shown = SchedulerConfig.model_validate(yaml.safe_load(result.stdout))
        again = write("again.yaml", result.stdout)
        assert yaml.safe_load(run("config", "show", "-f", again).stdout) == yaml.safe_load(
            result.stdout
        )
    assert shown.spec.topology_constraints.max_gpus_per_leaf == 32


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (("0.5", "-1"), "spec.scoringWeights.resourceAvailability"),
        (("maxNodesPerLeaf", "maxNodes"), "spec.topologyConstraints.maxNodes"),
        (("maxGPUsPerLeaf: 32", "maxGPUsPerLeaf: 0"), "spec.topologyConstraints.maxGPUsPerLeaf"),
        (("spec:", "spec:\n  network: {uplinkBandwidth: 0Gb}"), "spec.network.uplinkBandwidth"),
    ],
)
def test_config_validate_names_the_wrong_field(
    run: Run, write: Write, change: tuple[str, str], field: str
) -> None:
    """A wrong config ends with 2 and the path of the field; a right one with 0."""
    assert run("config", "validate", "-f", write("good.yaml", CONFIG)).exit_code == 0
    result = run("config", "validate", "-f", write("bad.yaml", CONFIG.replace(*change, 1)))
    assert result.exit_code == 2
    assert field in result.stderr


def test_a_field_without_effect_is_told_of(run: Run, write: Write) -> None:
    """Nothing reads penalties.migration: stated, it is warned about, and nobody explains it."""
    path = write("c.yaml", CONFIG + "  penalties: {migration: 5}\n")
    result = run("config", "validate", "-f", path)
    assert result.exit_code == 0, result.output
    assert f"warning: {path}: SchedulerConfig" in result.stderr
    assert "spec.penalties.migration = 5: has no effect" in result.stderr
    good = run("config", "validate", "-f", write("good.yaml", CONFIG)).stderr
    assert "has no effect" not in good
    assert "migration" not in run("config", "explain", "--defaults").stdout
    assert "migration" not in run("config", "show", "--defaults").stdout


def test_weights_that_are_left_out_are_told_of(run: Run, write: Write) -> None:
    """One weight alone makes the three others nothing, which who edits it may not mean."""
    one = CONFIG.partition("spec:")[0] + "spec: {scoringWeights: {topologyAlignment: 1}}\n"
    result = run("config", "validate", "-f", write("c.yaml", one))
    assert result.exit_code == 0, result.output
    assert (
        "leaves out resourceAvailability and domainUtilization and historicalPerformance, "
        "which then weigh nothing"
    ) in result.stderr


def test_config_is_found_in_a_dump_with_other_errors(run: Run, write: Write) -> None:
    """Errors of other objects do not stand in the way of the config."""
    text = (
        CONFIG + "---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: 3}\n"
    )
    path = write("dump.yaml", text)
    result = run("config", "validate", "-f", path)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{path}: valid\n"


@pytest.mark.parametrize("verb", ["validate", "show", "explain"])
@pytest.mark.parametrize(
    "text", ["scoringWeights: {a: 1}\n", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"]
)
def test_a_file_without_a_config_is_not_valid(run: Run, write: Write, verb: str, text: str) -> None:
    """Whoever names a file means what is in it: the defaults never stand in for it."""
    path = write("c.yaml", text)
    result = run("config", verb, "-f", path)
    assert result.exit_code == 2, result.output
    assert f"{path}: SchedulerConfig: there is no SchedulerConfig in the input" in result.stderr
    assert result.stdout == ""


def test_config_explain_shows_effective_weights(run: Run, write: Write) -> None:
    """Every weight has its meaning and its thousandths for each kind of gang."""
    result = run("config", "explain", "--defaults")
    assert result.exit_code == 0
    row = next(line for line in result.stdout.splitlines() if line.startswith("topologyAl"))
    spec = SchedulerConfig().spec
    expected = [
        str(gang_weights(spec, strategy, latency)["topologyAlignment"])
        for strategy in Strategy
        for latency in (False, True)
    ]
    assert row.split() == ["topologyAlignment", "0.3", *expected]
    assert max(map(len, result.stdout.splitlines())) <= 80
    custom = CONFIG.replace("topologyAlignment", "power")
    assert "a custom term" in run("config", "explain", "-f", write("c.yaml", custom)).stdout
    told = " ".join(result.stdout.split())
    assert "solver.gap 0.0001 OPTIMAL means that no places are worth more" in told
    assert "by over 0.01 % of their points in a large batch, and by none in a small one" in told


def test_version_and_help(run: Run) -> None:
    """`--help` lists every verb and `--version` the version."""
    said = run("--help").stdout
    assert all(verb in said for verb in ("plan", "lint", "validate-plan", "config"))
    assert run("--version").stdout.startswith("fourleaf")
    assert run("no-such-verb").exit_code == 2


def test_the_command_never_loads_ortools() -> None:
    """The parent process stays small: OR-tools belongs to the solver process alone."""
    modules = "fourleaf.cli.main, fourleaf.cli.verbs.plan, fourleaf.solver.process.client"
    code = f"import sys, {modules}; assert 'ortools' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=EXAMPLES.parent)


@pytest.mark.parametrize(
    ("loaded", "heavy"),
    [
        (
            "fourleaf.cli.main",
            {
                "pydantic",
                "rich",
                "yaml",
                "fourleaf.solver.process.client",
                "fourleaf.model.snapshot",
            },
        ),
        (
            "fourleaf.cli.main, fourleaf.cli.cluster.solver_process, "
            "fourleaf.solver.process.worker_restarts",
            {
                "pydantic",
                "structlog",
                "fourleaf.model.fabric",
                "fourleaf.solver.process.messages",
                "fourleaf.solver.process.client",
            },
        ),
    ],
    ids=["help", "starting the solver process"],
)
def test_what_comes_first_loads_nothing_heavy(loaded: str, heavy: set[str]) -> None:
    """`--help` imports only what it prints; the solver process starts before all that is slow."""
    code = f"import sys, {loaded}; found = {heavy} & set(sys.modules); assert not found, found"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=EXAMPLES.parent)


def test_terminal_without_unicode_gets_ascii() -> None:
    """With an ASCII locale the command prints ASCII and does not fail."""
    command = [
        sys.executable,
        "-c",
        "from fourleaf.cli.main import main; main()",
        "config",
        "explain",
        "--defaults",
    ]
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    said = subprocess.run(command, check=True, capture_output=True, cwd=EXAMPLES.parent, env=env)
    assert said.stdout.isascii()
