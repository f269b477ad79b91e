"""Name the rights that ship and that no test used: `python -m tests.e2e.used_rights FOLDER`.

FOLDER is what the environment variable `FOURLEAF_USED_RIGHTS` named in the run of the tests.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.e2e.accounts import SCHEDULER, WEBHOOK
from tests.e2e.test_rbac import ACCOUNTS, DOES, each

STANDS_FOR = {
    "fourleaf:scheduler-a": SCHEDULER,
    "fourleaf:scheduler-b": SCHEDULER,
    "fourleaf:webhook": WEBHOOK,
}
"""Roles that `replica.grant` and `hook.Scene` give the rights that ship, and nothing else."""


def unused(folder: Path) -> list[str]:
    """The rights that ship and of which no file of `folder` tells a use."""
    roles = {role: ":".join(account) for role, account in STANDS_FOR.items()}
    found = {
        (roles.get(who, who), verb, resource, namespace)
        for path in folder.glob("*.json")
        for who, verb, resource, namespace in json.loads(path.read_text())
    }
    anywhere = {(account, verb, resource) for account, verb, resource, _ in found}
    left = []
    for component, rights in DOES.items():
        account = ":".join(ACCOUNTS[component])
        for namespace, resource, name, verb in each(rights):
            there = (account, verb, resource, namespace) in found
            if not there and (namespace or (account, verb, resource) not in anywhere):
                where = namespace or "any namespace"
                left.append(f"{component}: {verb} {resource} {name and name + ' '}in {where}")
    return left


def main() -> int:
    """Print what is left; the exit status."""
    left = unused(Path(sys.argv[1]))
    sys.stdout.write("\n".join([*left, f"{len(left)} rights that ship were not used"]) + "\n")
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main())
