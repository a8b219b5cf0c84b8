"""joined_source: a source that includes others, so that their common headers and templates are
compiled once.

Half of a small source's compile time is the same for all its neighbours: the templates that they
and their headers use. Joined sources are compiled as one. Therefore names that would otherwise be
local to a source, such as functions in unnamed namespaces and tests, must be different. The
compiler reports a conflict as "redefinition of ...".
"""

def _impl(ctx):
    ctx.actions.write(
        ctx.outputs.out, "".join(["#include \"%s\"\n" % src.short_path for src in ctx.files.srcs])
    )

joined_source = rule(
    implementation = _impl,
    doc = "Writes `out`, which includes `srcs`. What compiles it needs these as textual headers.",
    attrs = {
        "out": attr.output(mandatory = True, doc = "The source, such as pass_tests_test.cc."),
        "srcs": attr.label_list(
            mandatory = True, allow_files = [".cc"], doc = "The sources, in this order."
        ),
    },
)
