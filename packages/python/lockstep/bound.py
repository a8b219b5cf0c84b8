"""Bounds for floating-point results, and the comparison with a reference.

There is no epsilon: a reference gives the value of every element and the largest error of a correct
kernel. The terms follow N. Higham, Accuracy and Stability of Numerical Algorithms (2nd ed.),
chapters 2 and 3, as in reference/bounded.h: with the unit roundoff u and a longest chain of d
roundings, |computed - exact| <= gamma(d) * sum |terms|, gamma(d) = d u / (1 - d u).
"""

from dataclasses import dataclass, field
from typing import Any, List, Optional

import numpy as np

from lockstep.dtypes import DType, decode, dtype, encode


@dataclass(frozen=True)
class Bounded:
    """A reference result, in double. bound >= 0; if it is 0, the result must have the bits of
    `value` rounded to the element type."""

    value: np.ndarray
    bound: np.ndarray


def exactly(values: Any) -> Bounded:
    """Requires exactly these values; NaN stands for any NaN."""
    value = np.asarray(values)
    return Bounded(value, np.zeros(value.shape))


def within(values: Any, bound: Any) -> Bounded:
    """Values with a bound that the caller has derived: an array, or one number for all."""
    value = np.asarray(values, dtype=np.float64)
    return Bounded(value, np.broadcast_to(np.asarray(bound, dtype=np.float64), value.shape).copy())


def unit_roundoff(kind: Any) -> float:
    """Half the distance from 1 to the next value: 2**-24 for f32."""
    return 2.0 ** -_floating(kind).digits


def gamma(d: Any, kind: Any) -> Any:
    """gamma(d); d may be an array. Raises ValueError if d * u reaches 1."""
    u = unit_roundoff(kind)
    if np.any(np.asarray(d) * u >= 1):
        raise ValueError(f"gamma(d) needs d * u < 1, and d is {np.max(d)}")
    return d * u / (1 - d * u)


def underflow_unit(kind: Any) -> float:
    """The most that underflow adds to a rounded product or sum: half the smallest subnormal."""
    kind = _floating(kind)
    return 2.0 ** (kind.min_exponent - kind.digits)


def overflow_threshold(kind: Any) -> float:
    """The least magnitude that rounds to infinity: half an ulp past the largest value. For types
    narrower than double."""
    kind = _floating(kind)
    return float((2.0 - 2.0 ** -kind.digits) * 2.0 ** kind.max_exponent)


def summed(terms: Any, axis: int, kind: Any, roundings_per_term: int = 0) -> Bounded:
    """The sum along an axis, in any order, of terms with this number of roundings each."""
    terms = np.asarray(terms, dtype=np.float64)
    n = terms.shape[axis]
    chain = max(n - 1, 0) + roundings_per_term
    with np.errstate(invalid="ignore", over="ignore"):
        value = terms.sum(axis=axis)
        bound = (gamma(chain, kind) * np.abs(terms).sum(axis=axis) +
                 2 * n * underflow_unit(kind) * bool(chain))
    return Bounded(value, bound)


