"""Which objects are reflected."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, Kind
from fourleaf.model.config.spec import CONFIG_MAP


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects of `kind`, or of the first of `alternatives` where the cluster does not serve it.

    Only those in `namespace`, with `labels` and with `fields` (selectors), where given. `cached`
    allows a first list that is not a quorum read.
    """

    kind: Kind
    alternatives: tuple[Kind, ...] = ()
    namespace: str = ""
    labels: str = ""
    cached: bool = False
    fields: str = ""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What to look for, best first."""
        return (self.kind, *self.alternatives)


def selection_of(what: Kind | Selection) -> Selection:
    """`what`, or all objects of it where it is a kind."""
    return Selection(what) if isinstance(what, Kind) else what


def config_selection(namespace: str) -> Selection:
    """The ConfigMap of the config alone: rights to list and watch may name it, by this selector."""
    return Selection(CONFIG_MAPS, namespace=namespace, fields=f"metadata.name={CONFIG_MAP}")
