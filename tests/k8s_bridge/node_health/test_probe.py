"""Any answer is an answer; none is none. Against real sockets."""

from __future__ import annotations

import asyncio
import errno
import socket
from contextlib import closing

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import node
from fourleaf.k8s_bridge.node_health.probe import (
    FAILURE_THRESHOLD,
    KUBELET_PORT,
    KubeletAddress,
    Probes,
    TcpProber,
    kubelet_address,
)

PROBER = TcpProber(timeout_seconds=0.3)


def listening(backlog: int) -> socket.socket:
    """A socket that listens and never accepts."""
    found = socket.socket()
    found.bind(("127.0.0.1", 0))
    found.listen(backlog)
    return found


async def test_an_open_door_answers() -> None:
    """A kubelet that accepts."""
    with closing(listening(8)) as server:
        assert await PROBER.answers(KubeletAddress(*server.getsockname()))


async def test_a_closed_door_of_a_living_host_answers() -> None:
    """Nobody listens: the host says so."""
    with closing(listening(8)) as server:
        door = KubeletAddress(*server.getsockname())
    assert await PROBER.answers(door)


async def test_no_answer_is_none() -> None:
    """A full queue drops what comes, as a host without power does."""
    with closing(listening(0)) as server:
        address = server.getsockname()
        with closing(socket.create_connection(address)):
            assert not await PROBER.answers(KubeletAddress(*address))


async def test_a_name_that_leads_nowhere_does_not_answer() -> None:
    """Nor is it an error."""
    assert not await PROBER.answers(KubeletAddress("node.invalid", KUBELET_PORT))


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 70_000), ("a..b", KUBELET_PORT), ("h" * 70, KUBELET_PORT)]
)
async def test_what_is_no_address_could_not_be_asked(host: str, port: int) -> None:
    """A kubelet may write any port and name into the status of its node: that ends no term."""
    assert await PROBER.answers(KubeletAddress(host, port)) is None


@pytest.mark.parametrize(
    ("number", "answer"),
    [(errno.EMFILE, None), (errno.ENOMEM, None), (errno.EHOSTUNREACH, False)],
)
async def test_an_error_of_our_own_is_no_silence(
    number: int, answer: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process without files left has not asked; a network that reports the host has."""

    async def fails(*_: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(asyncio, "open_connection", fails)
    assert await PROBER.answers(KubeletAddress("10.0.0.1", KUBELET_PORT)) is answer


def test_where_a_kubelet_listens() -> None:
    """By its address and port, where the node says them."""
    addresses = [
        {"type": "Hostname", "address": "h"},
        {"type": "InternalIP", "address": "10.0.0.1"},
    ]
    status = {"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": 7}}}
    assert kubelet_address({"status": status}) == KubeletAddress("10.0.0.1", 7)
    assert kubelet_address({"status": {"addresses": addresses[:1]}}) == KubeletAddress(
        "h", KUBELET_PORT
    )
    assert kubelet_address({}) is None


class OneRackIsCutOff:
    """The switch of a rack does not answer this process: it hears none of the hosts there."""

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Whether it is a host of another rack."""
        return not door.host.startswith("r0-")


async def test_hosts_that_are_probed_beside_a_suspect_stand_apart() -> None:
    """Of three racks of four the first, that of the suspect, is not heard: two of three answer.

    Three side by side would all be of that rack, and the suspect would never be found silent.
    """
    names = [f"r{rack}-{i}" for rack in range(3) for i in range(4)]
    nodes, probes = {name: node(name, name[:2], "s") for name in names}, Probes(OneRackIsCutOff())
    found = [await probes.answers(nodes, names[:1], names[1:]) for _ in range(FAILURE_THRESHOLD)]
    assert found == [{"r0-0": True}, {"r0-0": True}, {"r0-0": False}]
