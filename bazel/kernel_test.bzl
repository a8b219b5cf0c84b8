"""kernel_test: one test source, two tests: on the simulated GPU and on silicon.

A test is an ordinary CUDA program. The libcudart.so.13 that it is linked with decides
where it runs; all else is the same, even the object files.
"""

load("@local_gpus//:gpus.bzl", "GPU_IDENTITY", "GPU_POOL")
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load(":cc.bzl", "cc_test", "cc_test_library")
load(":copts.bzl", "HOT_HOST_COPTS", "IS_MAIN_WORKSPACE", "QUICK_COPTS", "STANDARD_COPTS")

# Labels of this repository, whichever workspace declares the test.
_SIMULATED = Label("//simulator:cudart")
_SILICON = Label("@cuda//:cudart")
_CUDA = Label("@cuda//:headers")
_MAIN = Label("//harness/ledger:main")
_GTEST = Label("//bazel/gtest")

# Here .bazelrc sets --dynamic_mode=off. A test is one file beside its runtime, in any workspace, so
# that it can be bundled.
_LINKSTATIC = not IS_MAIN_WORKSPACE

# LOCKSTEP_WORK of simulated tests: the most steps of a property's drawn cases.
SIMULATED_WORK = "15000000"

def wrong_min_sm(min_sm):
    """The error for a capability without devices in CUDA 13, or None. The form is 90, and not 9,
    9.0 or sm_90."""
    if type(min_sm) == "int" and min_sm >= 75 and min_sm < 1000:
        return None
    return ("min_sm = %s is no compute capability times ten, such as 75, 80, 90, 100 or 120" %
            repr(min_sm))

def _silicon_tags(sm):
    """Tags of a test that needs a GPU.

    Here .bazelrc excludes it from wildcards unless --config=gpu is given. A user's workspace has no
    such line: there wildcards exclude the test if this machine has no GPU. It can still be named,
    or run by a pool of workers.
    """
    absent = not IS_MAIN_WORKSPACE and GPU_IDENTITY == "none"
    return ["gpu", "requires-gpu-" + sm] + (["manual"] if absent else [])

def _gpu_worker(sm):
    """Properties for a remote engine: run the test, not its compilation, on a worker with such a
    GPU.

    Engines that only distinguish pools by name use the second (docs/guide/remote.md lists them).
    """
    return {"test.Pool": GPU_POOL or "gpu-" + sm, "test.gpu": sm}

