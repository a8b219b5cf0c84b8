"""Compiler options that more than one package shares."""

# The simulated GPU is an interpreter and its tests run millions of instructions:
# it is optimised whatever the compilation mode, but keeps its assertions. (-c dbg
# adds debug information, which would cost everybody a sixth of the compile time.)
SIMULATOR_COPTS = [
    "-O2",
    "-Wall",
    "-Wextra",
]

# Host code that computes a lot per case (references, generators, comparison).
HOT_HOST_COPTS = [
    "-O2",
    "-Wall",
    "-Wextra",
]

# Tests of single parts, and what writes reports: they are over before an optimiser would be.
QUICK_COPTS = [
    "-Wall",
    "-Wextra",
]
