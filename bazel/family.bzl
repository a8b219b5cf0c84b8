"""kernel_family: the targets of a kernel family that `lockstep new` has made in a user's
workspace."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")
load(":copts.bzl", "HOT_HOST_COPTS", "STANDARD_COPTS")
load(":cuda.bzl", "cuda_library")
load(":kernel_test.bzl", "kernel_test")

_HARNESS = Label("//:harness")

def kernel_family(
    name, deps = [], copts = [], size = "small", min_sm = 75, tags = [], visibility = None
):
    """Declares a family from the files that `lockstep new` makes in this package.

        <name>                    the kernel with its launcher: a cuda_library
        <name>_test               its laws on the simulated GPU, <name>_gpu_test on silicon
                                  (kernel_test.bzl)
        <name>_known_bad_test     its laws on mutants and negative controls;
                                  <name>_known_bad_gpu_test on silicon

    Args:
      name: the family, as in its files' names.
      deps: further dependencies of its sources, besides the harness.
      copts: further nvcc options of the kernel.
      size: of the tests, as in Bazel.
      min_sm: the lowest compute capability that it runs on, times ten.
      tags: of the tests.
      visibility: of the kernel and the tests, for a conformance program.
    """
    cc_library(
        name = name + "_interface",
        hdrs = ["kernels/%s.h" % name],
        includes = ["."],
        visibility = visibility,
        deps = deps + [Label("//:kernel_contract")],
    )
    cuda_library(
        name = name,
        srcs = ["kernels/%s.cu" % name],
        copts = copts,
        visibility = visibility,
        deps = deps + [":%s_interface" % name],
    )
    cc_library(
        name = name + "_properties",
        testonly = True,
        srcs = ["properties/%s.cc" % name, "reference/%s.cc" % name],
        hdrs = ["properties/%s.h" % name, "reference/%s.h" % name],
        copts = STANDARD_COPTS + HOT_HOST_COPTS,
        includes = ["."],
        linkstatic = True,
        deps = deps + [":%s_interface" % name, _HARNESS],
    )
    kernel_test(
        name = name,
        size = size,
        srcs = ["tests/%s_test.cc" % name],
        kernels = [":" + name],
        min_sm = min_sm,
        tags = tags,
        visibility = visibility,
        deps = [":%s_properties" % name],
    )
    cuda_library(
        name = name + "_known_bad",
        testonly = True,
        srcs = ["tests/known_bad/%s.cu" % name],
        hdrs = ["tests/known_bad/%s.h" % name],
        deps = [":" + name, Label("//:mutant")],
    )
    kernel_test(
        name = name + "_known_bad",
        size = size,
        srcs = ["tests/known_bad/%s_test.cc" % name],
        kernels = [":%s_known_bad" % name],
        min_sm = min_sm,
        tags = tags,
        visibility = visibility,
        deps = [":%s_properties" % name],
    )
