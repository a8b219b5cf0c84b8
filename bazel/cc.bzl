"""cc_library and cc_binary like rules_cc's, with precompiled headers; and several tests as one
program.

A cc_library is only an archive: nothing here would link a shared library.

A fifth of this project's compile time would be repeated parsing of the standard library's headers.
Therefore each source is compiled with `-include` of one of the headers of //bazel/precompiled,
which GCC has in parsed form. A source must still include what it uses: `bazel build
--config=own-headers` compiles every source without them.
"""

load(":clang.bzl", "allows_clang", "by_clang", "clang_objects", "tests_by_clang")
load(":copts.bzl", "ENGINE_COPTS", "HANDLER_COPTS", "OPTIMISED", "STANDARD_COPTS")
load(":joined.bzl", "joined_source")
load("@rules_cc//cc:cc_binary.bzl", _cc_binary = "cc_binary")
load("@rules_cc//cc:cc_library.bzl", _cc_library = "cc_library")
load("@rules_cc//cc:cc_test.bzl", _cc_test = "cc_test")

# The options under which each header is parsed: those of many sources. GCC does not distinguish -O2
# from -O3, nor strict aliasing from none. If a source used a header parsed under other options, GCC
# would silently compile the source under the header's options.
VARIANTS = {
    "eigen": {"optimised": OPTIMISED},
    "engine": {"avx2": ENGINE_COPTS},
    "handlers": {"avx2": HANDLER_COPTS},
    "json": {"plain": []},
    "runtime": {"optimised": OPTIMISED},
    "standard": {
        "optimised": OPTIMISED,
        "plain": [],
    },
    "text": {"plain": []},
}

def _parsed(copts, headers):
    """Whether the headers exist in a form parsed under these options."""
    options = sorted([copt for copt in copts if copt[:2] in ["-O", "-f", "-g", "-m"]])
    return options in [sorted(variant) for variant in VARIANTS[headers].values()]

def _sources(srcs):
    # A *_test.cc already begins with GoogleTest's header (.bazelrc).
    return [src for src in srcs if src.endswith(".cc") and not src.endswith("_test.cc")]

def _opening(srcs, copts, deps, headers):
    """srcs, copts and deps of a rule whose sources begin with the headers of
    //bazel/precompiled:<headers>."""
    if not headers or not _sources(srcs) or not _parsed(copts, headers):
        return {"srcs": srcs, "copts": STANDARD_COPTS + copts, "deps": deps}
    return {
        "srcs": srcs,
        "copts": select({
            "//bazel/precompiled:off": [],
            "//conditions:default": ["-include", "lockstep_%s.h" % headers],
        }) + STANDARD_COPTS + copts,
        "deps": deps + select({
            "//bazel/precompiled:off": [],
            "//conditions:default": ["//bazel/precompiled:" + headers],
        }),
    }

def _join(joined, srcs, testonly = False, clang = False):
    """Declares the source `joined`, which includes the sources among srcs; returns srcs and
    textual_hdrs for the rule that compiles it. If clang compiles it, these srcs lack it.

    With --config=own-headers each source is compiled separately.
    """
    sources = [src for src in srcs if src.endswith(".cc")]
    joined_source(
        name = joined[:-len(".cc")] + "_source", srcs = sources, out = joined, testonly = testonly
    )
    return [src for src in srcs if not src.endswith(".cc")] + select({
        "//bazel/precompiled:off": sources,
        "//bazel/precompiled:by_clang": [] if clang else [joined],
        "//conditions:default": [joined],
    }), select({
        "//bazel/precompiled:off": [],
        "//conditions:default": sources,
    })

def _join_folders(name, srcs, testonly):
    """As _join, with one source for each folder of srcs: "<name>_<folder>_joined.cc"."""
    folders = {}
    for src in srcs:
        if src.endswith(".cc"):
            folders.setdefault(src.rpartition("/")[0], []).append(src)
    own = [src for src in srcs if not src.endswith(".cc")]
    textual = []
    for folder, sources in folders.items():
        more_own, more_textual = _join(
            "%s_%s_joined.cc" % (name, folder.replace("/", "_")), sources, testonly
        )
        own = own + more_own
        textual = textual + more_textual
    return own, textual

def cc_library(
    name, srcs = [], copts = [], deps = [], precompiled = "standard", joined = False, **kwargs
):
    """A cc_library.

    Args:
      name: its name.
      srcs: its sources.
      copts: its compiler options. If they differ from those of its header in VARIANTS, it has no
        precompiled header.
      deps: its dependencies.
      precompiled: the header of //bazel/precompiled with which its sources begin, or None.
      joined: compile the sources as one (joined.bzl), or with "folders" those of each folder. A
        change of one source then recompiles all sources joined with it.
      **kwargs: further arguments of cc_library.
    """
    opening = _opening(srcs, copts, deps, precompiled)
    testonly = kwargs.get("testonly", False)
    if joined == "folders":
        opening["srcs"], opening["textual_hdrs"] = _join_folders(name, srcs, testonly)
    elif joined:
        opening["srcs"], opening["textual_hdrs"] = _join(name + "_joined.cc", srcs, testonly)
    _cc_library(name = name, linkstatic = True, **dict(kwargs, **opening))

