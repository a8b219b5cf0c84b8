"""@lockstep.law: a law of a kernel, with arguments by Hypothesis, as a test for pytest.

    @lockstep.law(x=lockstep.law.array("f32", (st.integers(1, 500),)), a=lockstep.law.number("f32"))
    def test_scaling_commutes(x, a):
        …run the kernel…
        lockstep.law.require(result, reference)

Each example runs on the simulated GPU. A finding fails its example, so Hypothesis shrinks towards
the smallest example that has one.
"""

import functools
import inspect
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from lockstep.bound import Bounded, compare
from lockstep.dtypes import dtype, encode
from lockstep.session import checked, is_enabled

try:
    import hypothesis
    from hypothesis import strategies
except ImportError as error:
    raise ImportError("lockstep.law needs Hypothesis: pip install hypothesis") from error


class LawBroken(AssertionError):
    """A result is outside of its bound; the message lists the first elements."""


def number(kind: Any, low: float = -8.0, high: float = 8.0) -> strategies.SearchStrategy:
    """A number of the type, of NumPy's type, in a range."""
    found = dtype(kind)
    if not found.is_float:
        return strategies.integers(int(low), int(high)).map(found.storage.type)
    width = {2: 16, 4: 32, 8: 64}[found.size] if found.name != "bf16" else 16
    return strategies.floats(low, high, width=width, allow_nan=False).map(found.storage.type)


@strategies.composite
def array(draw: Callable, kind: Any, shape: Sequence[Union[int, strategies.SearchStrategy]],
          low: float = -8.0, high: float = 8.0, specials: bool = False) -> np.ndarray:
    """An array; its extents may be strategies. Its values come from one seed, and where Hypothesis
    shrinks they become small whole numbers. specials: NaN, infinities, zeros of both signs and
    subnormal numbers are among them."""
    found = dtype(kind)
    extents = tuple(e if isinstance(e, int) else draw(e) for e in shape)
    seed = draw(strategies.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    if seed == 0:
        values = np.arange(int(np.prod(extents)), dtype=np.float64).reshape(extents) % 7
    else:
        values = rng.uniform(low, high, extents)
    if specials and found.is_float and values.size and draw(strategies.booleans()):
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0 ** (found.min_exponent - 2)]
        flat = values.reshape(-1)
        flat[int(rng.integers(flat.size))] = special[int(rng.integers(len(special)))]
    return encode(values, found) if found.is_float else values.astype(found.storage)


def require(actual: Any, reference: Any, kind: Optional[Any] = None) -> None:
    """Compares a result with a Bounded, or bit for bit with values. actual: an array of NumPy, or
    one of lockstep. Raises LawBroken."""
    __tracebackhide__ = True  # pytest shows the law's own line
    host = actual.numpy() if hasattr(actual, "numpy") else np.asarray(actual)
    if not isinstance(reference, Bounded):
        expected = np.asarray(reference)
        reference = Bounded(expected, np.zeros(expected.shape))
    outcome = compare(host, reference, kind or host.dtype)
    if not outcome.matches:
        raise LawBroken(f"{outcome.bad} of {outcome.compared} elements are outside of their "
                        "bound\n" + "\n".join(outcome.lines))


def _law(function: Optional[Callable] = None, *, examples: int = 25,
         **arguments: strategies.SearchStrategy) -> Callable:
    """Makes a test of a law. arguments: a strategy for each of the function's parameters; others
    are fixtures of pytest. examples: how many are tried. pytest collects functions whose names
    begin with test_.

    Without a simulated GPU the test is skipped by pytest, with the reason.
    """
    if function is not None:
        return _law()(function)

    def decorate(law: Callable) -> Callable:
        @functools.wraps(law)
        def example(*fixtures: Any, **drawn: Any) -> None:
            __tracebackhide__ = True
            if not is_enabled():
                import pytest
                pytest.skip("a law needs the simulated GPU: pytest --lockstep")
            with checked():
                law(*fixtures, **drawn)
        example.__signature__ = inspect.signature(law)
        test = hypothesis.given(**arguments)(example) if arguments else example
        if arguments:
            test = hypothesis.settings(
                max_examples=examples, deadline=None, derandomize=True, database=None,
                suppress_health_check=list(hypothesis.HealthCheck))(test)
        return test
    return decorate


class _Law:
    """The decorator, with its generators as attributes."""

    __call__ = staticmethod(_law)
    array = staticmethod(array)
    number = staticmethod(number)
    require = staticmethod(require)
    LawBroken = LawBroken


law = _Law()
