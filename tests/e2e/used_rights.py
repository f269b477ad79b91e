"""Name the rights that ship and that no test used: `python -m tests.e2e.used_rights FOLDER`.

FOLDER is what the environment variable `FOURLEAF_USED_RIGHTS` named in the run of the tests. Ends
with 1 where there is such a right.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.controlplane.used_rights import Use
from tests.deploy.generated import SYSTEM
from tests.e2e.accounts import SCHEDULER, WEBHOOK
from tests.e2e.rights import ACCOUNTS, DOES, each

STANDS_FOR = {
    "fourleaf:scheduler-a": ":".join(SCHEDULER),
    "fourleaf:scheduler-b": ":".join(SCHEDULER),
    "fourleaf:webhook": ":".join(WEBHOOK),
}
"""Roles that `replica.grant` and `hook.Scene` give the rights that ship, and nothing else."""
PLAIN = "kube-system"
"""The namespace of the plain manifests; a release of the chart has another."""
BESIDES = {
    ("resource.k8s.io/resourceclaims/binding", "patch"): (
        "resource.k8s.io/resourceclaims/status",
        "patch",
    )
}
"""Rights that the API server asks for beside that of a request: no request is for them alone."""


def unused(uses: set[Use]) -> list[str]:
    """The rights that ship and that are none of `uses`."""
    found = {_plain(use) for use in uses}
    anywhere = {use[:3] for use in found}
    left = []
    for component, rights in DOES.items():
        account = ":".join(ACCOUNTS[component])
        for namespace, resource, name, verb in each(rights):
            asked, by = BESIDES.get((resource, verb), (resource, verb))
            there = (account, by, asked, namespace) in found
            if not there and (namespace or (account, by, asked) not in anywhere):
                where = namespace or "any namespace"
                left.append(f"{component}: {verb} {resource} {name and name + ' '}in {where}")
    return left


def _plain(use: Use) -> Use:
    """`use` as it were of the plain manifests."""
    who, verb, resource, namespace = use
    release, _, name = who.partition(":")
    who = f"{PLAIN}:{name}" if release == SYSTEM else STANDS_FOR.get(who, who)
    return who, verb, resource, PLAIN if namespace == SYSTEM else namespace


def main() -> int:
    """Print what is left; the exit status."""
    files = list(Path(sys.argv[1]).glob("*.json"))
    if not files:
        sys.stdout.write("No control plane of ours left an audit log: rights in use unknown\n")
        return 0
    left = unused({tuple(use) for file in files for use in json.loads(file.read_text())})
    sys.stdout.write("\n".join([*left, f"{len(left)} rights that ship were not used"]) + "\n")
    if left:
        sys.stdout.write("Drop each from deploy/rbac, or have a test use it under its account.\n")
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main())
