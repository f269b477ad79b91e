"""The command `fourleaf`: its verbs, and how it ends when something goes wrong."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fourleaf.cli.demo import verb as demo
from fourleaf.cli.extras import missing_extra
from fourleaf.cli.help import GROUPS, VerbHelp, described, examples
from fourleaf.cli.maps import verb as maps
from fourleaf.cli.output.console import EXIT_BAD_INPUT, print_problems, write
from fourleaf.cli.topology import verb as topology
from fourleaf.cli.verbs import (
    config,
    dashboard,
    defrag,
    drain,
    lint,
    plan,
    queue,
    record,
    replay,
    run,
    score,
    snapshot,
    status,
    tune,
    validate_plan,
    webhook,
    why,
)
from fourleaf.cli.verbs.agent import agent


class Verbs(TyperGroup):
    """All verbs. Bad input ends each of them with 2, and each problem on standard error."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as the base
        """Write the verbs by what they are for."""
        longest = max(map(len, self.commands))
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{x:{longest}}", described(self.commands[x])) for x in names])

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        from fourleaf.model.extensions import ExtensionError
        from fourleaf.model.problems import BadInput, Problem, Severity

        try:
            return super().invoke(ctx)
        except BadInput as bad:
            problems = bad.problems
        except ExtensionError as bad:
            advice = "Correct or uninstall the package that brings it."
            problems = (Problem(Severity.ERROR, "extensions", "", "", "", str(bad), advice),)
        except ModuleNotFoundError as error:
            problem = missing_extra(ctx.invoked_subcommand or "", error)
            if problem is None:
                raise
            problems = (problem,)
        print_problems(problems)
        raise typer.Exit(EXIT_BAD_INPUT)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            write(f"fourleaf {version('fourleaf')}")
        except PackageNotFoundError:
            write("fourleaf, from a source tree that is not installed")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    pass


def make_app(completion: bool = True) -> typer.Typer:
    """The command with all its verbs; `completion`: with options that install it in a shell."""
    made = typer.Typer(
        name="fourleaf",
        cls=Verbs,
        help="Place GPU gangs on a leaf/spine fabric, all or nothing, with a proof.",
        no_args_is_help=True,
        add_completion=completion,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    made.callback()(_options)
    for name, verb in VERBS.items():
        made.command(name, cls=VerbHelp, epilog=examples(name))(verb)
    made.add_typer(config.app, name="config")
    made.add_typer(maps.app, name="map")
    made.add_typer(topology.app, name="topology")
    return made


VERBS: Mapping[str, Callable[..., None]] = {
    "plan": plan.plan,
    "score": score.score,
    "lint": lint.lint,
    "validate-plan": validate_plan.validate_plan,
    "run": run.run,
    "webhook": webhook.webhook,
    "agent": agent,
    "dashboard": dashboard.dashboard,
    "status": status.status,
    "queue": queue.queue,
    "why": why.why,
    "drain": drain.drain,
    "defrag": defrag.defrag,
    "snapshot": snapshot.snapshot,
    "record": record.record,
    "replay": replay.replay,
    "tune": tune.tune,
    "demo": demo.demo,
}
app = make_app()
PLUGIN = "kubectl-fourleaf"
"""The name under which kubectl finds the command."""


def main() -> None:
    """Run the command, by its own name or as a plugin of kubectl."""
    plugin = Path(sys.argv[0]).name.startswith(PLUGIN)
    try:
        if plugin:
            # kubectl completes its plugins itself, by `kubectl_complete-fourleaf`.
            make_app(completion=False)(prog_name="kubectl fourleaf")
        else:
            app()
    finally:
        # The end of the process frees everything at once; a search for garbage would come first.
        gc.freeze()


NO_FILES = ":4"
FILES = ":0"
"""What kubectl is told last: offer nothing else, or files too."""


def kubectl_complete() -> None:
    """Answer kubectl, which asks for what may follow the words of `kubectl fourleaf`.

    One candidate a line, and last whether files may be offered, too: cobra's protocol.
    """
    words = sys.argv[1:]
    os.environ["_FOURLEAF_COMPLETE"] = "complete_bash"
    os.environ["COMP_WORDS"] = " ".join(["fourleaf", *(quote(word) for word in words if word)])
    os.environ["COMP_CWORD"] = str(max(1, len(words)))
    said = StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(StringIO()):
            app(prog_name="fourleaf")
    except SystemExit:
        pass
    found = [line for line in said.getvalue().splitlines() if line]
    sys.stdout.write("\n".join([*found, NO_FILES if found else FILES]) + "\n")
