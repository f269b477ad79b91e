"""Selectors of devices: what is data, what is run, what is refused."""

from __future__ import annotations

import time

import pytest

from fourleaf.model.readers.dra import expressions, patterns
from fourleaf.model.readers.dra.selectors import Has, Least, NotUnderstood, OfDriver, conditions
from tests.model.readers.made import Body

LOOPS = "goes through more than one short list"


def nested(loop: str) -> str:
    """A loop inside itself."""
    return f"{loop * 2}true{'))'}"


def doubled(twice: str, times: int) -> str:
    """An expression of which each name says the one before twice."""
    inner = "".join(f"cel.bind(a{i + 1}, {twice.format(i)}, " for i in range(times))
    return f"cel.bind(a0, device.driver, {inner}true{')' * (times + 1)}"


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


NAMED: Body = {
    "attributes": {
        "productName": {"string": "NVIDIA A100-SXM4-80GB"},
        "index": {"int": 3},
        "driverVersion": {"version": "550.0.0"},
        "example.com/rack": {"string": "r1"},
    },
    "capacity": {"memory": {"value": "80Gi"}},
}


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ("device.driver == 'd' && D.productName.lowerAscii().matches('^.*a100.*$')", True),
        ("D.productName in ['NVIDIA A100-SXM4-80GB', 'NVIDIA H100']", True),
        ("D.index >= 3", True),
        ("D.index > 3", False),
        ("device.driver == 'e' || D.index == 3", True),
        ("device.driver == 'e' && true || D.index == 3", True),
        ("!(D.index == 3)", False),
        ("has(D.index) ? D.index < 3 : true", False),
        ("has(D.spare) ? false : true", True),
        ("device.driver.startsWith('d')", True),
        ("device.capacity['d'].memory.isGreaterThan(quantity('79Gi'))", True),
        ("device.capacity['d'].memory.compareTo(quantity('80.5Gi')) < 0", True),
        ("device.capacity['d'].memory == quantity('81920Mi')", True),
        ("device.capacity['d'].memory.sub(quantity('1Gi')).asInteger() == 84825604096", True),
        ("D.driverVersion.compareTo(semver('535.10.0')) >= 0", True),
        ("D.driverVersion.isGreaterThan(semver('550.0.0-rc.2'))", True),
        ("D.driverVersion.isLessThan(semver('550.0.0-rc.2'))", False),
        ("D.driverVersion.major() == 550", True),
        ("cel.bind(it, D, it.index == 3 && it.productName.contains('A100'))", True),
        ("['r1', 'r2'].exists(rack, rack == device.attributes['example.com'].rack)", True),
        ("!('bay' in device.attributes['other.example'])", True),
        ("D.missing == 'x' || D.index == 3", True),
        ("D.missing == 'x'", False),
        ("D.index", False),
        ("1 / 0 == 1", False),
        ("device.driver == 'it\\'s' || device.driver == 'd'", True),
        ("device.allowMultipleAllocations", False),
        ("D.productName.matches('A100.*[0-9]{2}GB$') // of any memory", True),
        ("D.productName.matches(r'^\\w+\\s\\bA\\d{3}') && device.driver != '//'", True),
        ("cel.bind(a, D.productName, a.matches('H100') || a.matches('A100'))", True),
        ("'h\u00e9'.matches('^\\\\w+$')", False),
    ],
)
def test_an_expression_is_run(expression: str, matches: bool) -> None:
    """As the API's CEL has it; `D` is what the driver says of the device."""
    text = expression.replace("D.", "device.attributes['d'].").replace(
        "D,", "device.attributes['d'],"
    )
    assert all(one("d", NAMED) for one in conditions(text)) is matches


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("", "is no CEL"),
        ("device.driver == 'd' &&", "is no CEL"),
        ("device.index == self", "names self, and there is only device"),
        (f"device.index == {'a' * 999}", "names a{64}, and there is only device"),
        ("device.driver.find('d') == 'd'", "calls find, which is not known here"),
        ("[1].all(a, [2].all(b, a < b))", "goes through more than one short list"),
        (f"[{'1,' * 600}1].all(a, a > 0)", "goes through more than one short list"),
        ("cel.bind(a, 1", "has a cel.bind that is not closed"),
        ("device.driver == 'd' " + "|| true" * 2000, "has more than 10,240 characters"),
        ("device.capacity['d'].memory.compareTo(quantity('many')) >= 0", "is not a quantity"),
        ("(" * 500 + "device.driver == 'd'", "is no CEL"),
        ("(" * 5000 + "device.driver == 'd'" + ")" * 5000, "has too many parentheses"),
        (nested("[0].all(//\n device, "), LOOPS),
        (nested("[0].all((device), "), LOOPS),
        (f'// """\n{nested("[0].all(device, ")} // """', LOOPS),
        (f"r'\\' == '' || {nested('[0].all(device, ')} || '' == r'\\'", LOOPS),
        (f'"""a"b""" == \'\' || {nested("[0].all(device, ")} || \'"\' == \'\'', LOOPS),
        (doubled("a{0} + a{0}", 30), "says what it has bound more than 64 times"),
        (doubled("[a{0}, a{0}]", 30), "says what it has bound more than 64 times"),
        ('cel.bind("a", 1, true)', "has a cel.bind without a name"),
        ("device.driver.matches(device.driver)", "matches with what is no string literal"),
        ("device.driver.matchesPattern('d')", "calls matchesPattern, which is not known here"),
        ("device.driver.matches('(')", "matches with what is no pattern"),
        ("device.driver.matches('[a-z]{1000}')", "matches with more than 1,000 characters"),
        ("device.driver.matches('((a{9}){9}){9}')", "matches with more than 1,000 characters"),
        ("device.driver.matches('a{99999999}')", "matches with more than 1,000 characters"),
        ("device.driver.matches(r'\\pL')", "matches with a class of letters of any script"),
        ("||".join(["device.driver.matches('d')"] * 9), "matches with more than 8 patterns"),
    ],
)
def test_what_cannot_be_run_is_refused(expression: str, why: str) -> None:
    """Nothing of such a selector counts, and it says why."""
    with pytest.raises(NotUnderstood, match=why):
        conditions(expression)