def product(a: Any, b: Any, kind: Any) -> Bounded:
    """a @ b with products and sums rounded to `kind`, in any order, fused or not."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    n = a.shape[-1]
    return Bounded(a @ b, gamma(n, kind) * (np.abs(a) @ np.abs(b)) + 2 * n * underflow_unit(kind))


def rounded(reference: Bounded, kind: Any) -> Bounded:
    """The same, after one more rounding, to a type."""
    u = unit_roundoff(kind)
    with np.errstate(invalid="ignore", over="ignore"):
        more = u * (np.abs(reference.value) + reference.bound) + underflow_unit(kind)
    return Bounded(reference.value, np.where(np.isfinite(more), reference.bound + more, 0.0))


def ulps(values: Any, count: float, kind: Any) -> Bounded:
    """A bound in units in the last place of each value, as in CUDA's tables of function errors
    (CUDA C++ Programming Guide, mathematical functions)."""
    value = np.asarray(values, dtype=np.float64)
    return Bounded(value, count * ulp(value, kind))


def ulp(values: Any, kind: Any) -> np.ndarray:
    """The unit in the last place of each value in this type; 0 for values that are not finite."""
    kind = _floating(kind)
    size = np.abs(np.asarray(values, dtype=np.float64))
    finite = np.isfinite(size)
    exponent = np.frexp(np.where(finite, size, 1.0))[1] - 1
    exponent = np.where(size == 0, kind.min_exponent, np.maximum(exponent, kind.min_exponent))
    return np.where(finite, 2.0 ** (exponent.astype(np.float64) - (kind.digits - 1)), 0.0)


def _floating(kind: Any) -> DType:
    found = dtype(kind)
    if not found.is_float:
        raise ValueError(f"{found.name} is no floating-point type")
    return found


@dataclass
class Comparison:
    """budget: the largest error/bound of the elements that match; at most 1.
    nan_mismatches: elements of which one side alone is NaN. worst: the largest error/bound of the
    bad elements; infinity if the bound is 0."""

    matches: bool
    compared: int
    bad: int = 0
    budget: float = 0.0
    worst: float = 0.0
    nan_mismatches: int = 0
    bad_mask: Optional[np.ndarray] = None
    lines: List[str] = field(default_factory=list)


def compare(actual: Any, reference: Bounded, kind: Any) -> Comparison:
    """Compares stored elements with a reference: as harness/property/compare.h.

    NaN matches NaN only, and infinities match by sign. If the bound is 0, the bits must be those of
    the rounded reference, including the sign of zero. An infinite result also matches a finite
    value if, within the bound, some number rounds to it. A negative or NaN bound matches nothing.
    """
    kind = dtype(kind)
    stored = np.asarray(actual)
    if stored.shape != np.shape(reference.value):
        return Comparison(False, 0, lines=[f"the result has the shape {stored.shape}, and the "
                                           f"reference {np.shape(reference.value)}"])
    if not kind.is_float:
        expected = np.asarray(reference.value)
        difference = np.abs(stored.astype(np.float64) - expected.astype(np.float64))
        good = np.where(reference.bound == 0, stored == expected, difference <= reference.bound)
        return _conclude(stored, reference, kind, good, difference, np.zeros(stored.shape, bool))
    value, got = np.asarray(reference.value, np.float64), decode(stored, kind)
    bound = np.asarray(reference.bound, np.float64)
    nan_here, nan_there = np.isnan(got), np.isnan(value)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(got - value)
        close = np.isfinite(got) & np.isfinite(value) & (error <= bound)
        same_infinity = np.isinf(got) & np.isinf(value) & (np.signbit(got) == np.signbit(value))
        overflow = np.zeros(got.shape, bool)
        if kind.name != "f64":
            reach = np.where(got > 0, value + bound, bound - value)
            overflow = np.isinf(got) & np.isfinite(value) & (reach >= overflow_threshold(kind))
        exact = stored.view(f"u{kind.size}") == encode(value, kind).view(f"u{kind.size}")
        good = np.where(bound > 0, close | same_infinity | overflow,
                        np.where(bound == 0, exact & ~nan_there, False))
    good = np.where(nan_there, nan_here & (bound >= 0), good & ~nan_here)
    return _conclude(stored, reference, kind, good, error, nan_here != nan_there)


def _conclude(stored: np.ndarray, reference: Bounded, kind: DType, good: np.ndarray,
              error: np.ndarray, nan_mismatch: np.ndarray) -> Comparison:
    bound = np.asarray(reference.bound, np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(bound > 0, error / bound, np.where(error == 0, 0.0, np.inf))
    ratio = np.where(np.isnan(ratio), np.where(good, 0.0, np.inf), ratio)
    bad = ~good
    result = Comparison(matches=not bad.any(), compared=stored.size, bad=int(bad.sum()),
                        nan_mismatches=int((bad & nan_mismatch).sum()), bad_mask=bad)
    finite = good & np.isfinite(ratio)
    result.budget = float(ratio[finite].max()) if finite.any() else 0.0
    result.worst = float(ratio[bad].max()) if bad.any() else 0.0
    shown = decode(stored, kind)
    for index in np.argwhere(bad)[:8]:
        at = tuple(int(i) for i in index)
        result.lines.append(
            f"[{', '.join(map(str, at))}] is {shown[at]:.9g}, not {reference.value[at]:.9g} "
            f"within {bound[at]:.3g}" + (f" (error/bound {ratio[at]:.3g})"
                                         if np.isfinite(ratio[at]) else ""))
    return result


def distance_in_ulp(one: Any, other: Any, kind: Any) -> np.ndarray:
    """The number of values of the type between stored elements; 0 for two NaN, the largest number
    for one."""
    kind = dtype(kind)
    a, b = np.asarray(one), np.asarray(other)
    if not kind.is_float:
        return np.abs(a.astype(np.float64) - b.astype(np.float64))

    def ordered(x: np.ndarray) -> np.ndarray:
        bits = x.view(f"u{kind.size}")
        top = np.uint64(1) << np.uint64(8 * kind.size - 1)
        wide = bits.astype(np.uint64)
        return np.where(wide >= top, -(wide - top).astype(np.float64), wide.astype(np.float64))

    distance = np.abs(ordered(a) - ordered(b))
    nan_a, nan_b = np.isnan(decode(a, kind)), np.isnan(decode(b, kind))
    return np.where(nan_a & nan_b, 0.0, np.where(nan_a | nan_b, np.inf, distance))