def cc_test(
    name, srcs = [], copts = [], deps = [], local_defines = [], tags = [], **kwargs
):
    """A cc_test. clang compiles its sources *_test.cc where clang.bzl allows it."""
    own_srcs, own_deps = tests_by_clang(
        name, srcs, deps, copts, local_defines = local_defines, tags = tags
    )
    _cc_test(
        name = name,
        srcs = own_srcs,
        copts = copts,
        local_defines = local_defines,
        tags = tags,
        deps = own_deps,
        **kwargs
    )

def _joined_tests(name, srcs, deps, copts, tags):
    """Declares what compiles the tests `srcs` as one source (joined.bzl); returns the srcs and deps
    of the rule `name`."""
    joined = name + "_joined_test.cc"
    clang = allows_clang(copts)
    own, textual = _join(joined, srcs, True, clang = clang)
    _cc_library(name = name + "_sources", testonly = True, textual_hdrs = textual)
    deps = deps + [":%s_sources" % name]
    if not clang:
        return own, deps
    clang_objects(
        name = name + "_by_clang",
        srcs = [joined],
        hdrs = [src for src in srcs if src.endswith(".h")],
        copts = copts,
        tags = tags,
        deps = deps,
    )
    return own, deps + by_clang([":%s_by_clang" % name], [])

def cc_test_library(
    name, srcs, hdrs = [], copts = [], deps = [], joined = False, tags = [], **kwargs
):
    """Tests for several programs: a cc_library that links all its objects. clang compiles its
    sources *_test.cc as in a cc_test.

    Args:
      name: its name.
      srcs: its sources.
      hdrs: its headers.
      copts: its compiler options.
      deps: its dependencies.
      joined: compile the sources as one.
      tags: those of its tests.
      **kwargs: further arguments of cc_library.
    """
    if joined:
        own_srcs, own_deps = _joined_tests(name, srcs, deps, copts, tags)
    else:
        own_srcs, own_deps = tests_by_clang(name, srcs, deps, copts, hdrs = hdrs, tags = tags)
    _cc_library(
        name = name,
        testonly = True,
        srcs = own_srcs,
        hdrs = hdrs,
        copts = STANDARD_COPTS + copts,
        linkstatic = True,
        tags = tags,
        deps = own_deps,
        alwayslink = True,
        **kwargs
    )

def cc_tests(name, srcs, deps = [], data = [], computing = [], **kwargs):
    """Small tests as one program, whose sources are compiled as one (joined.bzl).

    Each source's name, without .cc, is a test suite of this one test: `bazel test
    //harness/property:compare_test` runs it. (An alias would not do: `bazel test` skips aliases.)

    Args:
      name: the test.
      srcs: its sources.
      deps: the dependencies of all of them.
      data: files that they read.
      computing: further sources, compiled as one with optimisation: their models run for longer
        than the optimisation of all sources would take.
      **kwargs: further arguments of cc_test.
    """
    own, parts = _joined_tests(
        name, srcs, deps, kwargs.get("copts", []), kwargs.get("tags", [])
    )
    if computing:
        parts = parts + [":%s_computing" % name]
        own_computing, textual_computing = _join(name + "_computing_test.cc", computing, True)
        _cc_library(
            name = name + "_computing",
            testonly = True,
            srcs = own_computing,
            copts = OPTIMISED,
            textual_hdrs = textual_computing,
            deps = deps,
            alwayslink = True,
        )
    _cc_test(name = name, srcs = own, deps = parts, data = data, **kwargs)
    for src in srcs + computing:
        native.test_suite(name = src.split("/")[-1][:-len(".cc")], tests = [name])

def cc_binary(name, srcs = [], copts = [], deps = [], precompiled = "standard", **kwargs):
    """A cc_binary; arguments as of cc_library."""
    _cc_binary(name = name, **dict(kwargs, **_opening(srcs, copts, deps, precompiled)))

def developer_binary(name, **kwargs):
    """A program that developers run by command and no test uses: a cc_binary that `//...` leaves
    out, except with --config=nightly.

    Tags of .bazelrc's filters would not do: Bazel also applies them to targets that are named.

    Args:
      name: its name.
      **kwargs: further arguments of cc_binary.
    """
    cc_binary(name = name, tags = ["manual"], **kwargs)
    native.filegroup(
        name = name + "_builds",
        testonly = True,
        srcs = [":" + name],
        tags = ["nightly"],
        visibility = ["//visibility:private"],
    )
