"""The tasks of the candidates in this folder."""

import numpy as np

from lockstep import bound
from lockstep.contract import Input, InOut, Launch, Output, Scalar, Size, Task

_rows, _columns = Size("rows", 1, 9), Size("columns", 1, 400)
_n = Size("n", 1, 3000)


def _of_three_scales(rng, shape):
    """In the last range expf overflows unless the row's maximum is subtracted."""
    return rng.standard_normal(shape) * rng.choice([1, 10, 100])


def _softmax(x, rows, columns):
    """The error of expf is 2 ulp (CUDA C++ Programming Guide), its argument has one rounding; then
    a sum of `columns` terms and a division."""
    shifted = x - x.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    value = e / e.sum(axis=1, keepdims=True)
    relative = 2 * (np.abs(shifted).max(axis=1, keepdims=True) + 4) * 2.0 ** -24 + \
        bound.gamma(columns + 3, "f32")
    return bound.within(value, relative * value + 2.0 ** -126)


def _axpy(a, x, y, n):
    exact = a.astype(np.float64) * x + y
    u = bound.unit_roundoff("f32")
    return bound.within(exact, u * np.abs(exact) * (1 + u) + u * np.abs(a * x) +
                        2 * bound.underflow_unit("f32"))


def _relu(x, n):
    return np.where(np.isnan(x), x, np.where(x > 0, x, 0.0))


def _total(x, n):
    made = bound.summed(x, 0, "f32")
    return bound.within(made.value.reshape(1), made.bound.reshape(1))


def _transpose(x, rows, columns, stride):
    return x.T.copy()


def _matmul(a, b, rows, columns, inner):
    return bound.product(a, b, "f32")


softmax = Task(
    name="row softmax", entry="softmax", reference=_softmax,
    arguments=[Input("x", "f32", (_rows, _columns), values=_of_three_scales),
               Output("y", "f32", (_rows, _columns)), _rows, _columns],
    launch=Launch(grid=_rows, block=128))

axpy = Task(
    name="axpy", entry="axpy", reference=_axpy,
    arguments=[Scalar("a", "f32", -4, 4), Input("x", "f32", (_n,)), InOut("y", "f32", (_n,)), _n],
    launch=Launch(grid="cdiv(n, 256)", block=256))

axpy_by_library = Task(
    name="axpy, by a library too", entry="axpy", reference=_axpy, library_calls=True,
    arguments=axpy.arguments, launch=axpy.launch)

relu = Task(
    name="relu", entry="relu", reference=_relu, may_overlap=[("x", "y")], deterministic=True,
    arguments=[Input("x", "f32", (_n,), specials=True), Output("y", "f32", (_n,)), _n],
    launch=Launch(grid="cdiv(n, 256)", block=256))

relu_by_library = Task(
    name="relu, by a library too", entry="relu", reference=_relu, library_calls=True,
    arguments=relu.arguments, launch=relu.launch)

total = Task(
    name="sum", entry="total", reference=_total,
    arguments=[Input("x", "f32", (_n,)), Output("out", "f32", (1,)), _n],
    launch=Launch(grid=1, block=256))

same_total = Task(
    name="sum with the same bits", entry="total", reference=_total, deterministic=True,
    arguments=total.arguments, launch=total.launch)

_stride = Size("stride", 1, 90)
transpose = Task(
    name="transpose", entry="transpose", reference=_transpose, require="stride >= columns",
    arguments=[Input("x", "f32", (Size("rows", 1, 70), Size("columns", 1, 80)),
                     row_stride=_stride),
               Output("y", "f32", ("columns", "rows"), row_stride="rows + 3"),
               Size("rows", 1, 70), Size("columns", 1, 80), _stride],
    launch=Launch(grid=("cdiv(columns, 32)", "cdiv(rows, 32)"), block=(32, 8)))

matmul = Task(
    name="matrix product", entry="matmul", reference=_matmul,
    arguments=[Input("a", "f32", ("rows", "inner")), Input("b", "f32", ("inner", "columns")),
               Output("c", "f32", ("rows", "columns")), Size("rows", 1, 40),
               Size("columns", 1, 40), Size("inner", 1, 40)],
    launch=Launch(grid=("cdiv(columns, 16)", "cdiv(rows, 16)"), block=(16, 16)))


def _stencil(x, c, n):
    """Four chains of a difference and a fused product: each rounds once."""
    wide = np.concatenate([np.zeros(4), x, np.zeros(4)])
    terms = np.stack([c[k - 1] * (wide[4 + k:4 + k + n] - wide[4 - k:4 - k + n])
                      for k in range(1, 5)])
    return bound.summed(terms, 0, "f32", roundings_per_term=2)


stencil = Task(
    name="stencil", entry="stencil", reference=_stencil,
    arguments=[Input("x", "f32", (_n,)), Input("c", "f32", (4,)), Output("y", "f32", (_n,)), _n],
    launch=Launch(grid="cdiv(n, 128)", block=128))
