"""Safeguards of volumes that are selected for a gang, on its way back."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PROVISIONING = "k8s_bridge/ledger/volumes/volume_provisioning.py"
VOLUMES = "tests/k8s_bridge/ledger/test_volumes_at_every_write.py"

SIZES_AND_LAG = (
    Mutant(
        "volumes before the last fence",
        "a volume is made for a node on which no pod waits, as a leader died between two writes",
        "k8s_bridge/ledger/rollback.py",
        "            if not self._holds_claims(member) or await self._release(commit, member):\n"
        "                await self._mark(member, commit)\n",
        "            if not self._holds_claims(member):\n"
        "                await self._mark(member, commit)\n"
        "            else:\n"
        "                await self._mark(member, commit)\n"
        "                await self._release(commit, member)\n",
        f"{VOLUMES}::test_killed_at_every_write[True-True]",
    ),
    Mutant(
        "selections that are on their way",
        "a paused leader selects a node for the volume of a gang that has gone back",
        PROVISIONING,
        "        if not _selected(body):\n            fence",
        "        if not _selected(body):\n            return\n            fence",
        f"{VOLUMES}::test_a_selection_that_arrives_late_does_not_take",
    ),
    Mutant(
        "selections that are not taken back at once",
        "a volume is made for a node on which no pod waits, as the API was busy for a moment",
        PROVISIONING,
        "                if self.clock.monotonic() + least < until:\n",
        "                if False:\n",
        f"{VOLUMES}::test_a_node_is_taken_off_as_soon_as_the_api_has_time[error0-3-False]",
    ),
)
