r"""Slurm's `topology.conf`, the output of topograph included: trees and blocks, line by line.

Format: topology.conf(5). Keys in any case, `#` starts a comment, `\` continues a line.
Topograph writes `# switch.1.1=leaf-a` above a switch: the name that the provider has for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fourleaf.model.readers.topology.findings import Finding, FindingKind
from fourleaf.model.topology_import.description import Description, DescriptionFormat
from fourleaf.model.topology_import.switch_tree import Tree
from fourleaf.model.topology_import.text import Text

_PAIR = re.compile(r"([A-Za-z]+)\s*=\s*(\"[^\"]*\"|[^\s\"]+)\s*")
_ALIAS = re.compile(r"#\s*([^\s=#]+)=([^\s=#]+)\s*")
_KEYS = ("switchname", "switches", "nodes", "linkspeed", "blockname", "blocksizes")
LINE_ADVICE = "Write KEY=VALUE pairs, like SwitchName=leaf1 Nodes=gpu[001-004]."


def read_slurm_conf(text: Text) -> Description:
    """The fabric of a `topology.conf`. Raises `BadInput`."""
    tree = Tree(text)
    blocks = 0
    for number, line in _whole_lines(text):
        alias = _ALIAS.fullmatch(line.strip())
        if alias is not None and text.sound(number, "comment", alias[2]):
            tree.names[alias[1]] = alias[2]
        pairs = _pairs(text, number, line.partition("#")[0].strip())
        if "switchname" in pairs:
            nodes, switches = pairs.get("nodes", ""), pairs.get("switches", "")
            tree.add(pairs["switchname"], number, nodes, switches, "SwitchName")
        elif "blockname" in pairs:
            blocks += 1
            tree.add(pairs["blockname"], number, pairs.get("nodes", ""), "", "BlockName")
        elif pairs and "blocksizes" not in pairs:
            text.error(number, "", line.strip(), "names no switch and no block", LINE_ADVICE)
    tree.names = {one: name for one, name in tree.names.items() if one in tree.lines and not blocks}
    notes = (Finding(FindingKind.BLOCKS_AS_LEAVES, blocks),) if blocks else ()
    return tree.description(DescriptionFormat.SLURM_CONF, notes)


def _whole_lines(text: Text) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, each with the number of its first."""
    start, held = 0, ""
    for number, line in enumerate(text.lines, 1):
        start = start or number
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        yield start, held + line
        start, held = 0, ""
    if held:
        yield start, held


def _pairs(text: Text, number: int, line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    end = 0
    while end < len(line):
        pair = _PAIR.match(line, end)
        if pair is None:
            text.error(number, "", line[end:], "is no KEY=VALUE", LINE_ADVICE)
            return {}
        key = pair[1].lower()
        if key not in _KEYS:
            advice = "Known are: SwitchName, Switches, Nodes, LinkSpeed, BlockName, BlockSizes."
            text.error(number, pair[1], pair[2], "is no field of topology.conf", advice)
        elif key in found:
            text.error(number, pair[1], pair[2], "is given twice", "Keep one of them.")
        found[key] = pair[2].strip('"')
        end = pair.end()
    return found
