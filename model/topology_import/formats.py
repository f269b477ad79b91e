"""A description from bytes, in the format that is named or that its content shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from fourleaf.model.problems import BadInput
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.text.sources import Source
from fourleaf.model.topology_import.csv_rows import COLUMNS, read_csv
from fourleaf.model.topology_import.description import Description, DescriptionFormat
from fourleaf.model.topology_import.ib.reader import read_ibnetdiscover
from fourleaf.model.topology_import.kubernetes import read_kubernetes
from fourleaf.model.topology_import.slurm_conf import read_slurm_conf
from fourleaf.model.topology_import.slurm_yaml import read_slurm_yaml
from fourleaf.model.topology_import.text import Text, text_of
from fourleaf.model.topology_import.topograph import read_topograph

READERS: Mapping[DescriptionFormat, Callable[[Text], Description]] = {
    DescriptionFormat.IBNETDISCOVER: read_ibnetdiscover,
    DescriptionFormat.SLURM_CONF: read_slurm_conf,
    DescriptionFormat.SLURM_YAML: read_slurm_yaml,
    DescriptionFormat.TOPOGRAPH: read_topograph,
    DescriptionFormat.CSV: read_csv,
}
"""Every format that is text of its own; objects of Kubernetes have readers already."""
_SHOWS = (
    (
        DescriptionFormat.IBNETDISCOVER,
        r'^(Switch|Ca|Rt)\s+[0-9]+\s+"[SHR]-|^# Topology file: generated',
    ),
    (DescriptionFormat.SLURM_CONF, r"^[ \t]*(SwitchName|BlockName)\s*="),
    (DescriptionFormat.KUBERNETES, r'^[ \t]*(?:-[ \t]*)?"?apiVersion"?\s*:|"apiVersion"\s*:'),
    (
        DescriptionFormat.SLURM_YAML,
        r'^[ \t]*-[ \t]+"?topology"?\s*:|^[ \t]*\[\s*\{\s*"topology"\s*:',
    ),
    (
        DescriptionFormat.TOPOGRAPH,
        r'^"?(instances|switches|blocks|capacity_blocks|provider|engine)"?\s*:'
        r'|"(instances|network_layers|provider|engine|switches|blocks)"\s*:',
    ),
)
"""What gives a format away, looked for in this order."""
_HEAD_BYTES = 2**18


def read_description(
    source: Source, wanted: DescriptionFormat | None = None, flat: bool = False
) -> Description:
    """The fabric that `source` describes, in the format `wanted` or the one it shows.

    With `flat`, Kubernetes nodes of which none names a leaf will do (see `read_kubernetes`).
    Raises `BadInput` with the file, the line and the field of everything that is wrong.
    """
    if source.problem is not None:
        raise BadInput([source.problem])
    text = text_of(source.name, source.data)
    found = wanted or shown_format(text)
    if found is not DescriptionFormat.KUBERNETES:
        return READERS[found](text)
    report = Report()
    inventory = Inventory(report)
    inventory.take([source])
    if report.errors:
        raise BadInput(report.errors)
    return read_kubernetes(source, inventory, flat)


def shown_format(text: Text) -> DescriptionFormat:
    """The format that `text` shows. Raises `BadInput` where it shows none."""
    start = "\n".join(text.lines)[:_HEAD_BYTES]
    for found, pattern in _SHOWS:
        if re.search(pattern, start, re.MULTILINE | re.IGNORECASE):
            return found
    header = {one.strip().lower() for one in text.lines[0].split(",")}
    if len(header) > 1 and header & set(COLUMNS["leaf"] + COLUMNS["node"]):
        return DescriptionFormat.CSV
    advice = f"Name it with --from: {', '.join(DescriptionFormat)}."
    text.error(0, "", None, "is in no format that is known", advice)
    text.stop_on_errors()
    raise AssertionError
