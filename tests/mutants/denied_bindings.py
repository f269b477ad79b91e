"""Safeguards of bindings that are denied in odd ways, and of members that are let go."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

BINDING = "k8s_bridge/ledger/binding.py"
DENIED = "tests/k8s_bridge/scheduling/test_denied_bindings.py"
UNANSWERED = "k8s_bridge/ledger/unanswered_bindings.py"
ROLLBACK = "k8s_bridge/ledger/rollback.py"
BACKOFF = "k8s_bridge/scheduling/holds/api_backoff.py"
AGAIN = "tests/k8s_bridge/scheduling/test_refused_again.py"
SAFEGUARDS = "tests/k8s_bridge/ledger/test_safeguards.py"

DENIED_BINDINGS = (
    Mutant(
        "fences that no leader wrote",
        "a tenant ends every term by an annotation of one pod, and no gang starts any more",
        BINDING,
        "    if answer.result is not Bound.FENCED or not await stands():\n",
        "    if True:\n",
        f"{DENIED}::test_a_fence_that_a_tenant_writes_ends_no_term",
    ),
    Mutant(
        "pods that bear a fence are not bound",
        "a binding that is late takes a pod whose place was given to others",
        BINDING,
        "    if seen.fence == commit:\n",
        "    if False:\n",
        f"{SAFEGUARDS}::test_nothing_is_bound_under_a_fence_that_a_tenant_wrote",
    ),
    Mutant(
        "requests that are denied by 410",
        "a webhook that denies one binding by that status ends a term every two seconds",
        "k8s_bridge/cluster/errors.py",
        "class Gone(Refused):\n",
        "class Gone(ClusterError):\n",
        f"{DENIED}::test_a_binding_that_is_gone_is_refused",
    ),
    Mutant(
        "a pod whose read is refused by whatever status",
        "one pod that a proxy does not let be read ends the term for all, again and again",
        BINDING,
        "            except Refused:\n",
        "            except Refused as error:\n"
        "                if error.status not in (401, 403):\n"
        "                    raise\n",
        f"{DENIED}::test_a_pod_whose_read_is_refused_ends_no_term",
    ),
    Mutant(
        "bindings that are denied by a status of the API",
        "a webhook that says 409 to one binding keeps its gang in part for ever, and is not named",
        UNANSWERED,
        "        self.unsaid(met)\n        return True\n",
        "        self.answered()\n        return False\n",
        f"{DENIED}::test_a_binding_is_denied_by_a_status_of_the_api",
    ),
    Mutant(
        "members that are not let go by a status of the API",
        "a webhook that says 409 to evictions is asked fifteen times a second for three pods",
        ROLLBACK,
        "            # that status.\n            return EVICTION_RETRY_SECONDS\n",
        "            # that status.\n            return 0.0\n",
        f"{DENIED}::test_evictions_that_are_denied_by_a_status_of_the_api_grow_rare",
    ),
    Mutant(
        "evictions that are not seen yet",
        "a watch that is a minute late has three pods evicted nine hundred times",
        ROLLBACK,
        "                # The watch that says that it goes may be late.\n"
        "                return EVICTION_RETRY_SECONDS\n",
        "                return 0.0\n",
        f"{DENIED}::test_a_late_watch_has_no_pod_evicted_again_and_again",
    ),
    Mutant(
        "bindings that are put off for ever",
        "three of four pods run for ever without the fourth, for which no turn ever comes",
        UNANSWERED,
        " >= THROTTLED_GIVE_UP_SECONDS\n",
        " == math.inf\n",
        f"{DENIED}::test_a_binding_that_is_put_off_for_ever_is_given_up",
    ),
    Mutant(
        "claims of a pod that turns out to be bound",
        "two pods run on one device, as a claim was freed under a pod whose binding had just come",
        "k8s_bridge/ledger/rollback.py",
        '        if (body.get("spec") or {}).get("nodeName"):\n            return False\n',
        "",
        "tests/k8s_bridge/ledger/test_claims_back.py"
        "::test_claims_of_a_pod_that_turns_out_to_be_bound_are_not_freed",
    ),
    Mutant(
        "a gang of which one member turned out to be bound",
        "plugins are told that a gang runs of which one pod is bound",
        "k8s_bridge/ledger/reconciler.py",
        "        if early is None and all(answer.result is Bound.BOUND for",
        "        if all(answer.result is Bound.BOUND for",
        "tests/k8s_bridge/ledger/test_safeguards.py"
        "::test_a_gang_of_which_one_turned_out_to_be_bound_is_not_told_of",
    ),
    Mutant(
        "claims on a node in doubt",
        "a gang goes back, as the state of one of its nodes was unknown for a moment",
        "k8s_bridge/ledger/claim_allocation.py",
        "(self.pods.usable(member.node) or self.pods.is_doubted(member.node))",
        "self.pods.usable(member.node)",
        "tests/k8s_bridge/ledger/test_claims_back.py"
        "::test_claims_on_a_node_in_doubt_wait_for_it[True]",
    ),
    Mutant(
        "nodes that were deleted and are back",
        "a node that was deleted once is dead as soon as its object is gone for a moment",
        "k8s_bridge/node_health/deleted_nodes.py",
        "        self.confirmed &= gone\n",
        "",
        "tests/k8s_bridge/node_health/test_deleted_nodes.py"
        "::test_one_that_was_deleted_and_is_made_anew_is_asked_for_once_more",
    ),
    Mutant(
        "members that are refused are bound first the next time",
        "three pods are bound and evicted every minute for ever, as a fourth is refused",
        "k8s_bridge/ledger/reconciler.py",
        "        elif answer.result is Bound.IMPOSSIBLE:\n",
        "        elif False:\n",
        f"{AGAIN}::test_a_member_that_is_refused_for_good_costs_the_others_once[auto]",
    ),
    Mutant(
        "waits of gangs that go back grow beyond a minute",
        "members of a gang go for another one that is refused, sixty times an hour",
        "k8s_bridge/wiring.py",
        "limit = LONGEST_WAIT_AFTER_ROLLBACK_SECONDS if is_refused else LONGEST_WAIT_SECONDS",
        "limit = LONGEST_WAIT_SECONDS",
        f"{AGAIN}::test_a_member_that_is_refused_for_good_costs_the_others_once[never]",
    ),
    Mutant(
        "rollbacks that take long",
        "waits begin anew each time, as the pods of the gang take a minute to end",
        BACKOFF,
        "one.due + one.limit <= now",
        "one.due + LONGEST_WAIT_SECONDS <= now",
        "tests/k8s_bridge/scheduling/test_api_backoff.py"
        "::test_waits_after_rollbacks_double_up_to_five_minutes",
    ),
)
