"""The sizes that the older scheduler prints: so many nodes, so many adjacent leaves of four."""

import pytest

from fourleaf.solver.batch.solve import solve
from tests.small import fabric, gang, snapshot

FABRIC = fabric([[4] * 8, [4] * 8])


@pytest.mark.parametrize(("nodes", "leaves"), [(2, 1), (4, 1), (8, 2), (16, 4)])
def test_so_many_nodes_take_so_many_leaves(nodes: int, leaves: int) -> None:
    """On an empty fabric: leaves of one spine, next to each other, complete from four nodes on."""
    (placed,) = solve(snapshot(FABRIC, gang("job", nodes))).placements
    used = sorted({node[0] for _, node in placed.pods})
    assert len({node for _, node in placed.pods}) == nodes
    assert len(used) == leaves
    assert [ord(one) - ord(used[0]) for one in used] == list(range(leaves))
    assert len({one <= "h" for one in used}) == 1
