"""The part of CEL that is understood, and that all else is refused."""

from __future__ import annotations

import pytest

from fourleaf.model.readers.dra.selectors import Has, Least, NotUnderstood, OfDriver, conditions
from tests.model.readers.made import Body

GPU: Body = {
    "name": "gpu-0",
    "attributes": {
        "type": {"string": "gpu"},
        "index": {"int": 3},
        "spare": {"bool": False},
        "driverVersion": {"version": "550.0.0"},
        "example.com/rack": {"string": "r1 && r2"},
    },
    "capacity": {"memory": {"value": "80Gi"}, "odd": {"value": "x"}},
}


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ("device.driver == 'd'", True),
        ('device.driver == "e"', False),
        ("device.driver != 'e'", True),
        ("device.driver == 'd' && device.attributes['d'].type == 'gpu'", True),
        ("(device.driver == 'd') &&\n (device.attributes['d'].type == 'mig')", False),
        ("device.attributes['d'].type != 'mig'", True),
        ("device.attributes['d'].index == 3", True),
        ("device.attributes['d'].index == '3'", False),
        ("device.attributes['d'].spare", False),
        ("device.attributes['d'].spare == false", True),
        ("device.attributes['d'].missing != 'x'", False),
        ("device.attributes['e'].type == 'gpu'", False),
        ("device.attributes['example.com'].rack == 'r1 && r2'", True),
        ("'rack' in device.attributes['example.com']", True),
        ("'bay' in device.attributes['example.com']", False),
        ("device.attributes['d'].driverVersion == '550.0.0'", False),
        ("device.capacity['d'].memory.compareTo(quantity('80Gi')) >= 0", True),
        ("device.capacity['d'].memory.compareTo(quantity('81Gi')) >= 0", False),
        ("device.capacity['d'].odd.compareTo(quantity('1')) >= 0", False),
    ],
)
def test_a_device_matches_or_not(expression: str, matches: bool) -> None:
    """As CEL would say; where that would end in an error, the device does not match."""
    assert all(one("d", GPU) for one in conditions(expression)) is matches


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "true",
        "device.driver == 'd' || true",
        "!(device.driver == 'd')",
        "device.driver.startsWith('d')",
        "device.attributes['d'].index >= 3",
        "device.attributes['d'].name.matches('.*')",
        "device.capacity['d'].memory.compareTo(quantity('many')) >= 0",
        "device.capacity['d'].memory.isGreaterThan(quantity('1Gi'))",
        "device.driver == 'd' &&",
        "device.driver == 'it\\'s'",
        "(" * 500 + "device.driver == 'd'",
        "(" * 5000 + "device.driver == 'd'" + ")" * 5000,
    ],
)
def test_all_else_is_refused(expression: str) -> None:
    """Nothing of such a selector counts."""
    with pytest.raises(NotUnderstood):
        conditions(expression)


def test_conditions_are_data() -> None:
    """What an expression demands, part by part."""
    text = "device.driver == 'd' && 'x' in device.attributes['a']"
    assert conditions(text) == (OfDriver("d"), Has("a", "x"))
    assert conditions("device.capacity['d'].m.compareTo(quantity('1Ki')) >= 0") == (
        Least("d", "m", 1024),
    )
