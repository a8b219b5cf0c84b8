"""Repository rule: which GPUs this machine has, so that their identity is in the key of every test that uses one.

A test's result is cached under its inputs. If the GPU were not among them, a pass
on one GPU would be served for another, or to a machine that has none.
"""

def _local_gpus_impl(rctx):
    smi = rctx.which("nvidia-smi")
    identity = "none"
    if smi:
        listed = rctx.execute([smi, "--query-gpu=uuid,name,driver_version", "--format=csv,noheader"])
        lines = [line.strip() for line in listed.stdout.splitlines() if line.strip()]
        if listed.return_code == 0 and lines:
            identity = "; ".join(lines)
    rctx.file("gpus.bzl", '"""Written by //bazel:gpu.bzl."""\n\nGPU_IDENTITY = %s\n' % repr(identity))
    rctx.file("BUILD.bazel", "")

local_gpus = repository_rule(
    implementation = _local_gpus_impl,
    doc = "@local_gpus//:gpus.bzl: GPU_IDENTITY, a text with uuid, name and driver of each GPU, or \"none\".",
    configure = True,
    local = True,
    environ = ["PATH"],
)