def kernel_test(
        name,
        srcs,
        deps = [],
        kernels = [],
        data = [],
        copts = [],
        args = [],
        env = {},
        size = "small",
        timeout = None,
        shard_count = None,
        min_sm = 75,
        tags = [],
        simulated_tags = [],
        visibility = None):
    """Declares `<name>_test` (simulated) and `<name>_gpu_test` (silicon).

    The second is tagged `gpu` and `requires-gpu-sm<min_sm>`, and excluded from every
    wildcard unless --config=gpu is given. It has LOCKSTEP_GPU=required: without a GPU it
    fails, and neither passes nor skips. The first has LOCKSTEP_GPU=simulated, and fails if
    another runtime is loaded. Both fail if they launch no kernel at all
    (LOCKSTEP_EXPECT_KERNELS).

    Args:
      name: the family, such as "stencil".
      srcs: the test sources.
      deps: what they include: references, properties, the harness.
      kernels: cuda_library targets under test.
      data: files that the test reads at run time.
      copts: further compiler options for srcs.
      args: arguments of the test program.
      env: its environment.
      size: its size, as Bazel means it.
      timeout: its timeout, as Bazel means it.
      shard_count: the number of processes among which its tests are divided.
      min_sm: the lowest compute capability it runs on, times ten.
      tags: further tags, for both.
      simulated_tags: further tags of the first, such as "nightly" where only silicon is quick.
      visibility: of both.
    """
    if wrong_min_sm(min_sm):
        fail("kernel_test(name = \"%s\"): %s" % (name, wrong_min_sm(min_sm)))
    objects = name + "_test_objects"
    cc_test_library(
        name = objects,
        srcs = srcs,
        copts = QUICK_COPTS + copts,
        data = data,
        tags = tags + simulated_tags,
        visibility = ["//visibility:private"],
        deps = deps + kernels + [_MAIN, _CUDA, _GTEST],
    )
    cc_test(
        name = name + "_test",
        size = size,
        timeout = timeout,
        args = args,
        data = data,
        env = dict(
            # Bazel assigns one processor to a test, and runs as many tests as there are processors.
            # With two host threads each, the tests take a fifth longer.
            # --test_env=LOCKSTEP_HOST_THREADS=0 uses all processors.
            # A few large cases take half of the time of all. --config=nightly has them, and so has
            # `lockstep run`.
            dict({"LOCKSTEP_HOST_THREADS": "1", "LOCKSTEP_WORK": SIMULATED_WORK}, **env),
            # Two, to detect state that a launcher keeps from one device to the next.
            LOCKSTEP_DEVICES = "2",
            LOCKSTEP_EXPECT_KERNELS = "1",
            LOCKSTEP_GPU = "simulated",
        ),
        shard_count = shard_count,
        tags = tags + simulated_tags,
        linkstatic = _LINKSTATIC,
        visibility = visibility,
        deps = [":" + objects, _SIMULATED],
    )
    sm = "sm%d" % min_sm
    cc_test(
        name = name + "_gpu_test",
        size = size,
        timeout = timeout,
        args = args,
        data = data,
        env = dict(
            env,
            LOCKSTEP_EXPECT_KERNELS = "1",
            LOCKSTEP_GPU = "required",
            LOCKSTEP_GPU_IDENTITY = GPU_IDENTITY,
        ),
        exec_properties = _gpu_worker(sm),
        shard_count = shard_count,
        tags = tags + _silicon_tags(sm),
        linkstatic = _LINKSTATIC,
        visibility = visibility,
        deps = [":" + objects, _SILICON],
    )

def timing_test(
    name, srcs, deps = [], kernels = [], size = "small", min_sm = 75, tags = [], visibility = None
):
    """Declares `<name>_timing_test`, which measures which of two kernels is faster. It runs on
    silicon alone, with no other test at the same time.

    Args:
      name: the family, such as "stencil".
      srcs: the test sources.
      deps: what they include.
      kernels: cuda_library targets that are timed.
      size: its size, as Bazel means it.
      min_sm: the lowest compute capability it runs on, times ten.
      tags: further tags.
      visibility: of the test.
    """
    if wrong_min_sm(min_sm):
        fail("timing_test(name = \"%s\"): %s" % (name, wrong_min_sm(min_sm)))
    sm = "sm%d" % min_sm
    cc_test(
        name = name + "_timing_test",
        size = size,
        srcs = srcs,
        copts = STANDARD_COPTS + QUICK_COPTS,
        env = {
            "LOCKSTEP_EXPECT_KERNELS": "1",
            "LOCKSTEP_GPU": "required",
            "LOCKSTEP_GPU_IDENTITY": GPU_IDENTITY,
        },
        exec_properties = _gpu_worker(sm),
        tags = tags + ["exclusive"] + _silicon_tags(sm),
        linkstatic = _LINKSTATIC,
        visibility = visibility,
        deps = deps + kernels + [_MAIN, _CUDA, _GTEST, _SILICON],
    )

def kernel_binary(
        name,
        srcs,
        deps = [],
        kernels = [],
        harness = False,
        runtime = _SIMULATED,
        copts = [],
        **kwargs):
    """Declares a CUDA program, by default on the simulated GPU: an example, or one that a test
    expects to fail.

    Args:
      name: the program.
      srcs: its sources.
      deps: what they include.
      kernels: its cuda_library targets.
      harness: whether the harness's main() drives it, as in a kernel_test; otherwise srcs have
        their own.
      runtime: the CUDA runtime to link; "@cuda//:cudart" is NVIDIA's.
      copts: further compiler options for srcs.
      **kwargs: further arguments of cc_binary.
    """
    cc_binary(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = STANDARD_COPTS + HOT_HOST_COPTS + copts,
        deps = deps + kernels + ([_MAIN, _GTEST] if harness else []) + [_CUDA, runtime],
        **kwargs
    )
