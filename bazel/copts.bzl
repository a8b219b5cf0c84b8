"""Compiler options that more than one package shares."""

# The simulated GPU is an interpreter and its tests run millions of instructions:
# it is optimised whatever the compilation mode, but keeps its assertions and
# enough debug information for a backtrace.
SIMULATOR_COPTS = [
    "-O2",
    "-g1",
    "-Wall",
    "-Wextra",
]

# Host code that computes a lot per case (references, generators, comparison).
HOT_HOST_COPTS = [
    "-O2",
    "-g1",
    "-Wall",
    "-Wextra",
]
