"""What the kernel and programs of the host say: read in their formats, or refused by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fourleaf.agent.discovery.discover import Discovery
from fourleaf.agent.discovery.host_files import OLD_SECONDS, HostFile
from fourleaf.agent.discovery.ib_fabric import place_in_dump
from fourleaf.agent.discovery.ibstat import read_ibstat
from fourleaf.agent.discovery.lldp import MOST_BYTES, read_lldp
from fourleaf.agent.discovery.sighting import SourceError
from fourleaf.agent.discovery.sysfs import SysfsSource
from fourleaf.model.crds.discovered_topology import FabricPlace
from tests.agent.discovery.made import neighbours, port, sample
from tests.model.topology_import.made import Dump

MAC = "9c:05:91:aa:"


def test_ports_of_adapters(tmp_path: Path) -> None:
    """An InfiniBand port with its LIDs, a RoCE port, a bond of two; no virtual function."""
    port(tmp_path, "mlx5_0")
    port(tmp_path, "mlx5_1", "eth2", state="1: DOWN", rate="2.5 Gb/sec (1X SDR)")
    port(tmp_path, "mlx5_bond_0", "bond0")
    bond = tmp_path / "class/net/bond0/bonding"
    bond.mkdir(parents=True)
    (bond / "slaves").write_text("eth4 eth5\n")
    virtual = port(tmp_path, "mlx5_9", "eth9").parent.parent / "device"
    (virtual / "physfn").mkdir(parents=True)
    source = SysfsSource(tmp_path)
    infiniband, roce, bonded = source.read().ports
    assert (infiniband.name, infiniband.link_layer, infiniband.state) == (
        "mlx5_0/1",
        "InfiniBand",
        "Active",
    )
    assert (infiniband.gbps, infiniband.lid, infiniband.sm_lid) == (400, 26, 1)
    assert infiniband.subnet == "fe80:0000:0000:0000"
    assert (roce.interfaces, roce.state, roce.gbps, roce.subnet) == (["eth2"], "Down", 2, "")
    assert bonded.interfaces == ["eth4", "eth5"]
    assert source.hosts() == ["gpu-7"]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("rate", "fast"),
        ("link_layer", "Token Ring"),
        ("lid", "26"),
        ("gids/0", "::1"),
        ("state", "x" * 9000),
    ],
)
def test_a_kernel_that_says_nonsense(tmp_path: Path, file: str, said: str) -> None:
    """The file and the value are named, and the value in bounded length."""
    port(tmp_path, "mlx5_0", **{file: said})
    with pytest.raises(SourceError, match=f"ports/1/{file}: ") as refused:
        SysfsSource(tmp_path).read()
    assert len(str(refused.value)) < 400


def test_a_host_with_too_many_ports_or_none(tmp_path: Path) -> None:
    """65 ports are refused as one; without adapters nothing is wrong."""
    assert SysfsSource(tmp_path).read().empty
    for number in range(65):
        port(tmp_path, f"mlx5_{number}")
    with pytest.raises(SourceError, match="more than 64 ports"):
        SysfsSource(tmp_path).read()


def test_modules_by_which_adapters_and_storage_reach_gpus(tmp_path: Path) -> None:
    """Those that are loaded, of the ones that matter; without adapters, too."""
    for name in ("nvidia_fs", "nvidia_peermem", "mlx5_ib"):
        (tmp_path / "module" / name).mkdir(parents=True)
    sources = [SysfsSource(tmp_path)]
    found = Discovery(sources, lambda: 0.0).read()
    assert found is not None
    assert found.modules == ["nvidia_fs", "nvidia_peermem"]


def test_switches_of_lldpctl() -> None:
    """Three interfaces see switches, with their names and ports."""
    seen = read_lldp("lldp.json", sample("lldpctl.json")).switches
    assert [(one.interface, one.id, one.name, one.port) for one in seen] == [
        ("eno1", "3c:2c:30:4d:aa:00", "mgmt-sw-12", "ethernet1/1/17"),
        ("enp27s0np0", f"{MAC}10:00", "su1-leaf1", "swp7s0"),
        ("enp44s0np0", f"{MAC}20:00", "su1-leaf2", "swp7s0"),
    ]


def test_the_other_json_of_lldpctl() -> None:
    """The same switch; a neighbour that forwards nothing, as an adapter's own agent, is none."""
    (one,) = read_lldp("lldp.json", sample("lldpctl.json0")).switches
    assert (one.interface, one.id, one.name) == ("enp27s0np0", f"{MAC}10:00", "su1-leaf1")


