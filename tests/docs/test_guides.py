"""The guides say all that there is to say, and nothing that is not so."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path

import pytest

from fourleaf.model.readers import read
from fourleaf.model.readers.objects.annotations import KNOWN
from fourleaf.model.readers.text.sources import Source
from fourleaf.model.reasons.kinds import ReasonKind
from tests.twins.resource_claims import channel_spec, compute_domain_classes

DRA = "resource.k8s.io/v1"
ROOT = Path(__file__).parents[2]
EXTENDING = ROOT / "docs" / "extending.md"
TRAINING = ROOT / "docs" / "training-guide.md"
MANIFESTS = re.findall(r"^```yaml\n(.*?)^```$", TRAINING.read_text(), re.M | re.S)
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md")})
NOW = 1_800_000_000.0
DRIVERS = [
    *({"apiVersion": DRA, "kind": "DeviceClass"} | body for body in compute_domain_classes()),
    {
        "apiVersion": DRA,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "llama-channel", "namespace": "training"},
        "spec": {"spec": channel_spec()},
    },
]
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")


def test_every_reason_is_explained() -> None:
    """Each kind of reason has its row: what it means, and what to do."""
    rows = re.findall(r"^\| `(\w+)` \| .+ \| .+ \|$", TRAINING.read_text(), re.M)
    assert {kind.value for kind in ReasonKind} <= set(rows)


def test_every_annotation_is_explained() -> None:
    """Each annotation that the readers know is in the table."""
    text = TRAINING.read_text()
    assert [name for name in sorted(KNOWN) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda text: text.split("\n")[1])
def test_every_manifest_is_understood(manifest: str) -> None:
    """Each controller's example is read without a problem, as gangs that could start.

    Beside it stands what the driver's installation and its controller have made by then.
    """
    sources = [Source("guide.yaml", manifest.encode()), Source("driver", objects=DRIVERS)]
    reading = read(sources, NOW, strict=True)
    assert reading.problems == ()
    assert reading.snapshot.gangs
    assert [gang.hold for gang in reading.snapshot.gangs if gang.hold is not None] == []


def test_the_example_of_a_plugin_runs(tmp_path: Path) -> None:
    """It imports what there is, and its rule is hashable, as rules have to be."""
    blocks = re.findall(r"^```python\n(.*?)^```$", EXTENDING.read_text(), re.M | re.S)
    (example,) = [block for block in blocks if "import" in block]
    path = tmp_path / "our_plugins.py"
    path.write_text(example)
    names = run_path(str(path), run_name="our_plugins")
    assert hash(names["Maintenance"]()) == hash(names["Maintenance"]())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """Each relative link of a page names a file that exists."""
    # What stands in backticks is no link, though a pattern there may look like one.
    links = LINK.findall(re.sub(r"`[^`\n]*`", "", page.read_text()))
    assert [link for link in links if not (page.parent / link).exists()] == []
