"""Help of the command: which verbs stand together, and what each is called with most often."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand, TyperGroup

LONGEST_LINE = 400
"""Characters of a verb's first sentence: all of it, since a list that breaks off says nothing."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Ask a cluster": ("status", "queue", "why"),
    "Plan, from a cluster or from files": ("plan", "score", "lint", "validate-plan", "snapshot"),
    "Make room": ("drain", "defrag"),
    "Describe fabric and config": ("topology", "map", "config"),
    "Learn from a trace": ("record", "replay", "tune", "demo"),
    "Run a part of the product": ("run", "webhook", "agent", "dashboard"),
}
"""Heading -> verbs, in the order in which the help lists them."""

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "status": ("fourleaf status", "fourleaf status --watch"),
    "queue": ("fourleaf queue -n team-a", "fourleaf queue --start"),
    "why": ("fourleaf why team-a/train", "fourleaf why job/train -n team-a"),
    "plan": (
        "fourleaf plan",
        "fourleaf plan -f cluster.yaml -f gangs.yaml -o wide",
        "fourleaf plan --live -f job.yaml --what-if topologyAlignment=0.6",
    ),
    "score": ("fourleaf score team-a/train", "fourleaf score -f cluster.yaml"),
    "lint": ("fourleaf lint -f job.yaml", "helm template . | fourleaf lint -f -"),
    "validate-plan": ("fourleaf validate-plan -f cluster.yaml --plan plan.json",),
    "snapshot": ("fourleaf snapshot -o cluster.yaml",),
    "drain": ("fourleaf drain node-7", "fourleaf drain leaf-3 --apply"),
    "defrag": ("fourleaf defrag --moves 8", "fourleaf defrag --moves 8 --apply"),
    "replay": ("fourleaf replay bundled --policy cpsat --policy first-fit --load 90",),
    "tune": ("fourleaf tune bundled --trials 40 --write-config config.yaml",),
    "record": ("fourleaf record DIR",),
    "demo": ("fourleaf demo",),
    "run": ("fourleaf run --kubeconfig ~/.kube/config",),
    "webhook": ("fourleaf webhook --cert-dir /etc/webhook/certs",),
    "agent": ("fourleaf agent --once -o yaml",),
    "dashboard": ("fourleaf dashboard --snapshot cluster.yaml",),
}
"""Verb -> what it is called with most often."""


def described(command: Any) -> str:
    """What a list of verbs says of one: its first sentence, whole."""
    text: str = command.get_short_help_str(LONGEST_LINE)
    return text


class VerbHelp(TyperCommand):
    """A verb: in its help, arguments stand under their own words, without types of Python."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options."""
        for kind, heading in (("argument", "Arguments"), ("option", "Options")):
            params = (one for one in self.get_params(ctx) if one.param_type_name == kind)
            rows = [row for one in params if (row := one.get_help_record(ctx)) is not None]
            if kind == "argument":
                rows = [(re.sub(" <[^>]*>$", "", words), said) for words, said in rows]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class Subverbs(TyperGroup):
    """Verbs of one verb, in the order in which they are written."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each with its first sentence."""
        with formatter.section("Commands"):
            names = self.list_commands(ctx)
            formatter.write_dl([(name, described(self.commands[name])) for name in names])


def examples(verb: str) -> str | None:
    """What stands below the options of a verb, None where there is nothing."""
    lines = EXAMPLES.get(verb)
    # The first line keeps the others from being wrapped.
    return "\b\nExamples:\n" + "\n".join(f"  {one}" for one in lines) if lines else None
