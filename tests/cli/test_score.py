"""`fourleaf score` on files, with the real solver."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from fourleaf.cli.main import app
from fourleaf.cli.render.decisions import decided
from fourleaf.cli.render.term_inputs import measured
from fourleaf.model.gang import GangKey
from fourleaf.model.scores.decision import DecidedBy, Decision
from tests.cli.conftest import Run
from tests.cli.made import EXAMPLES

Write = Callable[[str, str], Path]


@cache
def told(*words: str) -> Result:
    """`fourleaf` on the examples; each run starts a solver process, so they are kept."""
    return CliRunner().invoke(app, [*words, "-f", str(EXAMPLES)])


def gangs() -> dict[str, Any]:
    """The scores of all gangs of the examples, by name."""
    return {one["name"]: one for one in json.loads(told("score", "-o", "json").stdout)["gangs"]}


def test_all_points_make_the_objective_of_the_plan() -> None:
    """The terms of all gangs placed now and the room kept add up; the solver's own numbers agree.

    What the solver says of each gang is its computation, what `score` says is the validator's.
    """
    scores = json.loads(told("score", "-o", "json").stdout)
    plan = json.loads(told("plan", "-o", "json", "--no-timings").stdout)
    now = [one for one in scores["gangs"] if one["state"] == "PlacedNow"]
    points = sum(term["points"] for one in now for term in one["place"]["terms"])
    shared = sum(one["points"] for one in scores["shared"])
    assert points + shared == scores["objective"] == plan["objective"]
    solver = {one["name"]: one["terms"] for one in plan["gangs"] if one["placed"]}
    for one in now:
        terms = {term["name"]: term["points"] for term in one["place"]["terms"]}
        assert terms == {name: n for name, n in solver[one["name"]].items() if name in terms}
        assert sum(terms.values()) == sum(solver[one["name"]].values())


def test_places_are_those_of_the_plan() -> None:
    """A gang placed now is valued on the nodes that `plan` gives it; one that runs, on its own."""
    plan = json.loads(told("plan", "-o", "json", "--no-timings").stdout)
    for one in plan["gangs"]:
        if one["placed"]:
            pods = [{"name": pod["name"], "node": pod["node"]} for pod in one["pods"]]
            assert gangs()[one["name"]]["place"]["pods"] == pods
    assert gangs()["clip-vit"]["state"] == "Placed"
    assert [pod["node"] for pod in gangs()["clip-vit"]["place"]["pods"]] == ["gpu-36", "gpu-37"]
    assert gangs()["llama-pretrain"]["why"]["reason"]


def test_which_term_decided() -> None:
    """Mixtral prefers the spine that it gets; elsewhere that would cost it 10 per GPU."""
    one = gangs()["mixtral-sft"]
    assert one["decided"]["by"] == "Term"
    assert one["decided"]["term"] == "domain"
    assert one["decided"]["difference"] == one["place"]["points"] - one["other"]["points"]
    assert set(one["place"]["leaves"]) != set(one["other"]["leaves"])


@pytest.mark.parametrize("name", ["clip-vit", "embedder"])
def test_one_that_runs_is_worth_the_same_in_the_list(name: str) -> None:
    """Named, it has a next best, too, where it would be better now."""
    (one,) = json.loads(told("score", name, "-o", "json").stdout)["gangs"]
    assert one["place"] == gangs()[name]["place"]
    assert one["decided"]["by"] == "Better"
    assert "other" not in gangs()[name]


def test_one_gang_for_people() -> None:
    """Every term has its measure, value, weight, score, the next best and the gain."""
    said = told("score", "mixtral-sft")
    assert said.exit_code == 0
    rows = {line.split()[0]: line.split() for line in said.stdout.splitlines() if line.strip()}
    assert rows["topologyAlignment"][-5:] == ["1.000", "0.428", "0.428", "0.214", "+0.214"]
    assert rows["domainUtilization"][1:5] == ["64", "of", "64", "GPUs"]
    assert rows["score"][1:] == ["0.949", "-9.265", "+10.214"]
    assert "domain +10.000" in said.stdout
    assert max(map(len, said.stdout.splitlines())) <= 80


def test_all_gangs_for_people() -> None:
    """A row for each, and the sum below; one that waits ends the verb with 3."""
    said = told("score")
    assert said.exit_code == 3
    rows = [line for line in said.stdout.splitlines() if "/" in line.split("  ")[0]]
    assert len(rows) == len(gangs())
    assert " for room kept = " in said.stdout
    assert max(map(len, said.stdout.splitlines())) <= 80
    wide = told("score", "-o", "wide").stdout
    assert wide.count("would be placed now on") == 9
    assert wide.count("topologyAlignment  ") == sum("place" in one for one in gangs().values())
    assert max(map(len, wide.splitlines())) <= 80


def test_yaml_is_the_same_document() -> None:
    """`-o yaml` says what `-o json` does."""
    assert yaml.safe_load(told("score", "-o", "yaml").stdout) == json.loads(
        told("score", "-o", "json").stdout
    )


def test_unknown_gangs_and_namespaces(run: Run) -> None:
    """A name that is nobody's is bad input with names that are near; a namespace only filters."""
    wrong = told("score", "mixtral")
    assert wrong.exit_code == 2
    assert "Perhaps ml/mixtral-sft?" in wrong.stderr
    few = json.loads(told("score", "-n", "bio", "-o", "json").stdout)["gangs"]
    assert [one["name"] for one in few] == ["fold"]


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (Decision(DecidedBy.TERM, 800, "power", 1600), "power +0.100"),
        (Decision(DecidedBy.TAKEN, -1, "power", -1, (GangKey("a", "b"),)), "taken by a/b"),
        (Decision(DecidedBy.TAKEN, 0, gangs=(GangKey("a", "b"),)), "as good, but taken by a/b"),
        (Decision(DecidedBy.ROOM, -1, "power", -1), "kept for likely gangs"),
        (Decision(DecidedBy.EQUAL, 0), "as good"),
        (Decision(DecidedBy.BETTER, -16, "power", -16), "better there now: power -0.001"),
        (
            Decision(DecidedBy.UNPROVEN, -16, "power", -16),
            "better there, plan not proven best: power -0.001",
        ),
        (Decision(DecidedBy.LAW, 0), "may not stand there any more"),
    ],
)
def test_decisions_in_words(decision: Decision, text: str) -> None:
    """Every ground has its words; differences are per GPU, here of 16."""
    assert decided(decision, 16) == text


@pytest.mark.parametrize(
    ("name", "raw", "text"),
    [
        (
            "resourceAvailability",
            {"cpu": 500, "memory": 491, "pods": 990, "taken": 8, "free": 16},
            "memory 49 % left; 8 of 16 free GPUs",
        ),
        ("topologyAlignment", {"leaves": 2, "spines": 1, "fewest": 3}, "2 leaves, 1 spine"),
        (
            "topologyAlignment",
            {"leaves": 4, "spines": 1, "fewest": 2, "pods": 8, "preferred": 3},
            "4 leaves, 1 spine, 3 too many; 3 of 8 as wished",
        ),
        ("domainUtilization", {"used": 28, "gpus": 32}, "28 of 32 GPUs used"),
        ("historicalPerformance", {"failures": 37}, "3.7 % failures"),
        ("bandwidth", {"asked": 100_000, "uplink": 400_000}, "100 of 400 Gb/s"),
        ("power", {}, ""),
    ],
)
def test_measures_in_words(name: str, raw: dict[str, int], text: str) -> None:
    """What a term was measured on, and nothing for terms of one's own."""
    assert measured(name, raw) == text
