"""A watch event of a pod in protocol buffers, with something in every kind of field."""

from __future__ import annotations


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _pair(key: bytes, value: bytes) -> bytes:
    return _field(1, key) + _field(2, value)


def event_in_bytes() -> bytes:
    """The frame of the event ADDED, without its length."""
    owner = _field(1, b"Job") + _field(3, b"j") + _field(5, b"batch/v1") + _number(6, 1)
    metadata = (
        _field(1, b"p-0")
        + _field(3, b"ml")
        + _number(7, 300)
        + _field(8, _number(1, 1_767_225_600))
        + _field(11, _pair(b"app", b"a"))
        + _field(12, _pair(b"topology.scheduler/gang", b"g"))
        + _field(13, owner)
        + _field(14, b"x/y")
    )
    quantity = _field(1, b"nvidia.com/gpu") + _field(2, _field(1, b"8"))
    variable = _field(1, b"CUDA_VISIBLE_DEVICES") + _field(
        3, _field(1, _field(2, b"metadata.name"))
    )
    container = (
        _field(1, b"main")
        + _field(6, _number(2, 80) + _field(4, b"TCP"))
        + _field(7, variable)
        + _field(8, _field(1, quantity) + _field(2, quantity))
    )
    requirement = _field(1, b"host") + _field(2, b"In") + _field(3, b"n1") + _field(3, b"n2")
    affinity = _field(1, _field(1, _field(1, _field(1, requirement))))
    spec = (
        _field(1, _field(1, b"v") + _field(2, _field(10, _field(1, b"data"))))
        + _field(2, container)
        + _number(4, 30)
        + _field(7, _pair(b"zone", b"a"))
        + _field(18, affinity)
        + _field(19, b"gpu-scheduler")
        + _field(22, _field(1, b"k") + _field(2, b"Exists") + _number(5, 3))
        + _number(25, 2**64 - 5)
    )
    condition = _field(1, b"Ready") + _field(2, b"True") + _field(4, _number(1, 2**64 - 9))
    status = _field(1, b"Pending") + _field(2, condition) + _field(8, _field(1, b"main"))
    pod = _field(1, metadata) + _field(2, spec) + _field(3, status)
    return _field(1, b"ADDED") + _field(2, _field(1, b"k8s\0" + _field(2, pod)))
