"""A certificate in a folder, as it is replaced by people, cert-manager and kubelets."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.tls.certificate import Certificate
from fourleaf.webhook.tls.files import CertificateFiles
from fourleaf.webhook.tls.issue import issued, new_authority
from fourleaf.webhook.tls.pair import Pair
from tests.webhook.tls.made import HOSTS

PATIENCE = 20.0
FAILURES = "fourleaf_webhook_certificate_reload_failures_total"


def new() -> Pair:
    """A certificate for now."""
    return issued(new_authority(time.time(), 3600), HOSTS, time.time(), 3600)


def write(folder: Path, pair: Pair) -> None:
    """One file after the other, as a person would."""
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(pair.key)


def project(folder: Path, pair: Pair) -> None:
    """All at once by a link, as a kubelet does."""
    there = folder / f"..{time.monotonic_ns()}"
    there.mkdir()
    write(there, pair)
    (folder / "..new").symlink_to(there.name)
    os.replace(folder / "..new", folder / "..data")
    for name in ("tls.crt", "tls.key"):
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"..data/{name}")


@asynccontextmanager
async def followed(folder: Path) -> AsyncIterator[tuple[Certificate, WebhookMetrics]]:
    """A certificate that follows the files in `folder`."""
    metrics, clock = WebhookMetrics(), SystemClock()
    certificate = Certificate(clock, metrics)
    files = CertificateFiles(folder, certificate, clock, metrics)
    await files.take()
    work = asyncio.create_task(files.follow())
    await asyncio.sleep(0.2)
    try:
        yield certificate, metrics
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def shows(certificate: Certificate, pair: Pair) -> None:
    """Wait until that pair is in use."""
    async with asyncio.timeout(PATIENCE):
        while certificate.pair != pair:
            await asyncio.sleep(0.02)


async def test_two_files_written_one_after_the_other(tmp_path: Path) -> None:
    """The new pair is used, and that it did not match for a moment is no failure."""
    write(tmp_path, new())
    async with followed(tmp_path) as (certificate, metrics):
        for _ in range(2):
            pair = new()
            write(tmp_path, pair)
            await shows(certificate, pair)
        assert metrics.registry.get_sample_value(FAILURES) == 0


async def test_a_link_is_turned(tmp_path: Path) -> None:
    """A mounted Secret changes by its link alone."""
    first, second = new(), new()
    project(tmp_path, first)
    async with followed(tmp_path) as (certificate, _):
        assert certificate.pair == first
        project(tmp_path, second)
        await shows(certificate, second)


async def test_a_broken_pair_is_told_once_and_left(tmp_path: Path) -> None:
    """The old one stays; a good one after it is taken."""
    good, better = new(), new()
    write(tmp_path, good)
    async with followed(tmp_path) as (certificate, metrics):
        (tmp_path / "tls.key").write_bytes(b"broken")
        async with asyncio.timeout(PATIENCE):
            while metrics.registry.get_sample_value(FAILURES) != 1:
                await asyncio.sleep(0.02)
        assert certificate.pair == good
        (tmp_path / "unrelated").touch()
        (tmp_path / "tls.key").unlink()
        await asyncio.sleep(2.5)
        assert certificate.pair == good
        write(tmp_path, better)
        await shows(certificate, better)


async def test_nothing_there_yet(tmp_path: Path) -> None:
    """Without files there is no certificate, and it comes with them."""
    async with followed(tmp_path) as (certificate, metrics):
        assert not certificate.usable
        assert metrics.registry.get_sample_value(FAILURES) == 1
        pair = new()
        write(tmp_path, pair)
        await shows(certificate, pair)
