"""`fourleaf tune`: a verdict, its exit code, and the ConfigMap with the evidence."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from fourleaf.cli.main import app
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.readers import open_paths, read
from fourleaf.simulator.readers import philly
from fourleaf.simulator.tuning import evaluate as replays
from fourleaf.simulator.tuning import worker
from fourleaf.simulator.tuning.knobs import KNOBS
from tests.simulator.tuning.made import WEIGHT, formula

ROWS = "\n".join(
    [
        "timestamp,duration,num_gpus,gpu_time,cluster",
        *(f"2017-10-09 07:0{i}:00,{300 * (i + 1)},16,1,a" for i in range(8)),
    ]
)
ARGS = ["tune", "philly", "--fabric", "regular:4", "--deals", "1", "--knob", WEIGHT]
FORMULAS = ["--objective", "allocation", "--objective", "leaves", "--trials", "4"]


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / philly.FILE).write_text(ROWS)
    monkeypatch.setenv("TOPOLOGY_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    """More weight is more allocation, on train and on held-out."""
    for module in (worker, replays):
        monkeypatch.setattr(module, "evaluate", lambda task, settings, *_: formula(settings))


def test_real_replays_end_with_a_verdict_and_no_config() -> None:
    """Gangs that never wait leave nothing to gain: exit 3, lines of progress, nothing written.

    The study is in the working folder; the same command again replays nothing.
    """
    args = [*ARGS, "--trials", "2", "--write-config", "config.yaml"]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 3, done.output
    assert done.stdout.startswith("Nothing better found: none of 2 trials")
    assert "trial 0, 1 of 2: allocation" in done.stderr
    assert "--anyway writes it" in done.stderr
    assert not Path("config.yaml").exists()
    assert Path("fourleaf-tune.db").exists()
    again = CliRunner().invoke(app, args)
    assert again.stdout == done.stdout
    assert "2 of 2 trials were done before" in again.stderr


@pytest.mark.usefixtures("_formulas")
def test_what_is_better_is_written_with_its_evidence(tmp_path: Path) -> None:
    """Exit 0; the ConfigMap reads as the default with another weight, and says why."""
    args = [*ARGS, *FORMULAS, "--write-config", "config.yaml", "--pictures", "out", "-o", "json"]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    chosen = found["chosen"]["settings"][WEIGHT]
    assert found["better"]
    assert chosen > 0.1
    config = read(open_paths(["config.yaml"])).snapshot.config
    assert float(config.spec.fragmentation.weight) == chosen
    fragmentation = SchedulerConfig().spec.fragmentation
    assert config.spec == SchedulerConfig().spec.model_copy(
        update={
            "fragmentation": fragmentation.model_copy(
                update={"weight": config.spec.fragmentation.weight}
            )
        }
    )
    said = yaml.safe_load(Path("config.yaml").read_text())["metadata"]["annotations"]
    told = {name.removeprefix("tune.topology.scheduler/"): text for name, text in said.items()}
    assert told["verdict"] == found["verdict"]
    assert told["evidence"] == "philly on regular:4"
    assert told["train-window"].startswith("the first 6 gangs")
    assert told["held-out-window"].startswith("the last 2 gangs")
    assert told["trial"] == f"trial {found['chosen']['number']} of 4 in study philly"
    assert told["held-out"].startswith("allocation 46.0 % -> ")
    assert (tmp_path / "out" / "tune.png").stat().st_size > 10_000
    assert "<svg" in (tmp_path / "out" / "tune.html").read_text()


@pytest.mark.usefixtures("_formulas")
def test_a_worker_joins_and_reports_nothing() -> None:
    """Index 3 runs the trials; the report comes from whoever asks after it."""
    args = [*ARGS, *FORMULAS, "--storage", f"journal://{Path.cwd()}/study.log"]
    done = CliRunner().invoke(app, [*args, "--worker"], env={"JOB_COMPLETION_INDEX": "3"})
    assert (done.exit_code, done.stdout) == (0, "")
    report = CliRunner().invoke(app, args)
    assert report.exit_code == 0, report.output
    assert report.stdout.startswith("Better: trial ")
    assert "4 of 4 trials were done before" in report.stderr


@pytest.mark.usefixtures("_formulas")
def test_nothing_better_is_written_where_that_is_asked_for() -> None:
    """One trial, the default: its own config, with a verdict that says so."""
    args = [*ARGS, *FORMULAS, "--trials", "1", "--anyway", "--write-config", "config.yaml"]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 3, done.output
    assert read(open_paths(["config.yaml"])).snapshot.config == SchedulerConfig()
    assert "Nothing better found" in Path("config.yaml").read_text()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["tune", "phily"], ["there are bundled, kalos, philly, openb, and folders"]),
        (["tune", "--objective", "speed"], ["there are allocation, largest-wait"]),
        (["tune", "--knob", "solver.seed"], [f"there are {', '.join(list(KNOBS)[:2])}"]),
        (["tune", "--held-out", "1.5"], ["--held-out"]),
        (["tune", "kalos"], ["Set TOPOLOGY_DATA_DIR"]),
        ([*ARGS, "--fabric", "ring"], ["'ring' is no fabric"]),
        ([*ARGS, "--held-out", "0.05"], ["--held-out = 0.05", "too few", "Take more days"]),
        ([*ARGS, "--load", "90000"], ["--load"]),
        ([*ARGS, "--storage", "nonsense"], ["--storage = nonsense", "sqlite:///FILE"]),
        (
            [*ARGS, "--storage", "nobody://me:secret@there/db"],
            ["--storage = nobody://me:***@there/db"],
        ),
        (["tune", "-f", "nowhere.json", "-f", "nowhere.json"], ["nowhere.json"]),
        (["tune", "-f", "nowhere.json"], ["one snapshot cannot be both"]),
        (["tune", "kalos", "-f", "a", "-f", "b"], ["TRACE = kalos", "snapshots or one trace"]),
        (["tune", "-f", "a", "-f", "b", "--load", "90"], ["--load = 90", "Leave --load out"]),
        ([*ARGS, "--config", "nowhere.yaml"], ["nowhere.yaml"]),
    ],
)
def test_bad_input_is_refused_by_name(args: list[str], words: list[str]) -> None:
    """Exit code 2, the value, and what to do."""
    done = CliRunner().invoke(app, args, env={"COLUMNS": "200"})
    assert done.exit_code == 2, done.output
    for word in words:
        assert word in done.output


def test_evidence_that_is_refused_leaves_no_study() -> None:
    """One snapshot, which is too few: the corrected command would otherwise meet its study."""
    assert CliRunner().invoke(app, ["tune", "-f", "nowhere.json"]).exit_code == 2
    assert not Path("fourleaf-tune.db").exists()


def test_held_out_is_judged_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice made by formulas, judged by real replays: a line as each of the two begins."""
    monkeypatch.setattr(worker, "evaluate", lambda task, settings, *_: formula(settings))
    done = CliRunner().invoke(app, [*ARGS, *FORMULAS], env={"COLUMNS": "200"})
    told = [line for line in done.stderr.splitlines() if line.startswith("judging")]
    assert told == [
        "judging the default on held-out: replay 1 of 1",
        "judging the choice on held-out: replay 1 of 1",
    ]


@pytest.mark.usefixtures("_formulas")
def test_a_study_of_another_task_is_refused() -> None:
    """The same storage and name, another number of deals."""
    assert CliRunner().invoke(app, [*ARGS, *FORMULAS]).exit_code == 0
    done = CliRunner().invoke(app, [*ARGS, *FORMULAS, "--deals", "2"], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "--study = philly: study philly was begun with other values of deals" in done.output
