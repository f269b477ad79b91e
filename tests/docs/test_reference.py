"""The reference pages are those of the code, and leave nothing out."""

from __future__ import annotations

import re

import pytest

from docs.reference import code_map, config, keys, metrics, reasons
from docs.reference.config_meanings import MEANINGS
from docs.reference.pages import FOLDER, pages
from fourleaf.model.readers.objects.annotations import KNOWN
from fourleaf.model.reasons.kinds import ReasonKind


def test_the_pages_are_what_the_code_gives() -> None:
    """Nobody has edited one, and nobody has forgotten `make reference`."""
    found = {name: (FOLDER / name).read_text("utf-8") for name in pages()}
    assert found == pages()
    written = {"predicates.md"}
    assert {one.name for one in FOLDER.glob("*.md")} - written == found.keys() - {code_map.FILE}


def test_every_field_of_the_config_has_a_meaning() -> None:
    """And no meaning is left of a field that went."""
    assert {one.path for one in config.rows()} == MEANINGS.keys()


@pytest.mark.parametrize(
    ("path", "kind", "default", "values"),
    [
        ("batch.size", "integer", "500", "from 1 to 100000"),
        ("solver.timeLimitSeconds", "number", "5.0", "above 0 to 3600"),
        ("fragmentation.weight", "number", "0.1", "from 0 to 1000"),
        ("topology.unlabelled", "string", '"isolate"', '"isolate", "refuse"'),
        ("namespaces[NAME].gpuQuota", "integer", "", "from 0 to 100000000"),
    ],
)
def test_fields_come_with_type_default_and_values(
    path: str, kind: str, default: str, values: str
) -> None:
    """As the schema has them, read by hand."""
    (one,) = [row for row in config.rows() if row.path == path]
    assert (one.type, one.default, one.values) == (kind, default, values)


def test_every_reason_has_advice() -> None:
    """A meaning and what to do, for each."""
    assert reasons.ADVICE.keys() == set(ReasonKind)


def test_every_annotation_that_is_read_is_described() -> None:
    """All wishes that the readers know."""
    described = {one.name for one in keys.WISHES}
    assert described >= KNOWN


def test_metrics_come_with_labels_and_help() -> None:
    """One with a label, and none without help."""
    rows = [row for own in metrics.registries().values() for row in metrics.rows(own)]
    assert ("`topology_placement_decisions_total`", "counter", "`result`") in [r[:3] for r in rows]
    assert all(row[3] for row in rows)


def test_every_verb_stands_on_the_page_of_the_command() -> None:
    """Verbs inside of groups too, each with its options."""
    text = pages()["cli.md"]
    found = re.findall(r"^## `(.*)`$", text, re.MULTILINE)
    assert {"fourleaf plan", "fourleaf map fix", "fourleaf topology import"} <= set(found)
    assert "`--from ibnetdiscover\\|slurm-conf" in text


def test_the_code_map_names_every_file_of_the_product() -> None:
    """Each module of each room, and each says on one line what it holds."""
    text = pages()[code_map.FILE]
    modules = [one for room in code_map.ROOMS for one in (code_map.ROOT / room).rglob("*.py")]
    names = {one: one.relative_to(code_map.ROOT).as_posix() for one in modules}
    unnamed = [
        names[one]
        for one in modules
        if one.name != "__init__.py" and f"(../{names[one]})" not in text
    ]
    assert unnamed == []
    assert [names[one] for one in modules if not code_map.first_line(one).endswith(".")] == []


def test_the_code_map_has_every_room() -> None:
    """The rooms that the package leads to, and no others."""
    package = code_map.ROOT / "fourleaf"
    rooms = {one.name for one in package.iterdir() if (one / "__init__.py").exists()}
    assert rooms == code_map.ROOMS.keys()
