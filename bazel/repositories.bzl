"""lockstep_repositories: the repositories that Lockstep's targets name, for a WORKSPACE.
(MODULE.bazel names the same ones.)

    load("@lockstep//bazel:repositories.bzl", "lockstep_repositories")

    lockstep_repositories()

A repository of one of these names that was declared before is kept; it must have the same targets.
Every library is from a Debian package. `./lockstep` installs the packages of the `debian =` lines
below.
"""

load(":bazel4.bzl", "bazel4_repositories")
load(":gpu.bzl", "local_gpus")
load(":local_clang.bzl", "local_clang")
load(":notices.bzl", "notices_repository")
load(":system.bzl", "system_library")
load(":toolkit.bzl", "cuda_toolkit_repository")

def _missing(name):
    return not native.existing_rule(name)

def _library(name, debian, files):
    if _missing(name):
        system_library(
            name = name,
            build_file = Label("//bazel/system:%s.BUILD" % name),
            debian = debian,
            files = files,
        )

def lockstep_repositories():
    """Declares all of them. A repository that no target uses is never searched for."""
    bazel4_repositories()
    for name, rule in [
        ("cuda", cuda_toolkit_repository),
        ("local_clang", local_clang),
        ("local_gpus", local_gpus),
        ("notices", notices_repository),
    ]:
        if _missing(name):
            rule(name = name)
    _library(
        name = "googletest",
        debian = "libgtest-dev libgmock-dev",
        files = {
            "include/gmock": "/usr/include/gmock",
            "include/gtest": "/usr/include/gtest",
            "libgmock.a": "{libdir}/libgmock.a",
            "libgtest.a": "{libdir}/libgtest.a",
            "libgtest_main.a": "{libdir}/libgtest_main.a",
        },
    )
    _library(
        name = "rapidcheck",
        debian = "librapidcheck-dev",
        files = {
            "include/rapidcheck": "/usr/include/rapidcheck",
            "include/rapidcheck.h": "/usr/include/rapidcheck.h",
            "librapidcheck.a": "{libdir}/librapidcheck.a",
        },
    )
    _library(
        name = "eigen",
        debian = "libeigen3-dev",
        files = {
            "Eigen": "/usr/include/eigen3/Eigen",
        },
    )
    _library(
        name = "zstd",
        debian = "libzstd-dev",
        files = {
            "include/zdict.h": "/usr/include/zdict.h",
            "include/zstd.h": "/usr/include/zstd.h",
            "include/zstd_errors.h": "/usr/include/zstd_errors.h",
            "libzstd.a": "{libdir}/libzstd.a",
        },
    )
    _library(
        name = "lz4",
        debian = "liblz4-dev",
        files = {
            "include/lz4.h": "/usr/include/lz4.h",
            "liblz4.a": "{libdir}/liblz4.a",
        },
    )
    _library(
        name = "fmt",
        debian = "libfmt-dev",
        files = {"include/fmt": "/usr/include/fmt"},
    )
    _library(
        name = "nlohmann_json",
        debian = "nlohmann-json3-dev",
        files = {"include/nlohmann": "/usr/include/nlohmann"},
    )
    _library(
        name = "cli11",
        debian = "libcli11-dev",
        files = {"include/CLI": "/usr/include/CLI"},
    )
    _library(
        name = "d3",
        debian = "libjs-d3",
        files = {"d3.min.js": "/usr/share/javascript/d3/d3.min.js"},
    )
    _library(
        name = "libpng",
        debian = "libpng-dev",
        files = {
            "include/png.h": "/usr/include/png.h",
            "include/pngconf.h": "/usr/include/pngconf.h",
            "include/pnglibconf.h": "/usr/include/pnglibconf.h",
            "include/zconf.h": "/usr/include/zconf.h",
            "include/zlib.h": "/usr/include/zlib.h",
            "libpng16.a": "{libdir}/libpng16.a",
            "libz.a": "{libdir}/libz.a",
        },
    )
    _library(
        name = "xbyak",
        debian = "libxbyak-dev",
        files = {"include/xbyak": "/usr/include/xbyak"},
    )
    _library(
        name = "xxhash",
        debian = "libxxhash-dev",
        files = {"include/xxhash.h": "/usr/include/xxhash.h"},
    )
