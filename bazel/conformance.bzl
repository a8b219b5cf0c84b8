"""conformance: a workspace's own suites as one program, with a table, a passport, a report and
JUnit's XML.

    conformance(name = "conformance", tests = ["//cube:cube_test"])

    bazel run //:conformance                                   on the simulated GPU
    bazel run //:conformance -- --device=gpu --suite=cube      options are those of `lockstep run`
    bazel run //:conformance -- list                           its suites and their properties
"""

load(":bundle.bzl", "bundle", "runfiles_path")
load(":suites.bzl", "suite_manifest")

_ENTRY = """#!/bin/bash
# Written by //bazel:conformance.bzl.
set -eu
runfiles=$0.runfiles
[ -d "$runfiles" ] || runfiles=${{RUNFILES_DIR:?the files beside this program are missing}}
case $runfiles in /*) ;; *) runfiles=$PWD/$runfiles ;; esac
export RUNFILES_DIR=$runfiles LOCKSTEP_WORKSPACE={workspace} LOCKSTEP_COMMAND="bazel run {label} --"
command=run
if [ "${{1:-}}" = list ]; then command=list; shift; fi
exec "$runfiles/{conform}" $command --manifest="$runfiles/{manifest}" "$@"
"""

def _conformance_program_impl(ctx):
    manifest = ctx.attr.suites[DefaultInfo]
    entry = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(entry, _ENTRY.format(
        conform = runfiles_path(ctx.executable._conform.short_path, ctx.workspace_name),
        label = "//%s:%s" % (ctx.label.package, ctx.label.name),
        manifest = runfiles_path(manifest.files.to_list()[0].short_path, ctx.workspace_name),
        workspace = ctx.workspace_name,
    ), is_executable = True)
    runfiles = ctx.runfiles(files = [ctx.executable._conform])
    for target in [ctx.attr.suites, ctx.attr._conform, ctx.attr._runtimes]:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = entry, runfiles = runfiles)]

conformance_program = rule(
    implementation = _conformance_program_impl,
    doc = "Runs the suites of a manifest.",
    attrs = {
        "suites": attr.label(mandatory = True),
        "_conform": attr.label(
            default = "//harness/conform:conform_elsewhere",
            allow_single_file = True,
            cfg = "target",
            executable = True,
        ),
        "_runtimes": attr.label(default = "//harness/conform:runtimes"),
    },
    executable = True,
)

def conformance(name, tests, silicon_tests = [], visibility = None):
    """Declares the program `name`, for `bazel run`, and `name`_bundle, an archive for machines
    without Bazel and toolkit.

    The archive `name`_bundle.tar holds one folder, lockstep-bundle, whose `lockstep run` runs the
    suites. Machine code for other GPUs than those that --@lockstep//bazel:archs names is not in it.

    Args:
      name: the program.
      tests: the suites: tests of kernel_family or kernel_test, those for the simulated GPU
        (`x_test`). They run on silicon too.
      silicon_tests: tests that measure a GPU (timing_test): run after the others, one at a time,
        and on silicon alone.
      visibility: of the program.
    """
    suite_manifest(
        name = name + "_suites",
        testonly = True,
        silicon_tests = silicon_tests,
        tests = tests,
    )
    conformance_program(
        name = name,
        testonly = True,
        suites = ":%s_suites" % name,
        visibility = visibility,
    )
    bundle(
        name = name + "_bundle",
        testonly = True,
        entry = Label("//bazel:bundle_entry.sh"),
        programs = [
            ":" + name,
            Label("//harness/conform:conform_elsewhere"),
            Label("//harness/report:passport_tool"),
        ],
        readme = Label("//bazel:bundle_readme.txt"),
        suites = ":%s_suites" % name,
        tags = ["manual"],
        visibility = visibility,
    )
