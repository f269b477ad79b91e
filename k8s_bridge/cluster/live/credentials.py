"""Where the cluster is and who we are, from a kubeconfig or from the pod that we run in."""

from __future__ import annotations

import asyncio
import os
import time
import urllib.request
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from fourleaf.k8s_bridge.cluster.live.kubeconfig import plain_access

REREAD_SECONDS = 30.0
"""Seconds after which a projected token is looked at again, and at least between reloads."""


class ClusterEndpoint(Protocol):
    """A cluster's address, and what shows it who we are."""

    @property
    def host(self) -> str:
        """The URL of the apiserver."""

    @property
    def proxy(self) -> str | None:
        """The URL of the proxy that the kubeconfig names."""

    @property
    def server_name(self) -> str | None:
        """The name in the apiserver's certificate, where it is not that of its URL."""

    def tls(self) -> Any:
        """The SSL context that verifies the apiserver and carries a client certificate."""

    async def authorization(self) -> str:
        """What goes into the Authorization header, "" for nothing."""

    async def close(self) -> None:
        """Stop keeping it fresh."""


class Credentials:
    """A `ClusterEndpoint`, read again when the apiserver no longer takes it. Made by `load`."""

    def __init__(
        self, kubeconfig: str | None, context: str | None, access: ClusterEndpoint
    ) -> None:
        self._kubeconfig = kubeconfig
        self._context = context
        self._access = access
        self._reloaded_at = time.monotonic()
        self._read_at = float("-inf")
        self._authorization = ""
        self._reloading = asyncio.Lock()

    @classmethod
    async def load(cls, kubeconfig: str | None, context: str | None) -> Credentials:
        """Read `kubeconfig`; without one, $KUBECONFIG, ~/.kube/config or the pod's account.

        Raises `Refused` where they cannot be read.
        """
        path = kubeconfig or _default_kubeconfig()
        return cls(path, context, await _read(path, context))

    @property
    def host(self) -> str:
        """The URL of the apiserver, without a slash at its end."""
        return self._access.host.rstrip("/")

    @property
    def server_name(self) -> str | None:
        """The name in the apiserver's certificate, where it is not that of its URL."""
        return self._access.server_name

    @property
    def proxy(self) -> str | None:
        """The URL of the proxy to go through: the kubeconfig's, else the environment's."""
        if self._access.proxy:
            return self._access.proxy
        host = urlsplit(self.host)
        if urllib.request.proxy_bypass(host.netloc):
            return None
        return urllib.request.getproxies().get(host.scheme)

    def tls(self) -> Any:
        """The SSL context that verifies the apiserver and carries a client certificate."""
        return self._access.tls()

    async def authorization(self) -> str:
        """What goes into the Authorization header, "" for nothing."""
        if time.monotonic() - self._read_at > REREAD_SECONDS:
            self._read_at = time.monotonic()
            self._authorization = await self._access.authorization()
        return self._authorization

    async def reload(self) -> None:
        """Read everything again after a 401: a file or a plugin may know a newer token."""
        async with self._reloading:
            if time.monotonic() - self._reloaded_at > REREAD_SECONDS:
                self._reloaded_at = time.monotonic()
                await self.close()
                self._access = await _read(self._kubeconfig, self._context)
                self._read_at = float("-inf")

    async def close(self) -> None:
        """Stop keeping it fresh."""
        await self._access.close()


async def _read(path: str | None, context: str | None) -> ClusterEndpoint:
    plain = plain_access(path, context) if path else None
    if plain is not None:
        return plain
    from fourleaf.k8s_bridge.cluster.live.packaged_access import PackagedAccess

    return await PackagedAccess.load(path, context)


def _default_kubeconfig() -> str | None:
    named = os.environ.get("KUBECONFIG")
    if named:
        return named
    usual = Path.home() / ".kube" / "config"
    return str(usual) if usual.exists() else None
