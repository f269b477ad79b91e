"""The safeguards of preferences, how to take each out, and who notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

SOLVED = "tests/solver/batch/test_preferences.py"
READ = "tests/model/readers/pods/test_preferences.py"
PLACES = "tests/model/readers/gangs/test_preferred_places.py"

PREFERENCES = (
    Mutant(
        "preferences of a namespace",
        "one namespace makes every plan large by what its pods prefer",
        "model/readers/gangs/preference_limits.py",
        "elif len(sets) > MOST_PREFERENCE_SETS_PER_NAMESPACE:",
        "elif len(sets) > 100 * MOST_PREFERENCE_SETS_PER_NAMESPACE:",
        f"{READ}::test_a_namespace_has_so_many_preferences",
    ),
    Mutant(
        "preferences of a gang",
        "a gang whose pods prefer a node each is a gang of as many roles, and too large",
        "model/readers/gangs/drafts.py",
        "roles = self._roles(waiting, bound, prefers and not too_many)",
        "roles = self._roles(waiting, bound, prefers)",
        f"{READ}::test_a_gang_of_many_preferences_has_none",
    ),
    Mutant(
        "room beside those who prefer",
        "pods that prefer nodes do not count in what others may use",
        "solver/cpsat/builder.py",
        "            split.demands[number] += demands\n",
        "            del number\n",
        f"{SOLVED}::test_room_is_shared_with_those_who_prefer_nothing",
    ),
    Mutant(
        "room for those who prefer",
        "more pods are promised the nodes that they prefer than fit there",
        "solver/cpsat/builder.py",
        "                capacity.add(part, demands)\n",
        "                continue\n",
        f"{SOLVED}::test_two_that_prefer_the_same_share_it_out_by_weight",
    ),
    Mutant(
        "who prefers goes first",
        "others are put on the nodes that were promised, and the leaf is modelled node by node",
        "solver/cpsat/decode.py",
        "classes = sorted(asked, key=lambda one: len(one.nodes))",
        "classes = sorted(asked, key=lambda one: -len(one.nodes))",
        f"{SOLVED}::test_what_others_take_is_what_those_who_prefer_leave",
    ),
    Mutant(
        "apart from others",
        "pods go to where those run that they would rather not be near",
        "model/readers/gangs/preferred_places.py",
        "operator = Operator.IN if weighted.weight > 0 else Operator.NOT_IN",
        "operator = Operator.IN",
        f"{PLACES}::test_zones_apart_from_pods_are_preferred",
    ),
)
