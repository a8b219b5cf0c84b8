"""cuda_runtimes: the CUDA runtimes for test programs, each in a folder for LD_LIBRARY_PATH.

    <name>/silicon/libcudart.so.13      NVIDIA's
    <name>/simulated/libcudart.so.13    the simulated GPU
"""

_SONAME = "libcudart.so.13"

def _impl(ctx):
    links = []
    for folder, runtime in [("silicon", ctx.file.silicon), ("simulated", ctx.file.simulated)]:
        link = ctx.actions.declare_file("%s/%s/%s" % (ctx.label.name, folder, _SONAME))
        ctx.actions.symlink(output = link, target_file = runtime)
        links.append(link)
    files = depset(links)
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

cuda_runtimes = rule(
    implementation = _impl,
    doc = "Links to both CUDA runtimes under fixed names; as `data` it brings them along.",
    attrs = {
        "silicon": attr.label(
            mandatory = True, allow_single_file = True, doc = "NVIDIA's runtime."
        ),
        "simulated": attr.label(
            mandatory = True, allow_single_file = True, doc = "The simulated GPU."
        ),
    },
)
