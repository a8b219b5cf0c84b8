"""The families with a timing test, in the order in which they are run."""

TIMED = [
    "stencil",
    "matmul",
    "ray_tracer",
    "histogram",
    "memory_access",
]
