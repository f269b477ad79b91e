"""A general silence ends node by node, and no node dies of how it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field

import pytest

from fourleaf.k8s_bridge.cache.node_seen import OUT_OF_SERVICE
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.node_health.general_silence import GeneralSilence
from fourleaf.k8s_bridge.node_health.judge import Cause, Judgement, NodeVerdict, Signs
from tests.k8s_bridge.node_health.test_general_silence import given_up
from tests.k8s_bridge.relocation.bench import Bench

HEARD, SILENT = Signs(renewed="1"), Signs(silence=15, renewed="1")
AGAIN = Signs(renewed="2")
HOLD = 20.0


def names(letter: str, numbers: Iterable[int]) -> set[str]:
    """Nodes of one letter."""
    return {f"{letter}{i}" for i in numbers}


@dataclass
class Cut:
    """Ten of sixteen nodes, `s0` to `s9`, are silent at once from 0 on; `h0` to `h5` are heard."""

    silence: GeneralSilence = field(default_factory=GeneralSilence)
    signs: dict[str, Signs] = field(default_factory=dict)
    judgements: dict[str, Judgement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.signs = dict.fromkeys(names("s", range(10)) | names("h", range(6)), HEARD)
        assert not self.exempt(-10)
        self.signs |= dict.fromkeys(names("s", range(10)), SILENT)
        assert self.exempt(0) == names("s", range(10))

    def exempt(self, now: float, answering: Iterable[str] = ()) -> set[str]:
        """Who does not die of its silence."""
        self.silence.see(self.signs, set(answering), self.judgements, now, HOLD)
        return set(self.silence.exempt)


def test_who_is_not_heard_yet_has_some_time_when_others_are() -> None:
    """With eight of 16 silent, half, the other eight are exempt for 20 s more, and no longer."""
    cut = Cut()
    cut.signs |= dict.fromkeys(["s0", "s1"], AGAIN)
    rest = names("s", range(2, 10))
    assert cut.exempt(1) == rest
    assert cut.exempt(21) == rest
    assert not cut.exempt(21.1)


def test_who_was_heard_is_judged_as_any_other() -> None:
    """`s0` is heard, and silent once more: no longer exempt, as eight others of 16 are."""
    cut = Cut()
    cut.signs |= dict.fromkeys(["s0", "s1"], AGAIN)
    cut.exempt(1)
    cut.signs["s0"] = Signs(silence=11.5, renewed="2")
    cut.signs["s2"] = AGAIN
    assert cut.exempt(13) == names("s", range(3, 10))


def test_all_are_heard_again() -> None:
    """It is over at once."""
    cut = Cut()
    cut.signs |= dict.fromkeys(names("s", range(10)), AGAIN)
    assert not cut.exempt(1)


GONE: Mapping[str, Signs | None] = {
    "tainted": Signs(silence=15, renewed="1", out_of_service=True),
    "gone": Signs(there=False),
    "deleted": None,
}


def take_out(cut: Cut, how: str, taken: Iterable[str]) -> None:
    """A person takes these nodes out."""
    for name in taken:
        cut.signs.pop(name)
        if (one := GONE[how]) is not None:
            cut.signs[name] = one
            cut.judgements[name] = Judgement(NodeVerdict.DEAD, Cause.OUT_OF_SERVICE, 2.0)


@pytest.mark.parametrize("how", GONE)
def test_who_is_taken_out_makes_the_others_no_fewer(how: str) -> None:
    """Seven of 13 are 54 %, but with the three that were taken out ten of 16, however long."""
    cut = Cut()
    take_out(cut, how, ["s0", "s1", "s2"])
    for now in (2.0, 30.0, 90.0, 600.0):
        assert cut.exempt(now) == names("s", range(3, 10))
    cut.signs["s3"] = AGAIN
    assert cut.exempt(700) == names("s", range(4, 10))  # nine of 16 are 56 %
    cut.signs |= dict.fromkeys(names("s", range(4, 10)), AGAIN)
    assert not cut.exempt(701)


@pytest.mark.parametrize("how", GONE)
def test_it_is_over_once_all_were_taken_out(how: str) -> None:
    """They count no more: three of six that fall silent then are half, with them 13 of 16."""
    cut = Cut()
    take_out(cut, how, names("s", range(10)))
    assert not cut.exempt(2)
    cut.signs |= dict.fromkeys(["h0", "h1", "h2"], SILENT)
    assert not cut.exempt(200)


def test_an_object_that_is_made_anew_is_no_heartbeat() -> None:
    """`s0` is deleted and made again while its kubelet is silent: ten of 16 are, as before."""
    cut = Cut()
    take_out(cut, "deleted", ["s0"])
    cut.exempt(2)
    cut.signs["s0"] = Signs(silence=0.0, renewed="1")
    assert cut.exempt(3) == names("s", range(10))


def test_where_nobody_is_heard_nobody_is_heard_again() -> None:
    """The API is gone for a while, in which no silence counts: the general one is not over."""
    cut = Cut()
    take_out(cut, "deleted", ["s0", "s1", "s2"])
    cut.exempt(2)
    cut.signs |= dict.fromkeys(names("s", range(3, 10)), Signs(silence=0.0, renewed="1"))
    rest = names("s", range(3, 10))
    assert cut.exempt(14) == rest
    cut.signs |= dict.fromkeys(rest, SILENT) | dict.fromkeys(names("h", range(6)), AGAIN)
    assert cut.exempt(60) == rest


def test_a_host_that_answered_is_one_that_was_heard() -> None:
    """Four of ten are off since before the term; three hosts answer, though their kubelets do not.

    Then these three fall silent with one more: four of the six that were heard, while all eight
    that are silent are split by that. Were the three taken for off as well, it would be one of
    three, which may die, beside seven of ten.
    """
    silence = GeneralSilence()
    off, hosts, well = names("off", range(4)), names("host", range(3)), names("h", range(3))
    signs = dict.fromkeys(off | hosts, SILENT) | dict.fromkeys(well, HEARD)
    silence.see(signs, hosts, {}, 0, HOLD)
    assert not silence.exempt
    signs["h0"] = SILENT
    silence.see(signs, set(), {}, 60, HOLD)
    assert silence.exempt == hosts | {"h0"}


def test_who_was_dead_before_is_no_part_of_it() -> None:
    """Three of ten died just before: after a minute they count no more, and seven of 13 are few."""
    silence, judgements = GeneralSilence(), dict[str, Judgement]()
    signs = dict.fromkeys(names("s", range(10)) | names("h", range(6)), HEARD)
    silence.see(signs, set(), judgements, -20, HOLD)
    signs |= dict.fromkeys(names("s", range(10)), SILENT)
    judgements |= dict.fromkeys(
        names("s", range(3)), Judgement(NodeVerdict.DEAD, Cause.SILENT, -10)
    )
    rest = names("s", range(3, 10))
    for now, exempt in [(0, rest), (50, rest), (51, rest), (72, set[str]())]:
        silence.see(signs, set(), judgements, now, HOLD)
        assert silence.exempt == exempt


def test_who_dies_of_something_else_is_not_spared_any_more() -> None:
    """The config counts a condition of `s0` as a failure."""
    cut = Cut()
    cut.judgements["s0"] = Judgement(NodeVerdict.DEAD, Cause.CONDITION, 1.0)
    assert cut.exempt(1) == names("s", range(1, 10))


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of four nodes, no scheduler yet."""
    one = Bench(1, 4)
    yield one
    await one.stop()


