"""Safeguards of places that are being taken: who is bound to them, and who has come for them."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

REPLICAS = "tests/k8s_bridge/relocation/test_replicas.py"
SEATS = "tests/k8s_bridge/scheduling/test_hanging_seats.py"
CONTROLLER = "k8s_bridge/relocation/controller.py"

SEATING = (
    Mutant(
        "places that one is being bound to",
        "two replicas of one owner are bound to one node, whose devices both have",
        CONTROLLER,
        "found = {gang: one for gang, one in there.items() if gang not in beside.values()}",
        "found = there",
        f"{REPLICAS}::test_a_place_that_one_is_being_bound_to_is_no_sibling_s",
    ),
    Mutant(
        "siblings that have not come",
        "a healthy pod is evicted, and its place goes to another tenant",
        "k8s_bridge/relocation/cluster_view.py",
        "                counted(seat.request) == request and self._is_for(wants, seat.node)\n",
        "                seat.node\n",
        f"{REPLICAS}::test_a_sibling_that_cannot_have_a_place_has_not_come_for_it",
    ),
    Mutant(
        "owners of other namespaces",
        "a pod that names the owner of another tenant's replica takes the place kept for it",
        "k8s_bridge/relocation/cluster_view.py",
        "            by = gang.key.namespace, self._owner_of(gang)\n",
        "            made_by = self._owner_of(gang)\n"
        '            by = next((one for one in made if one[1] == made_by), ("", ""))\n',
        f"{REPLICAS}::test_who_names_an_owner_has_not_come_for_its_place[another namespace]",
    ),
    Mutant(
        "gangs of several roles that name an owner",
        "one gang of two roles of which one runs ends the term for all",
        "k8s_bridge/relocation/cluster_view.py",
        "                role = next(role for role in gang.roles if role.pods)\n",
        "                (role,) = gang.roles\n",
        f"{REPLICAS}::test_who_names_an_owner_has_not_come_for_its_place[one of two roles]",
    ),
    Mutant(
        "places that are lent while they are taken",
        "a gang that ends in time is put on nodes that another is being bound to",
        "k8s_bridge/relocation/backfill.py",
        "{*placements(view), *seated} if reserved",
        "placements(view) if reserved",
        "tests/k8s_bridge/relocation/test_backfill.py"
        "::test_a_reservation_that_is_being_taken_lends_nothing[since an earlier one]",
    ),
    Mutant(
        "a reservation whose gang is on its way elsewhere",
        "it is given up as its namespace's own fault, and none is kept for that for a while",
        "k8s_bridge/relocation/next_action.py",
        "            seat.pod.uid in view.requests or ((seen",
        "            ((seen",
        f"{SEATS}::test_a_gang_that_starts_elsewhere_has_its_nodes_for_itself",
    ),
    Mutant(
        "ends of what is being written",
        "a relocation that has ended evicts a pod once its record is there",
        "k8s_bridge/relocation/executor.py",
        "        there |= {key for key in self._doomed if key[0] in self._ending}\n",
        "",
        "tests/k8s_bridge/relocation/test_ended_unwritten.py"
        "::test_nobody_goes_once_its_record_is_there_after_all[4]",
    ),
    Mutant(
        "kept places in revalidation",
        "a gang is bound to a node that was kept for another while the solver ran",
        "k8s_bridge/scheduling/revalidate.py",
        "                free = minus(free, request)\n",
        "                pass\n",
        "tests/k8s_bridge/scheduling/test_revalidate.py"
        "::test_a_place_that_is_kept_for_another_by_now_is_taken",
    ),
    Mutant(
        "pages that are written all the time",
        "the nodes of a busy page are closed as if it hung",
        "k8s_bridge/scheduling/holds/hung_pages.py",
        "(version, since) if version == self._version(name) else (self._version(name), now)",
        "(version, since)",
        "tests/k8s_bridge/relocation/test_hung_pages.py"
        "::test_a_page_that_is_written_all_the_time_does_not_hang",
    ),
    Mutant(
        "commits that went back cost their namespace alone",
        "one tenant deletes a pod that is being bound, and bindings of all take twice the requests",
        "k8s_bridge/ledger/dry_run.py",
        "            self._went_back[namespace] = now + ROLLED_BACK_SECONDS\n",
        "            self._always = True\n",
        "tests/k8s_bridge/ledger/test_dry_run.py"
        "::test_a_commit_that_went_back_has_its_namespace_asked_about_for_ten_minutes",
    ),
    Mutant(
        "admission that could not be found out",
        "one throttled list doubles all requests of bindings for as long as the leader lives",
        "k8s_bridge/ledger/dry_run.py",
        "        self._is_covered = await admission_covers_bindings(self._cluster)\n",
        "        self._always = self._always or await admission_covers_bindings(self._cluster)\n",
        "tests/k8s_bridge/ledger/test_dry_run.py"
        "::test_what_could_not_be_found_out_is_looked_up_again",
    ),
)
