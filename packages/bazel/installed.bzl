"""lockstep_installed: an installed package as the repository @lockstep. Nothing of it is compiled.

    local_repository(
        name = "lockstep_installed",
        path = "/usr/share/lockstep/bazel",  # <prefix>/share/lockstep/bazel
    )

    load("@lockstep_installed//:installed.bzl", "lockstep_installed")

    lockstep_installed(name = "lockstep")

    load("@lockstep//bazel:repositories.bzl", "lockstep_repositories")

    lockstep_repositories()

The repository has the rules and the labels of Lockstep's own one that docs/guide/installing.md
names.
"""

def _lockstep_installed_impl(rctx):
    here = rctx.path(Label("//:installed.bzl")).realpath.dirname
    prefix = rctx.attr.prefix or str(here.dirname.dirname.dirname)
    for needed in [
        "lib/lockstep/libcudart.so.13",
        "lib/lockstep/liblockstep_harness.a",
        "libexec/lockstep/conform",
    ]:
        if not rctx.path(prefix + "/" + needed).exists:
            fail(
                "\n@%s: there is no %s/%s: the prefix of an installed Lockstep is wanted" %
                (rctx.name, prefix, needed)
            )

    # The package's own files may be read-only, and Bazel writes beside them: therefore links, in
    # folders of this repository.
    linked = rctx.execute(["cp", "-rs", prefix + "/share/lockstep/bazel/workspace/.", "."])
    if linked.return_code:
        fail("\n@%s: %s" % (rctx.name, linked.stderr))
    for inside, path in {
        "harness/conform/conform": "libexec/lockstep/conform",
        "harness/report/d3.min.js": "share/lockstep/harness/report/d3.min.js",
        "harness/report/passport_tool_installed": "libexec/lockstep/passport_tool",
        "harness/report/report.css": "share/lockstep/harness/report/report.css",
        "harness/report/report.js": "share/lockstep/harness/report/report.js",
        "include": "include/lockstep",
        "lib/liblockstep_harness.a": "lib/lockstep/liblockstep_harness.a",
    }.items():
        rctx.symlink(prefix + "/" + path, inside)
    for library in [
        "libcublas.so.13",
        "libcublasLt.so.13",
        "libcuda.so.1",
        "libcudart.so.13",
        "libcufft.so.12",
        "libcurand.so.10",
    ]:
        rctx.symlink(prefix + "/lib/lockstep/" + library, "simulator/" + library)
    rctx.file("WORKSPACE", "workspace(name = \"lockstep\")\n")

lockstep_installed = repository_rule(
    implementation = _lockstep_installed_impl,
    doc = "Links to the files of an installed package.",
    local = True,  # an upgraded package is detected at the next build
    attrs = {"prefix": attr.string(doc = "Where it is installed; by default where this file is.")},
)
