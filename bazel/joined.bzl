"""joined_source: a source that includes others, so that what they have in common is compiled once.

Half of what a small source takes to compile is the same for all its neighbours: the templates that
they and their headers use. Sources that are joined are compiled as one, so that they must name
things apart that would otherwise be each one's own: functions in unnamed namespaces, tests. The
compiler says where two do not ("redefinition of ...").
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
