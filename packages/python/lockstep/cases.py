"""Generated cases of a task: sizes, values, addresses and schedules, from one seed.

The first cases have the smallest and largest sizes. Later ones draw sizes around powers of two and
uniformly. The seed and the number determine a case completely.
"""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import numpy as np

from lockstep.contract import Array, BadTask, Scalar, Size, Task, evaluate
from lockstep.dtypes import dtype, encode

_PROFILES = ("usual", "wide", "equal", "small", "specials")


@dataclass
class Placed:
    """An array of a case: its rows occupy `elements` of memory. offset: bytes past a multiple of
    256. shares: the array that owns the memory; "" for this array."""

    array: Array
    shape: tuple
    stride: int  # elements from row to row; for other than two dimensions, all elements
    offset: int
    shares: str = ""

    @property
    def elements(self) -> int:
        if len(self.shape) != 2:
            return int(np.prod(self.shape, dtype=np.int64))
        rows, columns = self.shape
        return (rows - 1) * self.stride + columns if rows and columns else 0

    def used(self) -> np.ndarray:
        """A mask of the elements in memory that belong to the array."""
        mask = np.zeros(self.elements, bool)
        if len(self.shape) != 2 or self.stride == self.shape[1]:
            mask[:] = True
            return mask
        for row in range(self.shape[0] if self.elements else 0):
            mask[row * self.stride:row * self.stride + self.shape[1]] = True
        return mask

    def spread(self, dense: np.ndarray, fill: bytes) -> np.ndarray:
        """The elements in memory, with `fill` between the rows."""
        kind = dtype(self.array.dtype)
        raw = np.frombuffer((fill * kind.size)[:kind.size] * max(self.elements, 1), kind.storage)
        memory = raw[:self.elements].copy()
        memory[self.used()] = dense.reshape(-1)
        return memory

    def gather(self, memory: np.ndarray) -> np.ndarray:
        return memory[self.used()].reshape(self.shape)


@dataclass
class Case:
    """sizes and scalars by name; `values(call)` returns the inputs of a call."""

    task: Task
    number: int
    seed: int
    sizes: Dict[str, int]
    placed: List[Placed]

    def text(self) -> str:
        """One line for display."""
        words = [f"{n}={v}" for n, v in self.sizes.items()]
        words += [f"{p.array.name}@+{p.offset}" for p in self.placed if p.offset]
        words += [f"{p.array.name} is {p.shares}" for p in self.placed if p.shares]
        return f"case {self.number}: " + " ".join(words)

    def profile(self, call: int) -> str:
        return _PROFILES[(self.number + call) % len(_PROFILES)]

    def inputs(self, call: int) -> Dict[str, np.ndarray]:
        """Stored elements of every input and in-out array, by name. Calls differ in all of them."""
        rng = np.random.default_rng([self.seed, self.number, call, 1])
        made: Dict[str, np.ndarray] = {}
        for placed in self.placed:
            if placed.array.role != "output":
                made[placed.array.name] = _elements(placed, rng, self.profile(call))
        return made

    def scalars(self, call: int) -> Dict[str, Any]:
        rng = np.random.default_rng([self.seed, self.number, call, 2])
        made: Dict[str, Any] = {}
        for argument in self.task.arguments:
            if isinstance(argument, Scalar):
                kind = dtype(argument.dtype)
                drawn = rng.uniform(argument.low, argument.high)
                made[argument.name] = kind.storage.type(drawn if kind.is_float else round(drawn))
        return made


def _elements(placed: Placed, rng: np.random.Generator, profile: str) -> np.ndarray:
    array, shape, kind = placed.array, placed.shape, dtype(placed.array.dtype)
    if callable(array.values):
        return encode(np.asarray(array.values(rng, shape)), kind).reshape(shape)
    if not kind.is_float:
        info = np.iinfo(kind.storage)
        low, high = (int(array.low), int(array.high)) if array.values == "uniform" else \
            (max(info.min, -1000), min(info.max, 1000))
        return rng.integers(low, high, shape, dtype=np.int64, endpoint=True).astype(kind.storage)
    if array.values == "uniform":
        return encode(rng.uniform(array.low, array.high, shape), kind)
    values = rng.standard_normal(shape)
    if profile == "wide":
        values = values * np.exp2(rng.integers(-6, 6, shape))
    elif profile == "equal":
        values = np.full(shape, rng.standard_normal())
    elif profile == "small":
        values = values * 2.0 ** -10
    elif profile == "specials" and array.specials and values.size:
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0 ** (kind.min_exponent - 3)])
        flat = values.reshape(-1)
        places = rng.choice(flat.size, max(1, flat.size // 16), replace=False)
        flat[places] = rng.choice(special, places.size)
    if array.values == "positive":
        values = np.abs(values) + 2.0 ** -8
    return encode(values, kind)


def _draw(size: Size, rng: np.random.Generator, number: int) -> int:
    if size.values:
        return int(size.values[number % len(size.values) if number < len(size.values)
                               else rng.integers(len(size.values))])
    low, high = -(-size.low // size.multiple), size.high // size.multiple
    if low > high:
        raise BadTask(f"{size.name}: no multiple of {size.multiple} is in its range")
    if number == 0:
        return low * size.multiple
    if number == 1:
        return high * size.multiple
    if rng.random() < 0.6:
        around = 2 ** int(rng.integers(0, max(1, int(high).bit_length()) + 1)) + \
            int(rng.integers(-1, 2))
        return min(max(around, low), high) * size.multiple
    return int(rng.integers(low, high, endpoint=True)) * size.multiple


def make_case(task: Task, seed: int, number: int) -> Case:
    """Case `number` of a seed. Raises BadTask if `require` holds for none of the drawn sizes."""
    rng = np.random.default_rng([seed, number, 0])
    for attempt in range(200):
        sizes = {s.name: _draw(s, rng, number if attempt == 0 else number + 2 + attempt)
                 for s in task.sizes}
        if not task.require or evaluate(task.require, sizes):
            break
    else:
        raise BadTask(f"no sizes were found for which '{task.require}' holds")
    overlap: Optional[tuple] = None
    if task.may_overlap and number % 3 == 2:
        overlap = task.may_overlap[int(rng.integers(len(task.may_overlap)))]
    placed: List[Placed] = []
    for array in task.array_arguments:
        shape = tuple(evaluate(e, sizes) for e in array.shape)
        dense = shape[1] if len(shape) == 2 else int(np.prod(shape, dtype=np.int64))
        stride = dense if array.row_stride is None else evaluate(array.row_stride, sizes)
        if len(shape) == 2 and stride < shape[1]:
            raise BadTask(f"{array.name}: rows of {shape[1]} elements begin {stride} apart; bind "
                          "the stride by `require`")
        placed.append(Placed(array, shape, stride, int(rng.integers(0, 4)) * array.aligned % 256))
    if overlap:
        by_name = {p.array.name: p for p in placed}
        one, other = (by_name[n] for n in overlap)
        if one.shape == other.shape and one.stride == other.stride and \
                one.array.dtype == other.array.dtype:
            other.shares, other.offset = one.array.name, one.offset
    return Case(task, number, seed, sizes, placed)
