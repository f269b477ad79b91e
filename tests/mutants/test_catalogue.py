"""The mutants fit the code as it is; `make mutants` runs them."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import ROOT, DriftError, Mutant

PROMISED = (
    "UID precondition",
    "version precondition",
    "dry run",
    "fence",
    "quorum list",
    "read-your-writes",
    "page compare-and-swap",
    "phase compare-and-swap",
    "write gate",
    "validator",
    "completed members",
    "orphan proof",
    "format",
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.safeguard)
def test_each_mutant_fits(mutant: Mutant) -> None:
    """The text to replace is there once, what comes of it is Python, and the test exists."""
    ast.parse(mutant.mutated())
    file, name = mutant.test.split("::")
    tree = ast.parse((ROOT / file).read_text())
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert name.split("[")[0] in [function.name for function in functions]


def test_every_safeguard_that_is_promised_has_a_mutant() -> None:
    """No promised safeguard is without proof."""
    missing = [p for p in PROMISED if not any(m.safeguard.startswith(p) for m in MUTANTS)]
    assert not missing


def test_code_that_has_changed_is_noticed() -> None:
    """A mutant whose text is gone says so, instead of changing nothing."""
    gone = Mutant("x", "y", "k8s_bridge/ledger/epoch.py", "no such text", "", "a::b")
    with pytest.raises(DriftError, match="0 times"):
        gone.mutated()
