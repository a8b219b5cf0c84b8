"""bundle: an archive of programs with all of their run-time files, for machines without Bazel and
without a toolkit.

The archive `<name>.tar` holds one folder, lockstep-bundle: the programs' runfiles as
they are under Bazel, stripped of debugging information, the C++ runtime, and the
entry script. Equal contents give an equal archive, byte for byte.
"""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

def runfiles_path(short_path, workspace):
    """The path of a file among the runfiles: below its workspace or its external repository."""
    return short_path[len("../"):] if short_path.startswith("../") else workspace + "/" + short_path

def _impl(ctx):
    cc_toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    compiler = cc_common.get_tool_for_action(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
    )
    programs = [program[DefaultInfo] for program in ctx.attr.programs]
    contents = depset(
        [program.files_to_run.executable for program in programs],
        transitive = [program.default_runfiles.files for program in programs],
    )
    suites = None
    if ctx.attr.suites:
        suites = ctx.actions.declare_file(ctx.label.name + ".suites")
        ctx.actions.write(suites, "%s\n%s\n" % (
            ctx.workspace_name,
            runfiles_path(
                ctx.attr.suites[DefaultInfo].files.to_list()[0].short_path, ctx.workspace_name
            ),
        ))
    listing = ctx.actions.args()
    listing.set_param_file_format("multiline")
    listing.use_param_file("%s", use_always = True)
    # Solib folders contain links for programs at their place in Bazel's tree; the bundle selects
    # its runtimes by folder.
    listing.add_all([
        "%s\t%s" % (runfiles_path(f.short_path, ctx.workspace_name), f.path)
        for f in contents.to_list()
        if "/_solib_" not in "/" + f.short_path
    ])
    if suites:
        listing.add("SUITES\t" + suites.path)
    ctx.actions.run(
        mnemonic = "Bundle",
        progress_message = "Bundling %s" % ctx.label,
        executable = ctx.file._pack,
        arguments = [
            ctx.outputs.archive.path,
            ctx.file.entry.path,
            ctx.file.readme.path,
            compiler,
            listing,
        ],
        inputs = depset(
            [ctx.file.entry, ctx.file.readme] + ([suites] if suites else []),
            transitive = [contents, cc_toolchain.all_files],
        ),
        outputs = [ctx.outputs.archive],
        env = {"PATH": "/usr/bin:/bin"},
    )

bundle = rule(
    implementation = _impl,
    doc = "Packs programs and their runfiles into <name>.tar.",
    attrs = {
        "entry": attr.label(
            mandatory = True, allow_single_file = True, doc = "The script that starts them."
        ),
        "programs": attr.label_list(
            mandatory = True, cfg = "target", doc = "What the script starts."
        ),
        "suites": attr.label(
            doc = "The manifest of another workspace's suites, to be run in place of " +
                  "Lockstep's own."
        ),
        "readme": attr.label(
            mandatory = True, allow_single_file = True, doc = "README.txt of the archive."
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_pack": attr.label(default = "//bazel:bundle_pack.sh", allow_single_file = True),
    },
    outputs = {"archive": "%{name}.tar"},
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
