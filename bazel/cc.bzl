"""cc_library and cc_binary: rules_cc's, for sources that open with headers that are parsed already.

A third of what this project costs to compile is the standard library's headers, over and over. Each source is compiled
with `-include` of one of the headers of //bazel/precompiled, which GCC has in parsed form. A source includes what it
uses all the same: `bazel build --config=own-headers` compiles every source without them.
"""

load("@rules_cc//cc:cc_binary.bzl", _cc_binary = "cc_binary")
load("@rules_cc//cc:cc_library.bzl", _cc_library = "cc_library")

def _sources(srcs):
    # A *_test.cc opens with GoogleTest's header already (.bazelrc).
    return [src for src in srcs if src.endswith(".cc") and not src.endswith("_test.cc")]

def _opening(headers, copts, deps):
    """The options and the dependencies of sources that open with the headers of //bazel/precompiled:<headers>."""
    return {
        "copts": select({
            "//bazel/precompiled:off": [],
            "//conditions:default": ["-include", "lockstep_%s.h" % headers],
        }) + copts,
        "deps": deps + select({
            "//bazel/precompiled:off": [],
            "//conditions:default": ["//bazel/precompiled:" + headers],
        }),
    }

def cc_library(name, srcs = [], copts = [], deps = [], precompiled = "standard", **kwargs):
    """A cc_library.

    Args:
      name: its name.
      srcs: its sources.
      copts: its compiler options. One that decides what a parsed header is good for (-m..., -fno-exceptions) wants a
        variant in //bazel/precompiled, or `precompiled = None`.
      deps: what it depends on.
      precompiled: the header of //bazel/precompiled that its sources open with, or None.
      **kwargs: whatever else a cc_library takes.
    """
    if precompiled and _sources(srcs):
        _cc_library(name = name, srcs = srcs, **dict(kwargs, **_opening(precompiled, copts, deps)))
    else:
        _cc_library(name = name, srcs = srcs, copts = copts, deps = deps, **kwargs)

def cc_binary(name, srcs = [], copts = [], deps = [], precompiled = "standard", **kwargs):
    """A cc_binary; arguments as of cc_library."""
    if precompiled and _sources(srcs):
        _cc_binary(name = name, srcs = srcs, **dict(kwargs, **_opening(precompiled, copts, deps)))
    else:
        _cc_binary(name = name, srcs = srcs, copts = copts, deps = deps, **kwargs)
