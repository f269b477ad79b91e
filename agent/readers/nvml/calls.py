"""Calls of NVML, any of which a device, a driver or a library may not support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class NvmlAnswer:
    """What a call gave: `value`, or the code and the text of the error."""

    value: Any = None
    error: int = 0
    said: str = ""

    @property
    def given(self) -> bool:
        """Whether there is a value."""
        return not self.error

    def or_else(self, value: Any) -> Any:
        """The value, or `value` where there is none."""
        return self.value if self.given else value


class Nvml:
    """The module `pynvml`, or one like it, whose errors become answers."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def ask(self, function: str, *arguments: Any) -> NvmlAnswer:
        """Call `function`. Raises nothing that a driver could cause."""
        library = self.library
        try:
            return NvmlAnswer(getattr(library, function)(*arguments))
        except library.NVMLError as error:
            return NvmlAnswer(None, error.value or library.NVML_ERROR_UNKNOWN, str(error))
        except library.NVMLLibraryMismatchError as error:
            return NvmlAnswer(None, library.NVML_ERROR_FUNCTION_NOT_FOUND, str(error))
        except ValueError as error:
            # text that a broken device gives may be no text
            return NvmlAnswer(None, library.NVML_ERROR_UNKNOWN, str(error))

    def silent(self, answer: NvmlAnswer) -> bool:
        """Whether the device gave no answer, as opposed to one that says no."""
        library = self.library
        return answer.error not in (
            0,
            library.NVML_ERROR_NOT_SUPPORTED,
            library.NVML_ERROR_FUNCTION_NOT_FOUND,
            library.NVML_ERROR_NO_PERMISSION,
            library.NVML_ERROR_INVALID_ARGUMENT,
            library.NVML_ERROR_DEPRECATED,
            library.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        )

    def field(self, handle: Any, field: int) -> int | None:
        """A value that NVML names by number, None where the device has none."""
        values = self.ask("nvmlDeviceGetFieldValues", handle, [field]).or_else(None)
        if values is None or values[0].nvmlReturn != self.library.NVML_SUCCESS:
            return None
        return int(values[0].value.uiVal)
