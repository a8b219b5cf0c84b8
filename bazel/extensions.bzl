"""Module extension for Bazel 7 and later: the repositories of this machine, by the same rules as in
WORKSPACE."""

load(":gpu.bzl", "local_gpus")
load(":local_clang.bzl", "local_clang")
load(":notices.bzl", "notices_repository")
load(":system.bzl", "system_library")
load(":toolkit.bzl", "cuda_toolkit_repository")

def _machine_impl(_ctx):
    cuda_toolkit_repository(name = "cuda")
    local_clang(name = "local_clang")
    local_gpus(name = "local_gpus")
    notices_repository(name = "notices")

    # No module of the registry provides them.
    system_library(
        name = "d3",
        build_file = "//bazel/system:d3.BUILD",
        debian = "libjs-d3",
        files = {"d3.min.js": "/usr/share/javascript/d3/d3.min.js"},
    )
    system_library(
        name = "xbyak",
        build_file = "//bazel/system:xbyak.BUILD",
        debian = "libxbyak-dev",
        files = {"include/xbyak": "/usr/include/xbyak"},
    )
    system_library(
        name = "xxhash",
        build_file = "//bazel/system:xxhash.BUILD",
        debian = "libxxhash-dev",
        files = {"include/xxhash.h": "/usr/include/xxhash.h"},
    )

machine = module_extension(
    implementation = _machine_impl,
    doc = "@cuda, the toolkit, @local_clang, @local_gpus, the identity of the GPUs, and, from " +
          "the distribution, @d3, @xbyak, @xxhash and the licences in @notices.",
)
