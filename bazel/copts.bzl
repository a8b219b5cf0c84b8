"""Compiler options that more than one package shares."""

# Whether this repository is the workspace that is built, or one that another's targets depend on.
IS_MAIN_WORKSPACE = Label("//bazel:copts.bzl").workspace_name == ""

# Here .bazelrc says it, of every source. Another workspace has a .bazelrc of its own.
STANDARD_COPTS = [] if IS_MAIN_WORKSPACE else ["-std=c++20"]

# Options that let nvcc parse less in this repository, three times a file: of libstdc++, <cmath>
# without the special functions of C++17, which no kernel here uses (the guard of their header; a
# third of what an empty file takes); of the toolkit, <cooperative_groups.h> without libcu++ (three
# quarters of what a small file takes; the kernels' code is the same).
QUICK_NVCC_COPTS = [
    "-D_GLIBCXX_BITS_SPECFUN_H",
    "-D_CG_LIMIT_INCLUDED_DEPENDENCIES",
]

# Copies to several blocks of a cluster in code for .target sm_90, which every later GPU runs too:
# of some of those ptxas says that they are slower there. What a device computes is all that
# matters here, and code for sm_90a would be of that one alone.
MULTICAST_NVCC_COPTS = ["-Xptxas=--suppress-async-bulk-multicast-advisory-warning"]

# What computes, whatever the compilation mode: -O1 takes a third less to compile than -O2, and
# where the time goes it is as quick (the loops that run warps have more, below). Assertions stay.
# (-c dbg adds debug information, which would cost everybody a sixth of the compile time.) A
# declared chain of roundings is computed as it is written: no product is fused with a sum.
OPTIMISED = [
    "-O1",
    "-ffp-contract=off",
]

# The simulated GPU where it loads modules and answers calls.
SIMULATOR_COPTS = OPTIMISED + [
    "-Wall",
    "-Wextra",
]

# The loops that run warps and check every access. AVX2 is the least that the simulated GPU runs on;
# every processor that has it has the others.
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

# What merely computes, with the GPU's arithmetic: optimised whatever the compilation mode, since
# the vector loops are the point. simulator/engine/ops/alu/handler_file.h has the rule that these
# files keep.
HANDLER_COPTS = [
    "-O1",
    "-ftree-vectorize",
    "-fpeel-loops",
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
HOT_HOST_COPTS = OPTIMISED + [
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
