"""What `lint` says of the examples that users of older schedulers bring along, as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourleaf.cli.lint.api_refusals import api_refusals
from fourleaf.model.readers import open_paths
from tests.cli.conftest import Run
from tests.e2e.test_seeds import ADDED, FILES

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", sorted(ADDED))
def test_what_the_api_server_demands_is_asked_for(name: str) -> None:
    """The very fields that have to be added on a real API server, but for the template's labels."""
    expected = {place.replace("containers.0", "containers[0]") for place in ADDED[name]}
    found = {one.field for one in api_refusals(open_paths([str(FILES / name)]))}
    assert found == {one for one in expected if not one.endswith("labels")}


def test_lint_ends_with_2(run: Run) -> None:
    """It names the field and says what to write; the example of this repository is well."""
    said = run("lint", "-f", FILES / "job.yaml")
    assert said.exit_code == 2
    assert "spec.template.spec.restartPolicy: is not set" in " ".join(said.stdout.split())
    assert api_refusals(open_paths([str(EXAMPLES)])) == []
