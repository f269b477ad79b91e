"""The safeguards around records of other versions, how to take each out, and who notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

CODEC = "tests/k8s_bridge/ledger/test_formats.py"
MIXED = "tests/k8s_bridge/ledger/test_mixed.py"
WHOLE = "tests/k8s_bridge/informers/test_resource_version.py"

FORMATS = (
    Mutant(
        "format: unknown",
        "a record of a later format is read as if it were one that is known",
        "k8s_bridge/ledger/formats/envelope.py",
        "    if number not in readable:",
        "    if number < 0:",
        f"{CODEC}::test_an_unknown_format_is_sealed",
    ),
    Mutant(
        "format: what is sealed holds its nodes",
        "nodes of a page that cannot be read are free for another page, and so are their devices",
        "k8s_bridge/ledger/ledger.py",
        "return listed[0] if listed else self.sealed.page_of(node)",
        "return listed[0] if listed else None",
        f"{MIXED}::test_a_node_of_a_sealed_page_is_taken_up_by_no_other",
    ),
    Mutant(
        "format: a sealed gang lease is there",
        "entries that point to a gang lease that cannot be read are freed while it counts",
        "k8s_bridge/ledger/takeover.py",
        "                or entry.lease in self.ledger.sealed\n",
        "",
        f"{MIXED}::test_a_sealed_gang_lease_keeps_its_entries",
    ),
    Mutant(
        "format: a commit with a sealed page",
        "a gang lease is deleted while a page that cannot be read still points to it",
        "k8s_bridge/ledger/next_action.py",
        "        case _ if commit.sealed:\n            return Step(Action.WAIT)\n",
        "",
        f"{MIXED}::test_a_sealed_page_holds_up_the_rest_of_its_gang",
    ),
    Mutant(
        "format: sealed gangs wait",
        "members of a gang that a sealed page may have committed are planned once more elsewhere",
        "k8s_bridge/scheduling/cycle.py",
        "            unreadable.rule(self.ledger),\n",
        "",
        f"{WHOLE}::test_the_old_version_holds_a_sealed_leaf_back_and_says_so",
    ),
    Mutant(
        "format: sealed gangs stay",
        "moves are decided for pods of which a record says more than this version can read",
        "k8s_bridge/cache/cluster_cache.py",
        "return [one for one in found if one.gang.key not in self._sealed[1]]",
        "return found",
        f"{WHOLE}::test_a_gang_on_a_sealed_page_is_not_repaired",
    ),
    Mutant(
        "format: epochs of sealed records",
        "a leader that was replaced does not learn it from a record that it cannot read",
        "k8s_bridge/ledger/reread.py",
        '        check_epoch(epoch, error.sealed.epoch, f"lease {name}")\n',
        "",
        f"{MIXED}::test_a_replaced_leader_learns_it_from_a_sealed_record",
    ),
    Mutant(
        "format: room in the widest",
        "a page that is full in the newer format can never be written in the older one again",
        "k8s_bridge/ledger/formats/codec.py",
        "return RECORD_LIMIT_BYTES - PAGE_RESERVE_BYTES - len(orjson.dumps(v1.page_content(page)))",
        "return RECORD_LIMIT_BYTES - PAGE_RESERVE_BYTES"
        " - sum(map(len, FORMATS[page.format].page(page).values()))",
        f"{CODEC}::test_room_is_counted_in_the_widest_format",
    ),
    Mutant(
        "format: a page that says nothing",
        "a node is listed by two pages, of which one cannot be read at all",
        "k8s_bridge/ledger/page_layout.py",
        "    if ledger.sealed.opaque_page:\n        return\n",
        "",
        f"{MIXED}::test_no_page_takes_up_nodes_while_one_says_nothing",
    ),
    Mutant(
        "config: few decimals",
        "one number of the config, 1e-99999999, keeps the leader busy for minutes with each gang",
        "model/config/values.py",
        "exponent < -MOST_DECIMALS",
        "exponent < -MOST_DECIMALS**9",
        "tests/model/readers/gangs/test_strategies.py"
        "::test_a_strategy_that_makes_no_sense_is_refused",
    ),
)