def test_a_pattern_costs_what_its_length_says() -> None:
    """The dearest patterns that are let in are made in milliseconds, and once for all devices."""
    dear = "||".join(f"device.driver.matches(r'[^\\w]{{{90 + i}}}$')" for i in range(8))
    (one,) = conditions(dear)
    made = patterns.pattern.cache_info().misses
    began = time.process_time()
    assert not any(one(f"d{number}", {}) for number in range(50))
    assert time.process_time() - began < 0.25
    assert patterns.pattern.cache_info().misses == made


def test_a_text_that_is_too_long_matches_nothing() -> None:
    """What an expression makes of a device is looked through up to 10,240 characters."""
    sought = "cel.bind(a, device.driver + device.driver, a.matches('d'))"
    assert [one("d" * 5120, {}) for one in conditions(sought)] == [True]
    assert [one("d" * 5121, {}) for one in conditions(sought)] == [False]


def test_errors_of_expressions_are_no_lines_of_a_log(caplog: pytest.LogCaptureFixture) -> None:
    """Each device may be one, and the answer says all."""
    (one,) = conditions("quantity(device.driver).isInteger() || device.driver.charAt(9) == 'x'")
    assert not one("d", {})
    assert not caplog.records


def test_devices_that_differ_in_other_things_share_an_answer() -> None:
    """A UUID is not looked at by an expression that does not name it."""
    (one,) = conditions("device.attributes['d'].index in [3]")
    before = expressions._answer.cache_info().misses
    for number in range(8):
        made = {**NAMED["attributes"], "uuid": {"string": f"GPU-{number}"}}
        assert one("d", {**NAMED, "attributes": made})
    assert expressions._answer.cache_info().misses == before + 1


def test_conditions_are_data() -> None:
    """What an expression demands, part by part."""
    text = "device.driver == 'd' && 'x' in device.attributes['a']"
    assert conditions(text) == (OfDriver("d"), Has("a", "x"))
    assert conditions("device.capacity['d'].m.compareTo(quantity('1Ki')) >= 0") == (
        Least("d", "m", 1024),
    )
