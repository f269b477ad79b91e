"""Plugins: all that a rule, term or step of one's own may import; anything else may change.

`docs/extending.md` says what each of them is, and how a package brings them.
"""

from fourleaf.model.extensions import (
    BindingPlugin,
    GangBinding,
    LeafTerm,
    NodeTerm,
    PodBinding,
    Rule,
)
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources

__all__ = [
    "BindingPlugin",
    "Gang",
    "GangBinding",
    "Leaf",
    "LeafTerm",
    "Node",
    "NodeTerm",
    "PodBinding",
    "Resources",
    "Role",
    "Rule",
]
