"""NumPy, imported at its first use: its import takes half of a process's start, and the process of
a kernel without host code needs none of it."""

from typing import Any


class _Later:
    """The module: an attribute is NumPy's."""

    def __getattr__(self, name: str) -> Any:
        import numpy
        return getattr(numpy, name)


np: Any = _Later()
