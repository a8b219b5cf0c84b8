"""The kernel families, in the order in which they are run and reported."""

FAMILIES = [
    "stencil",
    "shuffle",
    "histogram",
    "ray_tracer",
    "matmul",
    "staging",
    "memory_spaces",
    "memory_access",
    "tensor_matmul",
    "tensor_copy",
]