async def test_kubelets_come_back_one_by_one(bench: Bench) -> None:
    """Ten of 16 were cut off and given up, no kubelet answers from here: none of them dies.

    They come back within ten seconds, one a second; after two of them, half are silent.
    """
    await bench.start()
    for number in range(12):
        await bench.submit(f"g{number}", 1)
    before = [await bench.uids(f"g{number}") for number in range(12)]
    nodes = sorted(one["metadata"]["name"] for one in bench.fabric)
    cut = nodes[:10]
    bench.heartbeats.unreachable |= set(nodes)
    bench.heartbeats.silent |= set(cut)
    await bench.clock.advance(45)
    await given_up(bench, set(cut), "Unknown")
    await bench.clock.advance(30)
    for name in cut:
        bench.heartbeats.silent.discard(name)
        await given_up(bench, {name}, "True")
        await bench.clock.advance(1)
    await bench.clock.advance(60)
    assert not await bench.events("NodeDead")
    assert before == [await bench.uids(f"g{number}") for number in range(12)]
    assert len(await bench.events("MostNodesSilent")) == 1
    assert len(await bench.events("MostNodesHeard")) == 1


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_three_of_ten_are_taken_out(bench: Bench, is_deleted: bool) -> None:
    """Gangs on these three run elsewhere, and no other's does; the rest is heard: it is over."""
    await bench.start()
    nodes = sorted(one["metadata"]["name"] for one in bench.fabric)
    cut, out = nodes[:10], nodes[:3]
    for number in range(12):
        await bench.submit(f"g{number}", 1)
    at = {f"g{n}": (await bench.places(f"g{n}"))[0] for n in range(12)}
    before = {name: await bench.uids(name) for name in at}
    assert {*at.values()} >= {*out}
    bench.lose(*cut)
    await bench.clock.advance(60)
    for name in out:
        if is_deleted:
            await bench.cluster.delete(NODES, Target("", name))
        else:
            taint = {"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoExecute"}
            await bench.cluster.patch(NODES, Target("", name), {"spec": {"taints": [taint]}})
    await bench.clock.advance(150)
    for name, place in at.items():
        assert (await lost_members_of(bench, name, before[name]) > 0) == (place in out)
    assert not await bench.events("MostNodesHeard")
    bench.restore(*cut[3:])
    await bench.clock.advance(15)
    assert len(await bench.events("MostNodesSilent")) == 1
    assert len(await bench.events("MostNodesHeard")) == 1


async def lost_members_of(bench: Bench, name: str, before: dict[int, str]) -> int:
    """How many members of a gang are others by now."""
    now = await bench.uids(name)
    return sum(uid != now.get(index) for index, uid in before.items())
