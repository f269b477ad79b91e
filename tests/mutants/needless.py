"""Safeguards of evictions that would serve nobody, and of those who wait for one."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

MONITOR_TESTS = "tests/k8s_bridge/node_health/test_monitor.py"
NEEDLESS_TESTS = "tests/k8s_bridge/relocation/test_needless.py"

SERVE_NONE = "tests/k8s_bridge/relocation/test_moves_that_serve_none.py"

NEEDLESS = (
    Mutant(
        "moves for a gang that the API would not bind",
        "pods are evicted for a gang that a webhook refuses, which never starts on their places",
        "k8s_bridge/relocation/defragmentation.py",
        "        if not await self._may_start(plan, view):\n            return plan\n",
        "",
        f"{SERVE_NONE}::test_no_moves_for_a_gang_that_the_api_would_refuse",
    ),
    Mutant(
        "moves for members that the API would not bind",
        "a gang is evicted for members of another one that a webhook refuses",
        "k8s_bridge/relocation/repair.py",
        "        if not await self._may_start(drafts, at_fault, hit):\n            return plan\n",
        "",
        f"{SERVE_NONE}::test_no_moves_for_a_member_that_the_api_would_refuse",
    ),
    Mutant(
        "moves of which one is not written",
        "pods are evicted for moves that help only together, although one of them cannot be",
        "k8s_bridge/relocation/defragmentation.py",
        "        for one in () if is_whole else held:\n",
        "        for one in ():\n",
        f"{SERVE_NONE}::test_moves_of_which_one_is_not_written_end[1]",
    ),
    Mutant(
        "moves for a gang that is gone",
        "pods are evicted for a gang that was deleted while the solver found moves for it",
        "k8s_bridge/relocation/defragmentation.py",
        "if refused or self._have_changed(plan, view):",
        "if refused:",
        f"{SERVE_NONE}::test_no_moves_for_a_gang_that_is_gone",
    ),
    Mutant(
        "moves for a repair that is not written",
        "a gang is evicted for the repair of another one, whose record is refused",
        "k8s_bridge/relocation/repair.py",
        "            if one.gang not in apart:\n                await self.end(one, UNWRITTEN)\n",
        "            pass\n",
        f"{SERVE_NONE}::test_none_moves_for_a_repair_that_is_not_written",
    ),
    Mutant(
        "hosts that kept silent once",
        "one lost probe and a silent kubelet make a node dead whose pods run",
        "k8s_bridge/node_health/probe.py",
        "name: self._failures.get(name, 0) < FAILURE_THRESHOLD or answer",
        "name: answer or (None if self._failures.get(name, 0) < FAILURE_THRESHOLD else answer)",
        f"{NEEDLESS_TESTS}::test_one_lost_probe_kills_no_node",
    ),
    Mutant(
        "hosts that could not be asked",
        "a process without files left evicts all pods of nodes whose kubelets are cut off",
        "k8s_bridge/node_health/probe.py",
        "is_deaf = bool(controls) and failed <= self._denied",
        "is_deaf = True",
        f"{MONITOR_TESTS}::test_who_cannot_be_asked_is_not_dead[all]",
    ),
    Mutant(
        "probes in a row, and no others",
        "a probe that is lost today counts with those of last week",
        "k8s_bridge/node_health/probe.py",
        "for name, answer in answers.items() if name in before and not answer",
        "for name in before",
        f"{MONITOR_TESTS}::test_probes_that_were_lost_before",
    ),
    Mutant(
        "dry runs of other nodes",
        "what the API says of one node counts for another, where it refuses the gang",
        "k8s_bridge/ledger/binding_trials.py",
        "same = trial.places == places if exact else _pods(trial.places) == _pods(places)",
        "same = _pods(trial.places) == _pods(places)",
        f"{NEEDLESS_TESTS}::test_an_answer_about_other_nodes_is_none",
    ),
    Mutant(
        "preemptions whose gang's dry run hangs",
        "a gang whose webhook hangs is planned each second, and no other has its turn",
        "k8s_bridge/relocation/preemption.py",
        "            self._unanswered.add(gang.key)\n",
        "            del self._tried[gang.key], self._looked_at[gang.key]\n",
        f"{NEEDLESS_TESTS}::test_a_dry_run_that_hangs_keeps_its_own_gang_waiting",
    ),
    Mutant(
        "turns of gangs that may preempt",
        "a dozen gangs that can never be served keep all others from preempting",
        "k8s_bridge/relocation/preemption.py",
        "return min(may, key=self._turn, default=None)",
        "return next(may, None)",
        f"{NEEDLESS_TESTS}::test_many_that_cannot_be_served_keep_no_other_from_its_turn",
    ),
    Mutant(
        "victims that are needed no more",
        "a pod is evicted long after room has come without it",
        "k8s_bridge/relocation/controller.py",
        "        await self.preemption.end_needless(self._view(), self.repair.lost)\n",
        "",
        f"{NEEDLESS_TESTS}::test_who_is_needed_no_more_stays[while the API is ill]",
    ),
    Mutant(
        "preemptions of the leader before",
        "a new leader evicts for what its predecessor saw",
        "k8s_bridge/relocation/controller.py",
        "        await self.executor.end_untold()\n",
        "",
        f"{NEEDLESS_TESTS}::test_who_is_needed_no_more_stays[before another leads]",
    ),
    Mutant(
        "bare pods that may be moved",
        "pods that nothing makes again are evicted to gather room",
        "k8s_bridge/relocation/defragmentation.py",
        "            and not is_any_bare(one.live, self.cache)\n",
        "",
        f"{NEEDLESS_TESTS}::test_pods_that_nothing_makes_again_are_not_gathered",
    ),
    Mutant(
        "owners that are no controllers",
        "pods whose owner makes none again are drained",
        "k8s_bridge/relocation/pod_makers.py",
        "one.node not in dead and not one.controller for one in seen",
        "one.node not in dead and one.controller == '?' for one in seen",
        f"{NEEDLESS_TESTS}::test_pods_whose_owner_is_no_controller_are_not_drained",
    ),
    Mutant(
        "gangs that do not stay",
        "a pod that is deleted as soon as it runs takes one gang after the other out",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        "            if are_over or any(",
        "            if any(",
        "tests/k8s_bridge/relocation/test_needless.py"
        "::test_who_does_not_stay_has_no_more_evicted_for_a_while",
    ),
    Mutant(
        "nobody moves while a gang is being bound",
        "pods are moved to make room that a gang on its way is about to take",
        "k8s_bridge/relocation/controller.py",
        "is_free = not under_way and not self._busy() and not",
        "is_free = not under_way and not",
        "tests/k8s_bridge/relocation/test_moving.py::test_nobody_moves_while_a_gang_is_being_bound",
    ),
    Mutant(
        "gangs that are being bound are not repaired",
        "members of a gang are evicted while others of it are on their way",
        "k8s_bridge/relocation/repair.py",
        "if one.gang.key not in busy and not self._is_served(one.gang.key, free)",
        "if not self._is_served(one.gang.key, free)",
        "tests/k8s_bridge/relocation/test_moving.py::test_nobody_moves_while_a_gang_is_being_bound",
    ),
    Mutant(
        "nodes that fail while the solver runs",
        "a gang is committed to a node that is known to be dead, and goes back",
        "k8s_bridge/scheduling/revalidate.py",
        "        if not cache.usable(node):\n"
        '            return [], f"node {node} is no longer ready"\n',
        "",
        "tests/k8s_bridge/scheduling/test_revalidate.py"
        "::test_a_node_that_has_failed_meanwhile_takes_no_pod",
    ),
    Mutant(
        "the window of preemptions",
        "a gang whose places come to nothing evicts another gang every ten seconds",
        "k8s_bridge/relocation/preemption.py",
        "            self._tried[gang.key] = self.clock.monotonic() + window\n",
        "            pass\n",
        "tests/k8s_bridge/relocation/test_preemption.py"
        "::test_a_node_that_is_closed_while_victims_end_costs_no_window",
    ),
)
