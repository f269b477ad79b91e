"""Each reader on a few rows of the form of its file; the public files are not needed."""

from pathlib import Path

import pytest

from fourleaf.simulator.readers import folder, kalos, lingjun, openb_nodes, openb_pods, philly
from fourleaf.simulator.readers.catalogue import fabric
from fourleaf.simulator.readers.folder import NoData, available
from fourleaf.simulator.trace import Job

KALOS = """\
job_id,arrival_time,num_iteration,iteration_computing_time,iteration_networking_time,gpu_workers,ps,gpu_per_worker,cpu_per_gpu_worker,cpu_per_ps_worker,tensorsizes,profiled_network
0,10.0,208,0.5,0.25,8,0,8.0,15.0,15.0,10.0,500
1,323.4,1,0.5,0.25,1,0,2.0,15.0,15.0,10.0,500
"""
PHILLY = """\
timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:01:55,66.4,1,66.0,11cb48
2017-10-09 07:00:55,2951.0,12,2951.0,6214e9
2017-10-09 07:02:00,0.2,16,3.0,6214e9
"""
PODS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,12000,16384,1,460,,LS,Running,100,400,100
p1,6000,12288,8,1000,,LS,Running,50,60,50
p2,6000,12288,0,0,,LS,Running,120,120,120
"""
NODES = """\
sn,cpu_milli,memory_mib,gpu,model
n0,64000,262144,2,P100
n1,96000,1024,8,G2
"""
LINGJUN = """\
ip,DSW,PSW,ASW
a,G6,P10,S2
b,G6,P10,S10
c,G6,P8,S2
d,G6,P10,S10
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name an empty folder as the one with the data."""
    monkeypatch.setenv("TOPOLOGY_DATA_DIR", str(tmp_path))
    return tmp_path


def test_kalos_durations_are_half_seconds(data: Path) -> None:
    """208 iterations of half a second are 104 s; the invented network times are not read."""
    (data / kalos.FILE).write_text(KALOS)
    first, second = kalos.trace().jobs
    assert first == Job("kalos-00000", 0, 104, 8, 8, cpu=120_000)
    assert second == Job("kalos-00001", 313, 1, 1, 2, cpu=30_000)


def test_philly_jobs_take_nodes_of_eight(data: Path) -> None:
    """12 GPUs are two pods of 8, 16 are two; arrivals are sorted and count from the first."""
    (data / philly.FILE).write_text(PHILLY)
    jobs = philly.trace().jobs
    assert [(one.name, one.arrival, one.duration, one.pods, one.gpus) for one in jobs] == [
        ("philly-00001", 0, 2951, 2, 8),
        ("philly-00000", 60, 66, 1, 1),
        ("philly-00002", 65, 1, 2, 8),
    ]


def test_openb_keeps_fractions(data: Path) -> None:
    """A pod with 460 thousandths of a GPU says so; one without any GPU stays one without."""
    (data / openb_pods.FILE).write_text(PODS)
    jobs = openb_pods.trace().jobs
    assert jobs[0] == Job("p1", 0, 10, 1, 8, 6000, 12288 << 20)
    assert jobs[1] == Job("p0", 50, 300, 1, 1, 12000, 16384 << 20, share=460)
    assert (jobs[2].gpus, jobs[2].duration) == (0, 1)


def test_openb_nodes_stand_alone(data: Path) -> None:
    """No topology is known, so every node is a leaf."""
    (data / openb_nodes.FILE).write_text(NODES)
    found = fabric("openb")
    assert [(leaf.name, len(leaf.nodes)) for leaf in found.leaves] == [("n0", 1), ("n1", 1)]
    node = found.nodes["n1"]
    assert (node.allocatable.gpus, node.allocatable.memory, node.product) == (8, 1 << 30, "G2")


def test_lingjun_leaves_are_in_natural_order(data: Path) -> None:
    """P8 comes before P10 and S2 before S10; S2 of two pods is two leaves."""
    (data / lingjun.FILE).write_text(LINGJUN)
    assert lingjun.shape().spines == ((1,), (1, 2))
    assert lingjun.shape(6).spines == ((1,), (1, 2), (1,), (1,))
    assert [leaf.name for leaf in fabric("lingjun").leaves] == ["leaf-0", "leaf-1", "leaf-2"]


def test_missing_data_says_what_to_do(data: Path) -> None:
    """The error names the file, and its next line the variable to set."""
    assert not available(kalos.FILE)
    with pytest.raises(NoData, match=r"kalos.*is not there\.\nSet TOPOLOGY_DATA_DIR"):
        kalos.trace()


@pytest.mark.parametrize("text", ["lingjin", "regular:x", "regular:0", "openb:5", ""])
def test_unknown_fabrics_are_refused(text: str) -> None:
    """A name that is none, or a number of nodes that cannot be."""
    with pytest.raises(ValueError, match=text or "no fabric"):
        fabric(text)


def test_regular_fabrics_have_leaves_of_four() -> None:
    """64 nodes are 16 leaves under 2 spines."""
    found = fabric("regular:64")
    assert (len(found.nodes), len(found.leaves), len(found.spines)) == (64, 16, 2)


def test_who_has_no_data_is_told_where_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no folder is named, no path of this machine is, but the variable and the page."""
    monkeypatch.delenv("TOPOLOGY_DATA_DIR", raising=False)
    monkeypatch.setattr(folder, "BESIDE", tmp_path / "nowhere")
    with pytest.raises(NoData) as refused:
        kalos.trace()
    said = str(refused.value)
    assert said.startswith("kalos_converted_319jobs.csv is not there: TOPOLOGY_DATA_DIR names no")
    assert ("docs/replay.md" in said, str(tmp_path) in said) == (True, False)
