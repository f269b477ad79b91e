"""Where the cluster is and who we are, from a kubeconfig or from the pod that we run in."""

from __future__ import annotations

import asyncio
import os
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kubernetes.aio import config
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.client.rest import RESTClientObject
from yaml import YAMLError

from fourleaf.k8s_bridge.cluster.errors import Refused

REREAD_SECONDS = 30.0
"""Seconds after which a projected token is looked at again, and at least between reloads."""

_UNREADABLE = (
    config.ConfigException,
    YAMLError,
    OSError,
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
)
"""What the loader raises over files that are absent, broken or of another shape."""


class Credentials:
    """A configuration of the `kubernetes` package, kept fresh. Made by `load`."""

    def __init__(self, kubeconfig: str | None, context: str | None) -> None:
        self.configuration = Configuration()
        self._kubeconfig = kubeconfig
        self._context = context
        self._refresher: asyncio.Task[None] | None = None
        self._read_at = self._reloaded_at = float("-inf")
        self._authorization = ""
        self._reloading = asyncio.Lock()

    @classmethod
    async def load(cls, kubeconfig: str | None, context: str | None) -> Credentials:
        """Read `kubeconfig`; without one, $KUBECONFIG, ~/.kube/config or the pod's account.

        Raises `Refused` where they cannot be read.
        """
        made = cls(kubeconfig or _default_kubeconfig(), context)
        await made._read()
        return made

    @property
    def host(self) -> str:
        """The URL of the apiserver, without a slash at its end."""
        return str(self.configuration.host).rstrip("/")

    @property
    def proxy(self) -> str | None:
        """The URL of the proxy to go through: the kubeconfig's, else the environment's."""
        if self.configuration.proxy:
            return str(self.configuration.proxy)
        host = urlsplit(self.host)
        if urllib.request.proxy_bypass(host.netloc):
            return None
        return urllib.request.getproxies().get(host.scheme)

    def tls(self) -> Any:
        """The SSL context that verifies the apiserver and carries a client certificate."""
        return RESTClientObject(self.configuration).ssl_context

    async def authorization(self) -> str:
        """What goes into the Authorization header, "" for nothing."""
        if time.monotonic() - self._read_at > REREAD_SECONDS:
            self._read_at = time.monotonic()
            key = await self.configuration.get_api_key_with_prefix("BearerToken")
            self._authorization = key or ""
        return self._authorization

    async def reload(self) -> None:
        """Read everything again after a 401: a file or a plugin may know a newer token."""
        async with self._reloading:
            if time.monotonic() - self._reloaded_at > REREAD_SECONDS:
                await self._read()

    async def close(self) -> None:
        """Stop keeping it fresh."""
        if self._refresher is not None:
            self._refresher.cancel()
            with suppress(asyncio.CancelledError):
                await self._refresher
            self._refresher = None

    async def _read(self) -> None:
        await self.close()
        self._reloaded_at = time.monotonic()
        try:
            if self._kubeconfig is None:
                config.load_incluster_config(client_configuration=self.configuration)  # type: ignore[no-untyped-call]
            else:
                await self._read_kubeconfig(self._kubeconfig)
        except _UNREADABLE as error:
            where = self._kubeconfig or "the service account of this pod"
            advice = "Name a kubeconfig, or run in a pod with a service account."
            raise Refused(f"{where}: {str(error).rstrip('. ')}. {advice}") from error
        self._read_at = float("-inf")

    async def _read_kubeconfig(self, path: str) -> None:
        found = [part for part in path.split(os.pathsep) if Path(part).expanduser().exists()]
        if not found:
            raise FileNotFoundError("does not exist")
        loader = await config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=path,
            context=self._context,
            client_configuration=self.configuration,
            persist_config=False,
        )
        if hasattr(loader, "token"):
            coroutine = config.refresh_token(loader, self.configuration)  # type: ignore[no-untyped-call]
            self._refresher = asyncio.create_task(coroutine)


def _default_kubeconfig() -> str | None:
    named = os.environ.get("KUBECONFIG")
    if named:
        return named
    usual = Path.home() / ".kube" / "config"
    return str(usual) if usual.exists() else None
