"""The gist of a text: what its readers would act on, whichever gangs and places it names."""

from __future__ import annotations

import re

from fourleaf.k8s_bridge.reporting.other_namespaces import NAME_MARK, without_names
from fourleaf.k8s_bridge.runtime.api_text import but_for_numbers
from fourleaf.model.fabric import Fabric
from fourleaf.model.reasons.pod_condition import NEAREST

_WORD = re.compile(r"[^\s,;:()]*[^\s,;:().]")
_LIST = re.compile(rf"{NAME_MARK}(?:(?:, | and )(?:{NAME_MARK}|[\d,]+ more\b))+")
_IN_ALL = re.compile(r" in one spine and [\d,]+ in all\b")
_ENDS = re.compile(rf"{NAME_MARK} ends\b")


def gist_of(text: str, fabric: Fabric) -> str:
    """`text` but for what is nearest, for names of gangs, pods and places, and for numbers.

    The gists of two texts differ where the cause or the kind of a step does. Which place is
    nearest, and who holds it, changes with each pod that comes or goes anywhere.
    """
    said = without_names(_IN_ALL.sub("", text.partition(NEAREST)[0]))
    places = fabric.nodes, fabric.leaf_index, fabric.spines

    def hidden(found: re.Match[str]) -> str:
        word = found[0]
        return NAME_MARK if any(word in names for names in places) else word

    listed = _LIST.sub(NAME_MARK, _WORD.sub(hidden, said))
    return but_for_numbers(_ENDS.sub(f"{NAME_MARK} end", listed))
