"""How the work of a gang goes on."""

from fourleaf.simulator.gangs import gang_of
from fourleaf.simulator.running_gang import Running
from tests.simulator.made import job


def running(seconds: int, since: int = 0) -> Running:
    """Make a gang with so much to do, started at `since`."""
    one = job("a", 0, seconds)
    return Running(one, gang_of(one), (("a-0", "n"),), since, 1000 * seconds)


def test_undisturbed_it_ends_after_its_duration() -> None:
    """100 s from second 7 on are over in second 107, whenever one asks."""
    one = running(100, since=7)
    assert one.end() == 107
    one.advance(50)
    assert one.end() == 107


def test_at_half_speed_the_rest_takes_twice_as_long() -> None:
    """40 of 100 s are done at full speed; the other 60 take 120 s."""
    one = running(100)
    one.advance(40)
    one.speed = 500
    assert one.end() == 160
    one.advance(160)
    assert one.left == 0


def test_falling_back_repeats_the_work_since_the_checkpoint() -> None:
    """After 70 s with a checkpoint every 30 s, 10 s are lost; with 5 s of standstill: 115."""
    one = running(100)
    one.advance(70)
    assert one.fall_back(30_000, 5000) == 10_000
    assert one.end() == 115
    one.advance(73)
    assert (one.stall, one.end()) == (2000, 115)


def test_a_standstill_is_no_work() -> None:
    """A second failure during the standstill loses no work, and starts the standstill anew."""
    one = running(100)
    one.advance(70)
    one.fall_back(30_000, 5000)
    one.advance(72)
    assert one.fall_back(30_000, 5000) == 0
    assert one.end() == 72 + 5 + 40


def test_half_speed_does_not_stretch_the_standstill() -> None:
    """5 s of standstill, then 40 s of work at half speed, from second 70 on."""
    one = running(100)
    one.advance(70)
    one.fall_back(30_000, 5000)
    one.speed = 500
    assert one.end() == 70 + 5 + 80
