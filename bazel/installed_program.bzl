"""installed_program: a program of an installed package, which replaces the target that builds
it."""

def _installed_program_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = out, target_file = ctx.file.program, is_executable = True)
    return [DefaultInfo(executable = out, runfiles = ctx.runfiles(files = [out] + ctx.files.data))]

installed_program = rule(
    implementation = _installed_program_impl,
    doc = "A link to a program.",
    attrs = {
        "data": attr.label_list(allow_files = True, doc = "What it reads at run time."),
        "program": attr.label(mandatory = True, allow_single_file = True),
    },
    executable = True,
)
