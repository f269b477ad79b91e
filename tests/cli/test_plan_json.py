"""Plans as JSON documents and back."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourleaf.model.documents.plan import Timings, to_document
from fourleaf.model.documents.plan_reader import from_document
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move, Phantom, Placement, Plan, PlanStatus, Stage, Waiting
from fourleaf.model.problems import BadInput
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.snapshot import Snapshot
from tests.cli.made import example, example_plan, unproven

WORDS = st.text("abc-/ é", min_size=1, max_size=8)
NUMBERS = st.integers(-(2**40), 2**40)
KEYS = st.builds(GangKey, WORDS, WORDS)
PAIRS = st.tuples(WORDS, WORDS)
COUNTS = st.dictionaries(WORDS, NUMBERS, max_size=3).map(lambda d: tuple(d.items()))
NEAR = st.builds(
    NearMiss, WORDS, NUMBERS, NUMBERS, st.just("nodes"), st.lists(PAIRS, max_size=2).map(tuple)
)
REASONS = st.builds(
    Reason,
    st.sampled_from(ReasonKind),
    WORDS,
    COUNTS,
    st.lists(NEAR, max_size=2).map(tuple),
    st.lists(WORDS, max_size=2).map(tuple),
)
PLANS = st.builds(
    Plan,
    st.sampled_from(PlanStatus),
    st.lists(
        st.builds(Placement, KEYS, st.lists(PAIRS, min_size=1, max_size=3).map(tuple), COUNTS),
        max_size=3,
    ).map(tuple),
    st.lists(st.builds(Waiting, KEYS, REASONS), max_size=3).map(tuple),
    st.lists(
        st.builds(
            Phantom,
            st.integers(1, 9),
            st.integers(1, 9),
            st.lists(WORDS, max_size=2).map(tuple),
            NUMBERS,
        ),
        max_size=2,
    ).map(tuple),
    st.lists(st.builds(Move, WORDS, WORDS, WORDS, WORDS, WORDS), max_size=2).map(tuple),
    st.lists(
        st.builds(Stage, WORDS, st.booleans(), NUMBERS, NUMBERS, st.just(0.25)), max_size=2
    ).map(tuple),
    NUMBERS,
    NUMBERS,
    st.just(0.5),
    st.just(0.125),
    st.integers(0, 9999),
    st.sampled_from(["", "a note"]),
)


def test_document_has_the_published_fields() -> None:
    """The fields that others build on are there, in their order and with their types."""
    document = to_document(example(), example_plan(), Timings(0.1234, 0.5678))
    assert list(document) == [
        *("apiVersion", "kind", "status", "objective", "bound", "gap", "solver", "seconds"),
        *("peakMemoryMiB", "note", "gangs", "moves", "phantoms", "stages"),
    ]
    assert document["apiVersion"] == "topology.scheduler/v1alpha1"
    assert document["kind"] == "Plan"
    assert document["status"] == "OPTIMAL"
    assert document["solver"] == "cp-sat"
    assert document["seconds"] == {"read": 0.123, "build": 0.012, "solve": 0.029, "total": 0.568}
    assert document["moves"] == [
        {
            "namespace": "serving",
            "pod": "embedder-2",
            "from": "gpu-61",
            "to": "gpu-24",
            "why": "gpu-61 is drained",
        }
    ]


def test_placed_gang_lists_pods_in_rank_order() -> None:
    """A placed gang states its score, its terms and every pod with node and GPUs."""
    gang = to_document(example(), example_plan())["gangs"][0]
    assert (gang["namespace"], gang["name"], gang["placed"]) == ("ml", "mixtral-sft", True)
    assert gang["score"] == sum(gang["terms"].values()) == 56576
    assert gang["pods"][7] == {
        "name": "mixtral-sft-worker-1-3",
        "node": "gpu-51",
        "gpus": 8,
        "devices": [0, 1, 2, 3, 4, 5, 6, 7],
    }


def test_waiting_gang_says_why_and_what_would_help() -> None:
    """A waiting gang states the kind of reason, the sentence, and steps that unblock it."""
    gang = to_document(example(), example_plan())["gangs"][-1]
    assert gang["placed"] is False
    assert gang["reason"] == "NoAdjacentLeaves"
    assert gang["message"].startswith("no 4 adjacent leaves have the room together")
    assert gang["unblock"] == ["Wait for vision/sam-finetune-0 on gpu-09 to end, or move it."]


def test_gap_and_status_of_an_unproven_plan() -> None:
    """The gap is that of the worst stage, 248 of 12593; a greedy plan claims none."""
    document = to_document(example(), unproven(example_plan()))
    assert (document["status"], document["gap"]) == ("FEASIBLE", 0.019694)
    greedy = to_document(example(), Plan(PlanStatus.GREEDY, (), objective=7, bound=7))
    assert (greedy["solver"], greedy["bound"], greedy["gap"]) == ("greedy", None, None)


def test_without_timings_nothing_measured_is_left() -> None:
    """Two runs that differ in their measurements alone give the same document."""
    document = to_document(example(), example_plan())
    assert set(document["seconds"].values()) == {0.0}
    assert document["peakMemoryMiB"] == 0
    assert {stage["seconds"] for stage in document["stages"]} == {0.0}


@given(PLANS)
def test_document_and_plan_say_the_same(plan: Plan) -> None:
    """Any plan survives the way to a document and back, but for the bound of a greedy one."""
    document = to_document(Snapshot(example().fabric), plan, Timings())
    bound = plan.objective if plan.status is PlanStatus.GREEDY else plan.bound
    assert from_document(document, "plan.json") == replace(plan, bound=bound)


def test_shortest_document_is_enough() -> None:
    """A document of the published fields alone, written by hand, can be read."""
    plan = from_document(
        {
            "apiVersion": "topology.scheduler/v1alpha1",
            "kind": "Plan",
            "status": "OPTIMAL",
            "gangs": [
                {
                    "namespace": "ml",
                    "name": "g1",
                    "placed": True,
                    "pods": [{"name": "g1-0", "node": "n7", "devices": [0, 1]}],
                },
                {"namespace": "ml", "name": "g2", "placed": False, "reason": "TooLarge"},
            ],
        },
        "plan.json",
    )
    assert plan.placements == (Placement(GangKey("ml", "g1"), (("g1-0", "n7"),)),)
    assert plan.waiting == (Waiting(GangKey("ml", "g2"), Reason(ReasonKind.TOO_LARGE)),)


Break = Callable[[dict[str, Any]], object]

BREAKS: list[tuple[Break, str, str]] = [
    (lambda d: d.pop("gangs"), "Plan", "gangs"),
    (lambda d: d.update(kind="Job"), "Plan", "kind"),
    (lambda d: d.update(apiVersion="v1"), "Plan", "apiVersion"),
    (lambda d: d.update(status="GOOD"), "Plan", "status"),
    (lambda d: d.update(objective="1"), "Plan", "objective"),
    (lambda d: d["gangs"][0].pop("name"), "Plan", "gangs[0].name"),
    (lambda d: d["gangs"][0].update(pods=[]), "Gang ml/mixtral-sft", "gangs[0]"),
    (
        lambda d: d["gangs"][0]["pods"][2].update(node=7),
        "Gang ml/mixtral-sft",
        "gangs[0].pods[2].node",
    ),
    (lambda d: d["gangs"][-1].pop("reason"), "Gang ml/llama-pretrain", "gangs[4]"),
    (lambda d: d["gangs"][-1].update(reason="Bored"), "Gang ml/llama-pretrain", "gangs[4].reason"),
    (lambda d: d["moves"][0].pop("to"), "Plan", "moves[0].to"),
    (lambda d: d["phantoms"][0].update(nodes=-1), "Plan", "phantoms[0].nodes"),
]


@pytest.mark.parametrize(("damage", "subject", "field"), BREAKS)
def test_damaged_document_is_refused_by_field(damage: Break, subject: str, field: str) -> None:
    """Each wrong field is named with file, object, value and what to do."""
    document = copy.deepcopy(to_document(example(), example_plan()))
    damage(document)
    with pytest.raises(BadInput) as caught:
        from_document(document, "plan.json")
    problem = caught.value.problems[0]
    assert (problem.source, problem.object, problem.field) == ("plan.json", subject, field)
    assert problem.value
    assert problem.message
    assert problem.advice


@pytest.mark.parametrize("document", [None, [], 3, "plan", {}])
def test_what_is_no_document_is_refused(document: object) -> None:
    """Anything that is not a plan at all is bad input, not a crash."""
    with pytest.raises(BadInput):
        from_document(document, "plan.json")
