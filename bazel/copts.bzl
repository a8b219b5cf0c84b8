"""Compiler options that more than one package shares."""

# Whether this repository is the workspace that is built, or one that another's targets depend on.
IS_MAIN_WORKSPACE = Label("//bazel:copts.bzl").workspace_name == ""

# Here .bazelrc says it, of every source. Another workspace has a .bazelrc of its own.
STANDARD_COPTS = [] if IS_MAIN_WORKSPACE else ["-std=c++20"]

# The simulated GPU is an interpreter and its tests run millions of instructions:
# it is optimised whatever the compilation mode, but keeps its assertions. (-c dbg
# adds debug information, which would cost everybody a sixth of the compile time.)
SIMULATOR_COPTS = [
    "-O2",
    "-Wall",
    "-Wextra",
]

# The loops that run warps and check every access. AVX2 is the least that the simulated GPU runs on; every processor that
# has it has the others.
ENGINE_COPTS = [
    "-O3",
    "-fno-strict-aliasing",  # a register is read as whatever the instruction's type says
    "-mavx2",
    "-mbmi",
    "-mbmi2",
    "-mf16c",
    "-mlzcnt",
    "-mpopcnt",
]

# What merely computes, with the GPU's arithmetic: optimised whatever the compilation mode, since the vector loops are the
# point. simulator/engine/alu/handler_file.h has the rule that these files keep.
HANDLER_COPTS = [
    "-O3",
    "-fwrapv",  # signed arithmetic wraps, as on the GPU
    "-fno-strict-aliasing",  # a register is read as whatever the instruction's type says
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-fno-tree-loop-distribute-patterns",  # moves of 128 bytes inline, not as calls
    "-mavx2",
    "-mfma",
    "-mf16c",
    "-mbmi",
    "-mbmi2",
    "-mlzcnt",
    "-mpopcnt",
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

# A test that includes the JSON library opens with it parsed (and depends on //bazel/gtest:json).
JSON_TEST_COPTS = QUICK_COPTS + [
    "-include",
    "lockstep_gtest_json.h",
]
