"""Any answer is an answer; none is none. Against real sockets."""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from contextlib import closing

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import node
from fourleaf.k8s_bridge.node_health.probe import (
    FAILURE_THRESHOLD,
    KUBELET_PORT,
    AbsentError,
    KubeletAddress,
    Probes,
    TcpProber,
    kubelet_addresses,
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


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
async def test_a_process_without_memory_or_threads_has_not_asked(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That ends no term."""

    async def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(asyncio, "open_connection", fails)
    assert await PROBER.answers(KubeletAddress("10.0.0.1", KUBELET_PORT)) is None


@pytest.mark.parametrize("number", [errno.EPERM, errno.EACCES])
async def test_a_process_that_may_not_ask_says_so(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy denies it connections to hosts."""

    async def fails(*_: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(asyncio, "open_connection", fails)
    with pytest.raises(PermissionError):
        await PROBER.answers(KubeletAddress("10.0.0.1", KUBELET_PORT))


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL])
async def test_a_kind_of_address_that_is_not_to_be_had_says_so(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As IPv6 where this process has none, or an address of one link."""

    async def fails(*_: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(asyncio, "open_connection", fails)
    with pytest.raises(AbsentError):
        await PROBER.answers(KubeletAddress("fe80::1", KUBELET_PORT))


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        (errno.EHOSTUNREACH, errno.EHOSTUNREACH, False),
        (errno.ENETUNREACH, errno.ECONNREFUSED, True),
        (errno.EMFILE, errno.EHOSTUNREACH, None),
        (errno.EADDRNOTAVAIL, errno.EHOSTUNREACH, False),
        (errno.EMFILE, errno.EADDRNOTAVAIL, None),
    ],
)
async def test_a_name_of_two_addresses(
    first: int, second: int, answer: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not answer where neither is reached; one that refuses is enough to be alive.

    One of a kind that is not to be had here says nothing beside the other.
    """
    numbers = {"192.0.2.1": first, "192.0.2.2": second}
    loop = asyncio.get_running_loop()

    async def info(_: str, port: int, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (at, port)) for at in numbers]

    async def connect(_: object, address: tuple[str, int]) -> None:
        raise OSError(numbers[address[0]], f"Connect call failed {address}")

    monkeypatch.setattr(loop, "getaddrinfo", info)
    monkeypatch.setattr(loop, "sock_connect", connect)
    assert await PROBER.answers(KubeletAddress("gpu-1", KUBELET_PORT)) is answer


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


async def still(seconds: float) -> None:
    """Let the knock begin, then do nothing else for so long."""
    await asyncio.sleep(0.02)
    time.sleep(seconds)


async def test_a_host_was_not_asked_where_this_process_stood_still() -> None:
    """Twice the time that a host has: whatever it sent meanwhile, not answering is not its doing.

    Three such looks in a row do not make it silent; three looks in time do.
    """
    with closing(listening(0)) as dark, closing(listening(8)) as well:
        address = dark.getsockname()
        nodes = {"dark": at_port(address[1]), "well": at_port(well.getsockname()[1])}
        with closing(socket.create_connection(address)):
            knock = asyncio.ensure_future(PROBER.answers(KubeletAddress(*address)))
            await still(0.6)
            assert await knock is None
            probes, found = Probes(PROBER), []
            for _ in range(FAILURE_THRESHOLD):
                look = asyncio.ensure_future(probes.answers(nodes, ["dark"], ["well"]))
                await still(0.6)
                found.append(await look)
            assert found == [{"dark": True}] * FAILURE_THRESHOLD
            found = [
                await probes.answers(nodes, ["dark"], ["well"]) for _ in range(FAILURE_THRESHOLD)
            ]
            assert found == [{"dark": True}, {"dark": True}, {"dark": False}]


def at_port(port: int) -> dict[str, object]:
    """A Node object whose kubelet listens on this machine."""
    found = [{"type": "InternalIP", "address": "127.0.0.1"}]
    daemon = {"kubeletEndpoint": {"Port": port}}
    return {"status": {"addresses": found, "daemonEndpoints": daemon}}


async def test_an_answer_that_came_while_this_process_stood_still_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It came at once, and was looked at a little after the host's time was over.

    The loop stood still for 1.2 times that long, which is not late enough to say nothing.
    """
    host, ours = socket.socketpair()
    ours.setblocking(False)

    class Writer:
        def close(self) -> None:
            """Nothing is open."""

    async def opens(*_: object) -> tuple[None, Writer]:
        await asyncio.get_running_loop().sock_recv(ours, 1)
        for _turn in range(5):
            # As a real connection, which is set up in a few turns of the loop.
            await asyncio.sleep(0)
        return None, Writer()

    monkeypatch.setattr(asyncio, "open_connection", opens)
    with closing(host), closing(ours):
        knock = asyncio.ensure_future(PROBER.answers(KubeletAddress("10.0.0.1", KUBELET_PORT)))
        await asyncio.sleep(0.02)
        host.send(b"x")
        time.sleep(0.36)
        assert await knock is True


def test_where_a_kubelet_listens() -> None:
    """By its address and port, where the node says them."""
    addresses = [
        {"type": "Hostname", "address": "h"},
        {"type": "InternalIP", "address": "10.0.0.1"},
    ]
    status = {"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": 7}}}
    assert kubelet_addresses({"status": status}) == [KubeletAddress("10.0.0.1", 7)]
    assert kubelet_addresses({"status": {"addresses": addresses[:1]}}) == [
        KubeletAddress("h", KUBELET_PORT)
    ]
    assert kubelet_addresses({}) == []
    many = [{"type": "InternalIP", "address": f"10.0.0.{i}"} for i in range(9)]
    assert len(kubelet_addresses({"status": {"addresses": many}})) == 3


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


class Denies:
    """Connections to these hosts are denied; those to `dead` are not answered."""

    def __init__(self, *denied: str) -> None:
        self.denied = denied

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Whether it is another host."""
        if door.host in self.denied:
            raise PermissionError(errno.EPERM, "no")
        return door.host != "dead"


@pytest.mark.parametrize(
    ("denied", "answer"),
    [(("dead", "a", "b"), None), (("a", "b"), None), (("dead",), True), (("dead", "a"), True)],
)
async def test_where_all_connections_are_denied_no_host_can_be_heard(
    denied: tuple[str, ...], answer: bool | None
) -> None:
    """Then the node controller decides; who alone may not be asked has not kept silent."""
    nodes = {name: node(name, "l", "s") for name in ("dead", "a", "b")}
    probes = Probes(Denies(*denied))
    for _ in range(FAILURE_THRESHOLD):
        found = await probes.answers(nodes, ["dead"], ["a", "b"])
    assert found == {"dead": answer}


class Says:
    """What comes of a probe is what the address begins with."""

    async def answers(self, door: KubeletAddress) -> bool | None:
        """Whether it answers there, as far as it can be asked."""
        match door.host.split("-")[0]:
            case "denied":
                raise PermissionError(errno.EPERM, "no")
            case "absent":
                raise AbsentError
            case "failed":
                return None
            case kind:
                return kind == "answers"


def with_addresses(*kinds: str) -> dict[str, object]:
    """A Node object that names these."""
    return {"status": {"addresses": [{"type": "InternalIP", "address": one} for one in kinds]}}


@pytest.mark.parametrize(
    ("kinds", "others", "answer"),
    [
        (("silent", "absent"), ("answers", "absent"), False),
        (("absent", "silent"), ("absent", "answers"), False),
        (("answers", "absent"), ("answers", "absent"), True),
        (("silent", "failed"), ("answers", "answers"), True),
        (("failed", "absent"), ("answers", "absent"), True),
        (("silent", "denied"), ("answers", "denied"), None),
        (("silent", "denied", "absent"), ("answers", "denied", "absent"), None),
        (("silent", "denied", "failed"), ("answers", "denied"), True),
        (("denied", "absent"), ("answers", "denied"), True),
        (("absent",), ("answers",), True),
        (("absent",), ("absent",), None),
        (("absent",), ("failed",), True),
    ],
)
async def test_a_host_of_addresses_that_cannot_all_be_asked(
    kinds: tuple[str, ...], others: tuple[str, ...], answer: bool | None
) -> None:
    """Those that are not to be had here do not count; one that is denied leaves it open.

    Where none of any host is to be had, the node controller decides, as where all are denied.
    """
    nodes = {"one": with_addresses(*kinds)}
    nodes |= {name: with_addresses(*others) for name in ("a", "b")}
    probes = Probes(Says())
    found = [await probes.answers(nodes, ["one"], ["a", "b"]) for _ in range(FAILURE_THRESHOLD)]
    assert found[-1] == {"one": answer}
    assert found[0]["one"] is (None if answer is None and others == ("absent",) else True)
