"""Repository rule: the identity of the GPUs that run the tests, which is part of the key of every
test that uses one.

A test's result is cached under its inputs. If the GPU were not among them, a pass
on one GPU would be served for another, or to a machine that has none.

The GPUs are this machine's, as nvidia-smi names them; or, if the tests run elsewhere, those of the
pool of workers that --repo_env=LOCKSTEP_GPU_POOL=<name> selects (docs/guide/remote.md).
"""

def _identity_here(rctx):
    smi = rctx.which("nvidia-smi")
    if smi:
        listed = rctx.execute(
            [smi, "--query-gpu=uuid,name,driver_version", "--format=csv,noheader"]
        )
        lines = [line.strip() for line in listed.stdout.splitlines() if line.strip()]
        if listed.return_code == 0 and lines:
            return "; ".join(lines)
    return "none"

def _local_gpus_impl(rctx):
    pool = rctx.os.environ.get("LOCKSTEP_GPU_POOL", "")
    identity = "pool " + pool if pool else _identity_here(rctx)
    rctx.file("gpus.bzl", "\n".join([
        '"""Written by //bazel:gpu.bzl."""',
        "",
        "GPU_IDENTITY = %s" % repr(identity),
        "GPU_POOL = %s" % repr(pool),
        "",
    ]))
    rctx.file("BUILD.bazel", "")

local_gpus = repository_rule(
    implementation = _local_gpus_impl,
    doc = "@local_gpus//:gpus.bzl: GPU_IDENTITY, a text with uuid, name and driver of each GPU, " +
          "or \"none\"; GPU_POOL, or \"\".",
    configure = True,
    local = True,
    environ = ["LOCKSTEP_GPU_POOL", "PATH"],
)
