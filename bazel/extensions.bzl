"""Module extension for Bazel 7 and later: what this machine has, by the same rules as in
WORKSPACE."""

load(":gpu.bzl", "local_gpus")
load(":notices.bzl", "notices_repository")
load(":system.bzl", "system_library")
load(":toolkit.bzl", "cuda_toolkit_repository")

def _machine_impl(_ctx):
    cuda_toolkit_repository(name = "cuda")
    local_gpus(name = "local_gpus")
    notices_repository(name = "notices")

    # No module of the registry brings it.
    system_library(
        name = "d3",
        build_file = "//bazel/system:d3.BUILD",
        debian = "libjs-d3",
        files = {"d3.min.js": "/usr/share/javascript/d3/d3.min.js"},
    )

machine = module_extension(
    implementation = _machine_impl,
    doc = "@cuda, the toolkit, @local_gpus, the identity of the GPUs, and, from the " +
          "distribution, @d3 and the licences in @notices.",
)
