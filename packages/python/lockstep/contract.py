"""A task: what a kernel has to do, as data. Its arguments with their ranges, element types and
strides, which arrays may be one memory, how it is launched, and the reference.

    from lockstep.contract import Task, Size, Input, Output

    rows, columns = Size("rows", 1, 40), Size("columns", 1, 600)
    task = Task(
        entry="softmax",
        arguments=[Input("x", "f32", (rows, columns)), Output("y", "f32", (rows, columns)),
                   rows, columns],
        reference=softmax,                       # softmax(x=…, rows=…, columns=…) -> Bounded
        launch=Launch(grid="rows", block=256))

lockstep judge reads the task from a Python file, where it has the name `task`.
"""

import ast
import operator
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from lockstep.dtypes import dtype


class BadTask(ValueError):
    """The task contradicts itself; the message names the argument."""


class _Arithmetic:
    """Sizes and expressions of them are added, multiplied and divided as integers are, and the
    result is the text that `evaluate` reads. They are not compared: that is for text."""

    def __add__(self, other: Any) -> "Expression":
        return _joined(self, "+", other)

    def __radd__(self, other: Any) -> "Expression":
        return _joined(other, "+", self)

    def __sub__(self, other: Any) -> "Expression":
        return _joined(self, "-", other)

    def __rsub__(self, other: Any) -> "Expression":
        return _joined(other, "-", self)

    def __mul__(self, other: Any) -> "Expression":
        return _joined(self, "*", other)

    def __rmul__(self, other: Any) -> "Expression":
        return _joined(other, "*", self)

    def __floordiv__(self, other: Any) -> "Expression":
        return _joined(self, "//", other)

    def __truediv__(self, other: Any) -> "Expression":
        return _joined(self, "/", other)

    def __mod__(self, other: Any) -> "Expression":
        return _joined(self, "%", other)

    def __neg__(self) -> "Expression":
        return Expression(f"(-{_text(self)})")

    def _compared(self, other: Any) -> bool:
        raise TypeError("sizes have no value yet; write a comparison, min or max as text, such as "
                        "\"max(rows, 32)\" or require=\"stride >= columns\"")

    __lt__ = __le__ = __gt__ = __ge__ = _compared


class Expression(_Arithmetic, str):
    """An extent of sizes, such as (columns + 31) // 32."""


def _text(extent: Any) -> str:
    return extent.name if isinstance(extent, Size) else str(extent)


def _joined(left: Any, sign: str, right: Any) -> Expression:
    for side in (left, right):
        if not isinstance(side, (int, np.integer, Size, str)):
            raise TypeError(f"{side!r} is neither an integer nor a size")
    return Expression(f"({_text(left)} {sign} {_text(right)})")


@dataclass(frozen=True)
class Size(_Arithmetic):
    """An integer argument with a range, both ends included, that shapes may refer to. `multiple`:
    only multiples of it. `values`: these and no others."""

    name: str
    low: int = 0
    high: int = 0
    multiple: int = 1
    dtype: str = "i32"
    values: Tuple[int, ...] = ()


@dataclass(frozen=True)
class Scalar:
    """A floating-point or integer argument by value, uniform in its range."""

    name: str
    dtype: str
    low: float
    high: float


Extent = Union[int, Size, str]


@dataclass(frozen=True)
class Array:
    """An array in device memory, row-major. Input, Output and InOut make one.

    shape: numbers, sizes, or expressions of sizes such as "rows * columns".
    row_stride: elements from one row to the next, as an extent; None: rows are dense. What lies
    between the rows may not be written, and holds NaN in an input.
    values: "normal", "uniform" (in [low, high]), "positive" or a function of (rng, shape).
    specials: among the values may be NaN, infinities, subnormal numbers and zeros of both signs.
    aligned: bytes that the address is a multiple of.
    """

    name: str
    dtype: str
    shape: Tuple[Extent, ...]
    role: str = "input"
    row_stride: Optional[Extent] = None
    values: Union[str, Callable] = "normal"
    low: float = -1.0
    high: float = 1.0
    specials: bool = False
    aligned: int = 16


def Input(name: str, dtype: str, shape: Sequence[Extent], **more: Any) -> Array:
    """An array that the kernel reads and may not change."""
    return Array(name, dtype, tuple(shape), "input", **more)


def Output(name: str, dtype: str, shape: Sequence[Extent], **more: Any) -> Array:
    """An output: the kernel writes every element and reads none before it is written."""
    return Array(name, dtype, tuple(shape), "output", **more)


def InOut(name: str, dtype: str, shape: Sequence[Extent], **more: Any) -> Array:
    """An array that the kernel changes in place."""
    return Array(name, dtype, tuple(shape), "in_out", **more)


@dataclass(frozen=True)
class Launch:
    """How a kernel without host code is launched: up to three extents each for grid and block, and
    the bytes of dynamic shared memory. A candidate may have its own, in a comment:

        // lockstep: grid=(rows) block=(128) shared=4*columns
    """

    grid: Any = 1
    block: Any = 256
    shared: Extent = 0


Argument = Union[Array, Size, Scalar]


