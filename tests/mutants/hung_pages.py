"""Safeguards of what stands and is kept while a page hangs, and of plans beside each other."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RELOCATION = "tests/k8s_bridge/relocation"
HUNG = f"{RELOCATION}/test_hung_pages.py"
ONE = f"{RELOCATION}/test_one_plan.py"

HUNG_PAGES = (
    Mutant(
        "members whose node is back soon",
        "three healthy members are evicted as a page took seven seconds to be written",
        "k8s_bridge/relocation/repair.py",
        "        return independent(drafts, moving, planned) if spares else drafts\n",
        "        return drafts\n",
        f"{HUNG}::test_members_stay_whose_node_is_back_soon",
    ),
    Mutant(
        "room on a page that hangs",
        "lower gangs are evicted, and start again on the nodes that were free all along",
        "k8s_bridge/relocation/evictions/ending_pods.py",
        "        return written is not question and bool(",
        "        return False and bool(",
        f"{HUNG}::test_a_gang_waits_for_a_page_before_others_make_way",
    ),
    Mutant(
        "places on a page that hangs",
        "places are let go for which eight pods went, and eight go once more",
        "k8s_bridge/relocation/cluster_view.py",
        "        return not node.schedulable and not self.is_hung(name)\n",
        "        return not node.schedulable\n",
        f"{HUNG}::test_places_are_kept_for_which_pods_have_gone",
    ),
    Mutant(
        "pages that hang for long",
        "a gang stays in part for as long as the API is silent about one record",
        "k8s_bridge/scheduling/holds/hung_pages.py",
        "if age < HUNG_PAGE_LIMIT_SECONDS)",
        "if age)",
        f"{HUNG}::test_members_move_where_the_page_hangs_for_long",
    ),
    Mutant(
        "seats on a page that hangs",
        "cycle after cycle tries to seat a gang whose page is not written",
        "k8s_bridge/scheduling/cycle.py",
        "            if self.cache.hung_nodes.isdisjoint(node for _, node in placement.pods)\n",
        "",
        f"{HUNG}::test_seats_on_a_page_that_hangs_have_no_cycle_run_again_and_again",
    ),
    Mutant(
        "sealed nodes that are ready",
        "who waits for a record is told to bring nodes back that are ready",
        "k8s_bridge/cache/cluster_cache.py",
        "self._reader.judge(withheld, failures, self._sealed[0])",
        "self._reader.judge(withheld | self._sealed[0], failures, frozenset())",
        f"{HUNG}::test_who_waits_for_a_page_is_told_of_the_record",
    ),
    Mutant(
        "commits beside gangs that are being seated",
        "a healthy pod is evicted for a node that a cycle is giving away",
        "k8s_bridge/scheduling/cycle.py",
        "sees the places of the others as taken.\n            self._assume_on_their_way()\n",
        "sees the places of the others as taken.\n",
        f"{ONE}::test_no_pod_moves_to_where_a_cycle_that_seats_a_gang_puts_another",
    ),
    Mutant(
        "gangs that start elsewhere than on places reserved for them",
        "their nodes are given to who comes while their records are being written",
        "k8s_bridge/scheduling/cycle.py",
        "            and kept.keeps_there(commit.gang, nodes)\n",
        "",
        "tests/k8s_bridge/scheduling/test_hanging_seats.py"
        "::test_a_gang_that_starts_elsewhere_has_its_nodes_for_itself",
    ),
    Mutant(
        "claims of each member",
        "a volume is made where the pod of another member goes, and the gang goes back for ever",
        "k8s_bridge/ledger/volumes/volume_provisioning.py",
        "                found.setdefault(claim, set()).add(member.node)\n",
        "                found.setdefault(claim, set()).update(one.node for one in members)\n",
        "tests/k8s_bridge/scheduling/test_volumes.py::test_a_claim_follows_its_own_member",
    ),
    Mutant(
        "sweeps beside the steps",
        "no gang is repaired as long as the API does not list Leases",
        "k8s_bridge/relocation/controller.py",
        "                self._sweep = self.spawn(self.store.sweep())\n",
        "                await self.store.sweep()\n",
        f"{RELOCATION}/test_hanging_relocations.py"
        "::test_a_list_that_is_throttled_makes_no_repair_late",
    ),
    Mutant(
        "preemptions whose node was lost",
        "the node of a place dies while others end for it, and the gang pays for that ever longer",
        "k8s_bridge/relocation/tenants/brief_stays.py",
        "why.endswith((SEAT_CLOSED, SEAT_GONE))",
        "why.endswith(SEAT_CLOSED)",
        f"{RELOCATION}/test_brief_stays.py::test_what_others_did_is_not_held_against_it",
    ),
    Mutant(
        "preemptions of the leader before",
        "a new leader repairs nothing for a second each",
        "k8s_bridge/relocation/executor.py",
        "            for task in self._begun_to_end(one, why)\n        ]\n",
        "            for task in self._begun_to_end(one, why)\n        ]\n"
        "        for task in begun:\n"
        "            await self.store.a_while([task], EVICTION_PATIENCE_SECONDS)\n",
        f"{RELOCATION}/test_hanging_relocations.py"
        "::test_preemptions_of_the_leader_before_end_beside_each_other",
    ),
)
