"""The safeguards around ResourceClaims, how to take each out, and the test that notices."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LEDGER = "tests/k8s_bridge/ledger/test_claims.py"
BACK = "tests/k8s_bridge/ledger/test_claims_back.py"
WHOLE = "tests/k8s_bridge/scheduling/test_device_claims.py"
STOOD_STILL = f"{LEDGER}::test_a_leader_that_stood_still_gives_nothing_away"

CLAIMS = (
    Mutant(
        "claim: one pod of a plan",
        "two pods of one plan that name one claim are committed, and one has to go back each time",
        "k8s_bridge/scheduling/device_claims.py",
        "            self._taken.add((member.pod.namespace, one.uid))\n",
        "",
        "tests/k8s_bridge/scheduling/test_device_claims.py"
        "::test_a_claim_that_is_named_by_two_pods_is_for_the_first",
    ),
    Mutant(
        "claim: the record stands",
        "a leader that read a claim after it was freed gives it devices that others have by now",
        "k8s_bridge/ledger/claim_allocation.py",
        "if _version(body) != one.claim.version and not await stands():",
        "if _version(body) != one.claim.version and False:",
        STOOD_STILL,
    ),
    Mutant(
        "claim: version of the allocation",
        "an allocation that was under way when its gang was rolled back takes effect all the same",
        "k8s_bridge/ledger/claim_allocation.py",
        "        target = _exactly(one, body)\n"
        '        await self.cluster.patch(RESOURCE_CLAIMS, target, {"status": status}, "status")',
        '        target = replace(one.claim, version="")\n'
        '        await self.cluster.patch(RESOURCE_CLAIMS, target, {"status": status}, "status")',
        STOOD_STILL,
    ),
    Mutant(
        "claim: fence",
        "what was sent before a claim was freed may still take after that",
        "k8s_bridge/ledger/claim_allocation.py",
        "            body = await self._fence(commit, target, patch)\n            while",
        "            body = await self.cluster.get(RESOURCE_CLAIMS, target)\n            while",
        STOOD_STILL,
    ),
    Mutant(
        "claim: who gave",
        "a rollback takes away what somebody else has given a claim",
        "k8s_bridge/ledger/claim_allocation.py",
        "return _wrote(body) == commit and held and",
        "return held and",
        f"{BACK}::test_a_claim_with_other_devices_takes_the_gang_back",
    ),
    Mutant(
        "claim: freed before the fence",
        "a leader that dies between the two leaves devices in a claim that no record knows of",
        "k8s_bridge/ledger/rollback.py",
        'body = await self._mark(member, f"{commit}{CLAIMED}")',
        "body = await self._mark(member, commit)",
        f"{LEDGER}::test_the_fence_comes_after_the_claims_are_free",
    ),
    Mutant(
        "claim: devices that are gone",
        "pods are bound for devices that their driver no longer has",
        "k8s_bridge/ledger/claim_allocation.py",
        "        if gone:\n",
        "        if False:\n",
        f"{BACK}::test_a_device_that_went_meanwhile_takes_the_gang_back",
    ),
    Mutant(
        "claim: what strangers hold",
        "devices are given away that claims of others hold",
        "model/readers/dra/holders.py",
        "            if (namespace, name, node) not in counted:",
        "            if False:",
        f"{WHOLE}::test_what_strangers_hold_is_not_given_away",
    ),
    Mutant(
        "claim: names outlast numbers",
        "a driver that lists one device less makes pods count with those next to theirs",
        "model/readers/live/reader.py",
        "        if self._ground.renewed:\n            self._table.read_all_anew()\n",
        "",
        "tests/model/readers/live/test_live_claims.py::test_numbers_follow_the_devices_that_there_are",
    ),
)
