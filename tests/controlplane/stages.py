"""What kwok makes of nodes and pods, and how a pod asks for an end."""

from pathlib import Path

STAGES = Path(__file__).with_suffix(".yaml")
COMPLETE_AFTER = "fourleaf.test/complete-after"
"""The annotation of a pod that shall succeed so long after its start, such as `2s`."""

FAIL_AFTER = "fourleaf.test/fail-after"
"""The annotation of a pod that shall fail so long after its start, such as `500ms`."""
