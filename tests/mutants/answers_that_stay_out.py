"""Safeguards against answers that stay out: to bindings, and to gangs for which no other goes."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

BINDINGS = "tests/k8s_bridge/scheduling/test_unanswered_bindings.py"
ATTEMPT = "k8s_bridge/ledger/unanswered_bindings.py"
PREEMPTION = "k8s_bridge/relocation/preemption.py"
TOLD = "tests/k8s_bridge/relocation/test_preemption_told.py"
BINDING = "k8s_bridge/ledger/binding.py"

ANSWERS_THAT_STAY_OUT = (
    Mutant(
        "bindings without an answer are told",
        "three of four pods run, and nothing says why the fourth does not",
        "k8s_bridge/ledger/reconciler.py",
        "        self.binder.unanswered.look(self.ledger, self.clock.monotonic())\n",
        "",
        f"{BINDINGS}::test_a_member_that_is_not_bound_says_why",
    ),
    Mutant(
        "bindings that hang are told before they end",
        "a webhook lets all bindings of a gang hang, and its pods tell the reason of before",
        ATTEMPT,
        "(LATE_SECONDS if self.said else SILENT_SECONDS)",
        "(LATE_SECONDS if self.said else 10**9)",
        f"{BINDINGS}::test_bindings_that_hang_are_told_before_they_end",
    ),
    Mutant(
        "waits between bindings of one pod",
        "a webhook that answers 503 gets a request for each pod every two seconds for ever",
        ATTEMPT,
        "Backoff(clock, most=REQUEST_WAIT_LIMIT_SECONDS)",
        "Backoff(clock)",
        f"{BINDINGS}::test_requests_grow_rare",
    ),
    Mutant(
        "gangs that stay bound in part go back",
        "three of four pods run for ever, and hold their nodes",
        BINDING,
        "            if attempt.is_hopeless:\n                # What",
        "            if False:\n                # What",
        f"{BINDINGS}::test_a_gang_does_not_stay_bound_in_part[Throttled]",
    ),
    Mutant(
        "gangs rest that went back for want of an answer",
        "a gang is bound in part again at once, and evicted again, every two minutes",
        "k8s_bridge/wiring.py",
        "cause, least = UNANSWERED, max(least, GIVE_UP_SECONDS)",
        "cause = UNANSWERED",
        f"{BINDINGS}::test_a_gang_does_not_stay_bound_in_part[Throttled]",
    ),
    Mutant(
        "the last answer decides",
        "a gang is evicted that could be bound at last, as its last request was never sent",
        ATTEMPT,
        "since is not None and self._failed_at - since >= seconds",
        "since is not None and self._clock.monotonic() - since >= seconds",
        f"{BINDINGS}::test_an_answer_in_time_takes_no_gang_back",
    ),
    Mutant(
        "an API server that is down takes no gang back",
        "an API server that restarts has the pods evicted of every gang that was being bound",
        BINDING,
        "                    attempt.unread()\n",
        "                    pass\n",
        f"{BINDINGS}::test_an_api_server_that_is_down_takes_no_gang_back",
    ),
    Mutant(
        "pods that are gone are bound no more",
        "requests go on for pods that were deleted while a webhook answered 503",
        BINDING,
        "                if is_gone(self.pods, member):\n"
        "                    return BindingResult(member, Bound.GONE)\n",
        "",
        f"{BINDINGS}::test_pods_that_are_deleted_are_bound_no_more",
    ),
    Mutant(
        "preemptions that the API would refuse are told",
        "a gang for which lower ones would go is told that not enough is free, not what bars it",
        PREEMPTION,
        "min(REFUSED_RETRY_SECONDS, window)\n            self._tell(\n",
        "min(REFUSED_RETRY_SECONDS, window)\n            return why\n            self._tell(\n",
        f"{TOLD}::test_a_gang_that_would_not_be_bound_is_told_and_tried_again",
    ),
    Mutant(
        "gangs that were refused are tried again in time",
        "a gang waits for five minutes more after the policy was lifted that refused it",
        PREEMPTION,
        "self.clock.monotonic() + min(REFUSED_RETRY_SECONDS, window)",
        "self.clock.monotonic() + window",
        f"{TOLD}::test_a_gang_that_would_not_be_bound_is_told_and_tried_again",
    ),
    Mutant(
        "windows after preemptions are told",
        "a gang that has preempted is told that not enough is free, and not that none goes for now",
        PREEMPTION,
        "        self._tell_windows(waiting, view)\n",
        "",
        f"{TOLD}::test_a_gang_that_has_preempted_is_told_how_long_it_waits",
    ),
)
