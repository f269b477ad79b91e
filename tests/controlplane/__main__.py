"""Build what a control plane needs; with `up`, run one until Ctrl-C, for trials by hand."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from tests.controlplane.build import BuildError, program, programs, say
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.pki import OpensslError
from tests.controlplane.plane import ControlPlane
from tests.controlplane.processes import ProcessError


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says and tell the exit code."""
    given = _parser().parse_args(arguments)
    try:
        found = programs()
        if given.command == "up":
            _up(given)
            return 0
        for name, path in found.items():
            say(f"{name}: {path}")
    except (BuildError, OpensslError, ProcessError) as error:
        say(str(error))
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.controlplane", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("build", help="build what is missing (the default)")
    up = commands.add_parser("up", help="run a control plane until Ctrl-C")
    up.add_argument("--nodes", type=int, default=64, help="fake GPU nodes (64)")
    up.add_argument("--native-scheduler", action="store_true", help="run kube-scheduler too")
    up.add_argument("--folder", type=Path, help="where logs and kubeconfig files go")
    up.add_argument(
        "--gate", action="append", default=[], metavar="NAME", help="switch a feature gate on"
    )
    up.add_argument(
        "--serve", action="append", default=[], metavar="API", help="serve GROUP/VERSION too"
    )
    return parser


def _up(given: argparse.Namespace) -> None:
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    gates = dict.fromkeys(given.gate, True)
    served = [f"{version}=true" for version in given.serve]
    folder = given.folder and given.folder.resolve()
    with ControlPlane(folder, gates=gates, runtime_config=served) as plane:
        plane.controller_manager()
        plane.kwok()
        if given.native_scheduler:
            plane.scheduler()
        create_fleet(plane.kubeconfig(), Fleet(given.nodes), ready=False)
        tools = _tools(plane.folder)
        say(f"{given.nodes} nodes at {plane.url}; logs in {plane.folder / 'logs'}; Ctrl-C ends it")
        sys.stdout.write(f"export KUBECONFIG={plane.kubeconfig()} PATH={tools}:$PATH\n")
        sys.stdout.flush()
        done.wait()


def _tools(folder: Path) -> Path:
    """Make a folder with kubectl of the control plane's version, and nothing else."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    kubectl = tools / "kubectl"
    kubectl.unlink(missing_ok=True)
    kubectl.symlink_to(program("kubectl"))
    return tools


if __name__ == "__main__":
    sys.exit(main())
