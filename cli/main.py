"""The command `fourleaf`: its verbs, and how it ends when something goes wrong."""

from __future__ import annotations

import gc
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli import (
    config,
    dashboard,
    defrag,
    drain,
    lint,
    plan,
    queue,
    replay,
    run,
    snapshot,
    status,
    validate_plan,
    webhook,
    why,
)
from cli.agent import agent
from cli.console import EXIT_BAD_INPUT, print_problems, write
from cli.demo import verb as demo
from cli.maps import verb as maps


class Verbs(TyperGroup):
    """All verbs. Bad input ends each of them with 2, and each problem on standard error."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        from model.extensions import ExtensionError
        from model.problems import BadInput, Problem, Severity

        try:
            return super().invoke(ctx)
        except BadInput as bad:
            problems = bad.problems
        except ExtensionError as bad:
            advice = "Correct or uninstall the package that brings it."
            problems = (Problem(Severity.ERROR, "extensions", "", "", "", str(bad), advice),)
        print_problems(problems)
        raise typer.Exit(EXIT_BAD_INPUT)


app = typer.Typer(
    name="fourleaf",
    cls=Verbs,
    help="Place GPU gangs on a leaf/spine fabric, all or nothing, with a proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("plan")(plan.plan)
app.command("lint")(lint.lint)
app.command("validate-plan")(validate_plan.validate_plan)
app.command("run")(run.run)
app.command("webhook")(webhook.webhook)
app.command("agent")(agent)
app.command("dashboard")(dashboard.dashboard)
app.command("status")(status.status)
app.command("queue")(queue.queue)
app.command("why")(why.why)
app.command("drain")(drain.drain)
app.command("defrag")(defrag.defrag)
app.command("snapshot")(snapshot.snapshot)
app.command("replay")(replay.replay)
app.command("demo")(demo.demo)
app.add_typer(config.app, name="config")
app.add_typer(maps.app, name="map")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            write(f"fourleaf {version('fourleaf')}")
        except PackageNotFoundError:
            write("fourleaf, from a source tree that is not installed")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command."""
    try:
        app()
    finally:
        # The end of the process frees everything at once; a search for garbage would come first.
        gc.freeze()
