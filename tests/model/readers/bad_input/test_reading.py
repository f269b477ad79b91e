"""What becomes of the rest where something is refused, and how it is told."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.runtime.api_text import reason_text
from fourleaf.model.problems import BadInput
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests.model.readers.bad_input.made import annotated, member, ray
from tests.model.readers.made import job, node, owned, pod, reading


def test_all_errors_are_reported_and_fifty_printed() -> None:
    """Sixty broken pods give sixty problems, of which fifty are printed."""
    with pytest.raises(BadInput) as caught:
        reading(*[pod(f"p-{i}", gpus="x") for i in range(60)])
    assert len(caught.value.problems) == 60
    assert str(caught.value).endswith("and 10 more problems")


def test_a_problem_is_one_line_whatever_it_names() -> None:
    """Keys of the input stand in fields, so what they hold must not end the line either."""
    with pytest.raises(BadInput) as caught:
        reading(pod(labels={"a\nb\x1b": 1}))
    first, second = str(caught.value).split("\n")
    assert "metadata.labels[a?b?]" in first
    assert second.startswith("  ")
    assert str(caught.value).replace("\n", "").isprintable()


def test_first_line_names_and_next_line_advises() -> None:
    """A problem is printed as one line of facts and one line of advice."""
    with pytest.raises(BadInput) as caught:
        reading(pod(gpus="x"))
    first, second = str(caught.value).splitlines()
    assert first == (
        "error: in.json: Pod ml/p: spec.containers[0].resources.limits[nvidia.com/gpu]"
        ' = "x": is not a quantity'
    )
    assert second == '  Write it like "8", "500m" or "64Gi".'


def test_lenient_reading_keeps_what_is_sound() -> None:
    """A broken node is left out, a broken gang is held as Invalid, the rest is read."""
    found = reading(
        node("n1"),
        node("n2", status={"allocatable": {"cpu": "x"}}),
        pod("bad", gpus="x"),
        pod("good"),
        strict=False,
    )
    assert list(found.snapshot.fabric.nodes) == ["n1"]
    bad, good = found.snapshot.gangs
    assert bad.hold is not None
    assert bad.hold.kind == ReasonKind.INVALID
    assert good.hold is None
    assert len(found.problems) == 2


def test_a_gang_held_as_invalid_says_what_the_error_says() -> None:
    """Field, value, why and what to do: events, conditions and the queue show the hold alone."""
    found = reading(node("n1"), pod("bad", gpus="8 GPUs"), strict=False)
    (problem,) = found.problems
    (bad,) = found.snapshot.gangs
    assert bad.hold is not None
    assert problem.value == '"8 GPUs"'
    assert bad.hold.detail == (f'{problem.object}: {problem.field} = "8 GPUs": {problem.message}')
    assert bad.hold.unblock == (problem.advice,)
    reason = Reason(ReasonKind(bad.hold.kind), bad.hold.detail, (), (), bad.hold.unblock)
    assert '"8 GPUs"' in reason_text(reason)
    assert reason_text(reason).endswith(f"To unblock: {problem.advice}")


def test_members_missing_is_a_hold_not_an_error() -> None:
    """Two of three members are no mistake: the rest may still come, so the gang is held."""
    (gang,) = reading(member("a", "3"), member("b", "3")).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind == ReasonKind.MEMBERS_MISSING
    assert dict(gang.hold.counts) == {"present": 2, "needed": 3, "bound": 0}


def test_pods_of_other_schedulers_are_not_checked() -> None:
    """A waiting pod of another scheduler is ignored, whatever its annotations say."""
    foreign = annotated("strategy", "x")
    foreign["spec"]["schedulerName"] = "default-scheduler"
    assert reading(foreign).snapshot.gangs == ()


def test_owner_that_reaches_itself_ends() -> None:
    """Owner references in a circle are followed once around."""
    first = owned(job("a", parallelism=2), "Job", "b")
    second = owned(job("b", parallelism=2), "Job", "a")
    found = reading(first, second, owned(pod("a-0"), "Job", "a"), strict=False)
    assert [str(gang.key) for gang in found.snapshot.gangs] == ["ml/a"]


def test_a_scheduler_that_nobody_names_is_not_quoted() -> None:
    """The head names no scheduler, so none is shown: "default-scheduler" is not in the file."""
    (problem,) = reading(ray("w", head={"spec": {"containers": []}}), strict=False).problems
    assert problem.value == ""
    assert problem.message.startswith("is not set, unlike topology-aware-scheduler of ")
