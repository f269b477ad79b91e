"""Plugins: all that a rule or a term of one's own may import; anything else may change.

`docs/extending.md` says what a rule and a term are, and how a package brings them.
"""

from fourleaf.model.extensions import LeafTerm, NodeTerm, Rule
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources

__all__ = ["Gang", "Leaf", "LeafTerm", "Node", "NodeTerm", "Resources", "Role", "Rule"]
