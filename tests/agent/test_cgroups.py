"""Which pod a process belongs to, for every way in which kubelets name control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourleaf.agent.cgroups import Pods

UID = "0f2c6a52-7bd1-4d2e-9a43-1b2c3d4e5f60"
FLAT = UID.replace("-", "_")
HASH = "0f2c6a527bd14d2e9a431b2c3d4e5f60"


@pytest.mark.parametrize(
    ("text", "uid"),
    [
        (f"0::/kubepods/burstable/pod{UID}/a1b2\n", UID),
        (f"0::/kubepods/pod{UID}/a1b2\n", UID),
        (
            "0::/kubepods.slice/kubepods-besteffort.slice/"
            f"kubepods-besteffort-pod{FLAT}.slice/cri-containerd-a1b2.scope\n",
            UID,
        ),
        (f"0::/kubepods.slice/kubepods-pod{FLAT}.slice/crio-a1b2.scope\n", UID),
        (f"0::/../../kubepods-burstable-pod{FLAT}.slice/cri-containerd-a1.scope\n", UID),
        (f"11:devices:/kubepods/besteffort/pod{UID}/a1\n10:cpu:/kubepods/besteffort/x\n", UID),
        (f"0::/kubepods/burstable/pod{HASH}/a1b2\n", HASH),
        (f"0::/kubepods/pod{UID}/a1/kubepods/pod{HASH}/b2\n", UID),
        ("0::/system.slice/nvidia-persistenced.service\n", ""),
        ("0::/user.slice/user-0.slice/podman-1.scope\n", ""),
        (f"0::/system.slice/tripod{UID}/x.service\n", ""),
        (f"0::/system.slice/pod{UID}x.service\n", ""),
        ("", ""),
    ],
)
def test_groups(tmp_path: Path, text: str, uid: str) -> None:
    """Cgroupfs and systemd, versions 1 and 2, static pods, pods in pods, and no pod at all."""
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_text(text)
    assert Pods(tmp_path).uid_of(7) == uid


def test_a_process_that_has_ended(tmp_path: Path) -> None:
    """It has no pod any more."""
    assert Pods(tmp_path).uid_of(7) == ""