@dataclass(frozen=True)
class Task:
    """What is asked of a candidate.

    reference: a function of the inputs by name, sizes and scalars among them. It returns a Bounded
    (lockstep.bound), or an array that the result must equal bit for bit. With several outputs it
    returns a dict by name. A path of a .cu or .ptx file is a reference kernel. Results must equal
    its results bit for bit, or lie within `ulps` units in the last place.
    may_overlap: pairs of an input and an output that may be one array.
    deterministic: the same bits under every schedule.
    library_calls: operators and libraries that compute on the host are allowed, NVIDIA's and
    simulated ones. The candidate's host code is trusted then.
    host_copies: outputs may be copied from the host or from other arrays. Host code gets the inputs
    that count then.
    arrays: what a Python function gets: "lockstep", "torch" or "cupy".
    """

    entry: str
    arguments: Sequence[Argument]
    reference: Union[Callable, str]
    launch: Launch = field(default_factory=Launch)
    name: str = ""
    ulps: float = 0.0
    may_overlap: Sequence[Tuple[str, str]] = ()
    deterministic: bool = False
    library_calls: bool = False
    host_copies: bool = False
    arrays: str = "lockstep"
    require: str = ""  # an expression of sizes that must not be 0, such as "rows * columns < 9000"

    def __post_init__(self) -> None:
        check(self)

    @property
    def array_arguments(self) -> List[Array]:
        return [a for a in self.arguments if isinstance(a, Array)]

    @property
    def sizes(self) -> List[Size]:
        """The sizes in the order of their first use, those of shapes included."""
        found: Dict[str, Size] = {}

        def add(extent: Any) -> None:
            if isinstance(extent, Size):
                found.setdefault(extent.name, extent)
        for argument in self.arguments:
            add(argument)
            if isinstance(argument, Array):
                for extent in (*argument.shape, argument.row_stride):
                    add(extent)
        return list(found.values())


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
              ast.FloorDiv: operator.floordiv, ast.Div: operator.floordiv, ast.Mod: operator.mod,
              ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
              ast.Eq: operator.eq, ast.NotEq: operator.ne}
_FUNCTIONS = {"min": min, "max": max, "cdiv": lambda a, b: -(-a // b)}


def evaluate(extent: Any, sizes: Dict[str, int]) -> int:
    """An extent's value. Expressions have sizes, numbers, + - * / // %, comparisons, min, max and
    cdiv (division rounded up); `/` rounds down, as C's does. Raises ValueError."""
    if isinstance(extent, (int, np.integer)):
        return int(extent)
    if isinstance(extent, Size):
        return sizes[extent.name]

    def value(node: ast.AST) -> int:
        if isinstance(node, ast.Expression):
            return value(node.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in sizes:
            return sizes[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return int(_OPERATORS[type(node.ops[0])](value(node.left), value(node.comparators[0])))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) \
                and node.func.id in _FUNCTIONS and len(node.args) == 2 and not node.keywords:
            return _FUNCTIONS[node.func.id](*[value(a) for a in node.args])
        raise ValueError(f"'{extent}' is no expression of the sizes {', '.join(sizes)}")
    try:
        return int(value(ast.parse(str(extent), mode="eval")))
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"'{extent}': {error}") from error


def dim3(extents: Any, sizes: Dict[str, int]) -> Tuple[int, int, int]:
    """Up to three extents as a grid or block."""
    all_of = extents if isinstance(extents, (tuple, list)) else (extents,)
    x, y, z = (tuple(evaluate(e, sizes) for e in all_of) + (1, 1, 1))[:3]
    return x, y, z


def check(task: Task) -> None:
    """Raises BadTask where the task contradicts itself."""
    names = [a.name for a in task.arguments]
    repeated = {n for n in names if names.count(n) > 1}
    if repeated:
        raise BadTask(f"two arguments have the name {', '.join(sorted(repeated))}")
    if not any(isinstance(a, Array) and a.role != "input" for a in task.arguments):
        raise BadTask("no argument is an Output or InOut, so nothing can be judged")
    smallest = {}
    for size in task.sizes:
        if not size.values and (size.low < 0 or size.high < size.low):
            raise BadTask(f"{size.name}: the range {size.low} to {size.high} is empty or negative")
        smallest[size.name] = size.values[0] if size.values else size.low
    for array in task.array_arguments:
        if array.role not in ("input", "output", "in_out"):
            raise BadTask(f"{array.name}: there is no role '{array.role}'")
        try:
            kind = dtype(array.dtype)
            for extent in (*array.shape, *([array.row_stride] if array.row_stride else [])):
                evaluate(extent, smallest)
        except (ValueError, KeyError, TypeError) as error:
            raise BadTask(f"{array.name}: {error}") from error
        if array.aligned % kind.size or array.aligned < 1:
            raise BadTask(f"{array.name}: {array.aligned} bytes align no element of {kind.size}")
        if array.row_stride is not None and len(array.shape) != 2:
            raise BadTask(f"{array.name}: row_stride is for arrays of two dimensions")
    for pair in task.may_overlap:
        for name in pair:
            if name not in {a.name for a in task.array_arguments}:
                raise BadTask(f"may_overlap names '{name}', which is no array")
    if task.arrays not in ("lockstep", "torch", "cupy"):
        raise BadTask(f"arrays is '{task.arrays}'; it may be lockstep, torch or cupy")
    if not callable(task.reference) and not isinstance(task.reference, str):
        raise BadTask("reference is neither a function nor the path of a kernel")
