"""Element types: their names here, as NumPy stores them, and their arithmetic.

NumPy has no bf16: its elements are stored as uint16, and decode() gives their values.
"""

from dataclasses import dataclass
from typing import Any, Dict

import numpy as np


@dataclass(frozen=True)
class DType:
    """An element type. `digits`: of the significand, including the hidden one; 0 for integers.
    `min_exponent`: 2**min_exponent is the smallest normal value."""

    name: str
    storage: np.dtype
    digits: int = 0
    min_exponent: int = 0
    max_exponent: int = 0  # the largest value is (2 - 2**(1 - digits)) * 2**max_exponent

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.storage.itemsize

    @property
    def is_float(self) -> bool:
        return self.digits > 0


def _float(name: str, storage: Any, digits: int, low: int, high: int) -> DType:
    return DType(name, np.dtype(storage), digits, low, high)


DTYPES: Dict[str, DType] = {d.name: d for d in [
    _float("f64", np.float64, 53, -1022, 1023),
    _float("f32", np.float32, 24, -126, 127),
    _float("f16", np.float16, 11, -14, 15),
    _float("bf16", np.uint16, 8, -126, 127),
    *[DType(f"{'u' if u else 'i'}{8 * b}", np.dtype(f"{'u' if u else 'i'}{b}"))
      for u in (False, True) for b in (1, 2, 4, 8)],
]}
_ALIASES = {"float64": "f64", "double": "f64", "float32": "f32", "float": "f32", "float16": "f16",
            "half": "f16", "bfloat16": "bf16", "int": "i32",
            **{f"int{b}": f"i{b}" for b in (8, 16, 32, 64)},
            **{f"uint{b}": f"u{b}" for b in (8, 16, 32, 64)}}


def dtype(name: Any) -> DType:
    """The type of this name ("f32", "float32", a NumPy type). Raises ValueError for any other."""
    if isinstance(name, DType):
        return name
    text = name if isinstance(name, str) else np.dtype(name).name
    found = DTYPES.get(_ALIASES.get(text, text))
    if found is None:
        raise ValueError(f"there is no element type '{text}'; the types are {', '.join(DTYPES)}")
    return found


def decode(stored: np.ndarray, kind: DType) -> np.ndarray:
    """Stored elements as values: float64 for floating-point types, unchanged for integers."""
    if kind.name == "bf16":
        wide = np.ascontiguousarray(stored).astype(np.uint32) << 16
        return wide.view(np.float32).astype(np.float64)
    if not kind.is_float:
        return stored
    with np.errstate(invalid="ignore"):  # signalling NaN
        return stored.astype(np.float64)


def encode(values: np.ndarray, kind: DType) -> np.ndarray:
    """Values as stored elements, rounded to nearest, ties to even. NaN becomes a quiet NaN."""
    if kind.name != "bf16":
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(values).astype(kind.storage)
    bits = np.ascontiguousarray(_to_odd(np.asarray(values))).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def _to_odd(values: np.ndarray) -> np.ndarray:
    """float64 rounded to float32 by round-to-odd: a second rounding, to bf16, then equals a direct
    rounding of the value (Boldo and Melquiond, 2008)."""
    wide = values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = wide.astype(np.float32)
    bits = narrow.view(np.uint32)
    inexact = (narrow.astype(np.float64) != wide) & np.isfinite(narrow)
    beyond = inexact & (np.abs(narrow.astype(np.float64)) > np.abs(wide))
    bits = np.where(beyond, bits - 1, bits)  # towards zero
    return np.where(inexact, bits | 1, bits).astype(np.uint32).view(np.float32)
