"""Row softmax: y[r, c] = exp(x[r, c] - max) / sum of such terms, with the largest x of row r."""

import numpy as np
from lockstep import bound
from lockstep.contract import Input, Launch, Output, Size, Task

rows, columns = Size("rows", 1, 40), Size("columns", 1, 700)


def reference(x, rows, columns):
    """The argument of expf has one rounding and its result 2 ulp (CUDA C++ Programming Guide). A
    sum of `columns` such terms and a division follow."""
    shifted = x - x.max(axis=1, keepdims=True)
    terms = np.exp(shifted)
    value = terms / terms.sum(axis=1, keepdims=True)
    u = bound.unit_roundoff("f32")
    relative = (2 * (np.abs(shifted).max(axis=1, keepdims=True) + 4) * u +
                bound.gamma(columns + 3, "f32"))
    return bound.within(value, relative * value + 2.0 ** -126)


task = Task(name="row softmax", entry="softmax", reference=reference,
            arguments=[Input("x", "f32", (rows, columns)), Output("y", "f32", (rows, columns)),
                       rows, columns],
            launch=Launch(grid=rows, block=128))
