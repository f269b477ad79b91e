"""`fourleaf replay` on a trace of three jobs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fourleaf.cli.main import app
from fourleaf.simulator.readers import philly

ROWS = """\
timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:00:00,600,16,9600,a
2017-10-09 07:00:10,600,32,19200,a
2017-10-09 07:00:20,60,1,60,a
"""
ARGS = ["replay", "philly", "--fabric", "regular:8", "--policy", "greedy", "--policy", "spread"]


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / philly.FILE).write_text(ROWS)
    monkeypatch.setenv("TOPOLOGY_DATA_DIR", str(tmp_path))


def test_the_table_stands_policy_beside_policy() -> None:
    """Both policies in the head; nobody is left out."""
    done = CliRunner().invoke(app, ARGS)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("philly: 3 gangs in 20 s")
    head = next(i for i, line in enumerate(lines) if line == "Policies") + 1
    assert lines[head].split() == ["greedy", "spread"]
    never = next(line for line in lines if line.startswith("never started"))
    assert never.split()[-2:] == ["0", "0"]


def test_json_holds_every_gang_and_is_the_same_each_time() -> None:
    """Three gangs a run; 16 GPUs are two nodes; the second cycle starts the gang of four."""
    first, second = (CliRunner().invoke(app, [*ARGS, "--json", "--seed", "3"]) for _ in range(2))
    assert first.exit_code == 0
    assert first.stdout == second.stdout
    runs = json.loads(first.stdout)["runs"]
    assert [run["policy"] for run in runs] == ["greedy", "spread"]
    gangs = {one["name"]: one for one in runs[0]["gangs"]}
    assert (gangs["philly-00000"]["nodes"], gangs["philly-00000"]["leaves"]) == (2, 1)
    assert gangs["philly-00001"]["start"] == 60
    assert runs[0]["gpuSeconds"]["atEnd"]["used"] == 600 * 16 + 600 * 32 + 60


def test_load_days_and_nodes_shape_the_trace() -> None:
    """Whole nodes: 2, 4 and 1 of 8 GPUs. A quarter of 64 GPUs is used until the last arrival t.

    Once t is beyond 1200, the first two have ended by then: 600 s of 16 and of 32 GPUs, 28,800
    GPU-seconds, are 16 t at t = 1800. Up to 1200 they offer more.
    """
    more = ["--load", "25", "--days", "1", "--sizes", "whole-nodes", "--json"]
    done = CliRunner().invoke(app, [*ARGS, *more])
    run = json.loads(done.stdout)["runs"][0]
    assert sorted(one["nodes"] for one in run["gangs"]) == [1, 2, 4]
    assert abs(run["close"] - 1800) <= 1


def test_pictures_are_written(tmp_path: Path) -> None:
    """A sheet and a page in a folder that was not there."""
    folder = tmp_path / "new" / "pictures"
    done = CliRunner().invoke(app, [*ARGS, "--pictures", str(folder)])
    assert done.exit_code == 0, done.output
    assert (folder / "replay.png").stat().st_size > 10_000
    assert "philly: 3 gangs" in (folder / "replay.html").read_text()


def test_a_config_changes_the_replay(tmp_path: Path) -> None:
    """Leaves of 4 capped at one node each: a gang of two nodes needs two of them."""
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\n"
        "spec: {topologyConstraints: {maxNodesPerLeaf: 1}}\n"
    )
    done = CliRunner().invoke(app, [*ARGS, "--json", "--config", str(config)])
    gangs = {one["name"]: one for one in json.loads(done.stdout)["runs"][0]["gangs"]}
    assert gangs["philly-00000"]["leaves"] == 2
    assert gangs["philly-00001"]["start"] == -1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["replay", "philly", "--policy", "best"], "there are cpsat, greedy"),
        (["replay", "phily"], "there are bundled, kalos, philly, openb, and folders"),
        (["replay", "philly", "--fabric", "ring"], "'ring' is no fabric"),
        (["replay", "philly", "--recovery", "hope"], "there are repair, patch, restart"),
        (["replay", "philly", "--sizes", "half"], "there are asked, whole-nodes, node-per-gpu"),
        (["replay", "kalos", "--fabric", "regular"], "Set TOPOLOGY_DATA_DIR"),
        (
            ["replay", "philly", "--recovery", "repair", "--failures", "1"],
            "spread",
        ),
        (["replay", "philly", "--defrag", "1", "--policy", "spread"], "leave it out with --policy"),
        (["replay", "philly", "--load", "1000", "--fabric", "regular:500"], "try a smaller load"),
        (["replay", "philly", "-f", "x.yaml"], "TRACE"),
        (["replay", "-f", "x.yaml", "--load", "90"], "--load: does not go with -f"),
        (["replay", "-f", "x.yaml", "--sizes", "asked"], "--sizes: does not go with -f"),
        (["replay", "-f", "x.yaml", "--days", "1"], "--days: does not go with -f"),
        (["replay", "-f", "x.yaml", "--fabric", "regular"], "--fabric: does not go with -f"),
        (["replay", "philly", "--config", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_bad_input_says_what_there_is(args: list[str], words: str) -> None:
    """Exit code 2, with the names that exist or the variable to set."""
    done = CliRunner().invoke(app, args, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert words in done.output


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("duration", "lasted", "philly_sia.csv, line 2: there is no column 'duration'"),
        ("60,1,60,a", "60,one,60,a", "philly_sia.csv, line 4: invalid literal"),
        (",60,1,60,a", "", "philly_sia.csv, line 4:"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    """No column, no number, half a row: exit code 2, and what to do."""
    (tmp_path / philly.FILE).write_text(ROWS.replace(old, new, 1))
    done = CliRunner().invoke(app, ARGS, env={"COLUMNS": "300"})
    assert done.exit_code == 2
    assert words in done.output.replace("\n", "")
    assert "Fetch the file anew" in done.output


def test_gangs_in_illegal_places_are_explained() -> None:
    """Spread puts the pair on two leaves of the eight nodes, and says that it knows no rule."""
    done = CliRunner().invoke(app, [*ARGS, "--seed", "3"], env={"COLUMNS": "300"})
    said = [line for line in done.stdout.splitlines() if "no law allows" in line]
    assert len(said) == 1
    assert said[0].startswith("spread: ")
    assert said[0].endswith("it does not know the leaf rule.")


def test_a_page_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, [*ARGS, "--pictures", str(tmp_path / "file")])
    assert done.exit_code == 2
    assert "cannot be written" in done.output


def test_files_replay_in_place_of_a_trace() -> None:
    """The example cluster: ten gangs wait; what runs already is no gang of the table."""
    files = [part for path in ("fabric-64", "running", "gangs") for part in ("-f", _example(path))]
    done = CliRunner().invoke(app, ["replay", *files, "--policy", "greedy", "--json"])
    assert done.exit_code == 0, done.output
    run = json.loads(done.stdout)["runs"][0]
    assert (run["trace"], run["summary"]["gangs"]) == ("snapshot", 10)
    assert any(one["resident"] for one in run["gangs"])
    assert run["close"] >= 3600
    assert run["samples"][-1]["at"] == run["close"]


def test_nodes_of_a_snapshot_fail() -> None:
    """Within the hours of its gangs some do, and the table says what they cost."""
    files = [part for path in ("fabric-64", "gangs") for part in ("-f", _example(path))]
    more = ["--policy", "greedy", "--failures", "20000", "--recovery", "patch"]
    done = CliRunner().invoke(app, ["replay", *files, *more])
    assert done.exit_code == 0, done.output
    assert "GPU-hours waited after a failure" in done.stdout
    assert "until the last arrival" not in done.stdout


def _example(name: str) -> str:
    return str(Path(__file__).parents[2] / "examples" / f"{name}.yaml")