def test_neighbours_that_cannot_be() -> None:
    """Of two switches on one interface, and of an ID that is none, only that interface is lost."""
    two = neighbours(eth2="a", eth3="b").replace(b"eth3", b"eth2")
    found = read_lldp("f", two)
    assert (found.switches, found.doubts[0][0]) == ((), "eth2")
    assert "sees id-a and id-b" in found.doubts[0][1]
    odd = read_lldp("f", neighbours(eth2="a", eth3="b").replace(b"id-b", b"\\u0007 rm -rf"))
    assert [one.interface for one in odd.switches] == ["eth2"]
    assert odd.doubts[0][1].startswith("f: eth3.chassis.id: ")
    assert read_lldp("f", neighbours(eth2="a").replace(b'"a"', b'"a b"')).switches[0].name == ""


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"{", "ends too early"),
        (b"[]", "lldp: is missing"),
        (b'{"lldp": 7}', "lldp: is missing"),
        (b"[" * 100_000, "nested"),
        (neighbours(**{f"eth{i}": f"s{i}" for i in range(65)}), "more than 64 interfaces"),
        (neighbours(**{"e;": "a"}), "interface: "),
        (neighbours(**{"e" * 65: "a"}), "interface: "),
    ],
)
def test_files_that_are_no_neighbours(data: bytes, what: str) -> None:
    """Each is refused with the file's name, and what is wrong."""
    with pytest.raises(SourceError, match=what) as refused:
        read_lldp("lldp.json", data)
    assert str(refused.value).startswith("lldp.json: ")


def test_ports_of_ibstat() -> None:
    """One active port of InfiniBand and one of Ethernet that is down."""
    one, other = read_ibstat("ibstat.txt", sample("ibstat.txt")).ports
    assert (one.name, one.link_layer, one.state, one.gbps) == (
        "mlx5_0/1",
        "InfiniBand",
        "Active",
        400,
    )
    assert (one.lid, one.sm_lid) == (26, 1)
    assert (other.name, other.state, other.link_layer) == ("mlx5_2/1", "Down", "Ethernet")
    with pytest.raises(SourceError, match="Rate: "):
        read_ibstat("f", sample("ibstat.txt").replace(b"Rate: 400", b"Rate: lots"))
    with pytest.raises(SourceError, match='Rate: "400400" is above 100,000'):
        read_ibstat("f", sample("ibstat.txt").replace(b"Rate: 400", b"Rate: 400400"))
    with pytest.raises(SourceError, match="f: names no port"):
        read_ibstat("f", b"CA 'mlx5_0'\n")


def test_the_place_in_a_dump() -> None:
    """The host by the name that its adapters give it; a host that is not there is told."""
    dump = Dump()
    leaves = [dump.switch(f"leaf-{number}") for number in (1, 2)]
    spine = dump.switch("spine-1")
    for number, leaf in enumerate(leaves):
        dump.cable(leaf, spine)
        for node in range(4):
            dump.host(f"gpu-{number}{node}", [leaf])
    data = dump.text().encode()
    found = place_in_dump(lambda: ["gpu-12"])("f", data).place
    assert found == FabricPlace(source="ibnetdiscover", leaf="leaf-2", spine="spine-1")
    with pytest.raises(SourceError, match="f: has gpu-99 under no leaf"):
        place_in_dump(lambda: ["gpu-99"])("f", data)
    with pytest.raises(SourceError, match=r'f:1: "GET / HTTP/1\.1" is no line of'):
        place_in_dump(lambda: ["gpu-12"])("f", b"GET / HTTP/1.1")


def test_files_are_read_again_when_they_change(tmp_path: Path) -> None:
    """Absent: nothing. Changed: anew. Old: told, and used. Too large, a pipe: refused."""
    path, reads = tmp_path / "lldp.json", []

    def decode(name: str, data: bytes) -> object:
        reads.append(name)
        return read_lldp(name, data)

    now = [0.0]
    file = HostFile("lldp", path, MOST_BYTES, decode, lambda: now[0])  # type: ignore[arg-type]
    assert file.read().empty
    path.write_bytes(neighbours(eth2="a"))
    now[0] = path.stat().st_mtime
    assert file.read() == file.read()
    assert len(reads) == 1
    path.write_bytes(neighbours(eth2="leaf-b"))
    assert file.read().switches[0].name == "leaf-b"
    now[0] = path.stat().st_mtime + OLD_SECONDS
    assert "was not written for a day" in file.read().doubts[0][1]
    path.write_bytes(b" " * (MOST_BYTES + 1))
    with pytest.raises(SourceError, match="larger than 1024 KiB"):
        file.read()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SourceError, match="is not a file"):
        file.read()
