"""Compiler options that more than one package shares."""

# Whether this repository is the workspace being built, or a dependency of another workspace.
IS_MAIN_WORKSPACE = Label("//bazel:copts.bzl").workspace_name == ""

# Here .bazelrc sets it for every source. Another workspace has its own .bazelrc.
STANDARD_COPTS = [] if IS_MAIN_WORKSPACE else ["-std=c++20"]

# Options that reduce the code that nvcc parses, three times per file. From libstdc++: <cmath>
# without the special functions of C++17, which no kernel here uses (by their header's guard; a
# third of the time for an empty file). From the toolkit: <cooperative_groups.h> without libcu++
# (three quarters of the time for a small file; the kernels' code is the same). libcu++, cub and
# thrust without the headers of half types, for which no source here uses them (a fifth of the
# time for a file with <cuda/barrier>).
QUICK_NVCC_COPTS = [
    "-D_GLIBCXX_BITS_SPECFUN_H",
    "-D_CG_LIMIT_INCLUDED_DEPENDENCIES",
    "-DCCCL_DISABLE_FP16_SUPPORT",
    "-DCCCL_DISABLE_BF16_SUPPORT",
]

# Permits copies to several blocks of a cluster in code for .target sm_90, which every later GPU
# also runs. ptxas warns that some of these copies are slower there. Only the results matter here,
# and code for sm_90a would run on that GPU alone.
MULTICAST_NVCC_COPTS = ["-Xptxas=--suppress-async-bulk-multicast-advisory-warning"]

# For code that computes, in every compilation mode. -O1 takes a third less time to compile than
# -O2, and is as fast where the time is spent (the loops that run warps have more options, below).
# Assertions stay enabled. (-c dbg adds debug information, which would add a sixth to every
# compilation.) Chains of roundings are computed as written: no product is fused with a sum.
OPTIMISED = [
    "-O1",
    "-ffp-contract=off",
]

# For the parts of the simulated GPU that load modules and implement calls.
SIMULATOR_COPTS = OPTIMISED + [
    "-Wall",
    "-Wextra",
]

# For the loops that run warps and check every access. AVX2 is the minimum for the simulated GPU;
# every processor with AVX2 also supports the other features.
ENGINE_COPTS = [
    "-O3",
    "-fno-strict-aliasing",  # a register is read as the type of the instruction
    "-mavx2",
    "-mbmi",
    "-mbmi2",
    "-mf16c",
    "-mlzcnt",
    "-mpopcnt",
]

# For code that only computes, with the GPU's arithmetic: optimised in every compilation mode,
# because speed depends on its vector loops. simulator/engine/ops/alu/handler_file.h states the rule
# for these files.
HANDLER_COPTS = [
    "-O1",
    "-ftree-vectorize",
    "-fpeel-loops",
    "-fwrapv",  # signed arithmetic wraps, as on the GPU
    "-fno-strict-aliasing",  # a register is read as the type of the instruction
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-fno-tree-loop-distribute-patterns",  # inline moves of 128 bytes, instead of calls
    "-mavx2",
    "-mfma",
    "-mf16c",
    "-mbmi",
    "-mbmi2",
    "-mlzcnt",
    "-mpopcnt",
]

# For host code that computes a lot per case (references, generators, comparison).
HOT_HOST_COPTS = OPTIMISED + [
    "-Wall",
    "-Wextra",
]

# For tests of single parts and for report writers: they run for less time than optimisation would
# take.
QUICK_COPTS = [
    "-Wall",
    "-Wextra",
]

# For a test that includes the JSON library: begins with its parsed header (and depends on
# //bazel/gtest:json).
JSON_TEST_COPTS = QUICK_COPTS + [
    "-include",
    "lockstep_gtest_json.h",
]
