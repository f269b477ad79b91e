"""Safeguards against records and statuses that are damaged, lost or nonsense."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

UNLISTED = "tests/k8s_bridge/scheduling/test_unlisted_nodes.py"

ODD_RECORDS = (
    Mutant(
        "nodes that no page lists",
        "a gang is planned on them without end, and pods that live are evicted for that",
        "k8s_bridge/leader.py",
        "self.ledger.sealed.nodes | self._unlisted.nodes()",
        "self.ledger.sealed.nodes",
        f"{UNLISTED}::test_no_lower_gang_makes_way_for_it",
    ),
    Mutant(
        "addresses that are none",
        "one kubelet that writes port 70000 ends every term",
        "k8s_bridge/node_health/probe.py",
        "        except (ValueError, OverflowError, MemoryError, RuntimeError):\n",
        "        except ZeroDivisionError:\n",
        "tests/k8s_bridge/node_health/test_probe.py::test_what_is_no_address_could_not_be_asked",
    ),
    Mutant(
        "kept rates that are none",
        "a Lease of failure rates with a negative number ends every term",
        "k8s_bridge/node_health/failure_rates.py",
        "if not all(0 <= value <= MOST_FAILURES and",
        "if not all(",
        "tests/k8s_bridge/node_health/test_failure_rates.py::test_nonsense_is_refused",
    ),
    Mutant(
        "numbers that cannot be written again",
        "a relocation with a priority of 10^20 ends every term",
        "k8s_bridge/ledger/formats/envelope.py",
        "        if _LONG_NUMBER.search(text):\n",
        "        if False:\n",
        "tests/k8s_bridge/ledger/test_formats.py"
        "::test_numbers_that_cannot_be_written_again_are_refused",
    ),
    Mutant(
        "relocations of other gangs",
        "places stay kept for a gang by which none finds them",
        "k8s_bridge/relocation/codec.py",
        "    if relocation_name(gang) != name_of(body):\n",
        "    if False:\n",
        "tests/k8s_bridge/ledger/test_formats.py::test_a_relocation_of_another_gang_is_refused",
    ),
    Mutant(
        "writes beside a leader's Lease",
        "what annotates the Lease of a dead leader keeps all others from following it",
        "k8s_bridge/election/election.py",
        "lease != replace(self._seen, version=lease.version)",
        "lease != self._seen",
        "tests/k8s_bridge/election/test_election.py::test_what_others_write_beside_renews_no_lease",
    ),
    Mutant(
        "pods that were told to go and are seen to live",
        "a living member is evicted, and the places that were kept for it are given up at once",
        "k8s_bridge/relocation/next_action.py",
        " and gang.hold is None and view.has_left(one)\n",
        " and gang.hold is None\n",
        "tests/k8s_bridge/relocation/test_late_watch.py::test_who_was_told_to_go_is_to_come_anew",
    ),
    Mutant(
        "Jobs that are smaller now",
        "two members wait for a quarter of an hour for others that none makes",
        "k8s_bridge/relocation/next_action.py",
        "    if is_short and view.to_come(gang) == 0:\n",
        "    if False:\n",
        "tests/k8s_bridge/relocation/test_late_members.py"
        "::test_a_smaller_job_waits_for_no_more_than_it_makes",
    ),
    Mutant(
        "gangs that start over",
        "four of five are evicted and the fifth stays, since their node has come back meanwhile",
        "k8s_bridge/relocation/next_action.py",
        "for leaver in there if not starts_over else ():",
        "for leaver in there:",
        "tests/k8s_bridge/relocation/test_as_planned.py::test_who_starts_over_does_so_as_a_whole",
    ),
    Mutant(
        "relocations whose Lease has the name of another's",
        "a gang is never repaired again, since another tenant chose the name of its own for that",
        "k8s_bridge/relocation/store.py",
        "        return found if found.gang == gang else None\n",
        "        return found\n",
        "tests/k8s_bridge/relocation/test_store.py::test_a_gang_whose_relocation_has_the_same_name",
    ),
)
