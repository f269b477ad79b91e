"""Access as the `kubernetes` package reads it: plugins, providers of tokens, a pod's account."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from kubernetes.aio import config
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.client.rest import RESTClientObject
from yaml import YAMLError

from fourleaf.k8s_bridge.cluster.errors import Refused

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


class PackagedAccess:
    """A configuration of the package, kept fresh until it is closed. Made by `load`."""

    def __init__(self) -> None:
        self._configuration = Configuration()
        self._refresher: asyncio.Task[None] | None = None

    @classmethod
    async def load(cls, kubeconfig: str | None, context: str | None) -> PackagedAccess:
        """Read `kubeconfig`, or without one the pod's account.

        Raises `Refused` where they cannot be read.
        """
        made = cls()
        try:
            if kubeconfig is None:
                config.load_incluster_config(client_configuration=made._configuration)  # type: ignore[no-untyped-call]
            else:
                await made._read(kubeconfig, context)
        except _UNREADABLE as error:
            where = kubeconfig or "the service account of this pod"
            advice = "Name a kubeconfig, or run in a pod with a service account."
            raise Refused(f"{where}: {str(error).rstrip('. ')}. {advice}") from error
        return made

    @property
    def host(self) -> str:
        """The URL of the apiserver."""
        return str(self._configuration.host)

    @property
    def proxy(self) -> str | None:
        """The URL of the kubeconfig's proxy."""
        return str(self._configuration.proxy) if self._configuration.proxy else None

    @property
    def server_name(self) -> str | None:
        """The name in the apiserver's certificate, where it is not that of its URL."""
        named: str | None = self._configuration.tls_server_name
        return named

    def tls(self) -> Any:
        """The SSL context that verifies the apiserver and carries a client certificate."""
        return RESTClientObject(self._configuration).ssl_context

    async def authorization(self) -> str:
        """What goes into the Authorization header, "" for nothing."""
        return await self._configuration.get_api_key_with_prefix("BearerToken") or ""

    async def close(self) -> None:
        """Stop keeping it fresh."""
        if self._refresher is not None:
            self._refresher.cancel()
            with suppress(asyncio.CancelledError):
                await self._refresher
            self._refresher = None

    async def _read(self, path: str, context: str | None) -> None:
        found = [part for part in path.split(os.pathsep) if Path(part).expanduser().exists()]
        if not found:
            raise FileNotFoundError("does not exist")
        loader = await config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=path,
            context=context,
            client_configuration=self._configuration,
            persist_config=False,
        )
        if hasattr(loader, "token"):
            coroutine = config.refresh_token(loader, self._configuration)  # type: ignore[no-untyped-call]
            self._refresher = asyncio.create_task(coroutine)
