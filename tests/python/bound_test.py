#!/usr/bin/python3
"""lockstep.bound and the element types: accepted and rejected results."""

import sys

import numpy as np
import pytest

from lockstep import bound
from lockstep.dtypes import DTYPES, decode, dtype, encode

F32 = np.float32


def matches(actual, reference, kind="f32"):
    return bound.compare(np.asarray(actual), reference, kind).matches


def test_constants_are_those_of_the_types():
    assert bound.unit_roundoff("f32") == 2.0**-24
    assert bound.unit_roundoff("f16") == 2.0**-11
    assert bound.unit_roundoff("bf16") == 2.0**-8
    assert bound.underflow_unit("f32") == 2.0**-150
    assert bound.gamma(1, "f32") == 2.0**-24 / (1 - 2.0**-24)
    assert bound.overflow_threshold("f16") == 65520.0
    for kind, info in (("f32", np.finfo(np.float32)), ("f16", np.finfo(np.float16))):
        half_ulp = (float(info.max) - float(np.nextafter(info.max, info.dtype.type(0)))) / 2
        assert bound.overflow_threshold(kind) == float(info.max) + half_ulp


def test_gamma_needs_a_chain_that_is_short_enough():
    with pytest.raises(ValueError, match="d \\* u < 1"):
        bound.gamma(2**11, "f16")


def test_an_integer_type_has_no_roundoff():
    with pytest.raises(ValueError, match="no floating-point type"):
        bound.unit_roundoff("i32")


def test_an_unknown_type_is_an_error():
    with pytest.raises(ValueError, match="there is no element type 'f8'"):
        dtype("f8")


def test_a_bound_of_zero_demands_bits():
    reference = bound.exactly([0.1, 0.0])
    assert matches(np.array([0.1, 0.0], F32), reference)
    assert not matches(np.array([0.1, -0.0], F32), reference)
    assert not matches(np.array([np.nextafter(F32(0.1), F32(1)), 0.0], F32), reference)


def test_the_bound_is_the_limit_and_no_further():
    reference = bound.within([1.0], 2.0**-20)
    assert matches(np.array([1 + 2.0**-20], F32), reference)
    assert not matches(np.array([1 + 2.0**-20 + 2.0**-23], F32), reference)
    assert bound.compare(np.array([1 + 2.0**-21], F32), reference, "f32").budget == 0.5


def test_nan_matches_nan_only():
    reference = bound.within([np.nan, 1.0], 1.0)
    assert matches(np.array([np.nan, 1.0], F32), reference)
    one = bound.compare(np.array([0.0, np.nan], F32), reference, "f32")
    assert (one.bad, one.nan_mismatches) == (2, 2)


def test_infinities_match_by_sign():
    reference = bound.within([np.inf, -np.inf], 1.0)
    assert matches(np.array([np.inf, -np.inf], F32), reference)
    assert not matches(np.array([np.inf, np.inf], F32), reference)
    assert not matches(np.array([3e38, -np.inf], F32), reference)


def test_an_infinity_matches_a_value_that_may_round_to_it():
    largest = float(np.finfo(F32).max)
    assert matches(np.array([np.inf], F32), bound.within([largest], 2.0**105))
    assert not matches(np.array([np.inf], F32), bound.within([largest], 2.0**102))
    assert not matches(np.array([-np.inf], F32), bound.within([largest], 2.0**105))


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_a_bad_bound_matches_nothing(bad):
    assert not matches(np.array([1.0], F32), bound.within([1.0], bad))


def test_another_shape_does_not_match():
    assert not matches(np.zeros(3, F32), bound.exactly(np.zeros(4)))


def test_integers_count_exactly():
    assert matches(np.array([3], np.int32), bound.exactly(np.array([3])), "i32")
    assert not matches(np.array([4], np.int32), bound.exactly(np.array([3])), "i32")


def test_sums_in_any_order_are_within_their_bound():
    rng = np.random.default_rng(1)
    for n in (1, 2, 100, 3000):
        x = rng.standard_normal(n).astype(F32)
        total = F32(0)
        for v in rng.permutation(x):
            total = F32(total + v)
        assert matches(np.array(total), bound.summed(x, 0, "f32"))
    x = np.ones(1000, F32)
    assert not matches(np.array(F32(1000.2)), bound.summed(x, 0, "f32"))


def test_products_are_within_their_bound_and_half_ones_are_not():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((7, 30)).astype(F32), rng.standard_normal((30, 5)).astype(F32)
    assert matches(a @ b, bound.product(a, b, "f32"))
    short = (a.astype(np.float16) @ b.astype(np.float16)).astype(F32)
    assert not matches(short, bound.product(a, b, "f32"))


def test_ulps_are_those_of_the_binade():
    assert bound.ulp(1.0, "f32") == 2.0**-23
    assert bound.ulp(0.999, "f32") == 2.0**-24
    assert bound.ulp(0.0, "f32") == 2.0**-149


def test_distances_count_values():
    one = np.array([1.0, -0.0, np.nan, 1.0], F32)
    other = np.array([np.nextafter(F32(1), F32(2)), 0.0, np.nan, np.nan], F32)
    assert list(bound.distance_in_ulp(one, other, "f32")) == [1, 0, 0, np.inf]


def test_bf16_rounds_once_to_nearest_even():
    kind = DTYPES["bf16"]
    # Ties go to even. Values beyond a tie by less than f32 resolves are rounded up.
    values = np.array([1.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-40, np.inf, np.nan])
    made = decode(encode(values, kind), kind)
    assert list(made[:5]) == [1.0, 1.0, 1 + 2.0**-6, 1 + 2.0**-7, np.inf]
    assert np.isnan(made[5])


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
