"""cuda_program: a CUDA program as somebody without Bazel builds it, by one call of nvcc."""

load("//bazel:copts.bzl", "QUICK_NVCC_COPTS")
load("@cuda//:defs.bzl", "CUDA_ROOT")

def cuda_program(name, srcs, hdrs = [], options = [], libraries = [], before = "", tags = []):
    """Declares the program `name`.

    Args:
      name: the program.
      srcs: its .cu files.
      hdrs: headers beside them.
      options: of nvcc. The runtime is the shared one unless they say otherwise.
      libraries: what it is linked with, as options of nvcc.
      tags: of the target.
      before: a shell command that runs first; $$lib is a folder of libraries.
    """
    lines = [] if "-G" in options else ["-lineinfo"]
    runtime = [] if [o for o in options if o.startswith("-cudart")] else ["-cudart=shared"]
    native.genrule(
        name = name + "_by_nvcc",
        testonly = True,
        tags = tags,
        srcs = srcs + hdrs + ["@cuda//:lib/libcudart.so.13", "@cuda//:toolkit.stamp"],
        outs = [name],
        # The wheels' toolkit lacks the library name that the linker looks for. nvcc names its
        # temporary files by process number, which can be equal in two sandboxes: without separate
        # folders one nvcc would remove files of another.
        cmd = " && ".join([
            "lib=$@.lib",
            "rm -rf $$lib",
            "mkdir $$lib",
            "export TMPDIR=$$lib",
            "ln -s $$(readlink -f $(location @cuda//:lib/libcudart.so.13)) $$lib/libcudart.so",
            before or "true",
            " ".join(
                [
                    CUDA_ROOT + "/bin/nvcc", "-std=c++17", "-L$$lib"
                ] + lines + QUICK_NVCC_COPTS + runtime + options +
                ["$(location %s)" % src for src in srcs] + libraries + ["-o $@"],
            ),
            "rm -r $$lib",
        ]),
        executable = True,
        message = "Building with nvcc",
    )
