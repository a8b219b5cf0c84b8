"""suite_manifest: the test programs that //:conform runs, and a file that lists them."""

def _impl(ctx):
    lines = []
    runfiles = ctx.runfiles()
    for test in ctx.attr.tests + ctx.attr.silicon_tests:
        program = test[DefaultInfo].files_to_run.executable
        family = test.label.name
        if family.endswith("_test"):
            family = family[:-len("_test")]
        line = "%s\t%s\t//%s:%s" % (family, program.short_path, test.label.package, test.label.name)
        lines.append(line + ("\tsilicon" if test in ctx.attr.silicon_tests else ""))
        runfiles = runfiles.merge(ctx.runfiles(files = [program])).merge(
            test[DefaultInfo].default_runfiles
        )
    manifest = ctx.actions.declare_file(ctx.label.name + ".tsv")
    ctx.actions.write(manifest, "\n".join(lines) + "\n")
    return [
        DefaultInfo(
            files = depset([manifest]), runfiles = runfiles.merge(ctx.runfiles(files = [manifest]))
        )
    ]

suite_manifest = rule(
    implementation = _impl,
    doc = "Writes `<name>.tsv`, a line a suite: family, path among the runfiles, label. As " +
          "`data` it brings the programs along.",
    attrs = {
        "silicon_tests": attr.label_list(
            cfg = "target",
            doc = "Those that measure a GPU: run after the others, one at a time, and on silicon " +
                  "alone.",
        ),
        "tests": attr.label_list(
            mandatory = True,
            allow_empty = False,
            cfg = "target",
            doc = "The test programs, each one family's suite. Their order is the order in which " +
                  "they run.",
        ),
    },
)
