"""Module extension for Bazel 7 and later: what this machine has, by the same rules as in WORKSPACE."""

load(":gpu.bzl", "local_gpus")
load(":toolkit.bzl", "cuda_toolkit_repository")

def _machine_impl(_ctx):
    cuda_toolkit_repository(name = "cuda")
    local_gpus(name = "local_gpus")

machine = module_extension(
    implementation = _machine_impl,
    doc = "@cuda, the toolkit, and @local_gpus, the identity of the GPUs.",
)
