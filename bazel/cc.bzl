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
    """The copts and deps of a rule whose sources begin with the headers of
    //bazel/precompiled:<headers>."""
    if not headers or not _sources(srcs) or not _parsed(copts, headers):
        return {"copts": STANDARD_COPTS + copts, "deps": deps}
    return {
        "copts": select({
            "//bazel/precompiled:off": [],
            "//conditions:default": ["-include", "lockstep_%s.h" % headers],
        }) + STANDARD_COPTS + copts,
        "deps": deps + select({
            "//bazel/precompiled:off": [],
            "//conditions:default": ["//bazel/precompiled:" + headers],
        }),
    }

def _parts(name, sources, joined):
    """The sources that are compiled -> those that each includes (joined.bzl), or None."""
    if not joined:
        return {source: None for source in sources}
    if joined != "folders":
        return {name + "_joined.cc": sources}
    parts = {}
    for source in sources:
        folder = source.rpartition("/")[0].replace("/", "_")
        parts.setdefault("%s_%s_joined.cc" % (name, folder), []).append(source)
    return parts

def _split(parts, sources, testonly, clang):
    """Declares the joined sources of `parts`; returns what a rule compiles of them, and what this
    includes.

    With --config=own-headers each source is compiled separately. If clang compiles them, the rule
    does not.
    """
    for part, included in parts.items():
        if included:
            joined_source(
                name = part[:-len(".cc")] + "_source",
                srcs = included,
                out = part,
                testonly = testonly,
            )
    textual = [source for included in parts.values() for source in included or []]
    return select({
        "//bazel/precompiled:off": sources,
        "//bazel/precompiled:by_clang": [] if clang else parts.keys(),
        "//conditions:default": parts.keys(),
    }), select({
        "//bazel/precompiled:off": [],
        "//conditions:default": textual,
    })

# Where else headers of a library can lie: clang_objects knows none of these.
_OTHER_INCLUDES = ["implementation_deps", "include_prefix", "includes", "strip_include_prefix"]

def _allows_clang(copts, headers, kwargs):
    """Whether clang may compile sources that begin with a header: it has parsed it."""
    return (
        headers and allows_clang(copts) and _parsed(copts, headers) and
        not [name for name in _OTHER_INCLUDES if name in kwargs]
    )

def _compiled(name, srcs, copts, deps, headers, joined, kwargs):
    """The attributes of a cc_library or cc_binary; clang compiles its sources where clang.bzl
    allows it."""
    sources = _sources(srcs)
    own = [src for src in srcs if src not in sources]
    testonly = kwargs.get("testonly", False)
    clang = sources and _allows_clang(copts, headers, kwargs)
    parts = _parts(name, sources, joined)
    opening = _opening(srcs, copts, deps, headers)
    if not clang and not joined:
        return dict(kwargs, srcs = srcs, **opening)
    compiled, textual = _split(parts, sources, testonly, clang)
    if joined:
        kwargs = dict(kwargs, textual_hdrs = kwargs.get("textual_hdrs", []) + textual)
    if clang:
        clang_objects(
            name = name + "_by_clang",
            srcs = parts.keys(),
            hdrs = own + kwargs.get("hdrs", []) + kwargs.get("textual_hdrs", []),
            header = "//bazel/precompiled:" + headers,
            copts = copts,
            local_defines = kwargs.get("local_defines", []) + kwargs.get("defines", []),
            deps = deps,
            testonly = testonly,
            tags = kwargs.get("tags", []),
            alwayslink = kwargs.get("alwayslink", False),
        )
        opening["deps"] = opening["deps"] + by_clang([":%s_by_clang" % name], [])
    return dict(kwargs, srcs = own + compiled, **opening)

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
    _cc_library(
        name = name,
        linkstatic = True,
        **_compiled(name, srcs, copts, deps, precompiled, joined, kwargs)
    )

def _tests_by_clang(name, srcs, deps, copts, hdrs = [], **kwargs):
    """The srcs and deps of a rule for tests; clang compiles its sources *_test.cc where clang.bzl
    allows it."""
    tests = [src for src in srcs if src.endswith("_test.cc")]
    if not tests or not allows_clang(copts):
        return srcs, deps
    tests_by_clang(
        name = name + "_by_clang",
        srcs = tests,
        hdrs = hdrs + [src for src in srcs if src.endswith(".h")],
        copts = copts,
        deps = deps,
        **kwargs
    )
    own = [src for src in srcs if src not in tests]
    return own + by_clang([], tests), deps + by_clang([":%s_by_clang" % name], [])

def cc_test(
    name, srcs = [], copts = [], deps = [], local_defines = [], tags = [], **kwargs
):
    """A cc_test. clang compiles its sources *_test.cc where clang.bzl allows it."""
    own_srcs, own_deps = _tests_by_clang(
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
    tests = [src for src in srcs if src.endswith(".cc")]
    own = [src for src in srcs if src not in tests]
    compiled, textual = _split({joined: tests}, tests, True, clang)
    _cc_library(name = name + "_sources", testonly = True, textual_hdrs = textual)
    deps = deps + [":%s_sources" % name]
    if not clang:
        return own + compiled, deps
    tests_by_clang(
        name = name + "_by_clang",
        srcs = [joined],
        hdrs = own,
        copts = copts,
        tags = tags,
        deps = deps,
    )
    return own + compiled, deps + by_clang([":%s_by_clang" % name], [])

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
        own_srcs, own_deps = _tests_by_clang(name, srcs, deps, copts, hdrs = hdrs, tags = tags)
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
        own_computing, textual_computing = _split(
            {name + "_computing_test.cc": computing}, computing, True, False
        )
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
    own = _compiled(name, srcs, copts, deps, precompiled, False, dict(kwargs, alwayslink = True))
    own.pop("alwayslink")
    _cc_binary(name = name, **own)

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
