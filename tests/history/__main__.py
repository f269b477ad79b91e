"""Judge what a cluster has been through: `python -m tests.history AUDIT_LOG --kubeconfig FILE`.

Without versions recorded from the start, they are put together from the bodies in the audit
log and from the objects as they stand.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.history.check import Expectations, check
from tests.history.past import history_of
from tests.history.server import Refused, Server


def main(arguments: list[str] | None = None) -> int:
    """Print the verdict; 0 where every law holds, 3 where one is broken, 2 for bad input."""
    given = _parser().parse_args(arguments)
    try:
        history = history_of(given.audit_log, Server.of(given.kubeconfig))
    except (OSError, KeyError, Refused) as error:
        sys.stderr.write(f"{given.audit_log}, {given.kubeconfig}: {error!r}\n")
        return 2
    expected = Expectations(
        bindings=given.bindings, commits=given.commits, requests_per_pod=given.requests_per_pod
    )
    verdict = check(history, expected)
    sys.stdout.write("\n".join(verdict.lines()) + "\n")
    return 0 if verdict.ok else 3


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.history", description=__doc__)
    parser.add_argument("audit_log", type=Path, help="the audit log, from the start of the run")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="who may list everything")
    parser.add_argument("--bindings", type=int, default=1, help="bindings at least (1)")
    parser.add_argument("--commits", type=int, default=1, help="commits at least (1)")
    parser.add_argument("--requests-per-pod", type=float, help="requests of ours a pod at most")
    return parser


if __name__ == "__main__":
    sys.exit(main())
